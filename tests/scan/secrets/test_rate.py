"""How many secrets are found and how many false alarms there are, in candidates and in outputs alike."""

import os
import random
from pathlib import Path

import pytest

from agentplane.scan.secrets import find
from tests.bench import secrets as bench
from tests.bench import secrets_made, secrets_near
from tests.conftest import ROOT
from tests.review.growth import least_seconds


DATA = Path(os.environ.get("AGENTPLANE_DATA", ROOT.parent / "shared" / "data"))
SEED = 2026
"""Not the seed that the rules were written with."""


@pytest.fixture(scope="module")
def found() -> dict[str, list[tuple[secrets_made.Made, bool, str]]]:
    return bench.of_secrets(secrets_made.made(SEED), SEED)


def test_the_set_is_large_and_of_many_kinds() -> None:
    cases = secrets_made.made(SEED)
    assert len(cases) >= 300
    assert len({one.kind for one in cases}) >= 40
    assert len(secrets_near.own(SEED)) >= 300


@pytest.mark.parametrize("side", ["candidates", "outputs"])
def test_found(side: str, found: dict[str, list[tuple[secrets_made.Made, bool, str]]]) -> None:
    missed = [one.kind for one, hit, _ in found[side] if not hit]
    assert len(missed) <= 0.05 * len(found[side]), missed
    held = [hit for one, hit, _ in found[side] if one.held]
    assert bench.share(held) >= 0.95, missed


@pytest.fixture(scope="module")
def own() -> dict[str, list[tuple[str, bool]]]:
    return bench.of_near(secrets_near.own(SEED), SEED)


@pytest.mark.parametrize("side", ["candidates", "outputs"])
def test_false_alarms_of_our_own_look_alikes(side: str, own: dict[str, list[tuple[str, bool]]]) -> None:
    rows = own[side]
    alarms = [line for line, hit in rows if hit]
    assert len(alarms) <= 0.01 * len(rows), alarms


def test_false_alarms_in_real_projects() -> None:
    if not (DATA / "instructions").is_dir():
        pytest.skip(f"no real files in {DATA}")
    lines = secrets_near.real(DATA)
    assert len(lines) >= 300
    for side, rows in bench.of_near(lines, SEED).items():
        assert sum(hit for _, hit in rows) <= 0.01 * len(rows), side


@pytest.mark.parametrize("make", [secrets_made.letters, secrets_made.words])
@pytest.mark.parametrize("template", ["DB_PASSWORD='{}'", 'password = "{}"', '"passphrase": "{}"'])
def test_passphrases_of_letters(make: secrets_made.Maker, template: str) -> None:
    r = random.Random(SEED)
    texts = [template.format(make(r)) for _ in range(200)]
    assert sum(not find.spans(text) for text in texts) <= 10


@pytest.mark.parametrize("kind", ["gitlab", "jwt"])
def test_no_token_is_taken_for_a_stand_in_by_chance(kind: str) -> None:
    r = random.Random(SEED)
    make = next(one.make for one in secrets_made._kinds() if one.name == kind)
    assert all(find.spans(make(r)) for _ in range(1000))


HOSTILE = ("password", "secret=", "密码", "login a / b1c2d3 ", "mysql -p ", "htpasswd -b a ", "kind: Secret\ndata:\n a: YWJj\n",
           "-----BEGIN ", "password <", "password is ", "connect(", "machine a login b ", "cookie: a=", "| password | a |\n", "user,password\n", "recovery codes: 1a2b3c4d ", "seed phrase abcd ", "${PASSWORD:", "%41", '\\"')  # fmt: skip


@pytest.mark.timing
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_text_and_no_faster(piece: str) -> None:
    # Four times the text; quadratic would be 16 times the time.
    short, long = (least_seconds(find.spans, piece, size) for size in (10_000, 40_000))
    assert long < 10 * max(short, 0.01)
