"""One key of a TOML text is written, and nothing else."""

import tomllib

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from agentplane.text.toml import edit


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
        ("[tools]\na = 1\n\n# tui\n[tui]\n", '[tools]\nrestart = "auto"\na = 1\n\n# tui\n[tui]\n'),
        ("[tools]\r\na = 1\r\n[tui]\r\n", '[tools]\r\nrestart = "auto"\r\na = 1\r\n[tui]\r\n'),
        ("[tools.a]\n[tui]\n[tools]\nb = 1\n", '[tools.a]\n[tui]\n[tools]\nb = 1\nrestart = "auto"\n'),
        ("tools = {}", 'tools = {restart = "auto"}'),
        ("[tools]\nrestart = 7 # why\n", '[tools]\nrestart = "auto" # why\n'),
        ('[tools]\nrestart = """\nask"""\n', '[tools]\nrestart = "auto"\n'),
        ("[tools]\n'restart'='ask'", "[tools]\n'restart'=\"auto\""),
    ],
)
def test_it_stands_where_it_belongs(before: str, after: str) -> None:
    assert edit.put(before, "tools", "restart", "auto") == after


# tomlkit writes this text in another order.
_REORDERED = "[[a]]\n[b]\n[[a]]\n[tools]\n"


@pytest.mark.parametrize(
    "text", ["tools = 7", "[[tools]]\n", _REORDERED, "tools.x = 1\n" + "a.b.c.d.e.f.g.h.i.j = 1\n"]
)
def test_where_it_cannot_be_written_nothing_is(text: str) -> None:
    tomllib.loads(text)
    with pytest.raises(edit.NoPlace):
        edit.put(text, "tools", "restart", "auto")


def test_a_change_in_a_second_place_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even one that reads the same."""
    real = tomlkit.TOMLDocument.as_string
    monkeypatch.setattr(
        tomlkit.TOMLDocument,
        "as_string",
        lambda self: real(self).replace("# a\n" * ("auto" in real(self)), ""),
    )
    with pytest.raises(edit.NoPlace):
        edit.put("# a\nx = 1\n[tools]\n", "tools", "restart", "auto")


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
    made = edit.put(text, "tools", "restart", "auto")
    after = tomllib.loads(made)
    assert after["tools"].pop("restart") == "auto"
    before.setdefault("tools", {}).pop("restart", None)
    assert after == before
    kept = [line for line in text.splitlines() if not line.startswith(("restart", "tools.restart"))]
    rest = iter(made.splitlines())
    assert all(any(line == other for other in rest) for line in kept)
