"""Secrets are found, never shown; what only looks like one is left alone."""

import subprocess
import sys

import pytest

from agentplane.scan.secrets import find, mask
from tests.review.growth import least_seconds


def _split(*parts: str) -> str:
    """Written in pieces, so that no scanner takes this file for a leak."""
    return "".join(parts)


FOUND = [
    _split("AKIA", "4QXZ7PWMN2RTVB6K"),
    _split("gh", "p_aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5"),
    _split("github", "_pat_11AXCVEFG0qwertzuiopasdfghjkl_yxcvbnm"),
    _split("glpat", "-Qw8eRt7yUi6oPa5sDf4g"),
    _split("sk-", "ant-api03-Qw8eRt7yUi6oPa5sDf4gHj3kLz2xCv1bNm"),
    _split("AIza", "SyQw8eRt7yUi6oPa5sDf4gHj3kLz2xCv1bN"),
    _split("hf_", "QweRtzUioPasDfgHjkLyxCvbNmQweRtzUi"),
    _split("xoxb", "-2938475610-qwertzuiopKLMN"),
    _split("sk_", "live_Qw8eRt7yUi6oPa5sDf4gHj3k"),
    _split("eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"),
    _split("AC9f86d081884c7d65", "9a2feaa0c55ad015"),
    _split("SG.aB3dE5gH7jK9mN1pQ3sT5v.", "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5aB3dE5g"),
    _split("-----BEGIN RSA PRIV", "ATE KEY-----\nMIIEpAIBAAKCAQEA7bqQw8eR"),
    'password = "Tr0ub4dor&3x"',
    "password: hunter2x",
    "DB_PASSWORD='k9#mQz!2'",
    "api_key = 9f86d081884c7d659a2feaa0c55ad015",
    'client_secret: "correct-horse-9"',
    "postgres://app:s3cr3tpw@db.internal/app",
    "Authorization: Bearer abc9def8ghi7jkl6mno5",
    "Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l",
    "API key: 9f86d081884c7d659a2feaa0c55ad015",
    "the access key = 8Hq2LmX7vB4nR1tY6wE3",
    "curl -s -u deploy:k9xmQz22 https://ci.internal/build",
    "curl --user='deploy:k9xmQz22' https://ci.internal/build",
    _split("key", "-9f86d081884c7d659a2feaa0c55ad015"),
    _split("dapi", "9f86d081884c7d659a2feaa0c55ad015"),
    _split("PMAK", "-9f86d081884c7d659a2feaa0-9f86d081884c7d659a2feaa0c55ad015c3"),
    _split("sbp_", "9f86d081884c7d659a2feaa0c55ad0159f86d081"),
    _split("rubygems_", "9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d65"),
    _split("xkeysib", f"-{'9f86d081884c7d65' * 4}-Qw8eRt7yUi6oPa5s"),
    _split("gsk_", "Qw8eRt7yUi6oPa5sDf4gHj3kLz2xCv1bNmQw8eRt7yUi6oPa5sDf"),
    _split("xai-", "Qw8eRt7yUi6oPa5sDf4gHj3kLz2xCv1bNm" * 2),
    _split("r8_", "Qw8eRt7yUi6oPa5sDf4gHj3kLz2xCv1bNmQw8"),
    _split("pplx-", "Qw8eRt7yUi6oPa5sDf4gHj3kLz2xCv1bNmQw8eRt"),
    _split("figd_", "Qw8eRt7yUi6oPa5sDf4gHj3kLz2xCv1bNmQw8eRt"),
    _split("dckr_pat_", "Qw8eRt7yUi6oPa5sDf4gHj3kLz2"),
    _split("glsa_", "Qw8eRt7yUi6oPa5sDf4gHj3kLz2xCv1b_9f86d081"),
    _split("ATATT3", "Qw8eRt7yUi6oPa5sDf4gHj3kLz2xCv1bNm" * 2),
    _split("sntrys_", "Qw8eRt7yUi6oPa5sDf4gHj3kLz2xCv1bNmQw8eRt7y"),
    _split("NRAK-", "QW8ERT7YUI6OPA5SDF4GHJ3KLZ2"),
]

MEANT = [
    "The database password is hunter2!x",
    "The password for the staging db is Winter2026!",
    "Our passphrase is: correct7horse+",
    "The API key of the mailer is Qw8eRt7yUi6oPa5s",
    "The token is Qw8eRt7yUi6oPa5sDf4g.",
]
"""Told in a sentence."""

