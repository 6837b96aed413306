"""Secrets that were never real, in the forms in which people and programs write them down, from a seed.

A kind is a maker and templates. Every second template of a kind, and some whole kinds, are held out: the rules are
written without looking at what of those is missed. Tokens are put together while this runs, so that no scanner takes
this file for a leak.
"""

import base64
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator
from urllib.parse import quote

import msgspec


class Made(msgspec.Struct, frozen=True):
    """A text, and the pieces of it that must not stay."""

    kind: str
    text: str
    values: tuple[str, ...]
    held: bool
    side: str = "both"
    """Where it occurs: `candidate`, `output` or `both`."""


Maker = Callable[[random.Random], str]
_ALNUM = string.ascii_letters + string.digits
_URLSAFE = _ALNUM + "-_"
_WORDS = [
    "amber",
    "anchor",
    "april",
    "basket",
    "beacon",
    "birch",
    "bishop",
    "blanket",
    "bottle",
    "bramble",
    "bridge",
    "bronze",
    "bucket",
    "butter",
    "cabin",
    "candle",
    "canyon",
    "castle",
    "cedar",
    "cherry",
    "cinder",
    "circle",
    "clover",
    "copper",
    "coral",
    "cotton",
    "cricket",
    "crystal",
    "dagger",
    "daisy",
    "desert",
    "dolphin",
    "dragon",
    "ember",
    "falcon",
    "feather",
    "fennel",
    "ferry",
    "flannel",
    "forest",
    "fossil",
    "galaxy",
    "garden",
    "ginger",
    "glacier",
    "granite",
    "hammer",
    "harbor",
    "hazel",
    "helmet",
    "hollow",
    "honey",
    "igloo",
    "indigo",
    "island",
    "ivory",
    "jasmine",
    "jungle",
    "kettle",
    "ladder",
    "lantern",
    "lemon",
    "lizard",
    "lobster",
    "magnet",
    "maple",
    "marble",
    "meadow",
    "mercury",
    "mirror",
    "mitten",
    "monkey",
    "mountain",
    "nectar",
    "needle",
    "noodle",
    "ocean",
    "olive",
    "orchid",
    "otter",
    "oyster",
    "paddle",
    "panther",
    "parrot",
    "pepper",
    "pickle",
    "pigeon",
    "planet",
    "plasma",
    "pocket",
    "pumpkin",
    "purple",
    "puzzle",
    "quartz",
    "rabbit",
    "raven",
    "ribbon",
    "river",
    "rocket",
    "saddle",
    "saffron",
    "salmon",
    "scarlet",
    "shadow",
    "silver",
    "spider",
    "spiral",
    "staple",
    "sunset",
    "tangerine",
    "temple",
    "thistle",
    "thunder",
    "tiger",
    "timber",
    "tulip",
    "tunnel",
    "turtle",
    "velvet",
    "violet",
    "walnut",
    "walrus",
    "whisper",
    "willow",
    "winter",
    "wizard",
    "zebra",
]
_FOREIGN = [
    "sonnenblume",
    "regenschirm",
    "fledermaus",
    "kirschbaum",
    "papillon",
    "tournesol",
    "citrouille",
    "chaussette",
    "mariposa",
    "girasol",
    "tormenta",
    "caracol",
    "borboleta",
    "cachoeira",
    "farfalla",
    "girasole",
    "zanzariera",
    "kelebek",
    "yagmur",
    "vlinder",
    "zonnebloem",
    "matahari",
    "kupukupu",
    "motyl",
]


def some(alphabet: str, length: int) -> Maker:
    return lambda r: "".join(r.choice(alphabet) for _ in range(length))


def after(start: str, rest: Maker) -> Maker:
    return lambda r: start + rest(r)


def hexed(length: int) -> Maker:
    return some("0123456789abcdef", length)


def alnum(length: int) -> Maker:
    return some(_ALNUM, length)


def urlsafe(length: int) -> Maker:
    return some(_URLSAFE, length)


def b64(count: int) -> Maker:
    return lambda r: base64.b64encode(r.randbytes(count)).decode()


def password(r: random.Random) -> str:
    """As people choose them."""
    word = r.choice([*_WORDS, *_FOREIGN])
    form = r.randrange(5)
    if form == 0:
        return word.capitalize() + str(r.randrange(10, 9999)) + r.choice("!#%?*")
    if form == 1:
        return (
            word.replace("a", "4").replace("e", "3").replace("o", "0")
            + r.choice("!#+")
            + r.choice(_WORDS)[:4]
        )
    if form == 2:
        return f"{r.choice(_WORDS)}{r.choice('-_.+')}{word}{r.randrange(99)}"
    if form == 3:
        return "".join(r.choice(_ALNUM + "!#%+*?") for _ in range(r.randrange(10, 17))) + "7x"
    return (
        r.choice(string.ascii_uppercase) + "".join(r.choice(_ALNUM) for _ in range(r.randrange(9, 20))) + "4k"
    )


def chosen(r: random.Random) -> str:
    """Words with a number, or with figures for letters, as people make them up."""
    first, second = r.sample(_WORDS, 2)
    number = r.randrange(10, 99)
    leet = first.replace("a", "4").replace("o", "0").replace("e", "3").capitalize()
    return r.choice(
        (
            f"{first.capitalize()}-{second}-{number}",
            f"{first}_{second}_{number}",
            f"{first}.{second}.{number}",
            f"{leet}_{some(string.ascii_letters, 3)(r)}{number}",
            f"{first}{number}{second}",
        )
    )


def code(r: random.Random) -> str:
    return f"{hexed(4)(r)}a-{hexed(4)(r)}7"


