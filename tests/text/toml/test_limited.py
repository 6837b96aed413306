"""TOML within limits: what is over one is refused before the parser sees it; everything else is read as the parser reads it."""

import subprocess
import sys
import tomllib

import pytest

from agentplane.errors import BadInput
from agentplane.plane import settings_read
from agentplane.text.toml import limited


DOTS = "a" + ".a" * 30_000

OVER = {
    "dots in a key": (DOTS + " = 1\n", 1),
    "dots in a header": ("x = 1\n[" + DOTS + "]\n", 2),
    "dots of quoted parts": ("\n\na" + '."a"' * 33 + " = 1\n", 3),
    "dots with spaces": ("a" + " . a" * 33 + " = 1", 1),
    "dots in an inline table": ("x = { " + DOTS + " = 1 }", 1),
    "dots behind a string that is closed late": ('x = """\n' + "\\" * 6 + '"\n"""\n[' + DOTS + "]", 4),
    "brackets": ("a = " + "[" * 100_000, 1),
    "brackets that are closed": ("a = " + "[" * 40 + "]" * 40, 1),
    "braces": ("a = " + "{a = " * 100 + "1" + "}" * 100, 1),
    "brackets over many lines": ("a = " + "[\n" * 100 + "]\n" * 100, 33),
}


@pytest.mark.parametrize("name", OVER)
def test_over_a_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tomllib, "loads", lambda *_, **__: pytest.fail("the parser was asked"))
    text, line = OVER[name]
    with pytest.raises(limited.TomlError) as found:
        limited.read(text)
    assert found.value.line == line


def test_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tomllib, "loads", lambda *_, **__: pytest.fail("the parser was asked"))
    with pytest.raises(limited.TomlError, match="256 KiB"):
        limited.read("#" * (limited.LARGEST + 1))
    with pytest.raises(BadInput, match="64 KiB"):
        settings_read.parse(b"#" * (settings_read.LARGEST + 1), "config.toml")


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 32 + " = 1\n",
        "a = [" + "1.5, " * 10_000 + "]",
        "a = [\n" + "1.5,\n" * 10_000 + "]",
        'a = "' + "." * 10_000 + '"',
        "a = '" + ".[{" * 10_000 + "'",
        'a = """' + "[.\n" * 10_000 + '"""\n',
        "a = '''" + "[.\n'" * 10_000 + "'''\n",
        "# " + ".[" * 10_000 + "\na = 1",
        "".join(f"[[a]]\nb.c = {number}.5\n" for number in range(3000)),
        'a = "\\\\" # "[[[[\nb = "\\""\n' * 1 + "c = " + "[" * 30 + "]" * 30,
    ],
)
def test_what_is_within_the_limits_is_read_as_ever(text: str) -> None:
    assert limited.read(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", ["a = " + "9" * 5000, "a = ]", "a", '"""' + '\\"""' * 10_000, "]" * 100 + "[" * 100])  # fmt: skip
def test_what_is_no_toml(text: str) -> None:
    with pytest.raises(limited.TomlError):
        limited.read(text)


def test_the_error_of_a_settings_file_has_a_line_and_a_next_step() -> None:
    with pytest.raises(BadInput) as found:
        settings_read.parse(b"\n\n[" + DOTS.encode()[:60_000] + b"]", "config.toml")
    assert found.value.where == "config.toml:3"
    assert found.value.todo


def test_the_line_of_a_bad_key_is_found_in_a_long_line_of_spaces() -> None:
    """What looks for the line reads each character once."""
    text = "x = '''\n[" + " " * 50_000 + "\n" + " " * 9_000 + "\n'''\n[nothing]\nkey = 1\n"
    with pytest.raises(BadInput) as found:
        settings_read.parse(text.encode(), "config.toml")
    assert "Unknown setting" in found.value.what


def test_a_text_is_limited_before_tomlkit_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The editor takes minutes for some of what tomllib reads in a second."""
    monkeypatch.setattr("tomlkit.parse", lambda *_, **__: pytest.fail("the parser was asked"))
    many = "".join(f"a.k{number} = 1\n" for number in range(limited.MOST_EDITED_DOTS + 1))
    deep = "a." * limited.LONGEST_EDITED_KEY + "b.c = 1\n"
    for text in ("#" * (limited.LARGEST_EDITED + 1), many, deep, "a = " + "[" * 40 + "]" * 40, "not toml"):
        with pytest.raises(limited.TomlError):
            limited.tree(text)


def test_a_text_that_tomlkit_would_change_is_refused() -> None:
    with pytest.raises(limited.TomlError, match="other parts of the file"):
        limited.tree("[[a]]\n[b]\n[[a]]\n")


def test_reading_does_not_load_tomlkit() -> None:
    code = "import sys; from agentplane.text.toml import limited; limited.read('a = 1'); print('tomlkit' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "False\n", run.stderr


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = [\n", 2), ("a = 1\nb = ]\nc = 2\n", 2), ('a = "x', 1)]
)
def test_an_error_has_its_line_also_at_the_end_of_the_text(text: str, line: int) -> None:
    with pytest.raises(limited.TomlError) as error:
        limited.read(text)
    assert (error.value.line, "at end" in error.value.what) == (line, False)
