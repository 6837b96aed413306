"""What looks like a secret and is none: lines of real projects, read where they lie, and some of our own.

A real line counts as a look-alike if somebody has read it and found no live secret in it. Of those that were read,
`secrets_labels.txt` holds a hash each, and never the text; lines without one are not counted. `n` is a look-alike;
`s` could be a secret, also one that was published as an example, and is counted for neither side.
"""

import hashlib
import json
import random
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

from tests.bench import secrets_made


LABELS = Path(__file__).with_name("secrets_labels.txt")
FOLDERS = ("frontmatter", "instructions", "transcripts")
_LONGEST = 400

_SUSPECT = re.compile(
    r"(?i)passw|passphrase|pwd|secret|token|api.?key|credential|authorization|bearer|private.?key|://[^\s/]{1,80}@|"
    r"[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-|sha(?:256|512)[-:]|[0-9A-Za-z+/_=]{36}|\bsk-|\bghp_|akia|xox[bp]|"
    r"\s-p\S|\bcurl\b.* -u"
)


def every(data: Path) -> Iterator[str]:
    """All suspicious lines."""
    for folder in FOLDERS:
        for path in sorted((data / folder).rglob("*")):
            if path.is_file() and not path.name.startswith("_"):
                yield from _lines(path)


def _lines(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in {".jsonl", ".json"}:
        text = text.replace("\\\\n", "\n").replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t")
    for line in text.splitlines():
        match = _SUSPECT.search(line)
        if match:
            begin = max(0, match.start() - _LONGEST // 2)
            cut = line[begin : begin + _LONGEST] if len(line) > _LONGEST else line
            if begin:  # not in the middle of a word
                cut = cut.partition(" ")[2]
            yield cut.strip()


def mark(line: str) -> str:
    return hashlib.sha256(line.encode(errors="replace")).hexdigest()[:20]


def labels() -> dict[str, str]:
    rows = LABELS.read_text().splitlines() if LABELS.exists() else []
    return {hashed: label for label, hashed in (row.split() for row in rows if row and row[0] != "#")}


def real(data: Path) -> list[str]:
    """The lines that were read and found to be look-alikes."""
    known = labels()
    found = dict.fromkeys(line for line in every(data) if known.get(mark(line)) == "n")
    return list(found)


def own(seed: int = 13) -> list[str]:
    """Lines of our own, for where the data is missing."""
    r = random.Random(seed)

    def hexed(length: int) -> str:
        return secrets_made.hexed(length)(r)

    def b64(count: int) -> str:
        return secrets_made.b64(count)(r)

    lines = [line for line in _OWN.splitlines() if line.strip()]
    for _ in range(8):
        lines += [
            f"commit {hexed(40)}",
            f"index {hexed(7)}..{hexed(7)} 100644",
            f"sha256:{hexed(64)}",
            f'  "integrity": "sha512-{b64(64)}",',
            f"image: ghcr.io/acme/app@sha256:{hexed(64)}",
            f"{uuid.UUID(int=r.getrandbits(128), version=4)}",
            f"request_id={uuid.UUID(int=r.getrandbits(128), version=4)}",
            f"github.com/acme/lib v1.2.{r.randrange(9)} h1:{b64(32)}",
            f'checksum = "{hexed(64)}"',
            f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b64(31)[:43]} me@host",
            f"{hexed(64)}  dist/app-1.0.tar.gz",
            f"    --hash=sha256:{hexed(64)} \\",
            f"Digest: sha256:{hexed(64)}",
            f"https://docs.google.com/document/d/1{secrets_made.urlsafe(43)(r)}/edit",
            f'etag: "{hexed(32)}"',
            f"cache key: linux-node-{hexed(64)}",
            f"token_id: {uuid.UUID(int=r.getrandbits(128), version=4)}",
            f"client_id: {hexed(20)}",
            f"password_hash = {hexed(64)}",
            f"trace_id={hexed(32)} span_id={hexed(16)}",
            f"fingerprint: SHA256:{b64(32)[:-1]}",
            f"key_id = {hexed(16)}",
            f"primary key: {r.randrange(10**6)}",
            f"data:image/png;base64,iVBORw0KGgo{b64(120)}",
            f"public_key: {b64(32)}",
            json.dumps({"id": str(uuid.UUID(int=r.getrandbits(128), version=4)), "parent": hexed(24)}),
        ]
    return lines


_OWN = """\
The password must be at least 12 characters long.
The password is hashed with bcrypt before it is stored.
The password is required.
Passwords are never logged.
The password is stored in Vault under kv/app/prod-2024.
token: string
password: str
password: Optional[str] = None
password: SecretStr = Field(min_length=12)
secret: bytes
api_key: str | None = None
private readonly token: string;
password?: string
public String getPassword() {
password = get_password()
password = getpass.getpass("Password: ")
password = input("Password: ")
password = os.environ["DB_PASSWORD"]
const password = process.env.DB_PASSWORD;
const token = req.headers["x-token"];
token = request.headers["x"]
token = jwt.sign(payload, secret)
token = await getToken()
let token = localStorage.getItem('token')
secret = config.secret
self.password = password
this.password = password;
password=password
connect(user=user, password=password)
login(username, password)
if password == confirm_password:
if (password !== confirmation) {
assert user.password != password
password := os.Getenv("PASSWORD")
DB_PASSWORD=$DB_PASSWORD
DB_PASSWORD=${DB_PASSWORD}
DB_PASSWORD=${DB_PASSWORD:?set it}
password: ${{ secrets.DB_PASSWORD }}
token: ${{ secrets.GITHUB_TOKEN }}
GITHUB_TOKEN: ${{ github.token }}
password: "{{ vault_db_password }}"
password: !vault |
password: <your-password>
password: "<password>"
API_KEY=<your-api-key>
API_KEY=your_api_key_here
API_KEY=your-key-here
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-your-key-here
export ANTHROPIC_API_KEY="sk-ant-..."
export OPENAI_API_KEY="sk-xxxxxxxxxxxxxxxxxxxxxxxx"
token=xxxxxxxxxxxxxxxxxxxx
password: ********
password: [masked]
password: [redacted]
password: REDACTED
password=changeme
password=password
password: "password"
"password": "password"
"password": "string"
'password' => 'required|string|min:8',
"password": {"type": "string"}
<input type="password" name="password" id="password">
<label for="password">Password</label>
placeholder="Enter your password"
"password": "Password"
"password": "Passwort"
"passwordTooShort": "The password is too short"
password: "Please enter a password"
"forgotPassword": "Forgot your password?"
contraseña: "Introduce tu contraseña"
Forgot password? Click here.
Reset password
Change password: Settings > Account
Password: required, at least 8 characters
Password: (leave empty for none)
Password for 'https://git.acme.io':
[sudo] password for bob:
Enter passphrase for key '/home/bob/.ssh/id_ed25519':
Enter passphrase (empty for no passphrase):
Username: (none)
El campo contraseña es obligatorio
La contraseña es demasiado corta
Le mot de passe est obligatoire
Das Passwort ist zu kurz
Das Passwort muss mindestens 12 Zeichen haben
Пароль должен содержать не менее 12 символов
Пароль хранится в Vault
密码必须至少为12个字符
密码不能为空
パスワードは8文字以上で入力してください
비밀번호는 8자 이상이어야 합니다
La password è obbligatoria
A senha é obrigatória
Şifre en az 8 karakter olmalıdır
postgres://user:password@localhost/db
postgres://postgres:postgres@localhost:5432/postgres
postgres://${DB_USER}:${DB_PASS}@host/db
postgresql://<user>:<password>@<host>/<db>
https://user:pass@example.com
redis://localhost:6379/0
git@github.com:acme/app.git
ssh://git@github.com:22/acme/app.git
https://$TOKEN@github.com/acme/app
https://x-access-token:${{ github.token }}@github.com/acme/app
curl -u $USER:$PASS https://ci.internal
curl -u "$USER:$TOKEN" https://ci.internal
curl -u user:pass https://ci.internal
curl -H "Authorization: Bearer $TOKEN" https://api.internal
curl -H "Authorization: Bearer <token>" https://api.internal
Authorization: Bearer <access_token>
Authorization: Bearer YOUR_TOKEN
Authorization: Basic <credentials>
Authorization: `Bearer ${token}`
headers: { Authorization: `Bearer ${accessToken}` }
X-Api-Key: $API_KEY
Cookie: session=<id>
mysql -u root -p
mysql -u root -p$MYSQL_PASSWORD shop
mysql -u root -p shop < dump.sql
sshpass -p "$PASS" ssh root@host
sshpass -e ssh root@host
docker login -u acme --password-stdin
docker login -u acme -p $TOKEN
docker login -u acme -p ${{ secrets.DOCKER_TOKEN }}
echo "$TOKEN" | docker login -u acme --password-stdin
docker run -p 8080:80 nginx
mkdir -p build/output
ssh -p 2222 host
cp -p a b
pytest -p no:cacheprovider
redis-cli -a $REDIS_PASSWORD ping
psql -h db -U app -W
openssl rsa -passin env:PASS -in k.pem
openssl rsa -passin file:pass.txt -in k.pem
ldapsearch -x -W -D cn=admin
gpg --passphrase-file pass.txt -d a.gpg
zip -r out.zip dir
./app --password-file /run/secrets/db
./app --token-file token.txt
./app --password <password>
tool --password PASSWORD
usage: tool [--password PASSWORD] [--token TOKEN]
  --password TEXT    The password of the user.
  --token string     Token for the API
  -p, --password=name Password to use when connecting to server.
machine api.acme.io login <user> password <token>
ENV DB_PASSWORD_FILE=/run/secrets/db_password
POSTGRES_PASSWORD_FILE: /run/secrets/db-password
secretName: db-credentials
secretKeyRef:
  name: db-secret
  key: password
existingSecret: my-release-postgresql
imagePullSecrets:
- name: DB_PASSWORD
  valueFrom:
- secretRef:
    name: app-secrets
tokenizer: "cl100k_base"
max_tokens: 4096
"total_tokens": 15234,
"prompt_tokens": 1021, "completion_tokens": 380
token_count = 512
Token bucket: 100req/s
tokens per second: 48.2
tokenEndpoint: https://auth.acme.io/oauth/token
token_url = "https://auth.acme.io/oauth/token"
token_type: bearer
token_type=Bearer
csrf_token: {{ csrf_token }}
secretsmanager:GetSecretValue
arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
vault kv get -field=password secret/app/db
op://Private/db/password
password: op://Private/db/password
keyboard: us
keyword: password
primary_key=True
primaryKey: 'id'
foreign key (user_id) references users(id)
sort_key = "created_at"
partition_key: "tenant_id"
key: "user.settings.theme"
cache_key = f"user:{id}"
for key, value in items:
api_key_header = APIKeyHeader(name="X-API-Key")
ApiKeyAuth:
publicKey: ssh-ed25519
compass: north
bypass: true
passthrough: enabled
pass: true
passed: 412
passing: 12
tests pass: yes
pwd: /home/bob/app
PWD=/home/bob/app
OLDPWD=/srv
cd "$(pwd)"
SECRET_KEY = env("SECRET_KEY")
SECRET_KEY = os.getenv("SECRET_KEY", "")
secret: process.env.STRIPE_SECRET1
The secret key is rotated every 30d
The secret of good tests is repetition.
The token is base64url-encoded.
The access token is OAuth2 and short-lived.
The key is to keep functions short.
The API key is read from the environment.
Store the API key in the keychain.
API keys: see the console
Use a token with scope `repo`.
We use JWT tokens signed with RS256.
Basic auth is off; bearer tokens only.
Session cookies are HttpOnly and Secure.
Set-Cookie: session=; Max-Age=0
credentials: include
credentials: 'same-origin'
withCredentials: true
accessKey: "s"
Login / Register
log in with Google / GitHub
log in with your username / password
Username / Password
user / password authentication
admin / editor / viewer roles
Secret scanning: enabled
secrets: inherit
secrets: []
password: null
password: ""
password: ''
password=
password: ~
password: true
"secret": false,
passphrase: none
SELECT password FROM users WHERE id = 1;
ALTER TABLE users ADD COLUMN password VARCHAR(255) NOT NULL;
password VARCHAR(255),
password text not null
ALTER USER app WITH PASSWORD :'pw';
IDENTIFIED BY PASSWORD ?
user.setPassword(passwordEncoder.encode(rawPassword));
.withPassword(config.password())
password_validator = PasswordValidator()
validates :password, presence: true
t.string "password_digest", null: false
bcrypt.compare(password, user.passwordHash)
hashed_password = hash_password(password)
fake_password = faker.internet.password()
test_token = secrets.token_urlsafe(32)
openssl rand -base64 32
JWT_SECRET=$(openssl rand -hex 32)
password: $(cat /run/secrets/db)
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
Refuse files that begin with BEGIN RSA PRIVATE KEY
x86_64-unknown-linux-gnu arm64-apple-darwin23-py312-cp311
src/components/UserAccount2/BillingAddressForm.test.tsx
/usr/lib/python3.11/site-packages/pip/_internal/commands/install.py
com.acme.platform.security.authentication.PasswordAuthenticationProvider
ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)
fatal: password authentication failed for user "app"
Permission denied (publickey,password).
remote: Support for password authentication was removed on August 13, 2021.
WARNING! Using --password via the CLI is insecure. Use --password-stdin.
mysql: [Warning] Using a password on the command line interface can be insecure.
Invalid token: unexpected end of input
SyntaxError: Unexpected token '<', "<!DOCTYPE " is not valid JSON
unexpected token: identifier
Token expired at 2026-11-18T16:20:20Z
"""


def printed(line: str, r: random.Random) -> str:
    """As a program prints it."""
    frame = r.choice(("{}", "+{}", "2026-11-18T16:20:20.123Z INFO {}", "\x1b[32m{}\x1b[0m", "  {}"))
    return f"Step 4/9 : RUN make\n{frame.replace('{}', line)}\nwarning: unused variable `count`\n"


def candidate(line: str, r: random.Random) -> dict[str, object]:
    frame = r.choice(
        ("{}", "Seen in the setup: {}", "It is written so:\n\n    {}\n", "- {}\n- then run `make up`")
    )
    return {"statement": frame.replace("{}", line)}