def letters(r: random.Random) -> str:
    """A passphrase of letters alone."""
    form = r.randrange(4)
    if form == 0:
        return "".join(r.sample(_WORDS, r.randrange(2, 5)))
    if form == 1:
        return "".join(word.capitalize() for word in r.sample(_WORDS, r.randrange(2, 4)))
    if form == 2:
        return r.choice(_FOREIGN)
    return "".join(r.choice(string.ascii_lowercase) for _ in range(r.randrange(8, 16)))


def words(r: random.Random) -> str:
    return r.choice("- _.").join(r.sample(_WORDS, r.randrange(3, 6)))


def shell_safe(r: random.Random) -> str:
    """A password that needs no quotes."""
    if r.random() < 0.3:
        return letters(r)
    return "".join(char if char in _URLSAFE else "x" for char in password(r))


def uuid4(r: random.Random) -> str:
    return str(uuid.UUID(int=r.getrandbits(128), version=4))


def jwt(r: random.Random) -> str:
    def part(value: object) -> str:
        return (
            base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).rstrip(b"=").decode()
        )

    claims = {"sub": str(r.randrange(10 ** r.randrange(1, 9))), "iat": r.randrange(10**9, 2 * 10**9)}
    if r.random() < 0.5:
        claims["name"] = r.choice(_WORDS)[: r.randrange(2, 7)]
    size = r.choice((32, 48, 64, 256))
    signature = base64.urlsafe_b64encode(r.randbytes(size)).rstrip(b"=").decode()
    return f"{part({'alg': r.choice(('HS256', 'RS256', 'ES256')), 'typ': 'JWT'})}.{part(claims)}.{signature}"


def basic(r: random.Random) -> str:
    return base64.b64encode(f"{r.choice(_WORDS)}:{password(r)}".encode()).decode()


def wide(text: str) -> str:
    """In full-width letters."""
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def cut(text: str, r: random.Random) -> str:
    """With a character in it that nobody sees."""
    at = r.randrange(3, len(text) - 3)
    return text[:at] + r.choice("\u200b\u2060\ufeff\u00ad\u200d") + text[at:]


class Kind(msgspec.Struct, frozen=True):
    name: str
    make: Maker
    templates: tuple[str, ...]
    held: bool = False
    side: str = "both"


