"""Classification of values as secrets, or as placeholders, references and ordinary words."""

import base64
import math
import re


_STAND_IN = re.compile(
    r"(?i)example|sample|dummy|placeholder|change.?(?:me|it|this)|your[_ -]|redacted|masked|todo|secret_?here|_here\b|foobar|"
    r"replace|insert|x{4}|\*{3}|\.{3}|…|0{8}|1234567|abcdefg|deadbeef|<[a-z_ -]{2,40}>|not.?(?:a.?)?real|fake|hunter2$|"
    r"^(?:tu|su|mi|mein|ihr|dein|votre|ton|mon|seu|sua|il|la|el)[_-]"
)
_NAMES = (
    r"password|passwd|passphrase|passcode|pass|pwd|pw|secret|token|key|credentials?|api[_-]?key|apikey|auth|bearer|jwt|value|user(?:name)?|login|"
    r"admin|root|postgres(?:ql)?|mysql|redis|guest|minio(?:admin)?|rabbitmq|mongo(?:db)?|elastic|test(?:ing|er)?|none|null|nil|undefined|true|false|yes|no|on|off|str|string|bytes|text|"
    r"char|varchar|int|integer|number|boolean|bool|object|array|any|optional|required|empty|hidden|email|default|app|db|database|"
    r"passwort|kennwort|contraseña|contrasena|clave|senha|mot[_-]?de[_-]?passe|mdp|пароль|parola|şifre|sifre|haslo|wachtwoord"
)
_STAND_IN_WHOLE = re.compile(
    rf"(?i)(?:(?:my|the|a|an|some|test|new|old|your|user|db|app|api|access|auth|admin|root|dev|local|strong|super|very|secure|long|random|raw|client|refresh|"
    rf"bearer|secret|service|session|private|webhook|jwt|github|gitlab|gh|openai|slack|docker|npm|pypi|aws|sudo|current|valid|invalid|wrong|bad|good|another|other|plain|initial|temp|shared)[ _-]?){{0,4}}"
    rf"(?:{_NAMES})(?:[ _-]?(?:{_NAMES}|here|goes|value|id|name|123|1234|12345|\d))?[;,.)!]*"
)
_REFERENCE = re.compile(
    r"<|\[masked|\w+(?:\|[\w:,]+)+$|\$[({A-Za-z_!]|\$\d$|\{\{|\{%|\{[\w.]+\}$|%[\w{(]+[%})]|%[sdv]\b|\[[\w .-]*\]|&[A-Za-z_]\w*$|\*|@[A-Za-z_.]+$|#\{|!(?:vault|ref|sub|env|secret|include|getatt|base64)\b|\||>$|[(]|"
    r"(?i:process\.env|os\.(?:environ|getenv)|env[.(:\[]|vault:|op://|secrets?[./]|settings\.|config\.|cfg\.|conf\.|self\.|this\.|ssm:|arn:|ref\+|awssm|gcpsm|azkv|bao:|file:|keyring:|credentials\(|var\.|local\.|data\.|module\.|args\.|opts?\.|req(?:uest)?\.|params?\.|input\.|form\.|user\.|props\.|state\.|steps\.|inputs\.|github\.|values\.)"
)
_CODE = re.compile(
    r"[\w.:>-]{1,80}[(\[]|(?:await|new|lambda|function|return|not|typeof|async|yield|if|else|import|from)\b|.*=>|.*\$\{|.*\{\{|.*\{[a-z_.]{2,40}\}$"
)
_PATH = re.compile(
    r"(?:\.{0,2}|~|[A-Za-z]:)[/\\](?!.*[!#$%^&*+=?])|[\w.-]+/[\w.-]+/[\w./-]*$|[a-z][a-z0-9+.-]{1,20}://|"
    r".{1,120}\.(?:txt|json|ya?ml|toml|ini|env|pem|key|crt|cert|p12|jks|md|mdx|html?|py|js|ts|tsx|jsx|go|rs|java|rb|sh|cs|php|conf|cfg|xml|csv|log|gpg|sock|jsonl|lock|dart|kt|swift|sql|tf|tfvars|php|vue|svelte|scss|css|png|svg|pdf|zip|gz|tgz|bak|com|org|io|net|dev)$"
)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+$")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_SNAKE = re.compile(r"[a-z]+\d*(?:_[a-z]+\d*)+$")
_CAMEL = re.compile(r"[a-z]+\d?(?:[A-Z][a-z]*\d?)+$")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.+Z-]*)?$|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?$")
_VERSION = re.compile(
    r"[<>=~^]{0,2}v?\d+(?:\.\d+)+(?:[-+.]?[A-Za-z]+[.\d]*)?$|[\d,.]+(?:[kKMGT]?i?[bB]|[a-z]{1,3}|%)(?:/\w+)?$|#[0-9a-fA-F]{3,8}$"
)
_HASHED = re.compile(
    r"(?i)sha-?(?:1|224|256|384|512)[-:=]|md5[-:=]|\$(?:2[abxy]|argon2\w*|[156]|apr1|scrypt|pbkdf2)\$|h1:|bcrypt:|\{ssha"
)
_PUBLIC = re.compile(r"AAAA[BCE][0-9]N|MII[A-D]|pk_(?:live|test)_|pub-|pk-lf|(?i:public)")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_TECHNICAL = re.compile(
    r"(?i)(?:sha|md|rs|hs|es|ps|eddsa|ed|aes|rsa|utf|base|argon|bcrypt|scrypt|pbkdf|oauth|oidc|http|h|tls|ssl|ipv|x|p|v|py|python|node|java|k|s|ec|i18n|l10n|"
    r"a11y|win|log|e2e|b2b|mp|auth|rfc|iso|cp|latin|gpt|claude|llama|sonnet|opus|gemini|web|web3|es|ecma|unicode|uint|int|float|u|i|f|rot|hmac|postgres|mysql|sql|mssql|"
    r"pg|redis|vue|angular|ubuntu|debian|cuda|arm|amd|x86|php|ruby|go|rust|c|d|t|top|port|line|step|page|part|phase|level|section|layer|test|user|item|file|host|db|app|id|api|pkcs|fips|cve|adr|bip|eip|erc|crypto|totp|hotp|m|r|n|q|w|day|days|min|sec|ms)-?\d{1,5}(?:[a-z]{0,8})"
)
# A word with a digit for a letter: `p1lot` or `c4nyon`. But `p12` and `c4` are names.
_LEET = re.compile(r"(?i)[a-z]{1,2}[013457][a-z]{3,8}")
_TECHNICAL_WORDS = frozenset(
    [
        "crypt",
        "hashed",
        "hash",
        "salted",
        "salt",
        "encrypted",
        "encoded",
        "stored",
        "rotated",
        "bcrypt",
        "scrypt",
        "argon",
        "base64",
        "base64url",
        "oauth",
        "oauth2",
        "oidc",
        "based",
        "signed",
        "valid",
        "invalid",
        "days",
        "hours",
        "minutes",
        "seconds",
        "characters",
        "chars",
        "digits",
        "letters",
        "long",
        "only",
        "protected",
        "managed",
        "file",
        "files",
        "auth",
        "field",
        "fields",
        "reset",
        "policy",
        "manager",
        "scoped",
        "read",
        "write",
        "admin",
        "time",
        "once",
        "one",
        "two",
        "factor",
        "server",
        "client",
        "side",
        "end",
        "first",
        "last",
        "max",
        "min",
        "per",
        "user",
        "users",
        "local",
        "dev",
        "prod",
        "staging",
        "production",
        "plain",
        "text",
        "hex",
        "utf8",
        "ascii",
        "url",
        "safe",
        "live",
        "lived",
        "short",
        "provider",
        "service",
        "sensitive",
        "specific",
        "free",
        "less",
        "length",
        "bit",
        "bits",
        "byte",
        "bytes",
    ]
)
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_ENOUGH = 160
_PLAIN_SEGMENT = re.compile(r"[0-9a-f]*|[0-9A-F]*|[a-z]+|[A-Z]?[a-z]+|[A-Z]+")
_SPECIAL = frozenset("!@#$%^&*+=?~")
_ENTRY = frozenset(
    # Words after `password:` in forms, types, states and documents, in several languages.
    [
        "required",
        "optional",
        "string",
        "strings",
        "bytes",
        "text",
        "secret",
        "secrets",
        "hidden",
        "visible",
        "masked",
        "invalid",
        "valid",
        "missing",
        "wrong",
        "incorrect",
        "correct",
        "empty",
        "blank",
        "none",
        "null",
        "false",
        "true",
        "stored",
        "hashed",
        "encrypted",
        "generated",
        "random",
        "randomly",
        "default",
        "disabled",
        "enabled",
        "plain",
        "plaintext",
        "cleartext",
        "string",
        "number",
        "boolean",
        "integer",
        "object",
        "array",
        "unknown",
        "undefined",
        "unset",
        "needed",
        "ignored",
        "deprecated",
        "removed",
        "supported",
        "unsupported",
        "authentication",
        "authorization",
        "protected",
        "managed",
        "manual",
        "automatic",
        "username",
        "email",
        "login",
        "logout",
        "signin",
        "signup",
        "user",
        "users",
        "admin",
        "account",
        "settings",
        "config",
        "configuration",
        "environment",
        "variable",
        "variables",
        "value",
        "values",
        "field",
        "fields",
        "input",
        "inputs",
        "output",
        "prompt",
        "prompts",
        "label",
        "title",
        "description",
        "message",
        "error",
        "errors",
        "warning",
        "type",
        "types",
        "name",
        "names",
        "length",
        "minimum",
        "maximum",
        "policy",
        "policies",
        "reset",
        "forgot",
        "change",
        "update",
        "create",
        "delete",
        "remove",
        "confirm",
        "confirmation",
        "repeat",
        "verify",
        "check",
        "show",
        "hide",
        "toggle",
        "bearer",
        "basic",
        "digest",
        "oauth",
        "cookie",
        "cookies",
        "session",
        "sessions",
        "header",
        "headers",
        "query",
        "body",
        "path",
        "cache",
        "memory",
        "storage",
        "database",
        "vault",
        "keychain",
        "keyring",
        "kubernetes",
        "docker",
        "github",
        "gitlab",
        "google",
        "azure",
        "amazon",
        "stripe",
        "slack",
        "openai",
        "anthropic",
        "inherit",
        "include",
        "omit",
        "same-origin",
        "always",
        "never",
        "sometimes",
        "public",
        "private",
        "internal",
        "external",
        "shared",
        "local",
        "remote",
        "global",
        "short-lived",
        "long-lived",
        "rotated",
        "expired",
        "expires",
        "revoked",
        "refresh",
        "access",
        "obligatoire",
        "obligatorio",
        "obligatoria",
        "requerido",
        "requerida",
        "erforderlich",
        "falsch",
        "ungültig",
        "invalide",
        "incorrecta",
        "incorrecto",
        "obrigatória",
        "richiesto",
        "vereist",
        "wymagane",
        "gerekli",
        "wajib",
        "required*",
        "here",
        "there",
        "this",
        "that",
        "these",
        "those",
        "with",
        "from",
        "into",
        "your",
        "their",
        "have",
        "must",
        "should",
        "will",
        "would",
        "could",
        "when",
        "where",
        "which",
        "while",
        "after",
        "before",
        "and",
        "the",
        "for",
        "not",
        "are",
        "was",
        "were",
        "been",
        "being",
        "only",
        "also",
        "then",
        "than",
        "them",
        "they",
        "what",
        "been",
        "each",
        "every",
        "both",
        "either",
        "neither",
        "some",
        "more",
        "most",
        "such",
        "very",
        "lambda",
        "function",
        "return",
        "const",
        "async",
        "await",
        "class",
        "struct",
        "interface",
        "import",
        "export",
        "static",
        "final",
        "readonly",
        "abstract",
        "extends",
        "implements",
        "north",
        "south",
        "primary",
        "secondary",
        "unique",
        "foreign",
        "partition",
        "composite",
        "sort",
        "index",
        "token",
        "tokens",
        "tokenizer",
        "password",
        "passwords",
        "keyword",
        "keywords",
        "alphanumeric",
        "numeric",
        "decimal",
        "hexadecimal",
        "base",
        "sensitive",
        "insensitive",
        "redacted",
        "sanitized",
        "unchanged",
        "changed",
        "matches",
        "mismatch",
        "match",
        "exists",
        "found",
        "hash",
        "hashes",
        "salt",
        "digest",
        "checksum",
        "signature",
        "signatures",
        "certificate",
        "certificates",
        "request",
        "requests",
        "response",
        "responses",
        "service",
        "services",
        "server",
        "client",
        "provider",
        "providers",
        "callback",
        "handler",
        "manager",
        "helper",
        "wrapper",
        "factory",
        "builder",
        "parser",
        "reader",
        "writer",
        "scanner",
        "scanning",
        "detection",
        "rotation",
        "expiration",
        "validation",
        "management",
        "permissions",
        "permission",
        "credentials",
        "credential",
        "identity",
        "profile",
        "roles",
        "scopes",
        "scope",
    ]
)
_FUNCTION = frozenset(
    [
        "the",
        "a",
        "an",
        "is",
        "are",
        "was",
        "must",
        "should",
        "can",
        "cannot",
        "your",
        "you",
        "please",
        "enter",
        "and",
        "or",
        "of",
        "to",
        "for",
        "in",
        "on",
        "with",
        "by",
        "be",
        "not",
        "no",
        "this",
        "that",
        "it",
        "its",
        "from",
        "at",
        "as",
        "if",
        "when",
        "has",
        "have",
        "will",
        "may",
        "do",
        "does",
        "el",
        "la",
        "los",
        "las",
        "un",
        "una",
        "es",
        "de",
        "del",
        "en",
        "con",
        "por",
        "para",
        "su",
        "tu",
        "le",
        "les",
        "des",
        "du",
        "est",
        "et",
        "votre",
        "dans",
        "pour",
        "der",
        "die",
        "das",
        "ist",
        "und",
        "mit",
        "für",
        "ein",
        "eine",
        "nicht",
        "zu",
        "il",
        "lo",
        "gli",
        "di",
        "che",
        "per",
        "non",
        "seu",
        "sua",
        "o",
        "os",
        "um",
        "uma",
        "em",
        "и",
        "в",
        "на",
        "не",
        "для",
        "с",
        "using",
        "use",
        "used",
        "via",
    ]
)
_NAMING = re.compile(
    r"(?i)pass|pwd|secret|token|key|cred|auth|user|login|value|input|default|config|param|arg|env|hash|encrypt|decrypt|encod|field|string|form|data|result|"
    r"expected|actual|current|random|prompt|contraseñ|senha|parol"
)


