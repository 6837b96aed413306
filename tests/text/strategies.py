"""Generated memory files, and the values and texts that headers hold."""

import math
import os
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st


SCALAR_PARTS = [
    *"abnNtTfFoeE0127_.:+-~=<#'\"[]{},&*!|>%@`?\\ ",
    "null", "true", "no", "0x", "0o", "0b", "1:30", "2026-01-27", "T10:15:02", "Z", "+02:00", ".inf", ".nan",
    "\t", "\n", "é", "😀", "\x85", "\u2028", "\ufeff",
]  # fmt: skip

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.lists(st.sampled_from(SCALAR_PARTS), max_size=6).map("".join),
    st.sampled_from(
        ["no", "1:30", "017", " x", "x ", "", "-", "? a", "- a", "a: b", "a #b", "<<", "=", "---"]
    ),
)
scalars = st.one_of(
    texts,
    st.integers(-(2**80), 2**80),
    st.floats(),
    st.booleans(),
    st.none(),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([None, UTC])),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
fields = st.dictionaries(texts.filter(lambda name: name != "id"), values, max_size=5)

BODIES = [
    "Decision: Use Textual.", "Übergröße 😀 \u2028 x", "- a: b\n- id: c", "a\n\n---\n\nb", "Title\n---\ntext",
    "```yaml\n---\nid: NOT-1\n---\n```", "~~~~\n```\n---\nid: NOT-2\n---\n~~~\n~~~~", "key: value", "", "    ---",
    "` ``` `\n```x`y\nopen", "---\nstatus: no id here\n---\nx", "a\rb\r", "--- #\nid: x", "{a: b}",
]  # fmt: skip

HEADERS = [
    "id: {id}\n", "# c\nid: {id}  # d\ntags: [a, b]\n", "'id': \"{id}\"\n", "{{id: {id}, a: 1}}\n",
    "? a\n: {{b: 1}}\n? id\n: {id}\n", "note: |\n  text\n\n  ~~~\nid: {id}\n", '"i\\x64": {id}\n',
    "id: {id}\nempty:\nlist:\n- 1\n-  two # c\n", "date: 2026-01-27\nid: {id}\n", "\nid : {id}\n\n",
]  # fmt: skip


class Made(NamedTuple):
    data: bytes
    ids: list[str]
    cores: list[bytes]


@st.composite
def files(draw: Any, min_size: int = 0) -> Made:
    """Files whose entries are known; whatever stands around them must not change what they are."""
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    count = draw(st.integers(min_size, 5))
    cores = []
    for number in range(count):
        header = draw(st.sampled_from(HEADERS)).format(id=f"DEC-{number}")
        dashes = "---" + draw(st.sampled_from(["", "", " ", "\t "]))
        body = draw(st.sampled_from(BODIES))
        cores.append(f"{dashes}\n{header}---\n{body}".rstrip(" \t\r\n").replace("\n", newline))
    prose = draw(
        st.sampled_from(["", "", "# Decisions\n", "\n", "x\n---\ny\n", "```\n---\nid: NO\n---\n```\n"])
    )
    gaps = [newline * draw(st.integers(1, 3)) for _ in cores]
    if gaps and draw(st.booleans()):
        gaps[-1] = ""
    text = prose.replace("\n", newline) + "".join(core + gap for core, gap in zip(cores, gaps, strict=True))
    start = b"\xef\xbb\xbf" if draw(st.booleans()) else b""
    ids = [f"DEC-{number}" for number in range(count)]
    return Made(start + text.encode(), ids, [core.encode() for core in cores])


def real_files():
    data = Path(os.environ.get("AGENTPLANE_DATA", Path(__file__).parents[3] / "shared" / "data"))
    folder = data / "frontmatter"
    return (
        sorted(path for path in folder.glob("*") if not path.name.startswith("_")) if folder.is_dir() else []
    )


def same(one: Any, other: Any) -> bool:
    """Equal with type, nan equal to nan. Written apart from the project's own."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return len(one) == len(other) and all(
            any(same(name, twin) and same(value, other[twin]) for twin in other)
            for name, value in one.items()
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
