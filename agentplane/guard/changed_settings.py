"""Findings for changes in config.toml that weaken checks, share more, or make people decide by mistake.

Every setting is either in the table `JUDGED`, or in the table of harmless settings in
tests/guard/test_changed_settings.py. No value of a harmless setting hurts anyone who uses the plane. The test
fails for a new key that is in neither of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import Any

from agentplane.errors import AgentplaneError
from agentplane.findings import UNUSABLE, Finding, Instruction
from agentplane.guard.plane_at_commit import UNDO_OR_ASK_OWNER, Side, shown
from agentplane.memory.kinds import BadKind, kinds_of
from agentplane.plane import decision_keys
from agentplane.plane.layout import CONFIG
from agentplane.plane.settings import DEFAULTS, KindRow, Runs, Settings
from agentplane.plane.settings_read import line_of
from agentplane.plane.store.store import Store
from agentplane.plane.trust import rules
from agentplane.runs.capsule import gitignore


_MEND_LINE = "Fix this line."

Worse = Iterator[tuple[tuple[str, ...], str]]
"""The places of settings that got worse, each with the message for it."""
Judge = Callable[[Any, Any], Worse]
"""Yield the places below a setting whose second value is worse than the first. The place of the setting is ()."""


def findings(base: Side, now: Side) -> Iterator[Finding]:
    try:
        kinds_of(now.read_settings())
    except BadKind as error:
        where = now.where_setting(("kinds", *error.keys))
        remedy = Instruction(error.todo or _MEND_LINE)
        yield Finding("kind-bad", "error", where, shown(error.what, 200), (remedy,))
        return
    except AgentplaneError as error:
        if base.files.get(CONFIG) != now.files.get(CONFIG):
            where = shown(error.where or now.where(CONFIG), 160)
            remedy = Instruction(shown(error.todo or _MEND_LINE, 200))
            yield Finding(UNUSABLE, "error", where, shown(error.what, 200), (remedy,))
        return
    for place, what in worse(base.settings, now.settings):
        where = now.where_setting(place)
        yield Finding("setting-worse", "warning", where, what, (UNDO_OR_ASK_OWNER,), ".".join(place))


def check(store: Store) -> Iterator[Finding]:
    """Yield findings for `doctor` about settings that share everything or swap keys.

    Other checks report the trust settings.
    """
    settings = store.settings()
    text = store.layout.config.read_text(errors="replace") if store.layout.config.is_file() else ""
    for place, what in worse(DEFAULTS, settings):
        if place[0] in ("runs", "tui"):
            where = f"{store.layout.shown(CONFIG)}:{line_of(place, text)}"
            # Not a warning, because the value can be intended. `check` asks the reviewer of the change.
            remedy = Instruction("Unless you chose this setting on purpose, remove it.")
            yield Finding("setting-worse", "info", where, what, (remedy,), ".".join(place))


def worse(before: Settings, after: Settings) -> Worse:
    """Yield the place of every setting that got worse, with the message for it."""
    for place, was, is_ in rules.weaker(before, after):
        yield place, f"`{'.'.join(place)}` {_from_to(was, is_, 'weakens trust')}"
    for name, judge in JUDGED.items():
        value_of = attrgetter(name)
        for below, what in judge(value_of(before), value_of(after)):
            yield (*name.split("."), *below), what


def _other_kinds(was: Mapping[str, KindRow], is_: Mapping[str, KindRow]) -> Worse:
    """Yield the kinds that were changed or removed.

    The label of a kind decides where a statement begins. Its prefix and its file decide which entries are of
    that kind.
    """
    for name, row in was.items():
        if is_.get(name) != row:
            how = "was changed" if name in is_ else "was removed"
            what = "so the meaning of approved entries of this kind can change"
            yield (name,), f"`kinds.{shown(name, 40)}` {how}, {what}"


def _from_to(was: Any, is_: Any, why: str) -> str:
    return f"was changed from {_value(was)} to {_value(is_)}, which {why}"


def _automatic(was: str, is_: str) -> Worse:
    if was != is_ == "auto":
        yield (), f"`tools.restart` {_from_to(was, is_, 'lets sessions restart without asking a person')}"


def _not_withheld(was: str, is_: str) -> Worse:
    if was != is_ == "never":
        why = "gives tools the entries that the curator found to be wrong"
        yield (), f"`curate.withhold` {_from_to(was, is_, why)}"


_RAW = (
    "outputs/stdout", "outputs/stdout.zst", "outputs/stderr", "outputs/changes.patch", "inputs/uncommitted.patch",
    "inputs/files/data.csv", "outputs/files/report.bin", "work/x", "zebra.bin",
)  # fmt: skip
"""Names of files in a capsule that hold raw output or changes, and some names that no ordinary pattern
matches.
"""
_SECRETS = (
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DATABASE_URL",
    "PGPASSWORD", "NPM_TOKEN", "SSH_AUTH_SOCK", "DOCKER_PASSWORD", "STRIPE_KEY", "SLACK_WEBHOOK", "MY_CREDENTIALS",
    "SECRET", "TOKEN", "PASSWORD", "KEY", "SENTRY_DSN", "CI_JOB_TOKEN", "TF_VAR_db_password",
)  # fmt: skip
"""Typical names of environment variables that hold secrets."""
_MANY = ("ZX81_QUUX", "_q", "zebra", "Xy", "B2_ANYTHING")
"""Names that no real variable has. A pattern that matches one of them matches almost everything."""


def _shares(was: Sequence[str], is_: Sequence[str]) -> Worse:
    bare = [row.strip().lstrip("!").strip("/") for row in is_ if row not in was]
    wide = [row for row in bare if any(gitignore.is_shared(Runs(share=(row,)), name) for name in _RAW)]
    if wide:
        what = "shares raw output with everyone who can read the repository"
        yield (), f"`runs.share` {what}, because it includes {_listed(wide)}"


def _notes(was: Sequence[str], is_: Sequence[str]) -> Worse:
    wide = [row for row in is_ if row not in was and _matches(row, (*_SECRETS, *_MANY))]
    if wide:
        what = "stores environment variables that can contain secrets in run records"
        yield (), f"`runs.environment` {what}, because it includes {_listed(wide)}"


def _matches(pattern: str, names: Sequence[str]) -> bool:
    return any(fnmatchcase(name.upper(), pattern.upper()) for name in names)


def _turned(was: Mapping[str, str], is_: Mapping[str, str]) -> Worse:
    for one in decision_keys.turned({name: key for name, key in is_.items() if was.get(name) != key}):
        what = f"`tui.keys` assigns `{shown(one.key, 20)}` to {shown(one.id, 40)}, but that is the default key of {one.other}"
        yield (one.name,), f"{what}. People could make a decision by mistake"


JUDGED: dict[str, Judge] = {
    "kinds": _other_kinds,
    "runs.share": _shares,
    "runs.environment": _notes,
    "tools.restart": _automatic,
    "curate.withhold": _not_withheld,
    "tui.keys": _turned,
}
"""The settings whose values can get worse. `plane.trust.rules` judges the trust settings."""


def _listed(rows: Sequence[str]) -> str:
    return ", ".join(f"`{shown(row, 40)}`" for row in rows[:5])


def _value(value: Any) -> str:
    return "not set" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"