_NAMED = re.compile(
    r"(?i)(?:pass(?:word|wd|phrase)?s?|pwd|secrets?|tokens?|keys?|creds?|credentials?|auth\w{0,12}|users?|username|login|values?|input|default|config|params?|args?|env|hash\w{0,3}|encrypt\w{0,3}|"
    r"decrypt\w{0,3}|fields?|string|form|data|results?|expected|actual|current|random|prompt|id|ids|name|names|type|url|uri|path|file|my)"
)
_NAMED_END = re.compile(
    r"(?:passw(?:or[dt]|d)|passphrase|secret|token|contraseña|senha|credentials?)$|^(?:get|set|is|has|to|read|load|generate|new|user|create|make)(?:pass|secret|token|key)"
)


_VERSION_WORD = re.compile(r"(?i)v\d(?:alpha|beta|final|dev|rc)")
_PLACES = frozenset(
    # Names of hosts, branches, tickets, releases and files.
    [
        "staging",
        "prod",
        "production",
        "dev",
        "test",
        "testing",
        "tests",
        "demo",
        "preview",
        "sandbox",
        "server",
        "host",
        "hosts",
        "node",
        "nodes",
        "runner",
        "runners",
        "worker",
        "workers",
        "cluster",
        "replica",
        "primary",
        "master",
        "main",
        "slave",
        "web",
        "db",
        "database",
        "cache",
        "queue",
        "job",
        "jobs",
        "task",
        "tasks",
        "release",
        "build",
        "builds",
        "version",
        "ticket",
        "issue",
        "item",
        "page",
        "section",
        "part",
        "chapter",
        "region",
        "zone",
        "east",
        "west",
        "north",
        "south",
        "central",
        "europe",
        "america",
        "asia",
        "step",
        "phase",
        "sprint",
        "report",
        "backup",
        "archive",
        "snapshot",
        "branch",
        "feature",
        "fix",
        "hotfix",
        "bugfix",
        "feat",
        "chore",
        "patch",
        "module",
        "package",
        "plugin",
        "component",
        "service",
        "svc",
        "app",
        "apps",
        "api",
        "http",
        "https",
        "frontend",
        "backend",
        "mobile",
        "android",
        "ios",
        "linux",
        "windows",
        "ubuntu",
        "debian",
        "alpine",
        "image",
        "container",
        "pod",
        "deployment",
        "namespace",
        "volume",
        "disk",
        "bucket",
        "table",
        "column",
        "row",
        "index",
        "schema",
        "migration",
        "model",
        "models",
        "view",
        "controller",
        "route",
        "routes",
        "script",
        "scripts",
        "folder",
        "group",
        "team",
        "project",
        "repo",
        "line",
        "error",
        "code",
        "status",
        "port",
        "proxy",
        "gateway",
        "router",
        "switch",
        "vlan",
        "subnet",
        "network",
        "vpc",
        "instance",
        "machine",
        "vm",
        "device",
        "sensor",
        "printer",
        "room",
        "floor",
        "building",
        "office",
        "january",
        "february",
        "march",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "friday",
        "add",
        "create",
        "update",
        "delete",
        "drop",
        "rename",
        "remove",
        "get",
        "set",
        "list",
        "show",
        "new",
        "old",
        "copy",
        "draft",
        "final",
        "legacy",
        "example",
        "batch",
        "stage",
        "level",
        "month",
        "year",
        "week",
        "hour",
        "minute",
        "second",
        "count",
        "total",
        "number",
        "page",
        "step",
        "flow",
        "case",
        "suite",
        "spec",
        "docs",
        "guide",
        "notes",
        "readme",
        "changelog",
        "rule",
        "rules",
        "policy",
        "template",
        "input",
        "output",
        "screen",
        "dialog",
        "button",
        "widget",
        "icon",
        "logo",
        "banner",
        "header",
        "footer",
        "menu",
        "vault",
        "item",
        "entry",
        "record",
        "secret",
        "sealed",
        "manager",
        "keepass",
        "bitwarden",
    ]
)


