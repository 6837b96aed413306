"""The table of the kinds of findings. The screen, the command and docs/guides/curator.md use it."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from agentplane.findings import Severity


Group = Literal["decide", "stale", "tidy"]
GROUPS: Mapping[Group, str] = {"decide": "Decide now", "stale": "Probably stale", "tidy": "Clean up"}
"""The groups of findings, in order of urgency, each with its title."""

Kind = Literal[
    "check-failed",
    "contradiction",
    "assumptions-contradict",
    "evidence-gone",
    "superseded-twice",
    "superseded-in-force",
    "manual-edit",
    "expired",
    "evidence-changed",
    "code-gone",
    "old",
    "temporary",
    "check-unapproved",
    "check-invalid",
    "check-unclear",
    "unreadable",
    "expiring",
    "evidence-moved",
    "duplicate",
    "link-broken",
    "source-missing",
    "scope-empty",
    "unused",
    "other",
]


class KindRow(msgspec.Struct, frozen=True):
    group: Group
    severity: Severity
    title: str
    """A short phrase for lists."""


KINDS: Mapping[Kind, KindRow] = {
    "check-failed": KindRow("decide", "error", "Check failed"),
    "contradiction": KindRow("decide", "error", "Entries contradict each other"),
    "assumptions-contradict": KindRow("decide", "error", "Assumptions contradict each other"),
    "evidence-gone": KindRow("decide", "error", "Evidence is gone"),
    "superseded-twice": KindRow("decide", "error", "Superseded by several entries, or in a loop"),
    "superseded-in-force": KindRow("decide", "error", "Superseded, but still in force"),
    "manual-edit": KindRow("decide", "warning", "Manual edit not reviewed"),
    "expired": KindRow("stale", "warning", "Expired"),
    "evidence-changed": KindRow("stale", "warning", "Evidence changed"),
    "code-gone": KindRow("stale", "warning", "Names code that no longer exists"),
    "old": KindRow("stale", "warning", "Not checked for a long time"),
    "temporary": KindRow("stale", "warning", "Describes a task or a temporary state"),
    "check-unapproved": KindRow("stale", "info", "Command not approved on this machine"),
    "check-invalid": KindRow("stale", "warning", "Check is invalid"),
    "check-unclear": KindRow("stale", "info", "Check has no clear result"),
    "unreadable": KindRow("stale", "info", "Evidence can't be compared"),
    "expiring": KindRow("tidy", "info", "Expires soon"),
    "evidence-moved": KindRow("tidy", "info", "Evidence moved"),
    "duplicate": KindRow("tidy", "warning", "Entries say the same thing"),
    "link-broken": KindRow("tidy", "warning", "Link to a missing entry"),
    "source-missing": KindRow("tidy", "info", "Source run is missing"),
    "scope-empty": KindRow("tidy", "warning", "Scope matches no file"),
    "unused": KindRow("tidy", "info", "Never used since approval"),
    "other": KindRow("stale", "warning", "Found by an installed check"),
}
