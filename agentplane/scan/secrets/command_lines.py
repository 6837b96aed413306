"""Detection of passwords on command lines, by a table of programs and the places of their passwords."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from agentplane.scan.secrets import values
from agentplane.scan.secrets.plain_text import Hit


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
    (r"net(?:\.exe)?", (rf"\buse\s+(?:\S{{1,120}}\s+){{1,2}}(?![/\\]){_WORD}(?=\s+/user:)|\buse\b[^\n]{{0,200}}/user:\S{{1,80}}\s+(?!/){_WORD.replace('dq', 'dq2').replace('sq', 'sq2').replace('bare', 'bare2')}|"
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
    ("echo|printf", (rf"\s+(?:-[nec]+\s+)?(?:[\"']%s(?:\\n)?[\"']\s+)?{_WORD}\s*\|\s*(?:\S{{1,40}}\s){{0,3}}?(?:[^|\n]{{0,120}}(?:--password-stdin|--with-token|--stdin|-stdin)|sudo (?:-\w+ )*-\w*S|cryptsetup|su\b|kinit|passwd|smbpasswd|vncpasswd|pdbedit|smbclient|gpg|veracrypt|mysql)|"
     r"\s+(?:-[nec]+\s+)?[\"']?[\w.-]{1,40}:(?P<bare2>[^\s\"'|]{3,120})[\"']?\s*\|\s*(?:sudo\s+)?chpasswd")),
    ("chpasswd", r"\s*<<<\s*[\"']?[\w.-]{1,40}:(?P<bare>[^\s\"'|]{3,120})"),
    ("useradd|usermod|adduser", r"\s-p\s{1,2}[\"']?(?P<bare>[^\s\"'$|;-][^\s\"'$|;]{3,120})"),
    # Commands with a name, then the password, without an option before them.
    (r"rabbitmqctl|ejabberdctl|prosodyctl|emqx_ctl|vmq-admin|kamctl|opensipsctl|saslpasswd2|couchbase-cli|neo4j-admin|grafana-cli|nextcloud\S{0,20}|occ",
     (rf"\b(?:(?:add_user|change_password|adduser|authenticate_user|passwd|set_password|change-password|manual-install)\s+(?!-)\S{{1,80}}|reset-admin-password|set-initial-password|set-default-admin|register\s+\S{{1,60}}\s+\S{{1,80}})\s+(?!-){_WORD}")),
    (r"manage\.py|flask|artisan|rake|galaxy|unifi|asterisk|jenkins-cli|argocd|bootstrap|admin-cli|cli|console",
     r"\b(?:add_user|add-user|adduser|addUser|create-user|create_user|user:create|user:add|change_password|changepassword|set_password|set-password|reset-password|reset_password|user:password)\s+(?!-)\S{1,80}\s+(?:\S{1,60}@\S{1,60}\s+)?(?!-)(?P<password>[^\s\"'`|;&<>()]{6,200})"),
    (r"kadmin(?:\.local)?", rf"\s-pw\s+{_WORD}"),
    ("mosquitto_passwd", rf"\s-[a-zA-Z]*b[a-zA-Z]*\s+\S{{1,120}}\s+\S{{1,80}}\s+{_WORD}"),
    ("samba-tool", rf"\buser\s+(?:create|add)\s+(?!-)\S{{1,60}}\s+(?!-){_WORD}"),
    (r"mc|mcli", rf"\badmin\s+user\s+(?:add|svcacct\s+add)\s+\S{{1,60}}\s+\S{{2,60}}\s+(?!-){_WORD}"),
    ("rclone", rf"\bobscure\s+(?!-){_WORD}"),
    ("qpdf|pdftk|pdfcpu", rf"(?:--encrypt|user_pw|owner_pw|-upw|-opw)[ =]{_WORD}"),
    ("smbmap|hydra|medusa|ncrack|flyctl|fly|psexec(?:64)?|PsExec(?:64)?|winrs|racadm|perccli|storcli|impacket-\\w+|secretsdump.py|wmiexec.py|ilorest|plink|pscp|psftp|x11vnc|vncpasswd|vncviewer|elasticsearch-users",
     rf"\s(?:-p|-pw|-passwd|--?password|--passphrase)[ ]{{1,2}}(?!-){_WORD}|\s[-/]p:{_WORD.replace('dq', 'dq2').replace('sq', 'sq2').replace('bare', 'bare2')}"),
    ("security", rf"\b(?:set-keychain-password|unlock-keychain|create-keychain)\b[^\n|]{{0,80}}?\s-p\s{{1,2}}{_WORD}|\bimport\b[^\n|]{{0,160}}?\s-P\s{_WORD.replace('dq', 'dq3').replace('sq', 'sq3').replace('bare', 'bare3')}"),
    ("security", rf"\badd-(?:generic|internet)-password\b[^\n|]{{0,200}}?\s-w\s{_WORD}"),
    ("dscl", rf"\s-passwd\s+\S{{1,80}}\s+(?:\S{{1,80}}\s+(?=\S))?{_WORD}\s*$"),
    (r"schtasks", rf"\s/rp\s+{_WORD}"),
    ("wpa_passphrase", rf"\s+(?:\"[^\"\n]{{1,40}}\"|\S{{1,40}})\s+{_WORD}"),
    ("kinit|cryptsetup|veracrypt|passwd|su|sudo|gpg|age|vault|gh|wrangler|docker|podman", r"[^\n|;]{0,120}<<<\s*[\"']?(?P<password>[^\s\"'`|;&<>()]{6,300})"),
    # Commands of routers and switches.
    ("username|enable|neighbor|tacacs-server|radius-server|ppp|isakmp|snmp-server|user", r"(?:\s+[\w./-]{1,40}){0,6}?\s+(?:secret|password|key|key-string)\s+(?:level\s\d+\s)?(?:[0-9]\s+)?(?P<password>[^\s\"'`|;&<>()-][^\s\"'`|;&<>()]{4,200})\s*$"),
    ("wpa-psk|wpa_passphrase|psk", rf"[ \t]{{1,4}}{_WORD}\s*$"),
    ("bindpw|rootpw|requirepass|masterauth|rootbindpw|bind_pw|smtp_passwd|passwd", rf"[ \t]{{1,8}}(?:--plaintext\s+)?{_WORD}\s*$"),
    ("SETUSER|setuser|user", r"\s+\w{1,40}\s+(?:[~+&%@\w*-]+\s+){0,6}[\"']?>(?P<bare>[^\s\"'<>|;]{4,120})"),
    ("AUTH", rf"[ \t]{{1,3}}(?:(?!PLAIN|LOGIN|CRAM|PASSWORD|TLS|NTLM|XOAUTH)[\w-]{{1,40}}[ \t]{{1,3}})?{_WORD}[ \t]*$"),
    # Tokens as arguments: `vault login …`, `snyk auth …`.
    ("vault|snyk|ngrok|cloudflared|doctl|nomad|consul|railway|netlify|vercel|supabase|huggingface-cli|hf|wandb|fly|flyctl|turso|neonctl|modal|infisical|doppler|sentry-cli|heroku|gh|glab|pulumi|scw|hcloud|linode-cli|civo|tailscale|zerotier-cli|netbird|headscale|k3s|rke2|expo|eas|vsce|ovsx|cargo|gem|poetry|pnpm|npm|composer",
     (r"\s(?:operator\s+unseal|login|auth|authtoken|add-authtoken|config\s+add-authtoken|service\s+install|auth\s+init\s+-t|auth\s+login|token|tunnel\s+run\s+--token|login\s+--relogin|publish\s+-[pt]|--key|-k|-t)[ =]"
     r"(?P<token>[0-9A-Za-z+/_=.-]{16,2000})(?![\w.])")),
    ("composer|poetry|bundle|pip|gem|cargo|nuget|dotnet|conda|helm|mvn", rf"\bconfig\s+(?:--?[\w-]+\s+){{0,3}}[\w.-]*(?:http-basic|auth|pypi-token|password|token)[\w.-]*\s+\S{{1,80}}\s+(?:[\w@.-]{{1,60}}\s+)?{_WORD}\s*$"),
    # Keys as arguments of a call, only if the value can't be a name.
    (("hmac.new|hmac.New|hmac.digest|createHmac|Hmac|HMACSHA1|HMACSHA256|HMACSHA384|HMACSHA512|jwt.sign|jwt.verify|jwt.encode|jwt.decode|JWT.encode|JWT.decode|hash_hmac|HMAC.hexdigest|HMAC.digest|HMAC.new|SecretKeySpec|Fernet|AES.new|ChaCha20.new|"
     "SymmetricSecurityKey|hmacShaKeyFor|HMAC256|HMAC384|HMAC512|signWith|setSigningKey|secretbox.open|createCipheriv|createDecipheriv|AESGCM|TimestampSigner|URLSafeTimedSerializer|cookieParser|keygrip|Keygrip|SecretBox|new_hmac|hmac_sha256|encode_jwt|jwt_encode|JwtSigner.hmac"),
     r"\s{0,2}\(\s{0,2}(?:(?:[\w.$()]{1,60}|\{[^{}\n\"']{0,80}\}|\[\s?|[\"'][\w-]{2,12}[\"'])\s{0,2},\s{0,2}){0,2}(?:\[\]byte\(|(?:[\w.]{1,40})\(|\[|[bB])?[\"'](?P<key>[^\"'\n]{8,200})[\"']"),
    ("PasswordAuthentication|Credential|Credentials|mysqli_connect|mysqli|pg_connect|PDO|ftp_login|imap_open|ldap_bind|simple_bind_s|bind_s|create_user|createUser|create_superuser|BasicCredentials|auth_basic|basic_auth|basicAuth|login_user|Login|sign_in|setCredentials|userpass|with_credentials",
     r"\s{0,2}\(\s{0,2}(?:(?:[\w.$]{1,60}|[\"'][^\"'\n]{0,120}[\"'])\s{0,2},\s{0,2}){1,2}[\"'](?P<password>[^\"'\n]{4,200})[\"']"),
    ("auth", r"\s?=\s?\(\s{0,2}[\"'][^\"'\n]{1,80}[\"']\s{0,2},\s{0,2}[\"'](?P<password>[^\"'\n]{4,200})[\"']"),
    ("jdbc", r":oracle:(?:thin|oci):[\w$]{1,40}/(?P<bare>[^\s@\"']{3,120})@"),
)  # fmt: skip


def _branches(names: str) -> list[str]:
    """Return the separate names of a row."""
    found, depth, start = [], 0, 0
    for at, char in enumerate(names):
        depth += (char == "(") - (char == ")")
        if char == "|" and not depth:
            found.append(names[start:at])
            start = at + 1
    return [*found, names[start:]]


def _any_of(names: list[str]) -> str:
    """Return a pattern for any of the names, grouped by first letter for speed."""
    by_letter: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        by_letter.setdefault(name[0], []).append(name[1:])
    return "|".join(f"{letter}(?:{'|'.join(rests)})" for letter, rests in by_letter.items())


_AUTH_PAIR = r"\s?\(\s{0,2}[\"']"
_STARTS = re.compile(
    rf"(?:(?<![\w$-])(?:{_any_of([name for names, _ in _ROWS for name in _branches(names)])})(?:\.exe)?|(?<=To-)SecureString)(?=[\s(:]|={_AUTH_PAIR})(?![ \t]*=(?!{_AUTH_PAIR}))"
)


@cache
def _program(names: str) -> re.Pattern[str]:
    return re.compile(names)


@lru_cache(4096)
def _patterns(name: str) -> tuple[str, ...]:
    """Return the patterns of the passwords that can follow a program."""
    return tuple(pattern for names, pattern in _ROWS if _program(names).fullmatch(name))


@cache
def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


_LONGEST = 500
_REPEATS = 3
_ORDINARY = re.compile(
    r"(?i)(?:[a-z]+/[a-z]+|port|shop|dbname|mydb|db|test|localhost|build|output|dist|stdin|prompt|flag|option|only|when|with|without|instead|which|and|or|for|the|is|as|if|\d{1,5}(?::\d{1,5})?)"
)


def hits(text: str) -> Iterator[Hit]:
    """Yield the passwords that are arguments of programs."""
    found = list(_STARTS.finditer(text))
    for match, limit in zip(found, _limits(found, len(text)), strict=True):
        name = match[0].removesuffix(".exe")
        until = text.find("\n", match.end(), match.end() + _LONGEST)
        many = name in {"machine", "default"}
        end = min(limit, match.end() + _LONGEST, limit if until < 0 or many else until)
        for pattern in _patterns(name):
            for word in _words(pattern).finditer(text, match.end(), end):
                yield from _argument(word, name)


def _limits(found: list[re.Match[str]], size: int) -> list[int]:
    """Return for each program the place of its third later occurrence, where its arguments end.

    Otherwise the same word would be searched again and again.
    """
    limits = [size] * len(found)
    later: dict[str, list[int]] = {}
    for number in range(len(found) - 1, -1, -1):
        starts = later.setdefault(found[number][0], [])
        limits[number] = starts[-_REPEATS] if len(starts) >= _REPEATS else size
        starts.append(found[number].start())
    return limits


def _argument(found: re.Match[str], program: str) -> Iterator[Hit]:
    for name, text in found.groupdict().items():
        if text is None or name == "never":
            continue
        value = text.rstrip(",.)") if name.startswith("bare") else text
        value = value.rstrip("'\"`")
        if is_argument(value) and _fits(name, value):
            start = found.start(name)
            yield start, start + len(value), f"a password for {program.lower()}", True


_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+$|[\d.:/]+$|\w+://")


def _fits(group: str, value: str) -> bool:
    """True if the value fits its group: a token, a key, a password in code, or any word."""
    if group == "token":
        return values.is_random(value) and not values.is_public(value.partition("-")[0])
    if group == "key":
        return values.is_secret(value, strong=True, quoted=True) and (
            values.is_mixed(value) or len(value) >= 16
        )
    if group == "password":
        return (
            values.is_secret(value, strong=True, quoted=True)
            and values.is_mixed(value)
            and not _ADDRESS.match(value)
        )
    return True


def is_argument(value: str) -> bool:
    """True if a word in the place of a password is one."""
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
