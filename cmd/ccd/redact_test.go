package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// awsKey is a secret for tests. It is put together here, so that no scanner of this repository reports it.
func awsKey(seed string) string { return "AKIA" + (seed + "Q3ZT7WXC5MNB2RDL")[:16] }

// TestRulesAreOptions: companions of different rules have different options, so a change of rules rewrites them.
func TestRulesAreOptions(t *testing.T) {
	secret := awsKey("")
	home := t.TempDir()
	env := []string{"HOME=" + home, "USERPROFILE=" + home}
	put(t, transcriptPath(home, 1), string(line("user", "the key is "+secret, 0)))
	seen := map[string]string{}
	for _, c := range []struct{ name, env string }{
		{"default", ""}, {"off", "CCD_REDACT_SECRETS=false"}, {"allowed", "CCD_REDACT_ALLOW=^" + secret + "$"}, {"other", "CCD_REDACT_ALLOW=x"},
	} {
		out, code := inProcess(t, append(env, c.env), "compact", "--no-archive", transcriptPath(home, 1))
		if code != 0 {
			t.Fatalf("%s: exit %d", c.name, code)
		}
		_, rest, _ := strings.Cut(string(out), "\noptions: ")
		options, _, _ := strings.Cut(rest, "\n")
		if other, ok := seen[options]; ok || options == "" {
			t.Errorf("%s: the options are %q, as with %s", c.name, options, other)
		}
		seen[options] = c.name
		shown := c.name == "off" || c.name == "allowed"
		if strings.Contains(string(out), secret) != shown || strings.Contains(string(out), "[redacted aws-key 1]") == shown {
			t.Errorf("%s: shows the secret: %v", c.name, !shown)
		}
	}
}

