"""Secrets in a text: what kind and where, never the secret itself.

detect-secrets does the known formats. Only `analyze_string` of its plugins is called: that part reads no
settings, asks no server and keeps nothing. It is imported when a text holds something that could be one:
importing it costs a fifth of a second, and most texts hold nothing of the sort.
"""

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from agentplane.text import visible


class Secret(msgspec.Struct, frozen=True):
    """`sure`: its format or its name says so. Otherwise it only looks random."""

    kind: str
    line: int
    column: int
    sure: bool = True

    @property
    def place(self) -> str:
        return f"line {self.line}, column {self.column}"


_Hit = tuple[int, int, str, bool]
"""Where it begins and ends at least, its kind, and whether that is sure."""

_CHUNK = 480
"""Some of the plugins' patterns take quadratic time, so they only ever see short pieces."""
_OVERLAP = 120
_MOST_CHUNKS = 200
_ENOUGH = 20

# Modules of detect-secrets.plugins and their detectors. Left out: public addresses, which are no
# secrets; private keys, passwords in URLs and random strings, which are looked for below with fewer false alarms.
_PLUGINS = (
    ("artifactory", "ArtifactoryDetector"),
    ("aws", "AWSKeyDetector"),
    ("azure_storage_key", "AzureStorageKeyDetector"),
    ("cloudant", "CloudantDetector"),
    ("discord", "DiscordBotTokenDetector"),
    ("github_token", "GitHubTokenDetector"),
    ("gitlab_token", "GitLabTokenDetector"),
    ("ibm_cloud_iam", "IbmCloudIamDetector"),
    ("ibm_cos_hmac", "IbmCosHmacDetector"),
    ("jwt", "JwtTokenDetector"),
    ("mailchimp", "MailchimpDetector"),
    ("npm", "NpmDetector"),
    ("openai", "OpenAIDetector"),
    ("pypi_token", "PypiTokenDetector"),
    ("sendgrid", "SendGridDetector"),
    ("slack", "SlackDetector"),
    ("softlayer", "SoftlayerDetector"),
    ("square_oauth", "SquareOAuthDetector"),
    ("stripe", "StripeDetector"),
    ("telegram_token", "TelegramBotTokenDetector"),
    ("twilio", "TwilioKeyDetector"),
)

