"""Go modules."""

import re
from collections.abc import Sequence

from agentplane.curate.conditions import version_order
from agentplane.curate.conditions.packages.found import Form, Found, Opaque, Pin, Source


_LONGEST = 1000
_REPLACE = re.compile(r"(?:replace\s+)?(\S+)(?:\s+(v\S+))?\s+=>\s+(\S+)(?:\s+(v\S+))?")
_REQUIRE = re.compile(r"(?:require\s+)?(\S+)\s+(v\S+)")


def _mod(source: Source, name: str) -> Sequence[Found]:
    required: Pin | None = None
    replaced: Found | None = None
    section = ""
    for number, whole in enumerate(source.text.split("\n"), 1):
        line = whole[:_LONGEST].partition("//")[0].strip()
        if line.endswith("("):
            section = line.rstrip("( ").strip()
        elif line == ")":
            section = ""
        elif (section == "replace" or line.startswith("replace ")) and (found := _REPLACE.fullmatch(line)):
            if found[1] == name:
                local = Opaque(f"it is replaced by `{found[3]}`", number)
                replaced = Pin(found[4], number) if found[4] and found[3] == name else local
        elif (section == "require" or line.startswith("require ")) and (found := _REQUIRE.fullmatch(line)):
            required = Pin(found[2], number) if found[1] == name else required
    one = replaced if required and replaced else required
    return [one] if one else []


def _sum(source: Source, name: str) -> Sequence[Found]:
    """Return the highest version, which Go selects. Only go.sum lists it if go.mod doesn't."""
    found = [
        Pin(words[1], number)
        for number, line in enumerate(source.text.split("\n"), 1)
        if len(words := line.split()) == 3 and words[0] == name and not words[1].endswith("/go.mod")
    ]
    keys = [(version_order.key("go", one.version), one) for one in found]
    known = sorted(((key, one.line, one) for key, one in keys if key is not None), key=lambda row: row[:2])
    return [known[-1][2]] if known else found[:1]


FORMS = (
    Form(re.compile(r"go\.mod"), is_lock=True, read=_mod),
    Form(re.compile(r"go\.sum"), is_lock=False, read=_sum),
)
