"""Detection of secrets with a name, in assignments of every syntax, fields of files, and sentences with a
password.

The search starts with the word that names a secret, in the most common languages, and continues with the text
after it. A name such as `password` makes every value a secret unless it is a placeholder, reference, type or
ordinary word. A name such as `key` or `token` requires a value that looks generated.
"""

import re
import unicodedata
from collections.abc import Iterator

from agentplane.scan.secrets import layouts, values
from agentplane.scan.secrets.plain_text import Hit, Lowered, marks_of, near


def _both(words: str) -> str:
    """Return the words in composed and in decomposed Unicode form."""
    return "|".join(
        dict.fromkeys(
            unicodedata.normalize(form, word) for word in words.split("|") for form in ("NFC", "NFD")
        )
    )


_STRONG = (
    r"passw(?:or[dt]|d)|pre-?shared[ _-]?(?:key|secret)|bind_?credentials|(?:psk|key)(?<=wifi[_-]...)|(?:psk|key)(?<=wpa[_-]...)|pw(?<=(?:root|bind|ldap)pw)(?![a-z])|pass[ _-]?(?:phrase|code|wd|word)|passord|passwrd|pswd|pword|(?<![a-z])pw(?![a-z])|pwd|"
    r"(?<!by)(?<!com)(?<!sur)(?<!over)(?<!under)(?<!tres)(?<!en)pass(?![a-z])|requirepass|"
    r"secret(?!ar)|(?:seed|recovery|backup|mnemonic)[ _-]?(?:phrase|words)|mnemonic|kennwort|geheimwort|"
    r"contrasena|(?<![a-z])clave(?:[ _]de[ _]acceso)?(?![a-z])|mots?[ _-]de[ _-]passe|motdepasse|(?<![a-z])mdp(?![a-z])|(?<![a-z])senha|palavra[ -](?:passe|chave)|"
    r"parola(?: d'ordine| chiave)?|(?<![a-z])haslo|(?<![a-z])heslo|wachtwoord|adgangskode|kodeord|salasana|sifre|(?:kata[ _-]?)?sandi(?![a-z])|kata laluan|mat khau|jelsz|nenosiri"
)
_STRONG_OTHER = _both(
    "contraseña|hasło|hasła|şifre|lösenord|jelszó|parolă|mật khẩu|пароль|пароля|паролем|паролі|кодовое слово|密码|密碼|口令|パスワード|暗証番号|合言葉|パスフレーズ|暗号|"
    "비밀번호|암호|패스워드|비번|पासवर्ड|कूटशब्द|संकेतशब्द|गुप्त शब्द|পাসওয়ার্ড|গোপন নম্বর|கடவுச்சொல்|పాస్వర్డ్|پاس ورڈ|پاسورڈ|رمز عبور|گذرواژه|پسورد|كلمة المرور|كلمة مرور|كلمة سر|كلمة السر|كلمه المرور|"
    "الرقم السري|باسورد|סיסמה|סיסמא|κωδικός|κωδικος|συνθηματικό|รหัสผ่าน|ססמה|кілтсөз|құпия сөз|გასაღები|ಪಾಸ್ವರ್ಡ್|પાસવર્ડ|ਪਾਸਵਰਡ|സങ്കേതപദം"
)
_WEAK = (
    r"(?:api|access|auth|account|service|encryption|encrypt|decryption|signing|signature|master|shared|private|priv|secret|client|session|storage|licen[sc]e|subscription|"
    r"application|app|deploy|webhook|security|consumer|functions?|preshared|psk|hmac|aes|cipher|crypto|admin|host|server|integration|ingest|write|read|project|account|wg|write|rest|"
    r"jwt|cookie|unseal|recovery|hashing|salt|pepper|(?:hmac|jwt|cookie|signed|link)[_-]?sign(?:ing)?|x|schlüssel|activation|product|clé|chave|llave|cheie|klucz|ключ)[ _.-]{0,1}key|"
    r"pat(?<![a-z]pat)(?![a-z])|key(?<=[a-z][ _-]key)(?![a-z])|psk(?<![a-z]psk)(?![a-z])|pepper(?<![a-z]pepper)(?![a-z])|token(?!i[sz])|(?<=[?&])key|appid(?<=[?&\"']appid)|(?:auth|logged_in|nonce)_salt|auth(?<=npm_auth)(?![a-z])|auth[_-]?code|bearer|credential(?!s)|(?<![a-z])jwt(?![a-z])|connect\.sid|api-?schlüssel|"
    r"cl(?:ave|é|e)[ _](?:de )?(?:l')?api|chave (?:de |da )?api|jeton|(?<![a-z])otp(?![a-z])"
)
_WEAK_OTHER = _both(
    "ключ api|токен|密钥|密鑰|令牌|トークン|シークレット|キー|토큰|टोकन|टोकेन|কী|مفتاح|رمز الوصول|توكن|کلید|توکن|api ключ"
)

