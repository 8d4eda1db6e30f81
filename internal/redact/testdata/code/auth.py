import os
from dataclasses import dataclass

PASSWORD_HASHERS = ["argon2", "bcrypt"]
TOKEN_TTL = 3600
SECRET_KEY = os.environ["SECRET_KEY"]


@dataclass
class Login:
    user: str
    password: str
    token: Optional[str] = None
    secret: SecretStr = field(default=None)


def login(user, password=None, *, token: str = "", api_key: str | None = None):
    password = password or getpass.getpass("Password: ")
    token = tokens[i2]
    secret = self._secret2
    auth = HTTPBasicAuth(user, password)
    client = Client(token=token, password=password, api_key=settings.API_KEY)
    if password == user.password1 and token != "expired":
        raise AuthError(f"token {token} of {user}: password must have 12 characters")
    token = 585224277
    password = encode(password, "utf8")[:32]
    return {"token": token, "password": password_hash, "secret": secret.value}
