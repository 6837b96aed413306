"""The examples of docs/reference/extending.md, installed as one package and used."""

import re
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from agentplane import extensions
from agentplane.api import Plane
from agentplane.cli.app import run
from agentplane.extensions import EMBEDDERS, POINTS, RETRIEVERS, TRANSCRIPT_READERS, VECTOR_STORES
from agentplane.match.embedder import Model
from agentplane.match.vector_cache import Vectors
from agentplane.match.vector_store import Hit, Place
from agentplane.runs.capsule import transcripts
from tests.conftest import ROOT, decision
from tests.extension_packages import Installed


PAGE = (ROOT / "docs" / "reference" / "extending.md").read_text()
MODULES = dict(re.findall(r"^`(\w+\.py)`[^\n]*:\n\n```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
(PACKAGE,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def example(installed: Installed) -> Iterator[Installed]:
    """The package of the page, with metadata as pip writes it."""
    about = tomllib.loads(PACKAGE)["project"]
    folder = installed.folder / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Name: {about['name']}\nVersion: {about['version']}\n")
    groups: dict[str, dict[str, str]] = about["entry-points"]
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for name, code in MODULES.items():
        (installed.folder / name).write_text(code)
    extensions._installed.cache_clear()
    yield installed
    for name in MODULES:
        sys.modules.pop(name.removesuffix(".py"), None)


@pytest.fixture
def filled(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> Plane:
    for statement, tags in (("Store amounts as cents.", ("owner-ada", "money")), ("Deploy on Fridays.", ())):
        plane.inbox.approve([plane.propose(decision(statement, tags=tags))])
    monkeypatch.chdir(plane.layout.project)
    return plane


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run([*words, "--json"]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    data: dict[str, Any] = msgspec.json.decode(found.out)
    return data


def test_the_page_has_a_module_for_each_extension_point() -> None:
    about = tomllib.loads(PACKAGE)["project"]["entry-points"]
    assert set(about) == {point.group for point in POINTS}
    wanted = {value.partition(":")[0] for group in about.values() for value in group.values()}
    assert {name.removesuffix(".py") for name in MODULES} == wanted
    for point in POINTS:
        assert f"`{point.group}`" in PAGE
        assert f"`{point.variable}`" in PAGE
    assert f"more than {extensions.SECONDS:.0f} seconds" in PAGE
    assert f"{extensions.MOST_FINDINGS:,} findings" in PAGE


def test_the_check(example: Installed, filled: Plane, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "doctor")["findings"]
    (one,) = [finding for finding in found if finding["code"].startswith("owners:")]
    assert one["code"] == "owners:without-owner"
    assert (one["id"], one["what"]) == ("DEC-002", "DEC-002 has no owner")
    assert one["remedy"] == "Run `agentplane edit DEC-002` to add a tag such as owner-ada."


def test_the_check_of_the_curator(
    example: Installed, filled: Plane, capsys: pytest.CaptureFixture[str]
) -> None:
    filled.inbox.approve([filled.propose(decision("ACNE sends invoices on Mondays."))])
    (one,) = [finding for finding in told(capsys, "curate")["findings"] if finding["kind"] == "other"]
    assert (one["id"], one["what"]) == ("DEC-003", "DEC-003 uses the former name of the company")


def test_the_retriever(example: Installed, filled: Plane, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(told(capsys, "recall", "money", "deploy")["results"]) == 2
    example.choose(RETRIEVERS, "tags")
    (one,) = told(capsys, "recall", "money", "deploy")["results"]
    assert (one["id"], one["score"], one["why"]) == ("DEC-001", 0.5, "tagged money")


def test_the_transcript_reader(example: Installed, filled: Plane) -> None:
    path = filled.layout.project / "session.log"
    path.write_text("hello\n2026-01-27T12:30:01Z $ make\n2026-01-27T12:30:05Z = 2\nodd $ \n")
    example.choose(TRANSCRIPT_READERS, "acme")
    found = transcripts.read("acme", str(path), "2026-01-27T12:00:00Z")
    assert [(row.event, row.command, row.exit, row.seconds) for row in found][:1] == [
        ("failed", "make", 2, 4.0)
    ]
    assert extensions.reported() == []


def test_the_embedder(example: Installed) -> None:
    example.choose(EMBEDDERS, "letters")
    made = Vectors()
    assert made.model.name == "letters: letters"
    one, near, far = made.of(["Deployments", "We deployed it", "Webhooks carry a signature"])
    assert one @ near > 2 * (one @ far)
    assert extensions.reported() == []


def test_the_vector_store(example: Installed) -> None:
    saved: list[bytes] = []
    place = Place(Model("m", "1", 2), lambda: saved[-1] if saved else None, saved.append)
    example.choose(VECTOR_STORES, "plain")
    own = extensions.get(VECTOR_STORES, "plain")
    assert own.release == "acme-agentplane 1.0"
    store = own.target(place)

    def put(key: bytes, *values: float) -> None:
        store.put({key: np.array(values, dtype=np.float16)})

    one, two = b"1" * 16, b"2" * 16
    put(one, 1, 0)
    put(two, 0, 2)
    put(two, 0, 3)
    store.save()
    again = own.target(place)
    assert len(again) == 2
    assert again.get([two, b"3" * 16])[two].tolist() == [0, 3]
    assert again.nearest(again.get([one])[one], 1) == [Hit(one, 1.0)]
    again.remove([one])
    assert len(again) == 1