_CORES = marks_of(
    *[
        "pass",
        "pwd",
        "pw",
        "pswd",
        "pword",
        "secret",
        "phrase",
        "mnemonic",
        "kennwort",
        "geheimwort",
        "contras",
        "clave",
        "mdp",
        "senha",
        "palavra",
        "parol",
        "haslo",
        "hasł",
        "heslo",
        "wachtwoord",
        "adgangskode",
        "kodeord",
        "salasana",
        "sifre",
        "ifre",
        "sandi",
        "laluan",
        "khau",
        "mật",
        "jelsz",
        "nenosiri",
        "key",
        "token",
        "auth",
        "bearer",
        "credential",
        "jwt",
        "sid",
        "jeton",
        "otp",
        "schlüssel",
        "lösenord",
        "api_",
        " pat ",
        "_pat",
        "appid",
        "_salt",
        "pat:",
        "pat=",
        "secret",
        "psk",
        "pepper",
        "creds",
    ]
)
_OTHER = re.compile(
    "|".join(word for word in f"{_STRONG_OTHER}|{_WEAK_OTHER}".split("|") if not word[0].isascii())
)
_NAME = re.compile(rf"(?P<strong>{_STRONG})|(?P<weak>{_WEAK})")
_NAME_OTHER = re.compile(rf"(?P<strong>{_STRONG}|{_STRONG_OTHER})|(?P<weak>{_WEAK}|{_WEAK_OTHER})")
_OTHER_REST = re.compile(r"[^\W\d_a-zA-Z]{0,12}")
_REST = re.compile(r"[\w.-]{0,40}")
_BEFORE = re.compile(r"[\w.-]{0,40}\Z")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ENDS_OTHER = frozenset(
    [
        "hash",
        "hashes",
        "hashed",
        "sha",
        "digest",
        "fingerprint",
        "thumbprint",
        "fp",
        "fpr",
        "checksum",
        "id",
        "ids",
        "name",
        "names",
        "path",
        "paths",
        "file",
        "files",
        "filename",
        "dir",
        "url",
        "urls",
        "uri",
        "length",
        "len",
        "size",
        "ttl",
        "age",
        "count",
        "counts",
        "limit",
        "limits",
        "type",
        "types",
        "expiry",
        "expires",
        "expiration",
        "policy",
        "policies",
        "field",
        "fields",
        "label",
        "hint",
        "prompt",
        "regex",
        "pattern",
        "min",
        "max",
        "reset",
        "required",
        "enabled",
        "disabled",
        "manager",
        "ref",
        "refs",
        "arn",
        "provider",
        "store",
        "engine",
        "header",
        "endpoint",
        "algorithm",
        "alg",
        "version",
        "var",
        "placeholder",
        "error",
        "errors",
        "message",
        "msg",
        "title",
        "text",
        "desc",
        "description",
        "strength",
        "validator",
        "validation",
        "rules",
        "rule",
        "confirm",
        "confirmation",
        "button",
        "form",
        "generator",
        "encoder",
        "decoder",
        "scope",
        "scopes",
        "format",
        "mode",
        "method",
        "class",
        "tokens",
        "secrets",
        "passwords",
        "keys",
        "passphrases",
        "s",
        "es",
        "d",
        "ed",
        "less",
        "source",
        "status",
        "state",
        "used",
        "usage",
        "budget",
        "window",
        "per",
        "rate",
        "cost",
        "price",
        "owner",
        "prefix",
        "suffix",
        "index",
        "map",
        "list",
        "set",
        "dict",
        "table",
        "column",
        "row",
        "event",
        "request",
        "response",
        "handler",
        "callback",
        "service",
        "client",
        "factory",
        "helper",
        "util",
        "utils",
        "test",
        "tests",
        "spec",
        "authentication",
        "auth",
        "protected",
        "change",
        "changed",
        "update",
        "updated",
        "rotation",
        "rotated",
        "free",
        "manager",
        "management",
        "scanning",
        "scanner",
        "detection",
        "detected",
        "login",
        "based",
        "env",
        "lifetime",
        "lifetimes",
        "issuer",
        "audience",
        "bucket",
        "buckets",
        "ring",
        "reuse",
        "leak",
        "leaks",
        "parameter",
        "param",
        "params",
        "arg",
        "args",
        "input",
        "output",
        "visible",
        "visibility",
    ]
)
_BEFORE_OTHER = frozenset(
    [
        "public",
        "hashed",
        "has",
        "is",
        "no",
        "max",
        "min",
        "num",
        "reset",
        "forgot",
        "show",
        "hide",
        "toggle",
        "total",
        "prompt",
        "completion",
        "input",
        "output",
        "without",
        "require",
        "requires",
        "allow",
        "existing",
        "get",
        "check",
        "validate",
        "verify",
        "compare",
        "primary",
        "foreign",
        "sort",
        "cache",
        "count",
        "per",
        "bypass",
        "pub",
    ]
)