def _kinds() -> Iterator[Kind]:  # noqa: PLR0915 - a table
    def kind(name: str, make: Maker, *templates: str, held: bool = False, side: str = "both") -> Kind:
        return Kind(name, make, templates, held, side)

    plain = (
        "{}",
        "We use {} for that.",
        "key: {}",
        "export THE_KEY={}",
        '"value": "{}"',
        "curl -H 'X-Key: {}' https://api.internal",
    )
    upper = string.ascii_uppercase + string.digits
    yield kind("aws access key", after("AK" + "IA", some(string.ascii_uppercase + "234567", 16)), *plain)
    yield kind(
        "aws secret key",
        alnum(40),
        "aws_secret_access_key = {}",
        "AWS_SECRET_ACCESS_KEY={}",
        '"SecretAccessKey": "{}",',
        "aws configure set aws_secret_access_key {}",
        "secretAccessKey: '{}'",
        "AWS Secret Access Key [None]: {}",
    )
    yield kind("gcp api key", after("AI" + "za", urlsafe(35)), *plain)
    yield kind("gcp oauth", after("ya" + "29.a0", urlsafe(60)), *plain, held=True)
    yield kind("gcp client secret", after("GOC" + "SPX-", urlsafe(28)), *plain)
    yield kind(
        "azure account key",
        b64(64),
        "DefaultEndpointsProtocol=https;AccountName=stor;AccountKey={};EndpointSuffix=core.windows.net",
        "az storage blob list --account-name stor --account-key {}",
        'AZURE_STORAGE_KEY="{}"',
        "SharedAccessKeyName=Root;SharedAccessKey={}",
    )
    yield kind(
        "azure sas",
        lambda r: quote(b64(32)(r), safe=""),
        "https://stor.blob.core.windows.net/c/f.zip?sv=2024-11-04&se=2027-01-01&sr=b&sp=r&sig={}",
        "SharedAccessSignature=sv=2024-11-04&ss=b&srt=sco&sp=rl&sig={}",
    )
    yield kind(
        "azure client secret",
        lambda r: alnum(3)(r) + "8Q~" + urlsafe(33)(r) + "k",
        "AZURE_CLIENT_SECRET={}",
        "client_secret: {}",
        "the app's value is {}",
        "az login --service-principal -u app -p {} --tenant t",
    )
    yield kind(
        "github classic",
        after("gh" + "p_", alnum(36)),
        *plain,
        "git clone https://{}@github.com/acme/app.git",
        "https://oauth2:{}@github.com/acme/app",
    )
    yield kind(
        "github fine-grained", lambda r: "github" + "_pat_" + alnum(22)(r) + "_" + alnum(59)(r), *plain
    )
    yield kind("github app", lambda r: "gh" + r.choice("ousr") + "_" + alnum(36)(r), *plain, held=True)
    yield kind(
        "gitlab",
        lambda r: "gl" + r.choice(("pat-", "dt-", "rt-", "ptt-", "cbt-64_")) + urlsafe(20)(r),
        *plain,
        "git clone https://oauth2:{}@gitlab.acme.io/a.git",
    )
    yield kind(
        "slack",
        lambda r: (
            f"xox{r.choice('bp')}-{r.randrange(10**11, 10**12)}-{r.randrange(10**11, 10**12)}-{alnum(24)(r)}"
        ),
        *plain,
    )
    yield kind(
        "slack webhook",
        lambda r: f"T{some(upper, 8)(r)}/B{some(upper, 10)(r)}/{alnum(24)(r)}",
        "https://hooks.slack.com/services/{}",
        "curl -X POST -d '{{}}' https://hooks.slack.com/services/{}",
    )
    yield kind(
        "stripe",
        lambda r: r.choice("sr") + "k_" + r.choice(("live_", "test_")) + alnum(r.choice((24, 99)))(r),
        *plain,
    )
    yield kind("twilio", after("S" + "K", hexed(32)), *plain, "TWILIO_API_KEY={}")
    yield kind("sendgrid", lambda r: "S" + "G." + urlsafe(22)(r) + "." + urlsafe(43)(r), *plain)
    yield kind("npm", after("np" + "m_", alnum(36)), *plain, "//registry.npmjs.org/:_authToken={}")
    yield kind("pypi", after("pypi" + "-AgEIcHlwaS5vcmc", urlsafe(150)), *plain)
    yield kind("docker hub", after("dckr" + "_pat_", urlsafe(27)), *plain, "docker login -u acme -p {}")
    yield kind("hugging face", after("h" + "f_", some(string.ascii_letters, 34)), *plain)
    yield kind("openai", lambda r: "sk" + "-" + r.choice(("proj-", "svcacct-")) + urlsafe(120)(r), *plain)
    yield kind("openai old", lambda r: "sk" + "-" + alnum(20)(r) + "T3BlbkFJ" + alnum(20)(r), *plain)
    yield kind("anthropic", after("sk" + "-ant-api03-", urlsafe(93)), *plain)
    yield kind(
        "telegram",
        lambda r: f"{r.randrange(10**8, 10**10)}:AA{urlsafe(33)(r)}",
        *plain,
        "https://api.telegram.org/bot{}/getMe",
    )
    yield kind(
        "discord bot",
        lambda r: f"M{alnum(23)(r)}.G{alnum(5)(r)}.{urlsafe(38)(r)}",
        "{}",
        "DISCORD_TOKEN={}",
        "The bot logs in as {}",
        "client.login('{}')",
    )
    yield kind("digitalocean", after("do" + "p_v1_", hexed(64)), *plain)
    yield kind("shopify", after("shp" + "at_", hexed(32)), *plain, held=True)
    yield kind("databricks", after("da" + "pi", hexed(32)), *plain)
    yield kind("vault", after("hv" + "s.", urlsafe(90)), *plain)
    yield kind("grafana", lambda r: "gl" + f"sa_{alnum(32)(r)}_{hexed(8)(r)}", *plain, held=True)
    yield kind("mailgun", after("key" + "-", hexed(32)), *plain)
    yield kind("age", after("AGE-SECRET" + "-KEY-1", some("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)), *plain)
    yield kind(
        "minisign",
        lambda r: "RWRTY0Iy" + b64(156)(r)[8:],
        "untrusted comment: minisign encrypted secret key\n{}\n",
        "minisign secret key: {}",
        held=True,
    )
    yield kind(
        "wireguard",
        b64(32),
        "[Interface]\nPrivateKey = {}\nAddress = 10.0.0.2/32",
        "PresharedKey = {}\nAllowedIPs = 0.0.0.0/0",
        'wg_private_key: "{}"',
    )
    yield kind(
        "jwt",
        jwt,
        "{}",
        "Authorization: Bearer {}",
        '{{"access_token": "{}", "expires_in": 3600}}',
        "id_token={}",
        "Set-Cookie: auth={}; HttpOnly",
        "we send {}",
    )
    yield kind(
        "bearer",
        lambda r: r.choice((alnum(24), urlsafe(43), hexed(40), uuid4))(r),
        "Authorization: Bearer {}",
        "curl -H 'Authorization: Bearer {}' https://api.internal/v1",
        '"Authorization": "Bearer {}"',
        "> authorization: bearer {}",
        "Authorization: token {}",
        'headers = {{"Authorization": "ApiKey {}"}}',
    )
    yield kind(
        "basic header",
        basic,
        "Authorization: Basic {}",
        "-H 'Authorization: Basic {}'",
        "Proxy-Authorization: Basic {}",
        '"auth": "{}"',
    )
    yield kind(
        "header key",
        lambda r: r.choice((alnum(32), hexed(32), uuid4))(r),
        "X-Api-Key: {}",
        "PRIVATE-TOKEN: {}",
        "curl -H 'X-Auth-Token: {}' https://x.internal",
        "x-functions-key: {}",
        "X-Vault-Token: {}",
        "Ocp-Apim-Subscription-Key: {}",
    )
    yield kind(
        "cookie",
        lambda r: r.choice((alnum(32), hexed(40), urlsafe(64)))(r),
        "Cookie: sessionid={}",
        "Set-Cookie: session={}; Path=/; HttpOnly",
        "cookie: theme=dark; connect.sid={}; lang=en",
        "curl -b 'PHPSESSID={}' https://app.internal",
        "Set-Cookie: JSESSIONID={}; Path=/",
    )
    yield kind(
        "url",
        shell_safe,
        "postgres://app:{}@db.internal:5432/app",
        "DATABASE_URL=mysql://root:{}@10.0.0.5/shop",
        "redis://:{}@cache.internal:6379/0",
        "amqp://mq:{}@rabbit.internal//",
        "mongodb+srv://svc:{}@cluster0.ab1cd.mongodb.net/prod",
        "smtps://mailer:{}@smtp.acme.io:465",
        "https://deploy:{}@git.acme.io/app.git",
        "ftp://upload:{}@files.acme.io/in",
        "remote: origin https://ci:{}@git.acme.io/app (fetch)",
        "socks5://me:{}@proxy.acme.io:1080",
    )
    yield kind(
        "url, percent",
        lambda r: quote(password(r) + "@/" + r.choice(_WORDS), safe=""),
        "postgres://app:{}@db.internal/app",
        "https://ci:{}@git.acme.io/x.git",
    )
    yield kind(
        "url query",
        lambda r: r.choice((alnum(32), hexed(32), uuid4))(r),
        "https://api.acme.io/v1/x?api_key={}&page=2",
        "GET /hook?token={} HTTP/1.1",
        "https://maps.acme.io/js?v=3&key={}",
        "wss://stream.acme.io/?access_token={}",
        "https://api.acme.io/x?apikey={}",
        "https://acme.io/?client_secret={}&grant_type=client_credentials",
    )
    yield kind(
        "jdbc",
        shell_safe,
        "jdbc:postgresql://db.internal/app?user=app&password={}",
        "jdbc:sqlserver://db.internal;databaseName=app;user=sa;password={};encrypt=true",
        "jdbc:oracle:thin:scott/{}@db.internal:1521/XE",
        "spring.datasource.password={}",
    )
    yield kind(
        "ado/odbc",
        shell_safe,
        "Server=db.internal;Database=app;User Id=sa;Password={};",
        "Driver={{ODBC Driver 18}};Server=db;UID=sa;PWD={};Encrypt=yes",
        "Data Source=db;User ID=sa;Pwd={}",
        'connectionString="Server=db;Uid=app;Pwd={};"',
    )
    yield kind(
        "netrc",
        shell_safe,
        "machine api.acme.io login deploy password {}",
        "machine ftp.acme.io\n  login deploy\n  password {}\n",
        "default login anonymous password {}",
        "machine api.acme.io\nlogin ci\npassword {}\nmachine other",
    )
    yield kind(
        "pgpass",
        shell_safe,
        "db.internal:5432:app:deploy:{}",
        "*:*:*:postgres:{}",
        "localhost:5432:shop:shop:{}",
    )
    yield kind(
        "env",
        password,
        "DB_PASSWORD={}",
        "export ADMIN_PASSWORD='{}'",
        'SMTP_PASS="{}"',
        "REDIS_PASSWORD={}  # cache",
        "POSTGRES_PASSWORD: {}",
        "SECRET_KEY='{}'",
        "MYSQL_PWD={}",
        "APP_SECRET={}",
    )
    yield kind(
        "env, letters",
        letters,
        "DB_PASSWORD={}",
        "export ADMIN_PASSWORD='{}'",
        'SMTP_PASS="{}"',
        "JWT_SECRET={}",
        "PASSPHRASE={}",
        "ENCRYPTION_SECRET={}",
        "ROOT_PWD={}",
        "GRAFANA_ADMIN_PASSWORD={}",
    )
    yield kind(
        "yaml, letters",
        letters,
        "password: {}",
        "db:\n  user: app\n  password: '{}'\n",
        'passphrase: "{}"',
        "  secret: {}",
        "admin_password: {}",
        "auth:\n  username: root\n  password: {}",
    )
    yield kind(
        "json, letters",
        letters,
        '{{"user": "app", "password": "{}"}}',
        '"clientSecret":"{}"',
        '  "db_password" : "{}",',
        '{{"passphrase":"{}"}}',
    )
    yield kind(
        "toml/ini, letters",
        letters,
        '[database]\npassword = "{}"',
        "[smtp]\npassword = {}\n",
        "secret = '{}'",
        "passwd={}",
        "[client]\nuser=root\npassword={}",
        "auth.password = {}",
    )
    yield kind(
        "code, letters",
        letters,
        'password = "{}"',
        "const dbPassword = '{}';",
        'String secret = "{}";',
        'config.setPassword("{}")',
        "connect(host='db', user='app', password='{}')",
        "$password = '{}';",
        'let passphrase = "{}"',
        "'password' => '{}',",
        'cfg["password"] = "{}"',
        ':password => "{}"',
        "conn.login(user, '{}')  # noqa\npassword = '{}'",
    )
    yield kind(
        "code",
        password,
        'password = "{}"',
        "const dbPassword = '{}';",
        'pwd := "{}"',
        "connect(user='app', passwd='{}')",
        'define("DB_PASSWORD", "{}");',
        'new NetworkCredential("app", "{}")',
        '.withPassword("{}")',
        "ALTER USER app WITH PASSWORD '{}';",
        "CREATE USER 'app'@'%' IDENTIFIED BY '{}';",
        "ConvertTo-SecureString '{}' -AsPlainText -Force",
    )
    yield kind(
        "phrases", words, 'passphrase = "{}"', "PASSPHRASE='{}'", '"password": "{}"', "passphrase: '{}'"
    )
    yield kind(
        "xml",
        password,
        "<password>{}</password>",
        '<add key="DbPassword" value="{}" />',
        "<Password>{}</Password>",
        '<property name="connection.password">{}</property>',
        "<server><username>ci</username><password>{}</password></server>",
        "<key>password</key>\n<string>{}</string>",
    )
    yield kind(
        "properties",
        password,
        "spring.datasource.password={}",
        "db.password: {}",
        "jdbc.pass={}",
        "mail.smtp.password = {}",
        "keystore.password={}",
        "ssl.key.passphrase={}",
    )
    yield kind(
        "powershell",
        password,
        "$env:DB_PASSWORD = '{}'",
        '$Password = "{}"',
        "setx DB_PASSWORD {}",
        "set DB_PASSWORD={}",
        "[Environment]::SetEnvironmentVariable('DB_PASSWORD', '{}')",
    )
    yield kind(
        "dockerfile",
        shell_safe,
        "ENV DB_PASSWORD={}",
        "ENV DB_PASSWORD {}",
        "ARG ADMIN_PASSWORD={}",
        "docker run -e POSTGRES_PASSWORD={} -d postgres:16",
        "      - MYSQL_ROOT_PASSWORD={}",
        'RUN echo "root:{}" | chpasswd',
    )
    yield kind(
        "k8s",
        lambda r: base64.b64encode(password(r).encode()).decode(),
        "apiVersion: v1\nkind: Secret\ndata:\n  password: {}\n",
        "kind: Secret\nmetadata:\n  name: db\ndata:\n  db-pass: {}\n",
        '"data": {{"password": "{}"}}, "kind": "Secret"',
        "kind: Secret\ndata:\n  url: {}\n",
    )
    yield kind(
        "k8s env",
        password,
        "- name: DB_PASSWORD\n  value: '{}'\n",
        '{{"name": "DB_PASSWORD", "value": "{}"}}',
        "stringData:\n  password: {}\n",
        "kubectl create secret generic db --from-literal=password='{}'",
        "helm upgrade db ./db --set auth.password='{}'",
    )
    yield kind(
        "kubeconfig",
        b64(90),
        "users:\n- name: admin\n  user:\n    client-key-data: {}\n",
        "    token: {}\n",
        "client-key-data: {}",
    )
    yield kind(
        "terraform",
        password,
        '"master_password": "{}",',
        'password = "{}"',
        'db_password = "{}" # tfvars',
        '"type": "random_password", "attributes": {{"result": "{}"}}',
        'variable "db_password" {{\n  default = "{}"\n}}',
    )
    yield kind(
        "uuid key",
        uuid4,
        "api_key: {}",
        "HEROKU_API_KEY={}",
        'api-key="{}"',
        "client_secret={}",
        "the API key is {}",
        "token = '{}'",
        '"secretKey": "{}"',
        "X-API-Key: {}",
        "auth_token={}",
        "license key: {}",
    )
    yield kind(
        "hex key",
        lambda r: hexed(r.choice((32, 40, 64)))(r),
        "api_key = {}",
        "SECRET_KEY_BASE={}",
        "token: {}",
        "ENCRYPTION_KEY={}",
        '"apiSecret": "{}"',
        "DATADOG_API_KEY={}",
        "SENTRY_AUTH_TOKEN={}",
        "access token {}",
    )
    yield kind(
        "mysql",
        shell_safe,
        "mysql -u root -p{} shop",
        "mysqldump -h db -uapp -p{} shop > x.sql",
        "mysql -uroot --password={}",
        "mysqladmin -u root -p'{}' status",
        "mariadb -h db -u app -p{} app -e 'select 1'",
    )
    yield kind(
        "sshpass",
        shell_safe,
        "sshpass -p {} ssh root@10.0.0.5",
        "sshpass -p '{}' scp a.txt me@host:",
        'sshpass -p "{}" rsync -a . h:/x',
        "sshpass -p{} ssh me@host",
    )
    yield kind(
        "registry login",
        shell_safe,
        "docker login -u acme -p {}",
        "docker login --username acme --password {} registry.acme.io",
        "podman login -u ci -p '{}' quay.io",
        "echo {} | docker login -u acme --password-stdin",
        "helm registry login -u ci -p {} r.acme.io",
    )
    yield kind(
        "curl",
        shell_safe,
        "curl -u admin:{} https://ci.internal",
        "curl -s --user 'admin:{}' https://ci.internal",
        "curl -sSfu deploy:{} https://ci.internal",
        "http -a admin:{} https://ci.internal",
        "wget --user=ci --password={} https://ci.internal/x",
    )
    yield kind(
        "databases",
        shell_safe,
        "PGPASSWORD={} psql -h db -U app",
        "PGPASSWORD='{}' pg_dump app",
        "redis-cli -h cache -a {} ping",
        "mongosh -u admin -p {} --authenticationDatabase admin",
        "sqlcmd -S db -U sa -P {} -Q 'select 1'",
        "sqlplus scott/{}@XE",
        "redis-cli -a '{}' info",
        "clickhouse-client --user app --password {}",
        "requirepass {}",
        "cqlsh -u cassandra -p {} db",
    )
    yield kind(
        "tools",
        shell_safe,
        "ldapsearch -x -D cn=admin,dc=acme -w {} -b dc=acme",
        "openssl rsa -in k.pem -passin pass:{}",
        "openssl enc -aes-256-cbc -pass pass:{} -in a",
        "htpasswd -b .htpasswd admin {}",
        "htpasswd -bc /etc/nginx/.htpasswd admin {}",
        "net use Z: \\\\srv\\share {} /user:acme\\bob",
        "net user bob {} /add",
        "smbclient //srv/share -U bob%{}",
        "lftp -u bob,{} ftp.acme.io",
        "keytool -list -keystore k.jks -storepass {}",
        "zip -P {} out.zip a",
        "7z x -p{} a.7z",
        "gpg --batch --passphrase {} -d a.gpg",
        "mount -t cifs //srv/s /mnt -o username=bob,password={}",
        "mosquitto_pub -u dev -P {} -t x -m y",
        "echo '{}' | sudo -S apt update",
        "xfreerdp /u:bob /p:{} /v:srv",
        "twine upload -u __token__ -p {} dist/*",
        "snmpget -v3 -u bob -A {} host sysName.0",
        "az login -u bob@acme.io -p {}",
        "unzip -P {} a.zip",
    )
    yield kind(
        "options",
        shell_safe,
        "./app --password {} --port 80",
        "app --db-password={} start",
        "java -Dapp.password={} -jar a.jar",
        "tool --auth-token={}",
        "tool login --secret {}",
        "ansible-playbook -e ansible_password={} site.yml",
        "create-user --user=bob --passwd={}",
        "svn co --username bob --password {} url",
    )
    yield kind(
        "prose, en",
        password,
        "The database password is {}",
        "the password for the staging db is {}.",
        "Log in with admin / {} on staging",
        "use {} as the password",
        "Credentials: deploy / {}",
        "user: bob, pass: {}",
        "The admin's passphrase was changed to {}",
        "pw: {}",
        "The root password is `{}`.",
        'sign in as admin with password "{}"',
        "{} is the password of the router",
        "Our wifi password: {}",
        "login bob pw {}",
        'the secret is "{}"',
        "username admin and password {}",
    )
    yield kind(
        "prose, quoted letters",
        letters,
        'The root password is "{}".',
        "the passphrase is `{}`",
        "Passwort ist „{}“",
        "password: {}",
        "Credentials: `deploy` / `{}`",
        "log in as admin with the password '{}'",
    )
    for language, templates in _TOLD.items():
        yield kind(
            f"prose, {language}", password, *templates, held=language in ("hi", "fr", "id", "vi", "fa")
        )
    yield kind(
        "otpauth",
        some("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32),
        "otpauth://totp/Acme:bob?secret={}&issuer=Acme",
        "TOTP secret: {}",
        "otpauth://hotp/x?issuer=A&secret={}",
    )
    yield kind(
        "jwk",
        urlsafe(43),
        '{{"kty":"EC","crv":"P-256","x":"a","y":"b","d":"{}"}}',
        '{{"kty": "oct", "k": "{}"}}',
        held=True,
    )
    yield kind(
        "words and a number",
        chosen,
        "DB_PASSWORD={}",
        "The pre-shared key of the VPN is {}.",
        "ansible_become_pass: {}",
        "Use {} when it asks for the password.",
        "rabbitmqctl change_password ops {}",
        "samba-tool user create jdoe {}",
        "schtasks /create /tn nightly /ru svc /rp {} /tr job.cmd",
        "security unlock-keychain -p '{}' build.keychain",
        "username bob privilege 15 secret 0 {}",
        'network={{\n ssid="x"\n psk="{}"\n}}',
        "ejabberdctl register worker chat.local {}",
        "mc admin user add local backup {}",
        "winrs -r:srv1 -u:admin -p:{} hostname",
        "redis-cli ACL SETUSER bob on '>{}' ~* +@all",
    )
    yield kind(
        "elsewhere",
        chosen,
        "| user | password |\n|---|---|\n| bob | {} |",
        "| Password | {} |",
        "user,password\nbob,{}\n",
        "Initial admin password:\n\n{}\n",
        "Password\n--------\n{}\n",
        '~ db_password = "amber-copper-66" -> "{}"',
        '~ admin_password = (sensitive) -> "{}"',
        "driver.find_element(By.ID, 'password').send_keys('{}')",
        'password := []byte("{}")',
        'password: String::from("{}"),',
    )
    yield kind(
        "key in a call",
        alnum(32),
        "hmac.new(b'{}', body, 'sha256')",
        "crypto.createHmac('sha256', '{}')",
        "jwt.encode(claims, '{}', algorithm='HS256')",
        'hmac.New(sha256.New, []byte("{}"))',
        'new SecretKeySpec("{}".getBytes(), "AES")',
        'var jwtKey = []byte("{}")',
    )
    yield kind(
        "tools' tokens",
        alnum(40),
        "AZURE_DEVOPS_PAT={}",
        "vault operator unseal {}",
        "Unseal Key 1: {}",
        "snyk auth {}",
        "Authorization: SSWS {}",
        "The maps key is {}",
        "erlang_cookie: {}",
        "ngrok config add-authtoken {}",
    )
    yield kind(
        "recovery code",
        code,
        "Recovery codes:\n{}\n",
        "2FA backup codes: {}",
        "Backup codes\n============\n1. {}\n",
    )
    yield kind(
        "crypt",
        lambda r: f"$6${alnum(8)(r)}${alnum(86)(r)}",
        "root:{}:19800:0:99999:7:::",
        "rootpw --iscrypted {}",
    )
    yield kind("apr1", lambda r: f"$apr1${alnum(8)(r)}${alnum(22)(r)}", "bob:{}", "users=admin:{}")
    yield kind("dropbox", lambda r: "sl" + ".u." + alnum(130)(r), *plain)
    yield kind("mapbox", lambda r: "sk" + ".eyJ" + alnum(70)(r) + "." + alnum(22)(r), *plain)
    yield kind(
        "mnemonic",
        lambda r: " ".join(r.choice(_WORDS) for _ in range(12)),
        "seed phrase: {}",
        'mnemonic = "{}"',
        "MNEMONIC='{}'",
        "recovery phrase: {}",
        held=True,
    )
    yield kind(
        "netscape/rails",
        lambda r: hexed(64)(r) + hexed(64)(r),
        "secret_key_base: {}",
        "production:\n  secret_key_base: {}",
        held=True,
    )
    yield kind(
        "flask/django",
        lambda r: "".join(
            r.choice(string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)") for _ in range(50)
        ),
        "SECRET_KEY = 'django-insecure-{}'",
        "app.secret_key = '{}'",
        'SECRET_KEY = "{}"',
        held=True,
    )


_TOLD = {
    "zh": (
        "数据库密码是 {}",
        "密码：{}",
        "登录密码为{}",
        "用户名 admin 密码 {}",
        "管理员口令是 {}。",
        "密碼: {}",
    ),
    "hi": ("पासवर्ड {} है", "डेटाबेस का पासवर्ड: {}", "पासवर्ड है {}", "कूटशब्द: {}"),
    "es": (
        "La contraseña es {}",
        "contraseña: {}",
        "la contraseña de la base de datos es {}",
        "usuario admin, clave {}",
        "CONTRASEÑA={}",
    ),
    "fr": (
        "Le mot de passe est {}",
        "mot de passe : {}",
        "le mot de passe de la base est « {} »",
        "MOT_DE_PASSE={}",
        "identifiant admin, mot de passe {}",
    ),
    "ar": ("كلمة المرور هي {}", "كلمة المرور: {}", "كلمة السر {}", "الرقم السري: {}"),
    "bn": ("পাসওয়ার্ড হল {}", "পাসওয়ার্ড: {}", "ডাটাবেসের পাসওয়ার্ড {}"),
    "pt": ("A senha é {}", "senha: {}", "a senha do banco é {}", "palavra-passe: {}", "SENHA={}"),
    "ru": (
        "Пароль: {}",
        "пароль от базы — {}",
        "Пароль администратора {}",
        "пароль для базы: {}",
        "ПАРОЛЬ={}",
    ),
    "ur": ("پاس ورڈ {} ہے", "پاس ورڈ: {}"),
    "id": ("Kata sandi adalah {}", "kata sandi: {}", "sandi database adalah {}"),
    "de": (
        "Das Passwort lautet {}",
        "Passwort: {}",
        "Kennwort: {}",
        "das Passwort der Datenbank ist {}",
        "PASSWORT={}",
    ),
    "ja": ("パスワードは {} です", "パスワード：{}", "データベースのパスワードは「{}」", "暗証番号: {}"),
    "ko": ("비밀번호는 {} 입니다", "비밀번호: {}", "암호: {}"),
    "tr": ("Şifre: {}", "parola {} olarak ayarlandı", "veritabanı şifresi {}"),
    "it": ("La password è {}", "parola d'ordine: {}"),
    "vi": ("Mật khẩu là {}", "mật khẩu: {}"),
    "pl": ("Hasło to {}", "hasło: {}"),
    "nl": ("Het wachtwoord is {}", "wachtwoord: {}"),
    "fa": ("رمز عبور: {}", "گذرواژه {} است"),
}
"""The password told, in the languages that most people speak."""


def made(seed: int = 13, each: int = 1) -> list[Made]:
    """Each template so many times; what was changed on purpose, and keys of many lines, come last."""
    r = random.Random(seed)
    found: list[Made] = []
    for kind in _kinds():
        for number, template in enumerate(kind.templates * each):
            value = kind.make(r)
            text = template.replace("{{", "\0").replace("}}", "\1").replace("{}", value)
            held = kind.held or number % len(kind.templates) % 2 == 1
            found.append(
                Made(kind.name, text.replace("\0", "{").replace("\1", "}"), (value,), held, kind.side)
            )
    for number in range(4 * each):
        found += [msgspec.structs.replace(one, held=one.held or number % 2 == 1) for one in _changed(r)]
        found += [msgspec.structs.replace(one, held=one.held or number % 2 == 1) for one in _blocks(r)]
    return found


def _changed(r: random.Random) -> Iterator[Made]:
    """Secrets that are written so that a plain pattern passes over them."""
    token, word = "gh" + "p_" + alnum(36)(r), shell_safe(r)
    said = r.choice(("DB_PASSWORD={}", "password: {}", "api_secret = '{}'"))
    shown = wide(word)
    yield Made("full-width", said.format(shown), (shown,), False)
    shown = wide(token)
    yield Made("full-width", shown, (shown,), False)
    yield Made("full-width", wide(said.format(word)), (wide(word),), True)
    hidden = cut(token, r)
    yield Made("zero-width", f"the token {hidden}", tuple(hidden.split(hidden.strip(_ALNUM + "_"))), False)
    hidden = cut("password", r) + "=" + word
    yield Made("zero-width", hidden, (word,), False)
    yield Made("percent", quote(said.format(word), safe=""), (quote(word, safe=""),), False)
    everything = "".join(f"%{ord(char):02X}" for char in f"password={word}")
    yield Made("percent", everything, (everything[27:],), True)
    secret = password(r).replace("#", "&") + '"' + r.choice(_WORDS)
    html = secret.replace("&", "&amp;").replace('"', "&quot;")
    yield Made("html", f"&lt;password&gt;{html}&lt;/password&gt;", (html,), False)
    yield Made("html", f"password=&quot;{word}&quot;", (word,), True)
    entities = "".join(f"&#{ord(char)};" for char in token)
    yield Made("html", entities, (entities,), True)
    inner = base64.b64encode(f"DB_PASSWORD={word}\nDB_HOST=db\n".encode()).decode()
    yield Made(
        "base64 of assignment",
        r.choice(("config: {}", "{}", "echo {} | base64 -d > .env")).format(inner),
        (inner,),
        False,
    )
    inner = base64.b64encode(token.encode()).decode()
    yield Made("base64 of token", f"data: {inner}", (inner,), True)
    at = r.randrange(8, 30)
    yield Made(
        "wrapped", f"the token is {token[:at]}\n{token[at:]} as of now", (token[:at][4:], token[at:]), False
    )
    yield Made("wrapped", f"export TOKEN={token[:at]}\\\n{token[at:]}", (token[:at][4:], token[at:]), True)
    yield Made("wrapped", f"X-Token: {token[:at]}=\n{token[at:]}", (token[:at][4:], token[at:]), False)
    yield Made("escaped", json.dumps({"log": json.dumps({"user": "a", "password": word})}), (word,), False)
    yield Made("escaped", json.dumps({"log": f'password="{word}"\nnext'}), (word,), True)
    yield Made(
        "escaped",
        "password=" + "".join(f"\\x{ord(char):02x}" for char in word),
        ("".join(f"\\x{ord(char):02x}" for char in word),),
        True,
    )
    yield Made("homoglyph", f"p\u0430ssword: {word}", (word,), False)
    yield Made(
        "homoglyph",
        f"\u0440\u0430ss\u051f\u043erd={password(r).replace('#', 'x')}".replace("\u051f", "w"),
        (),
        True,
    )


def _lines(body: str, width: int = 64) -> list[str]:
    return [body[at : at + width] for at in range(0, len(body), width)]


def _blocks(r: random.Random) -> Iterator[Made]:
    """Keys of many lines: whole, in one line, indented, cut off, with marks of a diff or a log before each."""
    begin, end = "-----BEGIN " + "{}PRIV" + "ATE KEY-----", "-----END " + "{}PRIV" + "ATE KEY-----"
    sort, start = r.choice(
        (
            ("RSA ", "MIIEpAIBAAKCAQEA"),
            ("", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"),
            ("OPENSSH ", "b3BlbnNzaC1rZXktdjEAAAAA"),
            ("EC ", "MHcCAQEEI"),
        )
    )
    body = _lines(start + b64(r.choice((48, 300, 900)))(r))
    top, bottom = begin.format(sort), end.format(sort)
    whole = "\n".join([top, *body, bottom])
    yield Made("private key", whole, tuple(body), False)
    yield Made("private key", "\\n".join([top, *body, bottom]), tuple(body), True)
    yield Made(
        "private key", '"private_key": "' + "\\n".join([top, *body, bottom, ""]) + '"', tuple(body), False
    )
    yield Made(
        "private key, cut",
        "\n".join([top, *body[: max(1, len(body) // 2)]]),
        tuple(body[: max(1, len(body) // 2)]),
        False,
    )
    yield Made(
        "private key, cut",
        "\n".join(["...", *body[1:], bottom]) if len(body) > 2 else whole,
        tuple(body[1:]),
        True,
    )
    yield Made(
        "private key, indented",
        "key: |\n" + "\n".join("    " + line for line in whole.splitlines()),
        tuple(body),
        False,
    )
    yield Made("private key, diff", "\n".join("+" + line for line in whole.splitlines()), tuple(body), True)
    stamped = "\n".join(
        f"2026-11-18T16:20:20.{at:03}Z INFO  {line}" for at, line in enumerate(whole.splitlines())
    )
    yield Made("private key, log", stamped, tuple(body), True)
    yield Made("private key, one line", whole.replace("\n", " "), tuple(body), True)
    pgp = _lines("lQOYBGVx" + b64(400)(r))
    yield Made(
        "pgp key",
        "-----BEGIN PGP PRIV"
        "ATE KEY BLOCK-----\n\n" + "\n".join(pgp) + "\n=aB3d\n-----END PGP PRIV" + "ATE KEY BLOCK-----",
        tuple(pgp),
        False,
    )
    putty = _lines(b64(200)(r))
    yield Made(
        "putty key",
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: "
        f"{len(putty)}\n" + "\n".join(putty) + "\nPrivate-MAC: " + hexed(64)(r),
        tuple(putty),
        True,
    )
    if len(body) > 2:
        yield Made("private key, body", f"SSH_KEY={body[0]}", (body[0][24:],), True)
    packed = base64.b64encode(whole.encode()).decode()
    yield Made("private key, base64", f"SSH_PRIVATE_KEY={packed}", (packed,), False)


def candidate(one: Made, r: random.Random) -> dict[str, object]:
    """The fields of a proposal that holds it: somewhere in statement or rationale, now and then elsewhere."""
    place = r.randrange(10)
    many = "\n" in one.text
    if place == 0 and not many:
        return {"statement": "The staging system is set up by hand.", "evidence": [one.text]}
    if place < 6 and not many:
        frame = r.choice(
            (
                "{}",
                "Deploys to staging: {}",
                "For the nightly job:\n\n    {}\n",
                "Set this first: `{}`",
                "- {}\n- then run `make up`",
            )
        )
        return {"statement": frame.replace("{}", one.text)}
    frame = r.choice(
        ("{}", "It took an hour to find out:\n\n```\n{}\n```\n", "Seen in the old setup.\n{}\nThat is all.")
    )
    return {"statement": "The staging system is set up by hand.", "rationale": frame.replace("{}", one.text)}


def printed(one: Made, r: random.Random) -> str:
    """What a program prints that holds it."""
    before = r.sample(_PRINTED, 3)
    later = r.sample(_PRINTED, 3)
    text = one.text
    form = r.randrange(7)
    value = one.values[0] if one.values else ""
    if "\n" not in text and value:
        if form == 0:
            text = text.replace(value, f"\x1b[1;33m{value}\x1b[0m")
        elif form == 1 and len(value) > 9:
            text = text.replace(value, f"{value[:5]}\x1b[0m\x1b[31m{value[5:]}\x1b[0m")
        elif form == 2:
            text = f"+{text}"
        elif form == 3:
            text = f"2026-11-18T16:20:20.123Z INFO [worker-3] {text}"
        elif form == 4:
            text = f"\x1b[32m+ {text}\x1b[0m"
        elif form == 5:
            text = f"app-1  | {text}\r"
    return "\n".join([*before, text, *later]) + "\n"


_PRINTED = (
    "[ 42%] Building CXX object src/net/CMakeFiles/net.dir/socket.cpp.o",
    "PASS tests/parser/parser.test.ts (182 ms)",
    "\x1b[32m✓\x1b[0m 12 passed in 3.21s",
    "Collecting requests==2.32.3",
    "npm WARN deprecated inflight@1.0.6: use lru-cache instead",
    "2026-11-18T16:20:20.123Z INFO [worker-3] handled 17 rows in 0.012s",
    "Step 4/9 : RUN make install",
    " ---> 3f9a1c7de2b4",
    "total 48",
    "drwxr-xr-x  5 root root  4096 Nov 18 16:20 src",
    "warning: unused variable `count`",
    "Reading package lists... Done",
)