# What detect-secrets does not know, or knows with too many false alarms.
_FORMATS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("a private key", r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----\s{0,8}[^\s-][^\s]{15}"),
        ("an AWS access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
        ("a GitHub token", r"\b(?:github_pat_[0-9A-Za-z_]{30}|gh[pousr]_[0-9A-Za-z]{36})"),
        ("an Anthropic key", r"\bsk-ant-[0-9A-Za-z_-]{24}"),
        ("an OpenAI key", r"\bsk-(?:proj|svcacct|admin)-[0-9A-Za-z_-]{24}|\bsk-[0-9A-Za-z]{40}"),
        ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
        ("a Google OAuth token", r"\b(?:ya29\.[0-9A-Za-z_-]{24}|GOCSPX-[0-9A-Za-z_-]{20})"),
        ("a Hugging Face token", r"\bhf_[0-9A-Za-z]{30}"),
        ("an npm token", r"\bnpm_[0-9A-Za-z]{36}"),
        ("a Slack token", r"\bxox[abeoprs]-[0-9A-Za-z-]{16}|\bxapp-[0-9]-[0-9A-Za-z-]{16}"),
        ("a Stripe key", r"\b(?:[rs]k_(?:live|test)|whsec)_[0-9A-Za-z]{20}"),
        ("a DigitalOcean token", r"\bdo[opr]_v1_[0-9a-f]{40}"),
        ("a Shopify token", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
        ("an age key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{40}"),
        ("a Vault token", r"\bhvs\.[0-9A-Za-z_-]{24}"),
        ("a Linear key", r"\blin_api_[0-9A-Za-z]{32}"),
        ("a Mailgun key", r"(?<![\w-])key-[0-9a-f]{32}(?![0-9A-Za-z])"),
        ("a Databricks token", r"\bdapi[0-9a-f]{32}"),
        ("a Postman key", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
        ("a Supabase token", r"\bsbp_[0-9a-f]{40}"),
        ("a RubyGems key", r"\brubygems_[0-9a-f]{48}"),
        ("a Brevo key", r"\bxkeysib-[0-9a-f]{64}-[0-9A-Za-z]{16}"),
        ("a Groq key", r"\bgsk_[0-9A-Za-z]{40}"),
        ("an xAI key", r"\bxai-[0-9A-Za-z]{60}"),
        ("a Replicate token", r"\br8_[0-9A-Za-z]{36}"),
        ("a Perplexity key", r"\bpplx-[0-9A-Za-z]{40}"),
        ("a Figma token", r"\bfigd_[0-9A-Za-z_-]{36}"),
        ("a Docker Hub token", r"\bdckr_pat_[0-9A-Za-z_-]{24}"),
        ("a Grafana token", r"\bglsa_[0-9A-Za-z]{32}_[0-9a-f]{8}"),
        ("an Atlassian token", r"\bATATT3[0-9A-Za-z_=-]{60}"),
        ("a Sentry token", r"\bsntry[su]_[0-9A-Za-z_=+/-]{40}"),
        ("a New Relic key", r"\bNRAK-[0-9A-Z]{27}"),
        ("a Discord webhook", r"\bdiscord(?:app)?\.com/api/webhooks/[0-9]{10,22}/[0-9A-Za-z_-]{60}"),
        (
            "an HTTP credential",
            r"(?i:\bauthorization\b.{0,4}:\s?(?:basic|bearer|token)) [0-9A-Za-z+/_.=-]{12,400}",
        ),
    )
)
# What a text must hold, in whichever case, for a format to be in it: looking for these is much cheaper.
_MARKS = {
    "a private key": ("private key",),
    "an AWS access key": ("akia", "asia", "abia", "acca"),
    "a GitHub token": ("github_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "an Anthropic key": ("sk-ant-",),
    "an OpenAI key": ("sk-",),
    "a Google API key": ("aiza",),
    "a Google OAuth token": ("ya29.", "gocspx-"),
    "a Hugging Face token": ("hf_",),
    "an npm token": ("npm_",),
    "a Slack token": ("xox", "xapp-"),
    "a Stripe key": ("k_live", "k_test", "whsec_"),
    "a DigitalOcean token": ("_v1_",),
    "a Shopify token": ("shpat_", "shpca_", "shppa_", "shpss_"),
    "an age key": ("age-secret-key-1",),
    "a Vault token": ("hvs.",),
    "a Linear key": ("lin_api_",),
    "a Mailgun key": ("key-",),
    "a Databricks token": ("dapi",),
    "a Postman key": ("pmak-",),
    "a Supabase token": ("sbp_",),
    "a RubyGems key": ("rubygems_",),
    "a Brevo key": ("xkeysib-",),
    "a Groq key": ("gsk_",),
    "an xAI key": ("xai-",),
    "a Replicate token": ("r8_",),
    "a Perplexity key": ("pplx-",),
    "a Figma token": ("figd_",),
    "a Docker Hub token": ("dckr_pat_",),
    "a Grafana token": ("glsa_",),
    "an Atlassian token": ("atatt3",),
    "a Sentry token": ("sntry",),
    "a New Relic key": ("nrak-",),
    "a Discord webhook": ("/webhooks/",),
    "an HTTP credential": ("authorization",),
}
_NAMING = ("key", "pass", "pwd", "secret", "token")

# A name that says `secret`, what may stand between, and the value. `\w{0,40}` is bounded on purpose.
_NAMED = re.compile(
    r"(?i)(?P<name>(?:api|auth|service|account|db|database|priv|private|client|access|encryption|signing)(?:_?-?| )key"
    r"|(?:db|database|key)_?pass|pass(?:word|wd|phrase)|pwd|secret|(?:access|auth|api|bearer|refresh)[_-]?token|\btoken)"
    r"(?P<rest>[\w-]{0,40})(?P<closing>[\"'`\]]{0,2})\s{0,3}(?P<sign>:=|={1,3}>?|:|\bis\b)\s{0,3}"
    r"(?P<value>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|`[^`\n]{1,200}`|[^\s\"'`]{1,200})"
)
# The same in a sentence, where the name of what it opens may stand between.
_SAID = re.compile(
    r"(?i)\b(?P<name>password|passphrase|passcode|pass(?:wd)?|pwd|(?:api|access|secret|auth) key|secret|token)"
    r"(?: (?:for|of|on|to)(?: [\w.-]{1,30}){1,3}?)? is:? (?P<value>[^\s\"'`/]{6,200})"
)
_CURL = re.compile(
    r"\bcurl\b[^\n|]{0,120}? (?:-u|--user)[ =]?[\"']?[^\s:\"'$]{1,80}:(?P<value>[^\s\"'$]{4,120})"
)
_IN_URL = re.compile(r"://[^\s:/?#@\[\]]{0,80}:(?P<value>[^\s:/?#@\[\]]{3,120})@")

_COULD_BE = re.compile(
    r"(?=[0-9A-Za-z_+/=.:-]{0,40}[0-9])[0-9A-Za-z_+/=.:-]{18,200}|://[^\s/@]{1,120}@|[A-Z0-9]{11}|_authToken"
)
_CANDIDATE = re.compile(r"[0-9A-Za-z+/_=-]{20,}")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}[0-9:.+-]{0,24}Z?")
_SEGMENT_ENDS = re.compile(r"[+/_=-]+")
_PLAIN_SEGMENT = re.compile(r"[0-9a-f]+|[0-9A-F]+|[0-9]+T?[0-9]*Z?|[A-Za-z]+")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_HASH = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_BEFORE_HASH = re.compile(r"(?i)(?:sha-?(?:1|224|256|384|512)|md5|blake[23][bs]?|h1|integrity)[:=-]$")
_PUBLIC_KEY = re.compile(r"AAAA[BCE][0-9]N")
_URL = re.compile(r"https?://[^\s?#]+")

_STAND_IN = re.compile(
    r"(?i)example|sample|dummy|placeholder|change.?me|changeit|your|redacted|todo|fake|foobar|secret_?here|"
    r"replace|insert|x{4}|\*{3}|\.{3}|…|0{8}|1234567|abcdef|deadbeef"
)
_STAND_IN_WHOLE = re.compile(
    r"(?i)(?:my|the|a|some|test)?[_-]?(?:password|passwd|pass|pwd|secret|token|key|api[_-]?key|user|admin|root|"
    r"postgres|guest|test|none|null|nil|true|false|str|string|bytes|text|int|required|optional|empty)[;,.)]*"
)
_REFERENCE = re.compile(
    r"[<{$%(\[&*@]|(?i:process\.env|os\.(?:environ|getenv)|env[.(:]|vault:|op://|secrets?[./]|settings\.|config\.|self\.|ssm:|arn:)"
)
_WORDS = re.compile(r"[A-Za-z][a-z]*(?:[-_.:/][A-Za-z0-9]+)*")
_CODE = re.compile(r"[\w.]{1,80}[(\[]")
_HASH_NAME = re.compile(
    r"(?i)hash|sha|digest|fingerprint|checksum|_id\b|_ids\b|name|path|file|url|length|ttl|age|count|limit|type"
)


def find(text: str) -> list[Secret]:
    """The secrets of a text by place, a few at most."""
    hidden = visible.hidden(text)
    if hidden:
        # A character that nobody sees would split a token.
        unseen = {hit.char for hit in hidden}
        text = "".join(char for char in text if char not in unseen or char == "\n")
    hits: dict[int, _Hit] = {}
    for hit in _hits(text):
        hits.setdefault(hit[0], hit)
        if len(hits) >= _ENOUGH:
            break
    known = {text.count("\n", 0, at) for at, _, _, sure in hits.values() if sure}
    found: list[Secret] = []
    end = -1
    for at, _, kind, sure in sorted(hits.values()):
        line = text.count("\n", 0, at)
        if at < end or (line in known and not sure):
            continue  # a part of what was named already
        end = _end_of_token(text, at)
        found.append(Secret(kind, line + 1, at - text.rfind("\n", 0, at), sure))
    return found


def spans(text: str) -> list[tuple[int, int, str]]:
    """Where the sure ones begin and end, and their kinds: all of them, in order, none within another."""
    found: list[tuple[int, int, str]] = []
    for at, until, kind, sure in sorted(_hits(text)):
        if not sure:
            continue
        end = max(until, _end_of_token(text, max(at, until - 1)))
        if found and at < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]), found[-1][2])
        else:
            found.append((at, end, kind))
    return found