_QUOTED = (
    r"[fFrRbBuLN@$]{0,2}(?:\"(?P<dq>(?:[^\"\\\n]|\\.){1,400}?)\"|'(?P<sq>(?:[^'\\\n]|\\.){1,400}?)'|`(?P<bq>[^`\n]{1,400})`|"
    r"[«「『‹]\s?(?P<uq>[^»」』›\n]{1,200}?)\s?[»」』›])"
)
_BARE = r"(?P<bare>[^\s\"'`<>«»「」『』]{1,400})"
_ANY = rf"(?:{_QUOTED}|[\"'`]?{_BARE})"
_NOTE = r"(?:[ \t]{0,2}[\[(][^\])\n]{0,40}[\])]|[ #]{1,2}\d{1,2}(?=[ \t]?[:=]))?"

# The start of a call or a type around a text: `[]byte("…")`, `String::from("…")`.
_WRAPPED = r"(?:(?:\[\]byte|new [\w.]{1,30}|[A-Za-z_][\w.:]{0,30}?(?:from|bytes|GetBytes|of|String|Some|Secret\w{0,10}|b64decode|fromhex|toBytes|encode))\((?=b?[\"']))?"
# Every kind of `:` and `=`, with closing quotes and brackets of the name, a note, or a type.
_ASSIGNED = re.compile(
    rf"(?P<close>\\?[\"'`*_\])]{{0,4}})(?P<note>{_NOTE})(?P<blank>[ \t]{{0,12}})(?:!?:[ \t]{{1,3}}[A-Za-z][\w\[\]|. ]{{1,40}}?[ \t]{{0,3}}(?P<typed>=)(?!=)|"
    rf"(?P<sign>:=|=>|->|\?=|\+=|(?<![!=])={{1,3}}|[:：]|—|–|→))(?P<after>[ \t*_]{{0,12}})(?P<line>\n[ \t]{{0,12}})?{_WRAPPED}{_ANY}"
)
_ELEMENT = re.compile(
    r"\\?[\"']?\s{0,3}(?:[\w:.-]{1,30}=[\"'][^\"'\n]{0,80}[\"']\s{0,3}){0,3}>(?P<bare>[^<>\n]{1,200})</|</\w{1,12}>\s{0,20}<(?:string|value|td|dd|code)>(?P<uq>[^<>\n]{1,200})<"
)
_VALUE_FIELD = re.compile(
    rf"[\"']?,?\s{{0,20}}[\"']?(?i:value|val|default|result)[\"']?\s{{0,3}}[:=]\s{{0,3}}{_ANY}|"
    rf"[\"']?\s{{0,3}}\{{\s{{0,10}}(?:[a-z_]{{1,20}}\s{{0,10}}=\s{{0,4}}[^\n]{{1,80}}\n\s{{0,10}}){{0,3}}default\s{{0,10}}=\s{{0,4}}\"(?P<v2>[^\"\n]{{1,200}})\"|"
    rf"\"[^\n]{{0,60}}\"result\"\s{{0,3}}:\s{{0,3}}\"(?P<v3>[^\"\n]{{1,200}})\""
)
_CALLED = re.compile(rf"(?P<close>[\"'`]?)\s{{0,2}}(?P<sign>[(,])\s{{0,2}}{_QUOTED}")
_ENTERED = re.compile(
    r"[\"'\])]{1,4}\s{0,3}\)?\s{0,3}\.(?:clear\(\)\s?\.)?(?:send_?keys|type|fill|set|setValue|set_value|typeText|enter|input|val|press_sequentially|pressSequentially|insertText|addValue)\(\s{0,3}"
    + _QUOTED,
    re.IGNORECASE,
)
_NEXT = re.compile(rf"\s{{1,3}}(?i:by\s|to\s|is\s|=\s|with\s|of\s)?\s{{0,2}}{_QUOTED}")
_OPTION = re.compile(rf"[ \t]{{1,4}}{_ANY}")

