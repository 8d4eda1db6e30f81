package config

const homeVariable = "USERPROFILE"