// bySecretName are texts with a secret that only its name or its place tells, between « and ».
var bySecretName = []string{
	`pass: «hunter2Kx»`, `the pass: «Tq7mXp29»`, `login pass: «kV9$wq27»`, `user: bob pass: «kV9wq27L»`, `pw=«Xk29vLq8»`,
	`pw: «Xk29vLq8»`, `pwd=«Xk29vLq8»`, `mysql -u root -p«Xk29vLq8» shop`, `mysqldump -u root -p«k9!x» shop`,
	`sshpass -p «kV9$wq27» ssh root@h`, `docker login -u me -p «abcdQWER1234» registry.example.org`,
	`mytool -u admin -p «kV9$wq27Lm»`, `7z x -p«S3cr3tZip» a.7z`, `unzip -P «kV9wq27» a.zip`,
	`mongosh -u root -p «Xk29vLq8» mongodb://h/db`, `SSHPASS=«kV9$wq27» sshpass -e ssh h`, `password: str = "«kV9$wq27LmZx4Rt»"`,
	`let password: String = "«kV9wq27LmZx4Rt»";`, `DB_PASSWORD="«kV9$wq27LmZx4Rt»"`, `password: "«Tq7(mXp29Lw#vR4»"`,
	`postgres://app:«bAGk7^l1d9j7M3»@h`, `GITHUB_PAT=«1a2b3c4d5e6f7a8b9c0d»`, `PASSCODE=«829104»`,
	`APP_KEY=«base64:q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=»`, `psk="«correcthorse»"`, `psk=«correcthorse9»`,
	`requirepass «Xk29vLq8»`, `{"Key":"DB_PASSWORD","Value":"«Xk29vLq8»"}`,
	`{"Name":"/prod/db/password","Type":"SecureString","Value":"«Xk29vLq8»"}`,
	`{"ParameterKey":"DBPassword","ParameterValue":"«Xk29vLq8»"}`, `Cookie: sessionid=«9a8b7c6d5e4f3a2b1c0d9a8b»; theme=dark`,
	`Set-Cookie: session=«Xk29vLq8Xk29vLq8»; Path=/; HttpOnly`, `Cookie: PHPSESSID=«9a8b7c6d5e4f3a2b1c0d»`,
	`curl -b "connect.sid=«s%3AXk29vLq8Xk29vLq8»" https://x`,
	`https://acct.blob.core.windows.net/c/b?sv=2022-11-02&sig=«Xk29vLq8Xk29vLq8Xk29vLq8Xk29vLq8Xk29vLq8Xk%3D»`,
	`localhost:5432:shop:alice:«Xk29vLq8»`, `db.example.org:5432:*:alice:«kV9$wq27»`, `redis-cli -h h -a «Xk29vLq8» ping`,
	`redis-cli -a «kV9$wq» ping`, `curl -ubob:«Xk29vLq8» https://x`, `curl -u bob:«kV9$wq27» https://x`,
	`curl --user bob:«abcdefgh» https://x`, `ldapsearch -x -D cn=admin -w «Xk29vLq8» -b dc=x`,
	`openssl enc -aes-256-cbc -pass pass:«Xk29vLq8» -in a`, `openssl rsa -passin pass:«hunterhunter» -in a`,
	`API_TOKEN=«0a1b2c3d4e5f60718293»`, `SECRET_KEY=«aaaabbbbccccddddeeee»`, `AUTH_TOKEN: «0a1b2c3d4e5f60718293»`,
	`SECRET_KEY_BASE=«0a1b2c3d4e5f607182930a1b2c3d4e5f60718293»`, `TOKEN=«/kV9wq27+LmZx4Rt»`, `TOKEN=«+kV9wq27/LmZx4Rt»`,
	"\x1b[32mDB_PASSWORD\x1b[0m=\x1b[33m«kV9wq27LmZx4Rt»\x1b[0m", "DB_PASSWORD\x1b[31m=\x1b[0m«kV9wq27LmZx4Rt»",
	"DB_PASSWORD\x1b[31m:\x1b[0m «kV9wq27LmZx4Rt»", `PGPASSWORD=«hunterhunter» psql`, `machine h login me password «hunterhunter»`,
	`ALTER USER app WITH PASSWORD '«hunterhunter»';`, `CREATE USER app IDENTIFIED BY '«hunterhunter»';`,
	`<password>«hunterhunter9»</password>`, `Server=x;User Id=sa;Pwd=«hunter,27x»;`,
	`AccountKey=«Xk29vLq8Xk29vLq8Xk29vLq8Xk29vLq8Xk29vLq8Xk29vLq8Xk29vLq8Xk29vLq8Xk29vLq8Xk29vLq8Xk29vA==»;EndpointSuffix=core`,
	`//registry.npmjs.org/:_authToken=«0a1b2c3d-4e5f-6071-8293-0a1b2c3d4e5f»`, `_auth=«Ym9iOmh1bnRlcjJYazI5dkxxOA==»`,
	`Authorization: Basic «Ym9iOmh1bnRlcjJY»`, `Authorization: Bearer «hunterhunterhunter»`, `X-Api-Key: «hunter4Hunter7hunter»`,
	`PrivateKey = «yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»`, `PresharedKey = «yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»`,
	`password = "«päßwört9xk»"`, `passphrase: "«correct horse battery staple»"`, `os.environ["DB_PASSWORD"] = "«kV9wq27»"`,
	`os.Setenv("API_TOKEN", "«kV9wq27LmZx4Rt»")`, `smbclient //h/s -U bob%«kV9wq27L»`, `DB_PASSWORD=«kV9,wq;27(x»`,
	`DB_PASSWORD=«abcdefgh»`, `"password": "«kV9\"wq27LmZx4Rt»"`, `password => '«kV9wq27L»',`, `:password => "«kV9wq27L»"`,
	`PASSWORD_PROD=«kV9wq27L»`, `db_password_v2: "«kV9wq27L»"`, `redis://default:«hunter2»@h:6379`, `amqp://guest:«gu$est(1»@h/`,
	`masterauth «foobared»`, `CONFIG SET requirepass «foobared»`, `redis-server --masterauth «foobared»`, `rootpw «Xk29vLq8»`, `bindpw: «Xk29vLq8»`,
	`the password is «hunter2Kx»`, `ENV API_TOKEN «gwqkzvtr»`, "DB_PASSWORD\t«Xk29vLq8»", `| API_TOKEN | «0a1b2c3d4e5f» |`, "user: ada\npassword: «gwqkzvtr»",
	`run with token=«1a2b3c4d5e» please`, `"password": ["«Xk29vLq8»"]`, `<entry key="password">«Xk29vLq8»</entry>`, "password: |\n  «gwqkzvtrb»",
	`password: !vault "«Xk29vLq8»"`, `password =\u003e "«Xk29vLq8»"`, `\u003cpassword\u003e«Xk29vLq8»\u003c/password\u003e`, `pass: «Summer#Sun9»`,
	`{"auth": "«Ym9iOmh1bnRlcjJY»"}`, `DB_PASS=«gwqkzvtr»`, `setenv("API_TOKEN", "«-Xk29vLq8»")`, `token: «FkqT7zvWm3»,`,
}