_TOKEN = re.compile(r"[!-~]{4,200}")
_COPULA = re.compile(
    r"(?i)(?:^|[^\w])(?:is|are|was|been|to|as|equals?|es|est|ist|lautet|war|è|é|e'|foi|fue|adalah|ialah|yaitu|là|jest|jak|is nu|är|er|είναι|je|este|este:|on|van|olarak|olan|"
    r"now|set|changed|reads|still|type|enter|try)(?:[^\w]|$)|[:：=—–→«「『]|هي|هو|है|হল|হলো|是|为|為|は|が|는|은|это|ہے|است|เป็น|คือ"
)
_TIGHT = re.compile(
    r"(?i)(?:^\s?|(?:^|\s)(?:is|was|es|est|ist|lautet|è|é|adalah|là|to|jest|as|=)\s|[:：=—–]\s?|هي |هو |है |হল |是 ?|为 ?|為 ?|は ?|는 ?|은 ?|это )[«「『\s]{0,2}$"
)
_ENDS = re.compile(r"[.!?;。！？।](?:\s|$)|\n")
_FAR, _MOST_WORDS = 120, 9
_WHEN = re.compile(
    r"(?i:use|type|enter|try|give|with|paste) [\"'`]?(?P<value>[^\s\"'`]{6,80})[\"'`]? (?i:when|if|where|whenever|once|at|for|as)(?i: [a-z']{1,12}){0,6} $"
)
_AS = re.compile(
    r"(?P<value>[^\s\"'`]{6,80})[\"'`]? (?i:as|is|was|for)(?i: (?:the|our|my|a|an|its|their|root|admin|default|initial|current|new|database|db|login|wifi|vpn)){0,3}(?: \w{1,14}){0,1} $"
)
_LOGIN = re.compile(
    r"(?<![a-z])(?:log(?:ged)?[ -]?(?:in|on)|sign(?:ed)?[ -]?in|login|credentials?|creds|accounts?|user(?:name)?|zugangsdaten|benutzer|anmeldung|anmelden|identifiants?|connexion|credenciales|usuario|"
    r"credenciais|usu[aá]rio|credenziali|utente|учетн\w{0,8}|логин|вход|войти|账号|帐号|帳號|账户|用户名?|登录|登入|ログイン|アカウント|로그인|계정|아이디|بيانات الدخول|تسجيل|اسم المستخدم|लॉगिन|লগইন|giriş|kullanıcı|"
    r"dane logowania|inloggen|akun|masuk|đăng nhập|tài khoản|لاگ ان|ورود)(?P<gap>(?:[^\n]{0,40}?[ \t\"'`:(（：]))(?P<user>[\w.@+]{2,60}|[\w.@+][\w.@+-]{1,60})[\"'`]{0,2}(?:\s?/\s?|(?<![\"'`]):|,\s|\s\|\s|\s(?:and|with|und|y|et|e|и|和|と)\s)[\"'`]{0,2}(?P<value>[!-~]{6,100})"
)
_PORTS = marks_of(":543", ":6432:", ":*:")
_FOREIGN = re.compile("[\u0370-\u1fff\u3040-\ud7af][\u0370-\u1fff\u3040-\ud7af \u0300-\u036f]*")
_LOGIN_CORES = marks_of(
    "log",
    "sign",
    "cred",
    "account",
    "user",
    "zugang",
    "benutzer",
    "anmeld",
    "identifiant",
    "connexion",
    "usu",
    "utente",
    "dane",
    "akun",
    "masuk",
    "giri",
    "kullan",
    "đăng",
    "tài",
)
_LOGIN_OTHER = re.compile(
    "учетн|логин|вход|войти|账|帐|帳|用户|登|ログ|アカ|로그|계정|아이|بيانات|تسجيل|اسم|लॉगिन|লগ|لاگ|ورود"
)
_DEEP = re.compile(r"\[masked: [^\]\n]*$")
_SECRET_OBJECT = re.compile(r"kind[\"']?:[ \t]{0,4}[\"']?Secret\b")
_DATA_LINE = re.compile(
    r"\n[ \t>+|]{1,16}[\w.-]{1,80}:[ \t]{1,4}[\"']?(?P<value>[0-9A-Za-z+/]{6,8000}={0,2})[\"']?[ \t]*(?=\n|$)"
)
_PGPASS = re.compile(
    r"(?<![\w:./-])(?:[a-z][\w.-]{1,80}|\*):(?:5432|543\d|6432|\*):(?:[\w*-]{1,60}):(?:[\w*.-]{1,60}):(?P<value>[^\s:]{4,120})(?![\w:])"
)


_LONG = re.compile(r"[0-9A-Za-z+/=_-]*")


