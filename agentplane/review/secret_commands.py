"""Passwords on command lines, as a table: which programs, and which of their words is one."""

import re
from collections.abc import Iterator
from functools import cache

from agentplane.review import secret_values as values


_WORD = r"(?:\"(?P<dq>[^\"\n]{3,200})\"|'(?P<sq>[^'\n]{3,200})'|(?P<bare>[^\s\"'`|;&<>()]{3,200}))"
_ROWS: tuple[tuple[str, str], ...] = (
    (r"mysql\w*|mariadb[\w-]*|mytop|mycli|percona[\w-]*", rf"(?<=\s)-p{_WORD}"),
    ("sshpass", rf"(?<=\s)-p\s{{0,2}}{_WORD}"),
    (r"docker|podman|nerdctl|buildah|skopeo|crane|helm|oras|buildx|regctl", rf"\blogin\b[^\n|]{{0,200}}?\s-p[ =]{{1,2}}{_WORD}"),
    ((r"twine|az|mongo(?:sh|dump|restore|export|import)?|cqlsh|vsql|sshuttle|winrm|evil-winrm|crackmapexec|netexec|nxc|rdesktop|kinit|influx|oc|cf|ibmcloud|tower|argocd|"
     r"wp|twurl|rasa|aws-vault|mosh|jf|jfrog|conan|nuget|sfdx|neo4j-admin|cypher-shell|isql|osqlquery|arangosh|couchbase-cli|rabbitmqadmin|curlftpfs|nordvpn|expressvpn|openvpn|vpnc|ngrok"), rf"\s-p[ =]{{1,2}}{_WORD}"),
    (r"sqlcmd|bcp|osql|tsql|mosquitto_(?:pub|sub|rr)|ipmitool|zip|unzip|unrar|ipmiutil|bteq|impacket-\w+|smbmap|mssql-cli|fisql|isql", rf"\s-P[ =]{{0,2}}{_WORD}"),
    ("redis-cli|valkey-cli|keydb-cli", rf"\s(?:-a|--pass)[ =]{_WORD}"),
    (r"ldap(?:search|modify|add|delete|whoami|passwd|compare|modrdn)", rf"\s-w[ ]{{0,2}}{_WORD}"),
    ("openssl|gpgsm|osslsigncode", rf"(?:\bpass(?:in|out)?[ =]['\"]?pass:|\s-k[ ]|-password[ ]pass:|\bpass:){_WORD}"),
    ("htpasswd", rf"\s-[a-zA-Z]{{0,6}}b[a-zA-Z]{{0,6}}\s+(?:-\w+\s+){{0,4}}\S{{1,120}}\s+\S{{1,80}}\s+{_WORD}|\s-[a-zA-Z]{{0,4}}n[a-zA-Z]{{0,4}}b?[a-zA-Z]{{0,4}}\s+\S{{1,80}}\s+{_WORD.replace('dq', 'dq2').replace('sq', 'sq2').replace('bare', 'bare2')}"),
    (r"net(?:\.exe)?", (rf"\buse\s+(?:\S{{1,120}}\s+){{1,2}}(?!/){_WORD}(?=\s+/user:)|\buse\b[^\n]{{0,200}}/user:\S{{1,80}}\s+(?!/){_WORD.replace('dq', 'dq2').replace('sq', 'sq2').replace('bare', 'bare2')}|"
     rf"\buser\s+\S{{1,60}}\s+(?!/){_WORD.replace('dq', 'dq3').replace('sq', 'sq3').replace('bare', 'bare3')}")),
    (r"smbclient|rpcclient|smbget|smbpasswd|wmic|winexe|pth-\w+|net|mount\.cifs", r"(?:-U|--user(?:name)?)[ =]?[\"']?[^\s%\"']{1,80}%(?P<bare>[^\s\"'|;&<>]{3,200})"),
    ("lftp|ncftp|ncftpput|ncftpget", r"\s-u\s?[\"']?[^\s,\"']{1,80},(?P<bare>[^\s\"'|;&<>]{3,200})|\s-p\s{1,2}(?P<bare2>[^\s\"'|;&<>-][^\s\"'|;&<>]{3,200})"),
    ("keytool|jarsigner|apksigner|signtool|javapackager", rf"-(?:src|dest)?(?:store|key)pass\w{{0,8}}[ =](?:pass:)?{_WORD}|--(?:ks|key)-pass[ =](?:pass:)?{_WORD.replace('dq', 'dq2').replace('sq', 'sq2').replace('bare', 'bare2')}|\s/p\s{_WORD.replace('dq', 'dq3').replace('sq', 'sq3').replace('bare', 'bare3')}"),
    (r"7z[az]?|7zz|rar|unrar|p7zip", rf"\s-h?p{_WORD}"),
    (r"xfreerdp3?|wlfreerdp|mstsc|cmdkey|rdesktop", rf"\s/p(?:ass)?(?:word)?:{_WORD}|\s-p\s{_WORD.replace('dq', 'dq2').replace('sq', 'sq2').replace('bare', 'bare2')}"),
    (r"snmp\w+", rf"\s-[AX]\s{{0,2}}{_WORD}"),
    ("sqlplus|sqlldr|expdp|impdp|rman|exp|imp", r"\s(?:-\w+\s+){0,3}[\"']?[\w$#]{2,40}/[\"']?(?P<bare>[^\s\"'@/|;]{3,120})(?=[\"']?(?:@|\s|$))"),
    ("curl", r"(?:\s-[a-zA-Z]{0,8}[uU]|--(?:proxy-)?user)[ =]?[\"']?[^\s:\"'$]{0,80}:(?:(?P<bare>[^\s\"'$|;]{3,120}))"),
    ("https?|xh|ab|wrk|hey|hurl|httpie", r"\s(?:-a|-A|--auth)[ =]?[\"']?[^\s:\"'$]{0,80}:(?P<bare>[^\s\"'$|;]{3,120})"),
    ("git|svn|hg|wget|aria2c|rclone|mount|ansible[\\w-]*|restic|borg|s3cmd|mc|vault|consul|nomad", r"(?:http|ftp|proxy)-pass(?:wd|word)[ =][\"']?(?P<bare>[^\s\"'$|;]{3,120})|\bpass=(?P<bare2>[^\s\"'$|;,]{3,120})"),
    ("mc|mcli", r"\balias set \S{1,60} \S{1,120} \S{3,60} (?P<bare>[^\s\"'$|;]{6,120})"),
    (r"ENV|ARG|setx|set|env", r"(?<=[A-Z] )(?<![=])\b(?P<never>(?!))|^\s{0,3}[A-Z][A-Z0-9_]{0,30}(?:PASS(?:WORD|WD|PHRASE)?|PWD|SECRET(?:_KEY)?)[A-Z0-9_]{0,10}\s+(?:\"(?P<dq>[^\"\n]{3,200})\"|(?P<bare>[^\s\"'=]{3,200}))[ \t]*(?:/m)?$"),
    ("aws", r"\bconfigure set (?:[\w.-]{0,40}\.)?aws_(?:secret_access_key|session_token) (?P<bare>[^\s\"'$|;]{16,2000})"),
    ("npm|yarn|pnpm", r"\bconfig set \S{0,120}(?:_authToken|_password|_auth)[ =](?P<bare>[^\s\"'$|;]{8,400})"),
    ("requirepass|masterauth|rootpw|bindpw|credentials", rf"^\s{{1,8}}{_WORD}\s*$"),
    ("IDENTIFIED|identified", r"\s+(?:WITH\s+\S{1,40}\s+|with\s+\S{1,40}\s+)?(?:BY|by|AS|as)\s+(?:PASSWORD\s+)?['\"](?P<sq>[^'\"\n]{3,200})['\"]"),
    ("SecureString", rf"\s+(?:-String\s+)?{_WORD}\s+-AsPlainText|[^\n]{{0,60}}-AsPlainText[^\n]{{0,40}}-String\s+{_WORD.replace('dq', 'dq2').replace('sq', 'sq2').replace('bare', 'bare2')}"),
    ("NetworkCredential|PSCredential|HTTPBasicAuth|BasicAuth|UsernamePasswordCredentials|UsernamePasswordAuthenticationToken|DriverManager.getConnection|basic_auth|basicAuth|SetBasicAuth|login|connect|authenticate|auth",
     r"\s{0,2}\(\s{0,2}(?:[^()\n\"']{0,40}[\"'][^\"'\n]{1,120}[\"']|[\w.]{1,40})\s{0,2},\s{0,2}[\"'](?P<sq>[^\"'\n]{4,200})[\"']"),
    ("machine|default", r"\s+(?:\S{1,120}\s+)??(?:(?:login|account|user)\s+\S{1,120}\s+){1,2}pass(?:word|wd)?\s+(?P<bare>\S{3,200})"),
    ("echo|printf", (rf"\s+(?:-[nec]+\s+)?(?:[\"']%s(?:\\n)?[\"']\s+)?{_WORD}\s*\|\s*(?:\S{{1,40}}\s){{0,3}}?(?:[^|\n]{{0,120}}(?:--password-stdin|--with-token|--stdin|-stdin)|sudo (?:-\w+ )*-\w*S|cryptsetup|su\b|kinit|passwd)|"
     r"\s+(?:-[nec]+\s+)?[\"']?[\w.-]{1,40}:(?P<bare2>[^\s\"'|]{3,120})[\"']?\s*\|\s*(?:sudo\s+)?chpasswd")),
    ("chpasswd", r"\s*<<<\s*[\"']?[\w.-]{1,40}:(?P<bare>[^\s\"'|]{3,120})"),
    ("useradd|usermod|adduser", r"\s-p\s{1,2}[\"']?(?P<bare>[^\s\"'$|;-][^\s\"'$|;]{3,120})"),
    ("jdbc", r":oracle:(?:thin|oci):[\w$]{1,40}/(?P<bare>[^\s@\"']{3,120})@"),
)  # fmt: skip


