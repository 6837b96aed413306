"""What a check noticed: one type for every room, collected by health.py and printed by `doctor`."""

from typing import Literal

import msgspec


Severity = Literal["error", "warning", "info"]


class Finding(msgspec.Struct, frozen=True):
    """`fixable` says that `doctor --fix` mends it without losing anything."""

    severity: Severity
    where: str
    what: str
    remedy: str
    fixable: bool = False