def _end_of_token(text: str, at: int) -> int:
    rest = _LONG.match(text, at)
    return rest.end() if rest else at


def hits(text: str, low: Lowered) -> Iterator[Hit]:
    secret_end = 0  # a name inside a secret names nothing
    names = _NAME if text.isascii() else _NAME_OTHER
    for start, end in near(low, _CORES, 24, 64):
        for match in names.finditer(low.text, start, end):
            if match.start() >= secret_end:
                for hit in _named(text, match):
                    secret_end = max(secret_end, hit[1])
                    yield hit
    for run in _FOREIGN.finditer(low.text) if not text.isascii() else ():
        for other in _OTHER.finditer(low.text, run.start(), min(len(text), run.end() + 12)):
            if other.start() < run.end() and (found := _NAME_OTHER.match(low.text, other.start())):
                yield from _named(text, found)
    yield from _logins(text, low)
    for match in _SECRET_OBJECT.finditer(text):
        yield from _of_object(text, match.end())
    for start, end in near(low, _PORTS, 80, 300):
        for match in _PGPASS.finditer(text, start, end):
            if _is_argument(match["value"]):
                yield match.start("value"), match.end("value"), "a line of a password file", True


def _is_argument(value: str) -> bool:
    return values.is_secret(value, strong=True, quoted=False, literal=True)


def _value(match: re.Match[str]) -> tuple[str, int, int, bool]:
    """Return the assigned value without the punctuation after it, its start and end, and True if it is
    quoted.
    """
    for name, text in match.groupdict().items():
        if text is not None and name in {"dq", "sq", "bq", "uq", "bare", "v2", "v3"}:
            start, end = match.span(name)
            if name == "bare":
                cut = re.search(
                    r";|,(?=[\w.-]{1,30}=|$|\\)|\\[\"'nr]|[)\]},.|]+$|(?<=[^\\])[&](?=[\w.-]{1,30}=)|[,)}](?=[)}\]\"',])|\*\*$|&$",
                    text,
                )
                if cut and cut.start() > 0:
                    value = text[: cut.start()].rstrip(",.)]}\\")
                    return value, start, start + len(value), False
            return text, start, end, name != "bare"
    return "", 0, 0, False


def _named(text: str, match: re.Match[str]) -> Iterator[Hit]:
    strong = match["strong"] is not None
    if _DEEP.search(text, max(0, match.start() - 60), match.start()):
        return  # inside an existing mask
    other = ord(text[match.end() - 1]) > 0x24F
    rest = (_OTHER_REST if other else _REST).match(text, match.end())
    tail = rest[0].rstrip(".-") if rest else ""
    end = match.end() + len(tail)
    lead = _BEFORE.search(text, max(0, match.start() - 40), match.start())
    head = lead[0] if lead else ""
    word = text[match.start() : match.end()].lower()
    kind = f"the value of `{word}`"
    parts = [part.lower() for part in _PARTS.findall(tail)]
    if other:
        parts, tail = [], ""
    if (
        parts
        and (
            parts[-1] in _ENDS_OTHER or (parts[-1].isdigit() and len(parts) > 1 and parts[-2] in _ENDS_OTHER)
        )
    ) or tail[:2] in {"s", "s."}:
        return
    leading = [part.lower() for part in _PARTS.findall(head)]
    if leading and leading[-1] in _BEFORE_OTHER:
        return
    if word == "key" and _is_other_key(text, match.start()):
        return
    if _is_inside(text, match.start() - len(head), end):
        return
    found = False
    for start, until, sure in layouts.behind(text, match.start() - len(head), end, strong):
        found = True
        yield start, until, kind, sure
    for start, until, sure in (
        () if found else _assigned(text, match.start() - len(head), end, head, word, strong)
    ):
        found = True
        yield start, until, kind, sure
    if not found:
        for start, until, sure in _in_sentence(text, match.start(), end, tail, strong, word):
            yield start, until, kind, sure