def _hits(text: str) -> Iterator[_Hit]:
    lower = text.lower()
    for kind, pattern in _FORMATS:
        for match in pattern.finditer(text) if any(mark in lower for mark in _MARKS[kind]) else ():
            if not is_stand_in(text[match.start() : _end_of_token(text, match.end())]):
                yield match.start(), match.end(), kind, True
    named = _NAMED.finditer(text) if any(word in lower for word in _NAMING) else ()
    for match in named:
        if _names_a_secret(match):
            yield match.start("value"), match.end("value"), f"the value of `{match['name'].lower()}`", True
    for match in _IN_URL.finditer(text):
        if not (is_stand_in(match["value"]) or _REFERENCE.match(match["value"])):
            yield match.start("value"), match.end("value"), "a password in a URL", True
    for match in _CURL.finditer(text) if "curl" in lower else ():
        if not (is_stand_in(match["value"]) or _REFERENCE.match(match["value"])):
            yield match.start("value"), match.end("value"), "a password for curl", True
    for match in _SAID.finditer(text) if " is" in lower else ():
        if _could_be_meant(match["value"].rstrip(".,;:)")):
            yield match.start("value"), match.end("value"), f"the value of `{match['name'].lower()}`", False
    yield from _of_plugins(text)
    yield from _random(text)


