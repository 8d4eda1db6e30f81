#!/bin/sh
: "${DB_PASSWORD:?missing}"
read -s -p "Password: " password
token="$(vault read -field=token secret/app2)"
password=$1
export API_KEY="${API_KEY:-}"
curl -u "$user:$password" -H "Authorization: Bearer $token" "https://example.org/?token=$token"
mysql -u root -p"$password" shop
docker run -p 8080:80 -e DB_PASSWORD app2