# Keys that open nothing, such as keys of tables, caches and keyboards, and public keys.
_OTHER_KEYS = frozenset(
    [
        "public",
        "pub",
        "primary",
        "foreign",
        "cache",
        "sort",
        "partition",
        "hash",
        "object",
        "idempotency",
        "row",
        "composite",
        "unique",
        "natural",
        "surrogate",
        "candidate",
        "arrow",
        "enter",
        "escape",
        "any",
        "each",
        "map",
        "json",
        "dict",
        "lookup",
        "index",
        "group",
        "config",
        "registry",
        "host",
        "fingerprint",
        "gpg",
        "pgp",
        "ssh",
        "dedup",
        "dedupe",
        "deduplication",
        "correlation",
        "trace",
        "request",
        "message",
        "routing",
        "shard",
        "bucket",
        "file",
        "redis",
        "tag",
        "version",
        "answer",
        "press",
        "the",
        "this",
        "that",
        "a",
        "an",
        "which",
        "same",
        "first",
        "last",
        "next",
        "previous",
        "of",
        "per",
        "by",
        "for",
        "with",
        "no",
        "its",
        "user",
        "entity",
        "item",
        "record",
        "document",
        "doc",
        "job",
        "task",
        "run",
        "team",
        "org",
        "tenant",
        "customer",
        "order",
        "node",
        "event",
        "entry",
        "field",
        "column",
        "range",
        "hot",
        "cold",
        "ordering",
        "document",
        "translation",
        "locale",
        "i18n",
        "query",
        "state",
        "context",
        "metadata",
        "label",
        "property",
        "attribute",
        "header",
        "param",
        "option",
        "setting",
        "env",
        "variable",
        "var",
        "string",
        "int",
        "integer",
        "number",
        "data",
        "value",
        "values",
        "cached",
        "s3",
        "storage_object",
        "blob",
        "image",
        "digest",
        "content",
        "commit",
        "build",
        "artifact",
        "lock",
        "mutex",
        "etag",
        "session_cache",
        "verification",
        "verify",
        "signing_public",
        "checksum",
        "integrity",
        "meta",
        "or",
        "and",
        "in",
        "is",
        "as",
        "to",
        "on",
        "if",
        "ctrl",
        "alt",
        "shift",
        "tab",
        "delete",
        "function",
        "f",
        "house",
        "car",
        "room",
        "physical",
        "major",
        "minor",
        "trusted",
        "known",
        "deploy",
        "deploy_public",
        "add",
    ]
)


def _is_other_key(text: str, at: int) -> bool:
    qualifier = re.search(r"([A-Za-z0-9]+)[ _-]$", text[max(0, at - 24) : at])
    return qualifier is not None and qualifier[1].lower() in _OTHER_KEYS


def _is_inside(text: str, begin: int, end: int) -> bool:
    """True for a name in a template, or for the password in a URL that only shows the place of one."""
    before = text[max(0, begin - 60) : begin]
    if text[end : end + 1] == "@" and "://" in before:
        return True
    if (
        "{{" in before
        and "}}" not in before[before.rindex("{{") :]
        and "\n" not in before[before.rindex("{{") :]
    ):
        return True
    return before.endswith("${") and text[end : end + 2] in {":?", ":+", ":=", "?}"}


def _assigned(
    text: str, begin: int, end: int, head: str, word: str, strong: bool
) -> Iterator[tuple[int, int, bool]]:
    if form := _ASSIGNED.match(text, end):
        value, start, until, quoted = _value(form)
        sign = form["sign"] or "="
        literal = _is_literal(text, begin, form, until)
        follows = text[until : until + 40]
        if form["line"] is not None and not (
            values.is_mixed(value) and re.match(r"[\"'`,;]{0,2}[ \t]*(?:\n|$)", follows)
        ):
            return
        if sign in {"==", "===", "->", "—", "–"} and not (quoted or values.is_mixed(value)):
            return
        if (
            word == "pass"
            and not head
            and not (values.is_mixed(value) and (quoted or sign == "=" or text[end - 1] == "s"))
        ):
            return
        if (
            not quoted
            and not literal
            and _goes_on(follows)
            and not (values.is_password_in_sentence(value, near=True))
        ):
            phrase = _phrase(text, start) if strong else None
            if phrase:
                yield start, phrase, True
            return
        if value.endswith((":", "(")) and not quoted:
            return
        if (
            form["bq"] is not None
            and not values.is_mixed(value)
            and re.fullmatch(r"[a-z]+(?:[_.-][a-z]+)+", value)
        ):
            return
        if value.startswith("-") and not quoted and not values.is_mixed(value):
            return
        if (
            word == "secret"
            and not head
            and not quoted
            and re.fullmatch(r"[a-z]+(?:-[a-z\d]+)+", value)
            and not (literal and values.is_chosen(value))
        ):
            return  # the name of a secret
        if (
            quoted
            and form["close"].strip("\\*_)]")
            and sign in ":："
            and value.isalpha()
            and value[:1].isupper()
            and value[1:].islower()
            and len(value) < 12
            and _is_label(value)
        ):
            return
        if values.is_secret(value, strong=strong, quoted=quoted, literal=literal):
            yield start, _end_of_token(text, until) if len(value) == 400 else until, True
        elif quoted is False and strong and (phrase := _phrase(text, start)):
            yield start, phrase, True
        return
    if form := _ELEMENT.match(text, end):
        value, start, until, _ = _value(form)
        if text[begin - 1 : begin] in {"<", ":", "_", "-", '"', "'"} or form["uq"]:
            if values.is_secret(value, strong=strong, quoted=True) and not (
                strong and value.isalpha() and form["uq"] is None and _is_label(value)
            ):
                yield start, until, True
            return
    if form := _VALUE_FIELD.match(text, end):
        value, start, until, quoted = _value(form)
        if values.is_secret(value, strong=strong, quoted=quoted, literal=True):
            yield start, until, True
        return
    if strong and (form := _ENTERED.match(text, end)):
        value, start, until, _ = _value(form)
        if values.is_secret(value, strong=True, quoted=True):
            yield start, until, True
        return
    if form := _CALLED.match(text, end):
        value, start, until, _ = _value(form)
        if values.is_secret(value, strong=strong, quoted=True) and (
            values.is_mixed(value)
            or (form["sign"] == "(" and re.search(r"(?i)(?:set|with|use)", head[-8:]) is not None)
        ):
            yield start, until, True
        return
    if head.startswith("-") and (form := _OPTION.match(text, end)):
        value, start, until, quoted = _value(form)
        if not value.startswith("-") and values.is_secret(value, strong=strong, quoted=quoted, literal=True):
            yield start, until, True
        return
    if strong and (form := _NEXT.match(text, end)):
        value, start, until, _ = _value(form)
        if word == "pass" and not values.is_password_in_sentence(value, near=True):
            return  # an argument is passed
        if values.is_secret(value, strong=True, quoted=True) and not (
            value.isalpha() and value.lower() in {"with", "from"}
        ):
            yield start, until, True


