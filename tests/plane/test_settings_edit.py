"""One setting is changed in a file that is somebody's."""

import threading
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import AgentplaneError, BadInput
from agentplane.plane import settings, settings_edit, settings_files, settings_read, settings_table
from agentplane.text import files
from agentplane.text.toml import edit


def write(plane: Plane, name: str, value: settings.Value | None) -> bool:
    setting = settings_table.by_name(name)
    return settings_edit.write(plane.layout, plane.settings.file_of(setting), setting, value)


def test_comments_and_line_ends_stay(plane: Plane) -> None:
    config = plane.layout.config
    config.write_bytes(b"# Ours\r\n[tools] # of us\r\n# deliver\r\ndeliver = false\r\n")
    assert write(plane, "tools.restart", "auto")
    assert config.read_bytes() == (
        b'# Ours\r\n[tools] # of us\r\nrestart = "auto"\r\n# deliver\r\ndeliver = false\r\n'
    )
    assert plane.store.settings().tools == settings.Tools(deliver=False, restart="auto")
    assert not write(plane, "tools.restart", "auto")
    assert write(plane, "tools.restart", None)
    assert config.read_bytes() == b"# Ours\r\n[tools] # of us\r\n# deliver\r\ndeliver = false\r\n"
    assert not write(plane, "tools.restart", None)


def test_it_is_made_where_it_is_not_there(plane: Plane) -> None:
    plane.layout.config.unlink()
    assert write(plane, "tools.restart", "auto")
    assert plane.layout.config.read_text() == '[tools]\nrestart = "auto"\n'


@pytest.mark.parametrize("data", [b"[tools", b"\xff", b"[tools]\nrestart = 7\n"])
@pytest.mark.parametrize("value", ["auto", None])
def test_a_file_that_cannot_be_changed_stays_as_it_is(plane: Plane, data: bytes, value: str | None) -> None:
    plane.layout.config.write_bytes(data)
    with pytest.raises(AgentplaneError, match=r"config\.toml"):
        write(plane, "tools.restart", value)
    assert plane.layout.config.read_bytes() == data


def test_where_there_is_no_place_the_error_says_what_to_write(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_place(*_: object) -> str:
        raise edit.NoPlace("`tools.restart` is written in a form that agentplane can't edit")

    monkeypatch.setattr(edit, "put", no_place)
    before = plane.layout.config.read_bytes()
    with pytest.raises(BadInput) as caught:
        write(plane, "tools.restart", "auto")
    assert 'restart = "auto"' in (caught.value.todo or "")
    assert plane.layout.config.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("tools.restart", "never", 'Use "ask" or "auto".'),
        ("inbox.daily_limit", -1, "Use a whole number of at least 0 and at most 100,000."),
        ("inbox.daily_limit", "many", "Use a whole number of at least 0 and at most 100,000."),
        ("write.lock_timeout", 0, "Use a number above 0 and at most 3,600."),
        ("runs.keep_free", 1.5, "Use a whole number of at least 0."),
        ("runs.share", "summary.md", 'Use a list of strings, such as ["a", "b"].'),
        ("trust.tools_may_approve", "yes", "Use true or false."),
        ("trust.require_signatures", True, "Add signers to `trust.allowed_signers`."),
    ],
)
def test_an_invalid_value_is_refused_in_words(
    plane: Plane, name: str, value: settings.Value, words: str
) -> None:
    before = plane.layout.config.read_bytes()
    with pytest.raises(BadInput) as caught:
        write(plane, name, value)
    assert caught.value.todo == words
    assert plane.layout.config.read_bytes() == before


def test_what_an_editor_saves_meanwhile_stays(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    config, real = plane.layout.config, files.write_atomic

    def late(path: Path, data: bytes, **more: object) -> bool:
        if b"theirs" not in config.read_bytes():
            config.write_text("# theirs\n")
        return real(path, data, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "write_atomic", late)
    assert write(plane, "tools.restart", "auto")
    assert config.read_text() == '# theirs\n\n[tools]\nrestart = "auto"\n'


_GATE = [name for name in settings_read.names(settings.Settings) if name.startswith("gate.")]
_OWN = ("tui.theme", "tui.ascii", "tui.preview")
_OWN_VALUES: dict[str, settings.Value] = {"tui.theme": "nord", "tui.ascii": True, "tui.preview": "right"}


def test_writers_of_different_settings_lose_nothing(
    plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a lock, two of them would replace the same old bytes after both have found them unchanged."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    before = plane.layout.config.read_text()
    real, meeting = files.write_atomic, threading.Event()

    def slow(path: Path, data: bytes, *, only_if: object) -> bool:
        def found_then_waited() -> bool:
            found = bool(only_if())  # type: ignore[operator]
            meeting.wait(0.01)
            return found

        return real(path, data, only_if=found_then_waited)

    monkeypatch.setattr(files, "write_atomic", slow)
    wanted: dict[str, settings.Value] = {**dict.fromkeys(_GATE, "off"), **_OWN_VALUES}
    writers = [threading.Thread(target=write, args=(plane, name, value)) for name, value in wanted.items()]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    shared = settings_files.given(settings_files.of_project(plane.layout))
    assert {name: one.value for name, one in shared.items()} == dict.fromkeys(_GATE, "off")
    assert plane.layout.config.read_text().startswith(before.rstrip("\n"))
    own = settings_files.given(settings_files.of_person())
    assert {name: one.value for name, one in own.items()} == _OWN_VALUES


def test_a_link_is_not_followed(plane: Plane, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("")
    plane.layout.config.unlink()
    plane.layout.config.symlink_to(other)
    with pytest.raises(AgentplaneError):
        write(plane, "tools.restart", "auto")
    assert other.read_text() == ""
