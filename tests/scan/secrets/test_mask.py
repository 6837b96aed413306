"""What is masked in the output of programs, and what stays as it is."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentplane.scan.secrets import find, mask
from agentplane.scan.secrets.mask import masked, masked_value
from tests.scan.secrets.test_find import FOUND


TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
PASSWORD = "hunter2!xY9#q"


@pytest.mark.parametrize(
    "text",
    [
        f"token {TOKEN} and more",
        f"\x1b[31mtoken \x1b[1m{TOKEN[:12]}\x1b[0m{TOKEN[12:]}\x1b[0m\r\nnext",
        f"ä ü {TOKEN}\n",
        f'{{"password": "{PASSWORD}"}}',
        f"PASSWORD='{PASSWORD}'",
        f"DB_PASSWORD={PASSWORD}",
        f"postgres://me:{PASSWORD.replace('#', '')}@db.internal/app",
        f"{TOKEN}\u200b",
        "x" * 40_000 + f" {TOKEN} " + "y" * 40_000,
    ],
)
def test_no_piece_of_a_secret_stays(text: str) -> None:
    clean, notes = masked(text.encode())
    assert notes
    for secret in (TOKEN, PASSWORD, PASSWORD.replace("#", "")):
        for start in range(4, len(secret) - 5):
            assert secret[start : start + 6].encode() not in clean


def test_a_key_block_goes_with_all_its_lines() -> None:
    body = "\n".join("MIIEpAIBAAKCAQEA" + "q7Zk" * 12 for _ in range(20))
    block = (
        f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{body}\n-----END RSA PRIVATE KEY-----"
    )
    clean, notes = masked(f"before\n{block}\nafter\n".encode())
    assert clean == b"before\n[masked: a private key]\nafter\n"
    assert [(note.kind, note.line) for note in notes] == [("a private key", 2)]


def test_the_lines_are_counted_from_one() -> None:
    clean, notes = masked(f"one\ntwo\n{TOKEN}\nfour\n{TOKEN}\n".encode())
    assert [note.line for note in notes] == [3, 5]
    assert clean.count(b"\n") == 5


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-18T16:20:20.123Z [worker-3] app.handler: /srv/app/data/file_7.json (sha256:9f86d081884c7d659a2f)\n",
        "commit 8d3fae1f0c2b9d6a7e5f4c3b2a19080706050403\n",
        "password: required\ntoken = os.environ['TOKEN']\n",
        "\x1b[32m✓\x1b[0m 12 passed\n",
    ],
)
def test_what_is_no_secret_stays_byte_for_byte(text: str) -> None:
    assert masked(text.encode()) == (text.encode(), [])


@given(st.binary(max_size=400), st.binary(max_size=400))
def test_what_stands_around_a_secret_stays(before: bytes, after: bytes) -> None:
    clean_before, clean_after = masked(before)[0], masked(after)[0]
    clean, _ = masked(before + b"\n\n " + TOKEN.encode() + b" \n\n" + after)
    assert TOKEN.encode() not in clean
    if (clean_before, clean_after) == (before, after) and b"\x1b" not in before + after:
        assert clean.startswith(before.rpartition(b"\n")[0])
        assert clean.endswith(after.partition(b"\n")[2])


def test_all_texts_of_a_value_are_masked_and_its_names_stay() -> None:
    value = {"token": TOKEN, "rows": [f"a {TOKEN}", 3, None, {"deep": (TOKEN,)}]}
    clean = masked_value(value)
    assert TOKEN not in json.dumps(clean)
    assert list(clean) == ["token", "rows"]
    assert clean["rows"][1:3] == [3, None]


def test_a_name_that_is_a_secret_is_masked_and_no_field_is_lost() -> None:
    other = TOKEN[:-4] + "zzzz"
    clean = masked_value({"inputs": [{TOKEN: 1, other: 2, "plan": 3}, {7: TOKEN}]})
    assert TOKEN not in json.dumps(clean)
    assert other not in json.dumps(clean)
    assert list(clean["inputs"][0].values()) == [1, 2, 3]
    assert "plan" in clean["inputs"][0]


def test_a_look_costs_little_where_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a text in which something could stand is looked at closely."""
    monkeypatch.setattr(find, "spans", pytest.fail)
    assert masked(b"an ordinary line of a build\n" * 1000)[1] == []