// noSecrets are texts that look like those of bySecretName and have none.
var noSecrets = []string{
	`mkdir -p /var/lib/app2/data`, `mkdir -p build2/output-Dir`, `docker run -p 8080:80 -p 127.0.0.1:5432:5432/tcp nginx`,
	`docker run -u 1000 -p 8080:80 nginx`, `ssh -p 2222 bob@h`, `scp -P 2222 a b`, `git add -p main.go`, `git log -p -2 HEAD~3`,
	`cp -p Afile1 Bfile2`, `sudo -u app mkdir -p build2/Out`, `claude -p "fix the login bug in auth2.go"`,
	`pytest -p no:cacheprovider tests`, `nmap -p 1-65535 h`, `psql -U postgres -p 5432 shop`, `kill -9 $(pgrep -f ccd2)`,
	`grep -w Password2 main.go`, `ls -a Documents2`, `go test -run TestPass2 -p 4 ./...`, `PASS: TestParseDate2`,
	`--- PASS: TestRoundTrip64 (0.00s)`, `PASS: 12, FAIL: 3`, `pass: 12, fail: 3`, `pass: true`, `first pass: parse the tokens`,
	`tests_passed=12345678`, `compass: 1234a5678`, `bypass: "Layer2Switch"`, `the password must have 12 characters`,
	`password: required`, `Password: must be at least 8 characters`, `"password": "This field is required."`, `password: string;`,
	`password: str`, `password: Optional[str] = None`, `password string`, `func (u *User) SetPassword(password string) error {`,
	`if password == user.password1 {`, `password = getpass2(prompt)`, `password = getpass.getpass("Password: ")`,
	`const password = generatePassword32();`, `const token = await getToken(req2);`, `token = self.next_token`,
	`token = tokens[i2]`, `token: token.value`, `const { token } = req.body2;`, `password=password,`,
	`client = Client(token=token, password=password)`, `connect(password=cfg.password)`, `password=${DB_PASSWORD1}`,
	`password: $DB_PASSWORD`, `password=$(cat /run/secrets/db2)`, `PASSWORD=%DB_PASSWORD%`, `token: ${{ secrets.GITHUB_TOKEN }}`,
	`password: {{ vault_password }}`, `password: <your-password-1>`, `--password=PASSWORD`, `--token YOUR_TOKEN`,
	`use --password to set the password`, `the --token flag is required`, `"token": null`, `max_tokens: 4096`,
	`"max_tokens":200000`, `input_tokens=18234`, `"tokens": 1234567`, `token_count: 12345`, `tokens=[1,2,3]`,
	`PASSWORD_MIN_LENGTH=12`, `PASSWORD_RESET_URL = "/accounts/reset/v2"`, `password_file: /run/secrets/db_password2`,
	`PASSWORD_HASHERS = [`, `validate_password(min_length=8, max_length=128)`, `PWD=/home/me/src2`, `OLDPWD=/home/me/src2`,
	`git -u origin:main-2`, `primary key: user_id2`, `foreign_key: order_id2`, `"key": "userName2"`, `key: 'arrowLeft2'`,
	`cache_key = f"user:{user_id}"`, `sort_key: createdAt2`, `partition key: tenant#42`, `public_key: ssh-rsa`,
	`secretName: my-tls-secret2`, `secret: my-app-secret`, `bearer responsibilities2024`, `Basic understanding_of_things2`,
	`func passwordV2(a1 string)`, `author: alice2`, `authors: bob3`, `authenticate: yes2`, `oauth: enabled2`,
	`signature: func(a1 int)`, `sig: <-chan os.Signal`, `pattern: ^a1b2$`, `path: /usr/local2`, `patch: v1.2.3`,
	`"sessionId":"0a1b2c3d-4e5f-6071-8293-0a1b2c3d4e5f"`, `session_id=0a1b2c3d-4e5f-6071-8293-0a1b2c3d4e5f`, `"session":"3f2a9c1e"`,
	`sid: 12345678`, `main.go:12:5:error:x`, `src/main.go:1234:func:main:12`, `10:32:55:INFO:started2`, `token: "return"`,
	`Unexpected token: '}'`, `SyntaxError: Unexpected token: string2`, `Error: invalid token: expected 12 got 13`,
	`password reset link sent to user2`, `label: "Password2"`, `placeholder="Enter your password"`,
	`type="password" name="password" id="password2"`, `<input type="password" name="pw2" />`, `name: password`,
	`credentials: "include"`, `credentials: 'same-origin'`, `auth: true`, `auth: none`, `"auth": "required"`,
	`api_key: "your-api-key-here"`, `apiKey: process.env.OPENAI_API_KEY`, `apiKey=os.environ["OPENAI_API_KEY2"]`,
	`api_key = config.get("api_key2")`, `api_keys: 3`, `private_key: ~/.ssh/id_ed25519`, `ssh_key: /home/me/.ssh/id_rsa2`,
	`access key: none`, `secret_key = settings.SECRET_KEY`, `https://example.org:443/@scope/pkg@1.2.3`,
	`http://localhost:8080/user@example.org`, `git@github.com:org/repo2.git`, `https://user@host/x2`,
	`postgres://user:password@localhost/db`, `postgres://user:${PASS}@localhost/db`, `keyboard: "Qwerty123"`, `monkey: "banana42"`,
	`tokenizer: "cl100k_base"`, `"tokenizer_config": "gpt2Tokenizer"`, `token_type: "bearer2"`, `password_policy: "min8chars"`,
	`passwordField2: "input#password"`, `passing: 12345678`, `PASSED 14 tests in 3.2s`, `const PASSWORD_REGEX = /^[a-z]{8}$/`,
	`token = "`, `password: ""`, `password: ''`, `password: ******`, `DB_PASSWORD=********`, `password: [redacted password 1]`,
	`password=[redacted password 1]`, `secrets: 12`, `"secret": false`, `secret: true`,
	`set masterauth in redis.conf`, `the token is rejected`, `the password is already hashed`, `password     uint32`, `a token string2`,
	`encodeUserPassword | encodeQuery | encodePath`, `password required pam_unix.so`, `token is opaque`, "Token string `json:\"token2\"`",
	`got token: -want/+got`, `auth := sigv4.AuthData{`, `"token": ["keyword", "operator"]`, `secret Santa 2024`, `[CreateToken]: https://docs.example.org/CreateToken2`,
	`"token_uri": "https://example.org/token2"`, `password: |`, `<label for="password">Password2</label>`, `token = t.peek2(`, `accessKey, secretKey2`,
}

