"""doctor: its findings, exit codes and repairs."""

import pytest

from agentplane.api import Plane
from agentplane.memory.proposing import Proposal
from agentplane.plane.derived import cache
from tests.cli.conftest import Cli, candidate, change_by_hand
from tests.conftest import files_of


def _findings(cli: Cli, *more: str) -> list[dict[str, object]]:
    rows = cli("doctor", "--json", *more).json("doctor")["findings"]
    assert all(row.keys() >= {"severity", "where", "what", "remedy"} for row in rows)
    assert all(
        row["severity"] in ("error", "warning", "info") and row["where"] and row["remedy"] for row in rows
    )
    return rows


def test_all_is_well(shelf: Plane, cli: Cli) -> None:
    ran = cli("doctor")
    assert (ran.code, ran.out) == (0, "")
    assert "No problems found" in ran.err
    assert _findings(cli) == []


def test_a_finding_names_file_and_line_and_what_to_do(shelf: Plane, cli: Cli) -> None:
    path = shelf.layout.memory / "decisions.md"
    path.write_text(path.read_text() + "\n---\nid: DEC-050\ntype: [\n---\nbroken\n")
    line = path.read_text().splitlines().index("type: [") + 1

    ran = cli("doctor")

    assert ran.code == 1
    assert "Traceback" not in ran.out + ran.err
    assert any(
        f".agentplane/memory/decisions.md:{number}: " in ran.out
        for number in (line - 2, line - 1, line, line + 1)
    )
    assert _findings(cli)[0]["severity"] == "error"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("\n---\nid: DEC-001\ntype: decision\nstatus: accepted\n---\nDecision: twice\n", "DEC-001"),
        ("\n---\nid: 12\ntype: decision\nstatus: accepted\n---\nDecision: a number\n", "12"),
        ("\n---\nid: ''\ntype: decision\nstatus: accepted\n---\nDecision: empty\n", "id"),
        ("\n---\nid: ../../x\ntype: decision\nstatus: accepted\n---\nDecision: path\n", "../../x"),
        ("\n---\nid: " + "A" * 4000 + "\ntype: decision\nstatus: accepted\n---\nDecision: long\n", "AAAA"),
        ("\n---\nid: DEC-060\ntype: rumour\nstatus: accepted\n---\nDecision: kind\n", "rumour"),
        ("\n---\nid: DEC-060\ntype: decision\nstatus: banana\n---\nDecision: status\n", "banana"),
        ("\n---\nid: DEC-060\ntype: fact\nstatus: accepted\n---\nFact: wrong file\n", "facts.md"),
        (
            "\n---\nid: DEC-060\ntype: decision\nstatus: accepted\nsupersedes: [DEC-099]\n---\nDecision: x\n",
            "DEC-099",
        ),
        ("\n---\nid: DEC-060\ntype: decision\nstatus: accepted\ntags: {a: b}\n---\nDecision: x\n", "tags"),
        ("\n---\nid: DEC-060\ntype: decision\nstatus: accepted\n---\nDecision: \0\n", "NUL"),
    ],
)
def test_what_is_wrong_with_entries(shelf: Plane, cli: Cli, damage: str, said: str) -> None:
    path = shelf.layout.memory / "decisions.md"
    path.write_text(path.read_text() + damage)

    rows = _findings(cli)

    assert any(said in str(row["what"]) + str(row["remedy"]) for row in rows), rows
    assert all(len(str(row["what"])) < 300 for row in rows)
    assert cli("doctor").code == 1
    # Nothing of it keeps the rest from being used.
    assert "DEC-001" in cli("list").out
    assert cli("propose", "Still works.").code == 0


def test_each_trouble_is_told_once(shelf: Plane, cli: Cli) -> None:
    path = shelf.layout.memory / "decisions.md"
    path.write_text(
        path.read_text() + "\n---\nid: DEC-001\ntype: decision\nstatus: accepted\n---\nDecision: twice\n"
    )
    assert len(_findings(cli)) == 1


def test_a_hand_edit_is_a_finding_with_its_two_remedies(shelf: Plane, cli: Cli) -> None:
    change_by_hand(shelf, "decisions.md", "Textual", "Rich")
    (row,) = _findings(cli)
    assert "DEC-001 has a manual edit (changed)" in str(row["what"])
    assert "approve DEC-001" in str(row["remedy"])
    assert "reject DEC-001" in str(row["remedy"])