def is_stand_in(value: str) -> bool:
    """Whether this shows where a secret would stand, and is none."""
    bare = value.strip("\"'`<>{}$()[];,. ")
    if not bare or _STAND_IN.search(value) or _STAND_IN_WHOLE.fullmatch(bare):
        return True
    if value[:1] == "<" or value[:2] in {"${", "{{", "$("}:
        return True
    body = bare.rpartition("_")[2] or bare
    return len(set(body)) <= 3


def _names_a_secret(match: re.Match[str]) -> bool:
    raw = match["value"]
    quoted = raw[0] in "\"'`"
    value = raw.strip("\"'`").rstrip(";,.)")
    if len(value) < 6 or is_stand_in(value) or _REFERENCE.match(value) or _CODE.match(value):
        return False
    if _HASH_NAME.search(match["rest"]) or (match["sign"] == "is" and not quoted):
        return False
    if " " in value or "/" in value[:2] or value.isdigit():
        return False
    if re.fullmatch(r"[A-Z][A-Z0-9_]*", value) and "_" in value:
        return False  # the name of a variable
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    odd = any(char in "!@#$%^&*+=?~" for char in value)
    if match["name"].lower() == "token" or " " in match["name"]:
        return mixed and len(value) >= 16
    if raw[0] == "`":
        return mixed and not re.fullmatch(r"[a-z]+[\w.-]*", value)
    if quoted:
        return match["sign"] != ":" or mixed or odd or not value.isalpha()
    return (mixed or odd) and not _WORDS.fullmatch(value)


def _could_be_meant(value: str) -> bool:
    """Whether a word of a sentence could be a password or a key, and none of the words that say how it is kept."""
    if is_stand_in(value) or _REFERENCE.match(value) or _CODE.match(value):
        return False
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    odd = any(char in "!#$%^&*+=~" for char in value)
    return mixed and (odd or (len(value) >= 16 and len(value) / len(_PIECE.findall(value)) < 3.2))