_LABELS = re.compile(
    r"(?i)(?:pass|contra|senha|kenn|mot|zugang|wacht|hasł|parol|clave|geheim|secret|token|benutz|user|e-?mail|log|sign|enter|confirm|invalid|forgot)"
)


def _is_label(value: str) -> bool:
    return bool(_LABELS.match(value))


def _is_literal(text: str, begin: int, form: re.Match[str], until: int) -> bool:
    """True if an unquoted value is text: `NAME=value` of an `.env` file, an option or a query, but not an
    argument in code.
    """
    if form["sign"] != "=" or form["blank"] or form["after"]:
        return False
    before = text[max(0, begin - 3) : begin]
    return not before.rstrip(" ").endswith(("(", ",")) and text[until : until + 1] not in {")", "("}


def _goes_on(follows: str) -> bool:
    """True if a sentence or an expression continues after a bare word."""
    return bool(
        re.match(
            r"[,;.)]{0,2} {1,3}(?!#|//|&&|\||<|>|--|;|\\|/\*|-[a-zA-Z] )[\w(=+?&<'\"]|[,;]? {0,3}(?:[-+*]|\?\?|\|\|) \w|\(",
            follows,
        )
    ) and not re.match(r"[,;]? [\w.-]{1,30}[=:]", follows)


def _phrase(text: str, start: int) -> int | None:
    """Return the end of a row of words that isn't a sentence, such as a seed phrase, or None."""
    end = text.find("\n", start)
    line = text[start : end if end >= 0 else len(text)][:300].rstrip(" .\"'`;,\r")
    line = line.strip("\"'`")
    if line.count(" ") >= 3 and values.is_passphrase(line):
        return start + len(line)
    return None


# Words after `password` in texts about passwords that don't contain one.
_OF_A_PASSWORD = re.compile(
    r"(?i) (?:manager|polic(?:y|ies)|reset|field|hash(?:es|ing)?|rules?|prompt|generator|input|form|protection|strength|rotation|expiry|length|store|page|screen|endpoint|"
    r"validation|column|types?|variable|parameter|argument|option|flag|requirements?|complexity|hint|encryption|encoder|authentication|change|box|dialog|handling|storage|attempts?)s?\b"
)
_ENGLISH = ("pass", "pwd", "secret", "token", "key", "credential")