def is_stand_in(value: str) -> bool:
    """True if the value is a placeholder for a secret."""
    bare = value.strip("\"'`<>{}$()[];,. ")
    if not bare or _STAND_IN.search(value) or _STAND_IN_WHOLE.fullmatch(bare):
        return True
    return len(set(bare)) <= (2 if bare.isalpha() and len(bare) > 6 else 3)


def is_filler(token: str) -> bool:
    """True if a token of a known form is a placeholder.

    By chance, a real token can contain short words and a few equal letters.
    """
    low = token.lower()
    if re.search(
        r"example|placeholder|redacted|your[_-]|[_-](?:here|token|key|secret|fake|todo|dummy)$|x{6}|\*{3}|\.{3}|…|0{12}",
        low,
    ):
        return True
    if (
        re.search(
            r"0123456789|1234567890|abcdefghi|qwertyuiopasdfghjklzxcvbnm|zyxwvuts|deadbeefdeadbeef", low
        )
        and len(token) < 80
    ):
        return True
    return len(set(low)) <= max(3, min(8, len(low) // 6))


def is_public(word: str) -> bool:
    """True for hashes, commits, UUIDs and public keys. They identify something but open nothing."""
    return bool(_HEX.fullmatch(word) or _UUID.fullmatch(word) or _HASHED.match(word) or _PUBLIC.match(word))


def is_reference(value: str) -> bool:
    """True if the value is a reference to a secret or an expression for one: a variable, a call, a path."""
    if _REFERENCE.match(value) or _CODE.match(value) or _HASHED.match(value):
        return True
    return bool(_PATH.match(value)) and not _is_base64(value)


def _is_base64(value: str) -> bool:
    """True for Base64. It can contain slashes like a path, but no words."""
    return len(value) >= 32 and re.fullmatch(r"[0-9A-Za-z+/]+={0,2}", value) is not None and is_random(value)


def is_mixed(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def is_random(value: str) -> bool:
    """True if the value looks generated: a UUID, letters and digits without words, or many letters without
    words.
    """
    if _UUID.fullmatch(value):
        return True
    if len(value) < 16 or " " in value or _DATE.match(value) or _VERSION.match(value):
        return False
    if _HEX.fullmatch(value):
        return is_mixed(value) and len(set(value)) >= 6
    body = value.rstrip("=")
    if not re.fullmatch(r"[\w+/.~:|-]+", body, re.ASCII):
        return False
    pieces = _PIECE.findall(body)
    odd = [part for part in re.split(r"[+/_=.~:|-]+", body) if not _PLAIN_SEGMENT.fullmatch(part)]
    if not pieces or sum(map(len, odd)) < 10:
        return False
    digits = sum(char.isdigit() for char in body)
    length = sum(map(len, pieces)) / len(pieces)
    if digits >= 2 and length < 2.9 and entropy(body) > 3.0:
        return True
    if digits and len(body) >= 28 and body.isalnum() and length < 3.6 and entropy(body) > 4.0:
        return True
    return length < 2.2 and entropy(body) > 3.4 and len(body) >= 20


def is_secret(value: str, *, strong: bool, quoted: bool, literal: bool = False) -> bool:
    """True if the value assigned to a secret name is a secret.

    `strong` is True for a password name, and False for a key or token name. `literal` is True if an unquoted
    value is text and not code, for example in an `.env` file or after an option.
    """
    value = value[:_ENOUGH]
    if (
        len(value) < 5
        or is_stand_in(value)
        or is_reference(value)
        or _DATE.match(value)
        or _VERSION.match(value)
    ):
        return False
    if _PUBLIC.match(value) or _VARIABLE.match(value):
        return False
    if value.isdigit():
        return strong and (quoted or literal) and len(value) >= 6
    if _SENTENCES.search(value) or _is_packed_stand_in(value):
        return False
    if " " in value:
        return quoted and strong and is_passphrase(value)
    if not strong:
        return is_random(value) or (
            len(value) >= 10
            and (quoted or literal)
            and value.isalpha()
            and _is_passphrase_word(value, True)
            and not _CAMEL.match(value)
        )
    if (
        not quoted
        and _DOTTED.match(value)
        and (
            not any(char.isdigit() for char in value)
            or (not literal and any(_NAMED.fullmatch(part) for part in _PIECE.findall(value)))
        )
    ):
        return False
    if is_mixed(value) or any(char in _SPECIAL for char in value):
        if not quoted and not literal and re.fullmatch(r"[A-Za-z_]\w*", value) and _NAMING.search(value):
            return False
        return not is_technical(value, quoted, assigned=True)
    return _is_passphrase_word(value, quoted or literal)


# Scripts without blanks, or scripts that aren't used in passwords. A match is text from a screen.
_SENTENCES = re.compile("[\u0900-\u0fff\u2e80-\u9fff\uac00-\ud7af\u0600-\u06ff]{2}")


def _is_packed_stand_in(value: str) -> bool:
    if len(value) < 8 or len(value) % 4 or not re.fullmatch(r"[0-9A-Za-z+/]+={0,2}", value):
        return False
    try:
        decoded = base64.b64decode(value).decode("ascii").strip()
    except ValueError:
        return False
    return decoded.isprintable() and len(decoded) > 3 and is_stand_in(decoded)


def _is_passphrase_word(value: str, quoted: bool) -> bool:
    """True for letters, possibly joined, unless they are a type, a state or a name in code."""
    low = value.lower()
    if len(value) < 6 or low in _ENTRY or not re.fullmatch(r"[^\W\d]+(?:[ ._-][^\W\d]+)*", value):
        return False
    if (
        value.isupper()
        or any(_NAMED.fullmatch(part) for part in _PIECE.findall(value))
        or _NAMED_END.search(low)
    ):
        return False
    parts = re.split(r"[ ._-]", low)
    if any(part in _ENTRY or part in _FUNCTION for part in parts):
        return False
    if len(parts) == 2 and not quoted:
        return False
    return quoted or not (_CAMEL.match(value) or _SNAKE.match(value) or "." in value)


def is_passphrase(value: str) -> bool:
    """True for a row of words that isn't a sentence."""
    parts = value.split(" ")
    return (
        3 <= len(parts) <= 24
        and all(re.fullmatch(r"[^\W\d_]{3,12}", part) and part.islower() for part in parts)
        and not any(part in _ENTRY or part in _FUNCTION or _NAMED.fullmatch(part) for part in parts)
    )


def share_of_sentence(words: list[str]) -> float:
    return sum(word in _FUNCTION for word in words) / max(1, len(words))


def is_technical(value: str, quoted: bool = False, assigned: bool = False) -> bool:
    """True for names of algorithms, versions, tickets and files, which also contain letters and digits.

    `assigned` is True if a password name has this value, so that words with a number can be a password.
    """
    parts = [part for part in re.split(r"[-_./:+,]", value.strip("!?.,;:()")) if part]
    named = [_is_technical_part(part) for part in parts]
    if not parts or (any(named) if not assigned else all(named)):
        return True
    if not quoted and any(part.lower() in _TECHNICAL_WORDS for part in parts):
        return True
    if re.fullmatch(r"[A-Z]{2,10}[-_]?\d{1,6}", value):
        return True
    pure = all(part.isalpha() or part.isdigit() for part in parts) and len(parts) > 1
    if not pure or quoted or any(char in _SPECIAL - {"+", "="} for char in value):
        return False
    return not is_chosen(value)


def _is_technical_part(part: str) -> bool:
    return bool(_TECHNICAL.fullmatch(part)) and not (_LEET.fullmatch(part) and not _VERSION_WORD.match(part))


def is_chosen(value: str) -> bool:
    """True for words and a number in the usual form of a password, unless they name a host, a ticket or code."""
    parts = [part for part in re.split(r"[-_./:+,]", value.rstrip("!?.,;:()")) if part]
    word_parts = [part.lower() for part in parts if part.isalpha()]
    figures = [part for part in parts if part.isdigit()]
    alone = len(word_parts) == 1  # then it must have the form `Word_123`
    return (
        len(figures) == 1
        and len(word_parts) + 1 == len(parts) >= 2
        and (3 if alone else 2) <= len(figures[0]) <= 4
        and (not alone or (parts[0].istitle() and len(parts[0]) >= 5))
        and all(len(part) >= 3 for part in word_parts)
        and not any(
            part in _ENTRY
            or part in _FUNCTION
            or part in _PLACES
            or part in _TECHNICAL_WORDS
            or _NAMED.fullmatch(part)
            for part in word_parts
        )
    )


def is_password_in_sentence(value: str, *, near: bool) -> bool:
    """True if a word in a sentence about a password is the password. `near` is True if the sentence says so."""
    if (
        not (6 if near else 8) <= len(value) <= 200
        or is_stand_in(value)
        or is_reference(value)
        or _is_packed_stand_in(value)
    ):
        return False
    if (
        _DATE.match(value)
        or _VERSION.match(value)
        or is_technical(value)
        or is_public(value)
        or _VARIABLE.match(value)
    ):
        return False
    if (
        re.fullmatch(r"--?[\w-]+(?:=.*)?", value)
        or (_DOTTED.match(value) and not (near and re.search(r"\d\d$", value)))
        or "://" in value
        or "=" in value[:-2]
        or re.search(r'":|\w\(|\)\.|["\\]|\*\*|\|', value)
        or re.search(r"[\w)]\.[A-Za-z]{2,6}$", value)
    ):
        return False
    if re.fullmatch(r"[\d:.,TZ+-]+", value):
        return False
    inside = value.rstrip("!?.")
    special = any(char in _SPECIAL for char in inside) or value != value.rstrip("!?")
    if not any(char.isdigit() for char in value) or not any(char.isalpha() for char in value):
        return near and special and len(value) >= 8 and any(char in "!#$%^&*?" for char in inside[1:])
    if near:
        return not re.fullmatch(r"[a-z]{1,3}\d+|\d+[A-Za-z]{1,12}|[a-z]+\d", value)
    return special or is_random(value)


def is_basic(value: str) -> bool:
    """True if the value is a name and a password as HTTP basic authentication sends them."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except ValueError:
        return False
    name, sign, password = decoded.partition(":")
    return bool(sign) and decoded.isprintable() and not (is_stand_in(password) or password == name)


def entropy(text: str) -> float:
    """Return the Shannon entropy in bits per character."""
    counts = [text.count(char) / len(text) for char in set(text)]
    return -sum(share * math.log2(share) for share in counts)