NONE = [
    "AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "Set the token to <token> first",
    "password: changeme",
    "password = 'your-password-here1'",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b fixed it",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "md5 9f86d081884c7d659a2feaa0c55ad015",
    "550e8400-e29b-41d4-a716-446655440000",
    "integrity sha512-Zk9qL2mX7vB4nR1tY6wE3sD8fG5hJ0pAZk9qL2mX7vB4nR1tY6wE3sD8fG5hJ0pA==",
    "password: str = Field(min_length=12)",
    "api_key: Optional[str] = None",
    "Passwords: hash them with argon2id, never bcrypt.",
    "The secret is stored in Vault under kv/app/prod-2024.",
    "Token: JWT signed with RS256",
    "postgres://user:password@localhost/db",
    "postgres://${DB_USER}:${DB_PASS}@host/db",
    "PASSWORD=$DB_PASSWORD",
    "secret: process.env.STRIPE_SECRET1",
    "The secret key is rotated every 30d",
    "token = get_token2(user)",
    "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "src/components/UserAccount2/BillingAddressForm.test.tsx",
    "x86_64-unknown-linux-gnu arm64-apple-darwin23-py312-cp311",
    "BENCH-2026-11-18T12-03-07Z-a1b2c3",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    _split("Refuse files that hold BEGIN PRIV", "ATE KEY"),
    "APARTMENTS is partitioned by year",
    "secret_name: billing-db-2",
    "password_hash: argon2id",
    "client_key: 'customer_id'",
    "APIGatewayV2Handler1 wraps it",
    "The run was 20261118T120307Z-4f2a9c",
    "Token bucket: 100req/s",
    "API key: sha256 of the tenant's id",
    "The access token is OAuth2 and short-lived",
    "The password is argon2id-hashed.",
    "The token is base64url-encoded.",
    "The password for new users is at least 12 characters.",
    "The secret is rotated-every-30-days-by-vault.",
    "The token is $CI_TOKEN_2!",
    "The password of the example is changeme1!",
    "curl -u $USER:$PASS https://ci.internal",
    "curl -u deploy:${TOKEN} https://ci.internal",
    "The cache key is linux-key-9f86d081884c7d659a2feaa0c55ad015",
]


CHOSEN = [
    "DB_PASSWORD=Amber-raven-21",
    "password: amber_raven_21",
    "ENV MYSQL_ROOT_PASSWORD=C4nyon_k9j",
    "VPN works with the pre-shared key Pickl3_Oew on every laptop.",
    "La contraseña de la base de datos de pruebas es C4nyon_Pe0.",
    "测试环境数据库密码是F4lcon_RaE，所有人共用。",
    "Hasło do serwera testowego to Amber-marble-46.",
    "rabbitmqctl add_user worker 5otlgymnia12",
    "net use Z: \\\\files\\share /user:ACME\\bob Amber-velvet-30",
    "Recovery codes:\n0a963-b9c56\n78123-ac128\n",
    "Please use the following password to proceed:\n\n7a1b22cd69ec523ae6b684853fde332c\n",
    '~ master_password = "Amber-copper-66" -> "OXis.z3zaHV0WA"',
    "| user | password |\n|---|---|\n| bob | Amber-velvet-30 |",
    "user,password\nbob,Amber-velvet-30\n",
    'var jwtKey = []byte("qytcoquidaakrlbzslaq")',
    'hmac.new(b"JyUBJv6LOBFvSXnvU9bk1ZZs", msg, hashlib.sha256)',
    _split("bob:$apr", "1$c3hKWDKX$dNLnvOR/PLsIwSeuIznWs3"),
    "The bing key for search is 1c53960766fe46379a8fec707eaeab7d.",
    "seed phrase is: " + " ".join(["amber", "canyon", "velvet", "tunnel"] * 3),
]
"""Values that people choose, and places where the name is not right before the value."""

PLAIN = [
    "POSTGRES_PASSWORD=${POSTGRES_PASSWORD:?required}",
    "Connect with postgres://user:password@localhost:5432/app as in the docs.",
    "password: {{ .Values.db.password2 }}",
    'PASSWORD_FIELD = "password"',
    'href="/password-reset-link"',
    "token: kebab-case-name\nsecret: db-credentials-v2\n",
    "password: required-12-chars",
    "The password is in 1Password, item staging-db-2.",
    "Password for web-01 is in the vault.",
    "password manager: 1password8",
    'jwt.encode(payload, SECRET_KEY, algorithm="HS256")',
    "rabbitmqctl add_user worker $RABBIT_PASS",
    "net use Z: \\\\files\\share /user:ACME\\bob *",
    "nobody:!:19800:0:99999:7:::",
    "Error codes:\nE1001-A2001\nB2020-C3030",
    "Recovery codes:\n  - list them in Settings",
    "The seed phrase is never stored on the server and users have to keep it safe",
    "| password | varchar(255) |",
    "Pass `top_k=100` to it.",
    "~ password = (sensitive value) -> (known after apply)",
    "sudo useradd -m -s /bin/bash deploy",
    "security find-identity -v -p codesigning",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9\n",
]