def _in_sentence(
    text: str, begin: int, end: int, tail: str, strong: bool, word: str
) -> Iterator[tuple[int, int, bool]]:
    """Yield a password or a key in a sentence, after the word that names it or before it."""
    if tail and tail.isascii() and not tail.isdigit() and (len(tail) > 3 or word.startswith(_ENGLISH)):
        return
    if text[end : end + 1] in {"(", "/", "=", "_"} or word == "otp":
        return
    stop = text.find("\n", end, end + _FAR)
    line = text[end : stop if stop >= 0 else min(len(text), end + _FAR)]
    if _OF_A_PASSWORD.match(line):
        return
    last = 0
    for count, token in enumerate(_TOKEN.finditer(line)):
        between = line[: token.start()]
        if (
            count >= _MOST_WORDS
            or _ENDS.search(line, last, token.start())
            or " /" in between
            or "{{" in between
            or "|" in between
        ):
            break
        lead = len(token[0]) - len(token[0].lstrip("\"'`([*_"))
        value = token[0][lead:].rstrip("\"'`)],.;:*_\\")
        if token[0].rstrip("\"'`)],;:").endswith((".", "!", "?")) and value.endswith("."):
            value = value.rstrip(".")
        last = token.end() - 1
        if len(value) < 6 or (
            value.isalpha() and len(value) < 16 and not token[0].startswith(("'", '"', "`", "("))
        ):
            continue  # an ordinary word
        blank = re.fullmatch(r"[^\w]{0,3}[^\x00-\x7f\s]{0,8}[^\w]{0,3}", between) is not None
        near = bool(_COPULA.search(between[-24:] if len(between) > 24 else between)) or blank
        mark = token[0][lead - 1 : lead]
        quoted = (
            mark in {'"', "'", "`"}
            and token[0].count(mark) == 2
            and token[0].rstrip(".,;:)!").endswith(mark)
            and _TIGHT.search(between) is not None
        )
        if (
            word in {"secret", "pass"}
            and not (near and _TIGHT.search(between) and values.is_password_in_sentence(value, near=False))
            and not (quoted and values.is_password_in_sentence(value, near=True))
        ):
            continue
        start = end + token.start() + lead
        if strong:
            # Text in another script than the sentence isn't one of its words.
            foreign = (
                near
                and not word.isascii()
                and len(value) >= 8
                and bool(re.search(r"\w[!#$%&*+?@^]\w", value))
            )
            if (
                values.is_password_in_sentence(value, near=near)
                or (foreign and not values.is_reference(value))
                or (
                    quoted
                    and near
                    and len(token[0]) > 2
                    and values.is_secret(value, strong=True, quoted=True)
                )
            ):
                yield start, start + len(value), True
                return
        elif (
            (
                (near or count < 2)
                and values.is_random(value)
                and not values.is_stand_in(value)
                and not values.is_reference(value)
            )
            and not (values.is_public(value) and not near)
            and not re.search(r"(?i)hash|sha|digest|commit|md5|cache", between)
        ):
            yield start, start + len(value), True
            return
    lead_in = text[max(0, begin - 60) : begin].lower()
    if not (
        strong
        and (
            " as " in lead_in
            or " is " in lead_in
            or " was " in lead_in
            or " for " in lead_in
            or " when " in lead_in
        )
    ):
        return
    if before := _AS.search(text, max(0, begin - 140), begin) or _WHEN.search(
        text, max(0, begin - 140), begin
    ):
        value = before["value"].rstrip(".,;:")
        if values.is_password_in_sentence(value, near=True):
            yield before.start("value"), before.start("value") + len(value), True


def _logins(text: str, low: Lowered) -> Iterator[Hit]:
    places = near(low, _LOGIN_CORES, 0, 200)
    for run in _FOREIGN.finditer(low.text) if not text.isascii() else ():
        places += [
            (match.start(), match.start() + 200) for match in _LOGIN_OTHER.finditer(low.text, *run.span())
        ]
    for match in (match for place in places for match in _LOGIN.finditer(low.text, *place)):
        start, end = match.span("value")
        value = text[start:end].rstrip("\"'`.,;)")
        quoted = text[start - 1 : start] in {"'", '"', "`"} and text[end - 1 : end] == text[start - 1 : start]
        fits = values.is_password_in_sentence(value, near=True) or (
            quoted
            and match["gap"][-1:] == text[end - 1 : end]
            and re.search(r"[/:|]\s?[\"'`]$", text[match.end("user") : start]) is not None
            and values.is_secret(value, strong=True, quoted=True)
        )
        if fits and not values.is_password_in_sentence(match["user"], near=False) and "/" not in value:
            yield start, start + len(value), "a password", True


def _of_object(text: str, at: int) -> Iterator[Hit]:
    """Yield the values of a Kubernetes Secret, near the line with its kind."""
    section = text.find("data:", at, at + 4000)
    if section < 0 or text.find("\n---", at, section) >= 0:
        return
    place = section + len("data:")
    if text[max(0, section - 6) : section] == "string":
        return
    while match := _DATA_LINE.match(text, place):
        if not values.is_stand_in(match["value"]):
            yield match.start("value"), match.end("value"), "a value of a Kubernetes Secret", True
        place = match.end()