// shownToAgent returns what `ccd agent restore` prints of outputs, each as one record.
func shownToAgent(t *testing.T, raw bool, outputs ...any) (shown []string) {
	t.Helper()
	env := agentHome(t, outputs...)
	for i := range outputs {
		args := []string{"agent", "restore", fmt.Sprintf("beefcafe#%d", 2*i+3)}
		if raw {
			args = append(args, "--raw")
		}
		out, code := inProcess(t, env, args...)
		if code != 0 {
			t.Fatalf("%v: exit %d", args, code)
		}
		shown = append(shown, string(out))
	}
	return shown
}

// TestSecretsByName: a secret is found by its name or its place in each of these forms, and at most 1 in 50 texts without one is taken
// for one.
func TestSecretsByName(t *testing.T) {
	var texts []string
	for _, text := range bySecretName {
		texts = append(texts, strings.NewReplacer("«", "", "»", "").Replace(text))
	}
	texts = append(texts, noSecrets...)
	var nested []string
	for _, text := range texts {
		b, _ := json.Marshal(map[string]any{"out": text})
		nested = append(nested, string(b))
	}
	for _, texts := range [][]string{texts, nested} {
		const between = "\n----\n"
		out := shownToAgent(t, false, strings.Join(texts, between))[0]
		shown := strings.Split(strings.TrimSuffix(out, "\n"), between)
		if len(shown) != len(texts) {
			t.Fatalf("%d texts of %d", len(shown), len(texts))
		}
		for i, text := range bySecretName {
			_, rest, _ := strings.Cut(text, "«")
			secret, _, _ := strings.Cut(rest, "»")
			if strings.Contains(shown[i], secret[:len(secret)/2+1]) || strings.Contains(shown[i], secret[len(secret)/2:]) {
				t.Errorf("%q is shown as %q", text, shown[i])
			}
		}
		var hidden []string
		for i := len(bySecretName); i < len(texts); i++ {
			if shown[i] != texts[i] {
				hidden = append(hidden, texts[i])
			}
		}
		t.Logf("%d of %d texts without a secret are taken for one: %q", len(hidden), len(noSecrets), hidden)
		if len(hidden)*50 > len(noSecrets) {
			t.Errorf("more than 1 in 50")
		}
	}
}