@pytest.mark.parametrize("text", CHOSEN)
def test_what_people_choose_is_found(text: str) -> None:
    assert [secret.sure for secret in find.find(text)][:1] == [True]
    assert mask.masked_text(text) != text


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_about_secrets_is_left_alone(text: str) -> None:
    assert find.find(text) == []
    assert mask.masked_text(text) == text


@pytest.mark.parametrize("text", FOUND)
def test_found_in_a_sentence(text: str) -> None:
    found = find.find(f"We learned this:\nThe value is {text} for now.")
    assert [secret.sure for secret in found] == [True]
    assert found[0].line == 2


@pytest.mark.parametrize("text", NONE)
def test_left_alone(text: str) -> None:
    assert find.find(text) == []


@pytest.mark.parametrize("text", FOUND)
def test_nothing_of_it_is_shown(text: str) -> None:
    shown = repr(find.find(text))
    value = text.rpartition("=")[2].rpartition(": ")[2].strip(" '\"")
    assert all(value[at : at + 6] not in shown for at in range(len(value) - 6))


def test_who_has_the_address_of_a_webhook_can_post() -> None:
    address = _split("https://discord.com/api/webhooks/", "202972997528820018/", "Qw8eRt7yUi6oPa5sDf4g" * 4)
    assert [secret.kind for secret in find.find(address)] == ["a Discord webhook"]


def test_a_random_string_is_no_sure_secret() -> None:
    found = find.find("It is Zk9qL2mX7vB4nR1tY6wE3sD8fG5hJ0pA there")
    assert [(secret.kind, secret.sure, secret.column) for secret in found] == [("a random string", False, 7)]


@pytest.mark.parametrize("text", MEANT)
def test_what_a_sentence_tells_is_a_secret(text: str) -> None:
    assert [secret.sure for secret in find.find(text)] == [True]


def test_an_example_elsewhere_excuses_nothing() -> None:
    found = find.find(f"https://example.com/?key={FOUND[0]}&host=example.com")
    assert [secret.sure for secret in found] == [True]


def test_hidden_characters_do_not_split_a_secret() -> None:
    assert find.find(FOUND[0][:9] + "\u200b" + FOUND[0][9:])


def test_far_down_a_long_text() -> None:
    found = find.find("A normal line.\n" * 2000 + FOUND[0])
    assert (found[0].line, found[0].column) == (2001, 1)


def test_a_short_text_loads_no_numpy() -> None:
    """It is for long outputs only, and takes longer to load than a short text to be looked at."""
    code = (
        "import sys; from agentplane.scan.secrets import mask;"
        f"assert mask.masked_text({FOUND[0]!r}) != {FOUND[0]!r};"
        "assert 'numpy' not in sys.modules"
    )
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_nothing_is_asked_over_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("asked the network")

    monkeypatch.setattr(socket, "socket", refuse)
    assert all(find.find(text) for text in FOUND)


@pytest.mark.timing
@pytest.mark.parametrize(
    "seed",
    [
        "secret",
        "secret=",
        "a1",
        "password:'",
        "eyJa.",
        "xoxb-1-",
        "://a:",
        "AKIA",
        "aws secret ",
        "-----BEGIN ",
    ],
)
def test_time_grows_with_the_text_only(seed: str) -> None:
    # Sixteen times the text; quadratic would be 256 times the time.
    short, long = (least_seconds(find.find, seed, size) for size in (20_000, 320_000))
    assert long < 60 * max(short, 0.002)


@pytest.mark.parametrize(
    "text", ["", "\0" * 50, "\ud800" * 50, "\udc80 token=\udfff", "\n" * 1000, "=" * 1000]
)
def test_odd_texts(text: str) -> None:
    assert find.find(text) == []


def test_one_short_word_is_no_secret_and_a_longer_one_can_be() -> None:
    assert find.is_short_word("20260127T101502Z")
    assert not find.is_short_word("AKIA2E0A8F3B244C9986")
    assert find.find("AKIA2E0A8F3B244C9986")
    assert not find.is_short_word("pw=hunter2")
