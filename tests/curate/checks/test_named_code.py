"""Findings about code that a statement names, and that is gone."""

import pytest

from agentplane.curate.anchors import named_files
from agentplane.curate.checks import named_code
from agentplane.curate.finding import Diff
from agentplane.curate.remedies import EditEntry
from tests.curate.checks.conftest import Cited


@pytest.mark.parametrize("name", ["pay.charge()", "charge()", "pay.charge", "src/pay.py", "pay.py", "src/"])
def test_code_that_is_gone_is_found(cited: Cited, name: str) -> None:
    id_ = cited.cite(f"Every payment goes through `{name}`.")
    assert cited.found(named_code.check) == []
    (cited.folder / "src/pay.py").unlink()
    (cited.folder / "src").rmdir()
    cited.write("lib/other.py", "x = 1\n")
    commit = cited.commit("new payments")
    (finding,) = cited.found(named_code.check)
    assert (finding.kind, finding.ids) == ("code-gone", (id_,))
    assert name in finding.what
    assert finding.remedies[0] == EditEntry(id_)
    if name != "src/":
        assert isinstance(finding.proof, Diff)
        assert finding.proof.commit == commit
        assert "-def charge(amount):" in finding.proof.text


def test_a_function_that_is_gone_from_its_file(cited: Cited) -> None:
    cited.cite("Every payment goes through `pay.charge()`.")
    cited.write("src/pay.py", "LIMIT = 30\n")
    commit = cited.commit("no charges")
    cited.write("src/more.py", "x = 1\n")
    cited.commit("later")
    (finding,) = cited.found(named_code.check)
    assert isinstance(finding.proof, Diff)
    assert finding.proof.commit == commit
    assert finding.key == cited.found(named_code.check)[0].key


@pytest.mark.parametrize(
    "statement",
    [
        "We removed `pay.charge()`.",
        "`pay.charge()` is deprecated.",
        "Payments don't use `pay.charge()`.",
        "Never call `pay.charge()`.",
        "Use the ledger instead of `pay.charge()`.",
        "We replaced `src/pay.py` with the ledger.",
        "The plan: `src/pay.py` becomes a service.",
        "Payments go through `ledger.post()`.",  # never was there
        "Payments go through `application/json`.",
        "Payments go through charge().",  # no code
        "Payments go through `a b`, `*.py`, `x`, `--flag` and `{}`.",
    ],
)
def test_statements_that_stay_true_give_no_finding(cited: Cited, statement: str) -> None:
    cited.cite(statement)
    (cited.folder / "src/pay.py").unlink()
    cited.commit("gone")
    assert cited.found(named_code.check) == []


def test_a_denial_about_something_else_counts_for_nothing(cited: Cited) -> None:
    cited.cite("Amounts are cents, not floats, and `pay.charge()` takes them.")
    (cited.folder / "src/pay.py").unlink()
    cited.commit("gone")
    assert len(cited.found(named_code.check)) == 1


def test_code_that_is_anywhere_is_not_gone(cited: Cited) -> None:
    cited.cite("Every payment goes through `pay.charge()`.")
    cited.cite("The file `src/pay.py` has the payments.")
    cited.move("src/pay.py", "lib/payments.py")
    cited.commit("move")
    assert cited.found(named_code.check) == []
    cited.write("lib/payments.py", "from elsewhere import charge\n")
    cited.commit("imported")
    assert cited.found(named_code.check) == []


def test_prose_and_the_memory_itself_are_no_code(cited: Cited) -> None:
    """They still talk about code that is gone."""
    cited.cite("Every payment goes through `pay.charge()`.")
    cited.write("docs/guide.md", "Call `charge`.\n")
    cited.write("CLAUDE.md", "Every payment goes through `pay.charge()`.\n")
    (cited.folder / "src/pay.py").unlink()
    cited.commit("gone")
    assert len(cited.found(named_code.check)) == 1


def test_without_git_nothing_is_claimed(cited: Cited) -> None:
    cited.cite("Every payment goes through `pay.charge()`.")
    (cited.folder / "src/pay.py").unlink()
    (cited.folder / ".git").rename(cited.folder / "git-away")
    assert cited.found(named_code.check) == []


def test_a_second_pass_searches_only_for_what_could_be_gone(
    cited: Cited, monkeypatch: pytest.MonkeyPatch
) -> None:
    cited.cite("Every payment goes through `pay.charge()` in `src/pay.py`, as `other.thing()` says.")
    assert cited.found(named_code.check) == []
    with monkeypatch.context() as broken:
        broken.setattr(named_files, "of", lambda *_: pytest.fail("a search"))
        assert cited.found(named_code.check) == []
    cited.replace("src/pay.py", "charge", "bill")
    cited.commit("rename")
    assert len(cited.found(named_code.check)) == 1
