"""Two runs side by side, as data."""

from pathlib import Path

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput
from agentplane.runs import events
from agentplane.runs.capsule import seal
from agentplane.runs.open import open_run
from agentplane.runs.open.open_run import RunSpec
from agentplane.runs.query import compare
from agentplane.runs.record.output_file import Tape
from tests.conftest import decision, plane_in


def run(plane: Plane, output: bytes = b"", code: int = 0, **asked: object) -> str:
    """A run with a capsule, whose command printed this."""
    opened = open_run.begin(plane.store, RunSpec(command=["make"], **asked), plane.origin, {})  # type: ignore[arg-type]
    work = open_run.work(plane.layout, opened.run_id)
    tape = Tape(work, "stdout", plane.store.settings().runs.keep_output, 0)
    tape.take(output)
    assert seal.seal(plane.store, opened, seal.Ending(code, "Ended", opened.started), [tape.close()])
    return opened.run_id


def test_runs_that_did_the_same(plane: Plane) -> None:
    a, b = run(plane, b"hello\n"), run(plane, b"hello\n")
    report = compare.of(plane.layout, a, b)
    assert report.same
    assert report.missing == []
    assert compare.of(plane.layout, a, a).same


def test_how_they_ended_and_what_they_printed(plane: Plane) -> None:
    a, b = run(plane, b"one\ntwo\n", task="T1"), run(plane, b"one\n2\n", 3, task="T1")
    report = compare.of(plane.layout, a, b)
    assert [(field.name, field.a, field.b) for field in report.fields] == [("exit_status", 0, 3)]
    assert [line for line in report.output if line[:1] in "+-"][2:] == ["-two", "+2"]
    assert None not in report.seconds


def test_the_memory_that_they_had(plane: Plane) -> None:
    (id_,) = [plane.inbox.approve([plane.propose(decision("Use Textual."))]).ids[-1]]
    a = run(plane)
    entry = plane.memory.read().get(id_)
    text = plane.store.snapshot().approved_text(id_)
    assert text is not None
    from agentplane.text.markdown import document

    plane.memory.edit(id_, text.replace(b"Textual", b"curses"), document.digest(text))
    plane.inbox.approve([plane.propose(decision("Amounts are whole cents."))])
    b = run(plane)

    report = compare.of(plane.layout, a, b)

    assert [field.name for field in report.fields] == ["revision"]
    changed, added = report.entries
    assert (changed.id, changed.change) == (entry.id, "changed")
    assert "Use Textual." in (changed.a or "")
    assert "Use curses." in (changed.b or "")
    assert (added.id, added.change, added.a) == ("DEC-002", "added", None)
    assert "whole cents" in (added.b or "")
    back = compare.of(plane.layout, b, a)
    assert [entry.change for entry in back.entries] == ["changed", "removed"]


def test_memory_that_was_there_before_and_is_back(plane: Plane) -> None:
    plane.inbox.approve([plane.propose(decision("Use Textual."))])
    a = run(plane)
    plane.history.undo()
    b = run(plane)
    plane.history.redo()
    c = run(plane)
    assert [entry.change for entry in compare.of(plane.layout, a, b).entries] == ["removed"]
    assert compare.of(plane.layout, a, c).same


def test_files_and_facts(plane: Plane) -> None:
    outputs = [{"path": path, "sha256": digit * 64} for path, digit in (("a", "1"), ("b", "2"))]
    a = plane.write_log({"outputs": outputs, "derived_facts": ["The port is 1.", "It rains."]})
    outputs = [{"path": path, "sha256": digit * 64} for path, digit in (("b", "3"), ("c", "2"))]
    b = plane.write_log({"outputs": outputs, "derived_facts": ["The port is 1.", {"statement": "It snows."}]})
    report = compare.of(plane.layout, a, b)
    assert [(file.path, file.change) for file in report.files] == [
        ("a", "removed"),
        ("b", "changed"),
        ("c", "added"),
    ]
    assert [(fact.name, fact.a, fact.b) for fact in report.facts] == [
        ("removed", "It rains.", None),
        ("added", None, "It snows."),
    ]


def test_runs_are_named_by_their_id_by_its_end_or_as_the_latest(plane: Plane) -> None:
    a = run(plane)
    plane.propose(decision("Use Textual."))
    b = plane.write_log({"parent_run_id": a, "summary": f'"run_id":"{a}"'})
    for name in (b, b[-6:], "latest"):
        assert compare.of(plane.layout, a[-6:], name).b == b


@pytest.mark.parametrize(
    "name", ["20260101T000000Z-abcdef", "abcdef", "", "../x", "\x1b[31m", 'a"b', "x" * 500]
)
def test_a_run_that_is_not_there(plane: Plane, name: str) -> None:
    a = run(plane)
    with pytest.raises(BadInput, match="Run not found") as caught:
        compare.of(plane.layout, a, name)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_log_without_runs(plane: Plane) -> None:
    with pytest.raises(BadInput, match="The log has no runs"):
        compare.of(plane.layout, "latest", "latest")


def test_an_output_that_stayed_elsewhere(plane: Plane) -> None:
    a, b = run(plane, b"one\n"), run(plane, b"two\n")
    (plane.layout.runs / a / "outputs" / "stdout").unlink()
    report = compare.of(plane.layout, a, b)
    assert report.output == []
    assert report.missing == [f"The file outputs/stdout from run {a} is not on this machine"]
    assert compare.of(plane.layout, a, a).missing == []


def test_of_large_outputs_the_beginning_is_compared_and_it_is_said_how_far(plane: Plane) -> None:
    lines = [b"%06d %s\n" % (number, b"x" * 44) for number in range(100_000)]
    a = run(plane, b"".join(lines))
    lines[500] = b"other\n"
    b = run(plane, b"".join(lines))
    report = compare.of(plane.layout, a, b)
    assert "+other" in report.output
    assert len(report.output) < 20
    assert any("lines. Only the first 20000 were compared" in text for text in report.missing)


def test_of_a_very_large_output_only_the_beginning_is_read(plane: Plane) -> None:
    a, b = run(plane, b"one\n"), run(plane, b"two\n")
    with (plane.layout.runs / b / "outputs" / "stdout").open("r+b") as file:
        file.truncate(200 << 20)
    report = compare.of(plane.layout, a, b)
    assert any("is large. Only the first 20000 lines of its first 16 MiB" in text for text in report.missing)
    assert "-one" in report.output


def test_an_output_that_is_no_text(plane: Plane) -> None:
    a, b = run(plane, bytes(range(256)) * 10), run(plane, bytes(range(255, -1, -1)) * 10)
    assert compare.of(plane.layout, a, b).output


def test_a_capsule_that_cannot_be_unpacked_is_damage_and_no_difference(plane: Plane) -> None:
    a, b = run(plane, b"one\n" * 5000), run(plane, b"two\n" * 5000)
    packed = plane.layout.runs / a / "outputs" / "stdout.zst"
    packed.write_bytes(packed.read_bytes()[:9] + b"x" * 30)
    with pytest.raises(Exception, match=r"can't be decompressed"):
        compare.of(plane.layout, a, b)


def test_another_plane_has_other_runs(plane: Plane, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = plane_in(tmp_path / "other")
    a = run(plane)
    with pytest.raises(BadInput):
        compare.of(other.layout, a, "latest")


def test_the_report_is_plain_data(plane: Plane) -> None:
    a = run(plane)
    assert msgspec.json.decode(msgspec.json.encode(compare.of(plane.layout, a, a)))["a"] == a
    assert events.load(plane.layout, a).run_id == a