def _branches(names: str) -> list[str]:
    """The names of a row, apart."""
    found, depth, start = [], 0, 0
    for at, char in enumerate(names):
        depth += (char == "(") - (char == ")")
        if char == "|" and not depth:
            found.append(names[start:at])
            start = at + 1
    return [*found, names[start:]]


def _any_of(names: list[str]) -> str:
    """A pattern for one of the names; those with the same first letter together, which is found faster."""
    by_letter: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        by_letter.setdefault(name[0], []).append(name[1:])
    return "|".join(f"{letter}(?:{'|'.join(rests)})" for letter, rests in by_letter.items())


_STARTS = re.compile(
    rf"(?<![\w$-])(?:{_any_of([name for names, _ in _ROWS for name in _branches(names)])}|(?<=To-)SecureString)(?:\.exe)?(?=[\s(:])(?![ \t]*[=])"
)


@cache
def _program(names: str) -> re.Pattern[str]:
    return re.compile(names)


@cache
def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


_LONGEST = 500
_ORDINARY = re.compile(
    r"(?i)(?:[a-z]+/[a-z]+|port|shop|dbname|mydb|db|test|localhost|build|output|dist|stdin|prompt|flag|option|only|when|with|without|instead|which|and|or|for|the|is|as|if|\d{1,5}(?::\d{1,5})?)"
)