def test_the_end_of_a_key_whose_beginning_was_cut_off() -> None:
    body = "\n".join("q7Zk" * 16 for _ in range(20))
    clean, notes = masked(f"it was built:\n{body}\n-----END RSA PRIVATE KEY-----\nafter\n".encode())
    assert clean == b"it was built:\n[masked: a private key]\nafter\n"
    assert [(note.kind, note.line) for note in notes] == [("a private key", 2)]


def test_the_word_after_an_option_is_known_by_it() -> None:
    words = ["login", "--password", PASSWORD, "--user", "me", f"token={TOKEN}"]
    clean = mask.masked_words(words)
    assert clean[:2] + clean[3:5] == ["login", "--password", "--user", "me"]
    assert PASSWORD not in clean[2]
    assert TOKEN not in clean[5]


@pytest.mark.parametrize(
    "words",
    [
        ["curl", "-s", "-u", "deploy:k9xmQz22", "https://ci.internal"],
        ["/usr/bin/curl", "--user", "deploy:k9xmQz22", "https://ci.internal"],
        ["curl", "-udeploy:k9xmQz22", "https://ci.internal"],
        ["sh", "-c", "curl -u deploy:k9xmQz22 https://ci.internal"],
    ],
)
def test_what_an_option_means_depends_on_the_program(words: list[str]) -> None:
    clean = mask.masked_words(words)
    assert "k9xmQz22" not in " ".join(clean)
    assert len(clean) == len(words)
    assert clean[0] == words[0]
    assert clean[-1].endswith("https://ci.internal")


@pytest.mark.parametrize(
    ("words", "secret"),
    [
        (["mysql", "-u", "root", "-pviolet.lantern7", "shop"], "violet.lantern7"),
        (["sshpass", "-p", "violetlantern", "ssh", "me@host"], "violetlantern"),
        (["docker", "login", "-u", "acme", "-p", "violetlantern", "r.io"], "violetlantern"),
        (["app", "--password", "violet lantern harbor maple"], "lantern"),
        (["sh", "-c", "PGPASSWORD=violetlantern psql"], "violetlantern"),
    ],
)
def test_the_words_of_a_command_are_read_as_one_line(words: list[str], secret: str) -> None:
    clean = mask.masked_words(words)
    assert len(clean) == len(words)
    assert clean[0] == words[0]
    assert secret not in " ".join(clean)
    plain = ["docker", "run", "-p", "8080:80", "nginx"]
    assert mask.masked_words(plain) == plain


@pytest.mark.parametrize("text", FOUND)
def test_what_the_gate_is_sure_of_is_masked(text: str) -> None:
    assert all(secret.sure for secret in find.find(text))
    assert mask.masked_text(text).count("[masked: ") == 1


def test_a_value_is_known_by_its_name() -> None:
    clean = masked_value({"DB_PASSWORD": PASSWORD, "rows": {"password": PASSWORD, "user": "me"}})
    assert PASSWORD not in json.dumps(clean)
    assert clean["rows"]["user"] == "me"


@given(st.text("ab yz\n\t.", max_size=60))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    once = mask.masked_text(f"password={PASSWORD} {text} {TOKEN}")
    assert mask.masked_text(once) == once


def test_any_text_of_python_can_be_masked() -> None:
    assert "\ud800" not in mask.masked_text("a\ud800b\udcffc")


def _seconds(data: bytes) -> float:
    begin = time.process_time()
    masked(data)
    return time.process_time() - begin


HOSTILE = {
    "no newline": b"x" * 1000,
    "near tokens": b"ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r ",
    "near tokens in lines": b"ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r\n",
    "tokens": TOKEN.encode() + b" ",
    "names": b"password=password=",
    "beginnings of keys": b"-----BEGIN RSA PRIVATE KEY-----\n",
    "ends of keys": b"q7Zkq7Zkq7Zk\n-----END RSA PRIVATE KEY-----\n",
    "lines of a key": b"q7Zk" * 16 + b"\n",
    "colours": b"\x1b[31m\x1b[1mk\x1b[0m",
    "urls": b"https://a:b@c/",
    "base64": b"QUJDRA+/" * 10,
}


@pytest.mark.timing
@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_with_the_text_and_no_faster(name: str) -> None:
    piece = HOSTILE[name]
    small, large = (piece * (size // len(piece)) for size in (250_000, 1_000_000))
    short, long = (min(_seconds(data) for _ in range(3)) for data in (small, large))
    assert long < 4 * max(short, 0.02) * 2.5
