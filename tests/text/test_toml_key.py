"""One key of a TOML text is written, and nothing else."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentplane.text import toml_key


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[tools]\nrestart = "auto"\n'),
        ("# ours", '# ours\n\n[tools]\nrestart = "auto"\n'),
        ("[tui]\r\nascii = true\r\n", '[tui]\r\nascii = true\r\n\r\n[tools]\r\nrestart = "auto"\r\n'),
        ("[tools] # t\n# d\ndeliver = true", '[tools] # t\nrestart = "auto"\n# d\ndeliver = true'),
        ("[ tools ]", '[ tools ]\nrestart = "auto"\n'),
        ("[tools]\nrestart   =  'ask'   # why\n", '[tools]\nrestart   =  "auto"   # why\n'),
        ('tools = { restart = "ask", deliver = false }', 'tools = { restart = "auto", deliver = false }'),
        ('tools."restart" = "ask"\n[tui]\n', 'tools."restart" = "auto"\n[tui]\n'),
        ('# restart = "ask"\n[tools]\n', '# restart = "ask"\n[tools]\nrestart = "auto"\n'),
        (
            'a = """\n[tools]\nrestart = "ask"\n"""\n[tools]\nrestart = "ask"\n',
            'a = """\n[tools]\nrestart = "ask"\n"""\n[tools]\nrestart = "auto"\n',
        ),
        ('[tools]\nrestart = "auto"\n', '[tools]\nrestart = "auto"\n'),
        ("tools.deliver = true\n[tui]\n", 'tools.restart = "auto"\ntools.deliver = true\n[tui]\n'),
        ("[kinds.tools]\nx = nan\n", '[kinds.tools]\nx = nan\n\n[tools]\nrestart = "auto"\n'),
    ],
)
def test_it_stands_where_it_belongs(before: str, after: str) -> None:
    assert toml_key.put(before, "tools", "restart", "auto") == after


@pytest.mark.parametrize(
    "text",
    ["tools = 7", '[tools]\nrestart = """\nask"""\n', "tools = {}", "[[tools]]\n", "[tools]\nrestart = 7\n"],
)
def test_where_it_cannot_be_written_nothing_is(text: str) -> None:
    with pytest.raises(toml_key.NoPlace):
        toml_key.put(text, "tools", "restart", "auto")


_LINES = st.sampled_from(
    [
        "",
        "# restart = 'x'",
        "deliver = true",
        "[tui]",
        "[tools]",
        "restart = 'ask'",
        "tools.restart = 'ask'",
        "k = \"restart = 'x'\"",
    ]
)


@given(st.lists(_LINES, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_every_other_byte_stays(lines: list[str], newline: str) -> None:
    text = newline.join(lines)
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    try:
        made = toml_key.put(text, "tools", "restart", "auto")
    except toml_key.NoPlace:
        assert not isinstance(before.get("tools", {}), dict) or "tools.restart" in text
        return
    after = tomllib.loads(made)
    assert after["tools"].pop("restart") == "auto"
    before.setdefault("tools", {}).pop("restart", None)
    assert after == before
    kept = [line for line in text.splitlines() if not line.startswith(("restart", "tools.restart"))]
    rest = iter(made.splitlines())
    assert all(any(line == other for other in rest) for line in kept)