def hits(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """The passwords that programs are given as words."""
    for match in _STARTS.finditer(text):
        name = match[0].removesuffix(".exe")
        until = text.find("\n", match.end())
        many = name in {"machine", "default"}
        end = min(len(text), match.end() + _LONGEST, len(text) if until < 0 or many else until)
        for names, pattern in _ROWS:
            if _program(names).fullmatch(name):
                for found in _words(pattern).finditer(text, match.end(), end):
                    yield from _argument(found, name)


def _argument(found: re.Match[str], program: str) -> Iterator[tuple[int, int, str, bool]]:
    for name, said in found.groupdict().items():
        if said is None or name == "never":
            continue
        value = said.rstrip(",.)") if name.startswith("bare") else said
        value = value.rstrip("'\"`")
        if is_argument(value):
            start = found.start(name)
            yield start, start + len(value), f"a password for {program.lower()}", True


def is_argument(value: str) -> bool:
    """Whether a word where a password is expected is one."""
    if (
        len(value) < 4
        or values.is_stand_in(value)
        or values.is_reference(value)
        or value[0] in "-/=."
        or _ORDINARY.fullmatch(value)
    ):
        return False
    return not (
        re.fullmatch(r"[A-Z_]+", value) or (values.is_public(value) and len(value) < 16 and value.isdigit())
    )