def test_the_remedies_for_an_edited_candidate_work(shelf: Plane, person: Cli) -> None:
    """Without --edits, its ID means the candidate."""
    id_ = candidate(person)
    for verb in ("reject", "approve"):
        change_by_hand(shelf, "candidates.md", "migrations", "old migrations")
        (row,) = _findings(person)
        command = f"agentplane {verb} --edits {id_}"
        assert f"`{command}`" in str(row["remedy"])
        person(*command.split()[1:], "--json").json("op")
        assert _findings(person) == []
    assert "old migrations" in shelf.memory.read().get(id_).statement


def test_a_broken_entry_is_not_called_removed(shelf: Plane, cli: Cli) -> None:
    """Its remedy is to repair the header, or to discard the edit. Accepting it would approve that it is gone."""
    change_by_hand(shelf, "decisions.md", "type: decision", "type: [decision")
    rows = _findings(cli)
    assert "broken" in str(rows)
    assert "removed" not in str(rows)
    assert "agentplane approve" not in str(rows)


@pytest.mark.parametrize("name", ["state.json", "artifacts.json"])
def test_a_view_that_is_wrong_or_missing_is_made_anew(shelf: Plane, cli: Cli, name: str) -> None:
    path = shelf.layout.memory / name
    right = path.read_bytes()
    path.write_bytes(right.replace(b"agentplane", b"agentplone"))
    assert cli("doctor").code == 1

    ran = cli("doctor", "--fix")
    assert ran.code == 0
    assert name in ran.out
    assert path.read_bytes() == right

    path.unlink()
    assert cli("doctor", "--fix").code == 0
    assert path.read_bytes() == right


def test_fix_json_says_what_was_done(shelf: Plane, cli: Cli) -> None:
    (shelf.layout.memory / "artifacts.json").unlink()
    data = cli("doctor", "--fix", "--json").json("doctor")
    assert data["findings"] == []
    assert "artifacts.json" in str(data["fixed"])


def test_fix_makes_missing_files_of_a_plane(shelf: Plane, cli: Cli) -> None:
    shelf.layout.config.unlink()
    (shelf.layout.root / ".gitignore").unlink()
    ran = cli("doctor", "--fix")
    assert ran.code == 0
    assert shelf.layout.config.exists()
    assert "config.toml" in ran.out


def test_fix_with_nothing_to_fix_changes_nothing(shelf: Plane, cli: Cli) -> None:
    before = {path: path.read_bytes() for path in shelf.layout.root.rglob("*") if path.is_file()}
    assert cli("doctor", "--fix").code == 0
    after = {path: path.read_bytes() for path in shelf.layout.root.rglob("*") if path.is_file()}
    assert {path.name for path in before | after if before.get(path) != after.get(path)} <= {".lock", "badge"}


def test_each_broken_file_of_the_cache_is_a_finding_until_it_is_fixed(shelf: Plane, cli: Cli) -> None:
    """No command replaces a file before `doctor` has checked it, not even `doctor` itself."""
    assert cli("badge").code == cli("recall", "csv").code == 0
    folder = shelf.layout.cache
    kept = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    names = kept - {cache.OWNER, *cache.PLAIN}
    assert {"ledger.mp", "records", "pages/decisions.mp", "badge"} <= names
    for name in names:
        (folder / name).write_bytes(b"x" * 40)
    wheres = {f".agentplane/cache/{name}" for name in names}

    for _ in range(2):
        assert {row["where"] for row in _findings(cli)} == wheres
        assert cli("doctor").code == 1
    assert "cleared the cache, which had problems in .agentplane/cache/" in cli("doctor", "--fix").out
    assert _findings(cli) == []


def test_a_cache_without_its_owner_is_one_finding(shelf: Plane, cli: Cli) -> None:
    (shelf.layout.cache / cache.OWNER).write_bytes(b"x")
    (found,) = _findings(cli)
    what = "agentplane ignores this cache, because this user didn't create it in this folder"
    assert (found["where"], found["what"]) == (".agentplane/cache", what)