def _of_plugins(text: str) -> Iterator[_Hit]:
    starts = sorted({_chunk_of(match.start()) for match in _COULD_BE.finditer(text) if _is_odd(match[0])})
    for start in starts[:_MOST_CHUNKS]:
        offset = max(0, start - _OVERLAP)
        piece = text[offset : start + _CHUNK + _OVERLAP]
        for plugin in _plugins():
            for match in _matches(plugin, piece):
                value = match[0].strip("\"' =:")
                at = match.start() + match[0].find(value)
                word = piece[_start_of_token(piece, at) : _end_of_token(piece, match.end())]
                if not (is_stand_in(value) or is_stand_in(word) or _is_public(value) or value.isalpha()):
                    yield offset + at, offset + at + len(value), _kind_of(plugin), True


def _is_odd(run: str) -> bool:
    """Whether it is neither made of words nor the name of a commit."""
    if _TIME.fullmatch(run):
        return False
    pieces = len(_PIECE.findall(run))
    return "://" in run or (not _is_public(run) and (pieces == 0 or len(run) / pieces < 3.2 or len(run) < 18))


def _chunk_of(at: int) -> int:
    return at - at % _CHUNK


def _matches(plugin: Any, piece: str) -> list[re.Match[str]]:
    """Where a detector found something: it says only what, and of some formats only the beginning."""
    try:
        if not any(plugin.analyze_string(piece)):
            return []
    except (ValueError, TypeError, ArithmeticError):
        return []  # a detector that stumbles must not keep the others from looking
    return [match for pattern in plugin.denylist for match in pattern.finditer(piece)]


def _kind_of(plugin: Any) -> str:
    name = str(plugin.secret_type)
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


@cache
def _plugins() -> tuple[Any, ...]:
    from importlib import import_module

    return tuple(
        getattr(import_module(f"detect_secrets.plugins.{module}"), name)() for module, name in _PLUGINS
    )


def _random(text: str) -> Iterator[_Hit]:
    urls = [match.span() for match in _URL.finditer(text)]
    place = 0
    for match in _CANDIDATE.finditer(text):
        while place < len(urls) and urls[place][1] <= match.start():
            place += 1
        in_url = place < len(urls) and urls[place][0] <= match.start()
        word = match[0]
        if in_url or _is_public(word) or _PUBLIC_KEY.match(word):
            continue
        if _BEFORE_HASH.search(text[max(0, match.start() - 12) : match.start()]):
            continue
        if _looks_random(word[:400]) and not is_stand_in(word[:400]):
            yield match.start(), match.end(), "a random string", False


def _is_public(word: str) -> bool:
    """Hashes, commits, UUIDs, ULIDs: they name something and open nothing."""
    if _HASH.fullmatch(word) or _UUID.fullmatch(word) or _ULID.fullmatch(word):
        return True
    return bool(_BEFORE_HASH.match(word[:7]) or re.match(r"(?i)sha(?:1|256|384|512)[-:=]", word))


def _looks_random(word: str) -> bool:
    segments = [part for part in _SEGMENT_ENDS.split(word) if part and not _PLAIN_SEGMENT.fullmatch(part)]
    rest = "".join(segments)
    if len(rest) < 20 or sum(char.isdigit() for char in rest) < 2:
        return False
    pieces = sum(len(_PIECE.findall(part)) for part in segments)
    return len(rest) / pieces < 2.4 and entropy(rest) > 3.5


def entropy(text: str) -> float:
    """Bits a character, by Shannon."""
    counts = [text.count(char) / len(text) for char in set(text)]
    return -sum(share * math.log2(share) for share in counts)


_TOKEN = re.compile(r"[0-9A-Za-z_+/=-]{0,400}")


def _end_of_token(text: str, at: int) -> int:
    match = _TOKEN.match(text, at)
    return match.end() if match else at


def _start_of_token(text: str, at: int) -> int:
    match = _TOKEN.match(text[max(0, at - 400) : at][::-1])
    return at - match.end() if match else at