// TestNamedSecrets: of values with letters and digits whose names say that they are secrets, at most 1 in 1,000 is shown in part.
func TestNamedSecrets(t *testing.T) {
	names := []string{"DB_PASSWORD", "API_TOKEN", "SECRET_KEY", "AUTH_TOKEN", "GITHUB_PAT", "client_secret", "PASSCODE", "accessKey", "SSHPASS", "password"}
	forms := []string{
		"%s=%s", "export %s=%s", "%s: %s", "%s=\"%s\"", "\"%s\": \"%s\"", "%s = '%s'", "{\"Key\":\"%s\",\"Value\":\"%s\"}", "- name: %s\n  value: %s",
		"\x1b[32m%s\x1b[0m=\x1b[33m%s\x1b[0m", "%s\x1b[31m:\x1b[0m %s", "%s: str = \"%s\"", "run with %s=%s please", "const %s string = \"%s\"",
		"%s = %s", "%s:%s,", "(%s=%s)", "%s %s", "%s\t%s", "| %s | %s |", "ENV %s %s", "--%s %s", "https://h/?%s=%s&b=1", "%s =\\u003e '%s'",
	}
	const small = "0123456789abcdefghijklmnopqrstuvwxyz"
	alphabets := []string{small[:16], small + strings.ToUpper(small[10:]), small + strings.ToUpper(small[10:]) + "+/!#$%^&*()_-.,:@?~"}
	r := rand.New(rand.NewPCG(testkit.Seed(), 1))
	count := testkit.Cases(t, 2, 20)
	all, bad := 0, []string{}
	for a, alphabet := range alphabets {
		var text strings.Builder
		var lines, values []string
		for _, name := range names {
			for _, length := range []int{8, 12, 20, 32, 40} {
				for n := range count * len(forms) {
					form := forms[n%len(forms)]
					if a == 2 && !strings.Contains(form, "\"") && !strings.HasPrefix(form, "%s=") {
						form = forms[3] // such characters need quotes
					}
					value := make([]byte, length)
					for i := range value {
						value[i] = alphabet[r.IntN(len(alphabet))]
					}
					value[1], value[2], value[4] = '7', 'k', '2' // letters or digits alone may be a word or a number of a program
					values, lines = append(values, string(value)), append(lines, fmt.Sprintf(form, name, value))
					text.WriteString(lines[len(lines)-1] + "\n----\n")
				}
			}
		}
		shown := strings.Split(shownToAgent(t, false, text.String())[0], "\n----\n")
		for i, value := range values {
			all++
			for k := 0; k+6 <= len(value); k++ {
				if strings.Contains(shown[i], value[k:k+6]) {
					bad = append(bad, lines[i])
					break
				}
			}
		}
	}
	t.Logf("%d of %d values are shown", len(bad), all)
	if len(bad)*1000 > all {
		t.Errorf("%d of %d values are shown: %.1000q", len(bad), all, bad)
	}
}

// TestMarksCutNoEscape: a record without its secrets is JSON, and so is the JSON in its strings.
func TestMarksCutNoEscape(t *testing.T) {
	var outputs []any
	all := 0
	for _, escape := range []string{"\t", "\n", "ä", "\"", "\\", "\u2028", "<", "\x1b[1m", "é", "😀", "\x00", "&", "'"} {
		var texts []any
		for _, form := range []string{"DB_PASSWORD=%s", "password: %s", "{\"password\": \"%s\"}", "token='%s'", "Cookie: sid=%s; a=b", "curl -u bob:%s x", "postgres://a:%s@h/"} {
			for _, value := range []string{escape + "kV9wq27LmZx4Rt", "kV9wq27" + escape + "LmZx4Rt", "kV9wq27LmZx4Rt" + escape} {
				text := fmt.Sprintf(form, value)
				once, _ := json.Marshal(map[string]any{"text": text})
				twice, _ := json.Marshal(map[string]any{"text": string(once)})
				for _, one := range []string{text, string(once), string(twice)} {
					texts = append(texts, map[string]any{"type": "text", "text": one})
					all++
				}
			}
		}
		outputs = append(outputs, texts)
	}
	hidden := 0
	for i, shown := range shownToAgent(t, true, outputs...) {
		var record struct {
			Message struct {
				Content []struct{ Content []struct{ Text string } }
			}
		}
		if err := json.Unmarshal([]byte(shown), &record); err != nil || len(record.Message.Content) != 1 {
			t.Errorf("record %d: %v: %s", i, err, shown)
			continue
		}
		for n, block := range record.Message.Content[0].Content {
			if n%3 > 0 && !json.Valid([]byte(block.Text)) {
				t.Errorf("no JSON: %s", block.Text)
			}
		}
		hidden += strings.Count(shown, "[redacted ")
	}
	if hidden*4 < all*3 {
		t.Errorf("%d of %d texts have a mark", hidden, all)
	}
}