def test_a_torn_last_line_is_repaired(shelf: Plane, cli: Cli) -> None:
    whole = shelf.layout.log.read_bytes()
    shelf.layout.log.write_bytes(whole + b'{"actor":"ada","chan')

    assert cli("doctor", "--fix").code == 0

    assert shelf.layout.log.read_bytes() == whole


def test_a_changed_line_of_the_log_is_named(shelf: Plane, cli: Cli) -> None:
    lines = shelf.layout.log.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"actor":"ada"', b'"actor":"eve"')
    shelf.layout.log.write_bytes(b"".join(lines))

    ran = cli("doctor")

    assert ran.code == 1
    assert ".agentplane/memory/log.jsonl:2: " in ran.out
    assert shelf.layout.log.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("key", [b"actor", b"kind", b"hash_prev"])
def test_what_follows_from_a_changed_log_is_not_told(shelf: Plane, cli: Cli, key: bytes) -> None:
    """Else it would say that `--fix` makes state.json anew, which it does not as long as the log is damaged."""
    lines = shelf.layout.log.read_bytes().splitlines(keepends=True)
    lines[-1] = lines[-1].replace(b'"%s"' % key, b'"x%s"' % key, 1)
    shelf.layout.log.write_bytes(b"".join(lines))

    rows = _findings(cli)

    assert rows[0]["where"] == f".agentplane/memory/log.jsonl:{len(lines)}"
    assert not any(row["fixable"] for row in rows), rows
    assert not any("ops/" in str(row["where"]) or "state.json" in str(row["where"]) for row in rows), rows


@pytest.mark.parametrize("keep", [0, -1])
@pytest.mark.parametrize("first", ["status", "inbox", "list", "badge", "doctor", "doctor --fix"])
def test_a_log_that_lost_its_end_is_damage_whichever_command_sees_it_first(
    shelf: Plane, cli: Cli, keep: int, first: str
) -> None:
    """state.json knows a head that the log does not have. No reader may paper over that."""
    lines = shelf.layout.log.read_bytes().splitlines(keepends=True)
    shelf.layout.log.write_bytes(b"".join(lines[:keep]))
    before = files_of(shelf)

    cli(*first.split())

    rows = _findings(cli)
    assert any(row["severity"] == "error" and "log.jsonl" in str(row["where"]) for row in rows), rows
    assert files_of(shelf) == before


def test_a_log_that_lost_its_end_takes_no_more_events(shelf: Plane, cli: Cli) -> None:
    lines = shelf.layout.log.read_bytes().splitlines(keepends=True)
    cut = b"".join(lines[:-1])
    shelf.layout.log.write_bytes(cut)

    cli("propose", "Goes on as if nothing had happened.").refused(4, "log.jsonl")

    assert shelf.layout.log.read_bytes() == cut


def test_a_log_that_was_emptied_is_not_answered_with_revert(shelf: Plane, person: Cli) -> None:
    """Following `next:` must not take the whole shelf off the disk."""
    shelf.layout.log.write_bytes(b"")
    before = files_of(shelf)

    person("status")
    person("reject", "--edits")

    assert files_of(shelf) == before


@pytest.mark.parametrize("line", [b"garbage\n", b'{"a":1}\n', b"\xff\n", b"\n"])
def test_a_line_that_is_no_event(shelf: Plane, cli: Cli, line: bytes) -> None:
    count = shelf.layout.log.read_bytes().count(b"\n")
    with shelf.layout.log.open("ab") as file:
        file.write(line)

    ran = cli("doctor")
    assert ran.code == 1
    assert f".agentplane/memory/log.jsonl:{count + 1}: " in ran.out
    assert "agentplane doctor`" not in ran.out.replace("agentplane doctor --fix`", "")

    cli("status").refused(4, "log.jsonl")


@pytest.mark.parametrize("verb", ["status", "propose x", "list"])
def test_a_log_that_is_gone_says_how_to_get_it_back(shelf: Plane, cli: Cli, verb: str) -> None:
    shelf.layout.log.unlink()
    cli(*verb.split()).refused(4, ".agentplane/memory/log.jsonl", "git checkout")


def test_an_op_record_that_is_gone(shelf: Plane, cli: Cli) -> None:
    (path,) = shelf.layout.ops.iterdir()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))

    ran = cli("doctor")

    assert ran.code == 1
    assert "ops/" in ran.out
    assert "is missing or was changed" in ran.out


