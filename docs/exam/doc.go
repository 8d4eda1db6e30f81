// Package exam has questions about compactions of real sessions, and the tool that writes the texts to answer them from.
package exam
