"""Settings that weaken trust, share too much or turn keys around: the guard warns of each, and no key is forgotten."""

import msgspec
import pytest

from agentplane import health
from agentplane.guard import changed_settings
from agentplane.plane import settings_read
from agentplane.plane.settings import DEFAULTS, Settings
from agentplane.plane.trust import rules
from tests.guard.branches import Repo


HARMLESS: dict[str, str] = {
    "write.lock_timeout": "how long a writer waits",
    "runs.keep_output": "how much output stays on this machine",
    "runs.keep_files": "how large the copies are that stay on this machine",
    "runs.keep_free": "how much space is left on the disk",
    "context.last_run": "the notes are labeled, and withheld where they are flagged",
    "inbox.daily_limit": "the other candidates stay in the inbox, and no bulk approval takes them",
    "expiry.warn_days": "when a warning begins; expired entries are left out anyway",
    "curate.assumption_days": "when a finding begins; it changes no entry",
    "curate.fact_days": "when a finding begins; it changes no entry",
    "curate.decision_days": "when a finding begins; it changes no entry",
    "curate.invariant_days": "when a finding begins; it changes no entry",
    "curate.other_days": "when a finding begins; it changes no entry",
    "curate.check_seconds": "when a command ends that the person asked for",
    "curate.unused_contexts": "when a finding begins; it changes no entry",
    "tools.deliver": "delivers only approved memory",
    "hooks.ask": "asks for candidates, and a person decides about them",
    "hooks.name_runs": "the name is shared only with the run's event, and masked",
    "tui.theme": "colors",
    "tui.ascii": "drawing",
    "tui.preview": "drawing",
}
"""The other settings, and the reason why any value of them is harmless."""


def test_every_setting_is_judged_or_said_to_be_harmless() -> None:
    """A new key: put it into JUDGED of guard/changed_settings.py, or into HARMLESS."""
    names = set[str]()
    for section in msgspec.structs.fields(Settings):
        value = getattr(DEFAULTS, section.name)
        inner = msgspec.structs.fields(value) if isinstance(value, msgspec.Struct) else ()
        names |= {f"{section.name}.{field.name}" for field in inner} or {section.name}
    watched = {name for name in names if name.partition(".")[0] in rules.TABLES}
    assert names == watched | changed_settings.JUDGED.keys() | HARMLESS.keys()
    assert not watched & (changed_settings.JUDGED.keys() | HARMLESS.keys())
    assert not changed_settings.JUDGED.keys() & HARMLESS.keys()


WORSE = {
    "[trust]\nhand_edits = 'accept'": "trust.hand_edits",
    "[trust]\ntools_may_approve = true": "trust.tools_may_approve",
    "[policy]\nauto_approve_confidence = 0.5": "policy.auto_approve_confidence",
    **{
        f"[gate]\n{field.name} = 'off'": f"gate.{field.name}"
        for field in msgspec.structs.fields(DEFAULTS.gate)
    },
    **{
        f"[runs]\nshare = ['summary.md', '{row}']": "runs.share"
        for row in ("*", "**", "?*", "outputs", "!*", "/*/", "[a-z]*", "o*", "*.patch", "outputs/*")
    },
    **{
        f"[runs]\nenvironment = ['CI', '{row}']": "runs.environment"
        for row in (
            "*",
            "?*",
            "AWS_*",
            "*TOKEN*",
            "*_KEY",
            "GITHUB_*",
            "[A-Z]*",
            "*PASS*",
            "OPENAI_API_KEY",
            "aws_*",
            "PG*",
        )
    },
    "[tools]\nrestart = 'auto'": "tools.restart",
    "[tui.keys]\napprove = 'r'\nreject = 'a'": "tui.keys",
    "[tui.keys]\ncopy = 'a'\napprove = 'z'": "tui.keys",
    "[tui.keys]\n'conflict.choose_1' = '2'\n'conflict.choose_2' = '1'": "tui.keys",
}


@pytest.mark.parametrize("text", WORSE)
def test_what_is_worse_is_told(text: str) -> None:
    after = settings_read.parse(text.encode(), "config.toml")
    found = [".".join(place[:2]) for place, _ in changed_settings.worse(DEFAULTS, after)]
    assert WORSE[text] in found
    assert not list(changed_settings.worse(after, after)), "what was so before is not this branch's"
    assert not list(changed_settings.worse(after, DEFAULTS)), "what gets better is not told"


FINE = (
    "[runs]\nshare = ['meta.json', 's*']",
    "[runs]\nshare = ['summary.md', 'meta.json', 'events.jsonl']",
    "[runs]\nenvironment = ['CI', 'NODE_ENV', 'RUST_*', 'GITHUB_REF']",
    "[gate]\nrandom = 'refuse'",
    "[tui]\ntheme = 'nord'\n[tui.keys]\nundo = 'f8'\n'list.half_down' = 'ctrl+f'\napprove = 'f9'",
    "[tools]\ndeliver = false\n[hooks]\nask = false",
)


@pytest.mark.parametrize("text", FINE)
def test_what_is_fine_is_not_told(text: str) -> None:
    assert not list(changed_settings.worse(DEFAULTS, settings_read.parse(text.encode(), "config.toml")))


@pytest.mark.parametrize(
    "text", ["[runs]\nshare = ['*']\n", "[runs]\nenvironment = ['*']\n", "[tui.keys]\napprove = 'r'\n"]
)
def test_check_and_doctor_warn(repo: Repo, text: str) -> None:
    repo.layout.config.write_text(text)
    (row,) = repo.check()
    assert (row.severity, row.where) == ("warning", ".agentplane/config.toml:2")
    told = [finding for finding in health.collect(repo.plane().store) if finding.what == row.what]
    assert [finding.where for finding in told] == [".agentplane/config.toml:2"]


@pytest.mark.parametrize(
    "now", ["", '[kinds.rule]\nprefix = "RULE"\nfile = "rules.md"\nlabel = "Rule never"\n']
)
def test_a_kind_of_the_base_stays_as_it_is(repo: Repo, now: str) -> None:
    """A label of the branch could cut the first words off what was approved."""
    repo.git("checkout", "-q", "main")
    config = repo.layout.root / "config.toml"
    config.write_text('[kinds.rule]\nprefix = "RULE"\nfile = "rules.md"\nlabel = "Rule"\n')
    repo.commit("a kind")
    repo.git("checkout", "-q", "-B", "work", "main")
    assert repo.check() == []
    config.write_text(now)
    (row,) = repo.check()
    assert (row.severity, "`kinds.rule`" in row.what) == ("warning", True)