def test_an_op_record_that_was_changed(shelf: Plane, cli: Cli) -> None:
    (path,) = shelf.layout.ops.iterdir()
    path.write_bytes(path.read_bytes().replace(b"Use Textual", b"Use Curses "))
    ran = cli("doctor")
    assert ran.code == 1
    assert "was changed" in ran.out


def test_what_is_nothing_of_ours_is_mentioned_and_no_fault(shelf: Plane, cli: Cli) -> None:
    (shelf.layout.root / "notes.txt").write_text("mine")
    ran = cli("doctor", "--fix")
    assert ran.code == 0
    assert ".agentplane/notes.txt" in ran.out
    assert (shelf.layout.root / "notes.txt").read_text() == "mine"


def test_marks_of_another_program_are_explained(shelf: Plane, cli: Cli) -> None:
    (shelf.layout.root / "WORKFLOW.md").write_text("theirs")
    ran = cli("doctor", "--fix")
    assert ran.code == 1
    assert "belongs to another program" in ran.out
    assert (shelf.layout.root / "WORKFLOW.md").read_text() == "theirs"


@pytest.mark.parametrize("name", ["config.toml", "memory/facts.md", "memory/log.jsonl", "memory/state.json"])
def test_a_link_or_folder_in_place_of_a_file_is_named(shelf: Plane, cli: Cli, name: str, tmp_path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    path = shelf.layout.root / name
    path.unlink()
    path.symlink_to(outside)

    for verb in ("doctor", "doctor --fix", "propose x", "status"):
        ran = cli(*verb.split())
        assert "Traceback" not in ran.out + ran.err
        if verb == "doctor":
            assert ran.code == 1
            assert name in ran.out
    assert outside.read_text() == "theirs"
    assert path.is_symlink()

    path.unlink()
    path.mkdir()
    for verb in ("doctor", "propose x", "status"):
        ran = cli(*verb.split())
        assert "Traceback" not in ran.out + ran.err
        assert len(ran.err.strip().splitlines()) <= 2


def test_a_finding_about_hostile_text_is_shown_harmless(plane: Plane, cli: Cli) -> None:
    candidate(cli)
    change_by_hand(plane, "candidates.md", "status: proposed", 'status: "\\e[31mred"')
    ran = cli("doctor")
    assert ran.code == 1
    assert "\x1b" not in ran.out


def test_broken_settings_are_named_and_do_not_end_the_look(shelf: Plane, cli: Cli) -> None:
    shelf.layout.config.write_text("[runs]\nkeep_outputs = 1\n")
    (shelf.layout.memory / "artifacts.json").unlink()
    ran = cli("doctor")
    assert ran.code == 1
    assert ".agentplane/config.toml:2: " in ran.out
    assert {str(row["where"]).rpartition("/")[2] for row in _findings(cli)} == {
        "config.toml:2",
        "artifacts.json",
    }
    ran = cli("doctor", "--fix")
    assert ran.code == 1
    assert (shelf.layout.memory / "artifacts.json").exists()
    assert len(_findings(cli)) == 1


def test_two_assumptions_that_contradict_are_named_until_one_goes(
    plane: Plane, person: Cli, cli: Cli
) -> None:
    for seconds in (30, 60):
        statement = f"The bank answers within {seconds} seconds."
        candidate_ = Proposal(type="assumption", statement=statement, evidence=["README.md"])
        plane.inbox.approve([plane.propose(candidate_)])

    ran = cli("doctor")

    assert ran.code == 0
    assert "assumptions.md:" in ran.out
    assert "ASM-001 and ASM-002 are both approved, but they contradict each other" in ran.out
    assert "`agentplane deprecate ASM-001`" in ran.out
    assert person("deprecate", "ASM-001").code == 0
    assert "contradict" not in cli("doctor").out


def test_assumptions_that_were_approved_as_unrelated_are_not_named(plane: Plane, cli: Cli) -> None:
    for seconds, unrelated in ((30, []), (60, ["ASM-001"])):
        statement = f"The bank answers within {seconds} seconds."
        candidate_ = Proposal(type="assumption", statement=statement, unrelated=unrelated)
        plane.inbox.approve([plane.propose(candidate_)])
    assert "contradict" not in cli("doctor").out
