CREATE TABLE users (id SERIAL, password VARCHAR(255) NOT NULL, token TEXT, secret BYTEA);
INSERT INTO labels VALUES ('password','Password'), ('token','...'), ('secret', 'hidden');
SELECT password, token FROM users WHERE token = $1 AND password = crypt($2, password);
UPDATE users SET password = hash(password), token = NULL WHERE id = 42;
