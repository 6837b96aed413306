"""One setting is changed in a file that is somebody's."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import AgentplaneError, BadInput
from agentplane.plane import settings, settings_edit
from agentplane.text import files
from agentplane.text.toml import edit


def test_comments_and_line_ends_stay(plane: Plane) -> None:
    config = plane.layout.config
    config.write_bytes(b"# Ours\r\n[tools] # of us\r\n# deliver\r\ndeliver = false\r\n")
    assert settings_edit.set_key(plane.layout, "tools", "restart", "auto")
    assert config.read_bytes() == (
        b'# Ours\r\n[tools] # of us\r\nrestart = "auto"\r\n# deliver\r\ndeliver = false\r\n'
    )
    assert plane.store.settings().tools == settings.Tools(deliver=False, restart="auto")
    assert not settings_edit.set_key(plane.layout, "tools", "restart", "auto")


def test_it_is_made_where_it_is_not_there(plane: Plane) -> None:
    plane.layout.config.unlink()
    assert settings_edit.set_key(plane.layout, "tools", "restart", "auto")
    assert plane.layout.config.read_text() == '[tools]\nrestart = "auto"\n'


@pytest.mark.parametrize("data", [b"[tools", b"\xff", b"[tools]\nrestart = 7\n"])
def test_a_file_that_cannot_be_changed_stays_as_it_is(plane: Plane, data: bytes) -> None:
    plane.layout.config.write_bytes(data)
    with pytest.raises(AgentplaneError, match=r"config\.toml"):
        settings_edit.set_key(plane.layout, "tools", "restart", "auto")
    assert plane.layout.config.read_bytes() == data


def test_where_there_is_no_place_the_error_says_what_to_write(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_place(*_: object) -> str:
        raise edit.NoPlace("`tools.restart` is in a form that can't be changed")

    monkeypatch.setattr(edit, "put", no_place)
    before = plane.layout.config.read_bytes()
    with pytest.raises(BadInput) as caught:
        settings_edit.set_key(plane.layout, "tools", "restart", "auto")
    assert 'restart = "auto"' in (caught.value.todo or "")
    assert plane.layout.config.read_bytes() == before


def test_a_value_that_nobody_knows_is_not_written(plane: Plane) -> None:
    before = plane.layout.config.read_bytes()
    with pytest.raises(AgentplaneError, match="ask"):
        settings_edit.set_key(plane.layout, "tools", "restart", "never")
    assert plane.layout.config.read_bytes() == before


def test_what_an_editor_saves_meanwhile_stays(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    config, real = plane.layout.config, files.write_atomic

    def late(path: Path, data: bytes, **more: object) -> bool:
        if b"theirs" not in config.read_bytes():
            config.write_text("# theirs\n")
        return real(path, data, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "write_atomic", late)
    assert settings_edit.set_key(plane.layout, "tools", "restart", "auto")
    assert config.read_text() == '# theirs\n\n[tools]\nrestart = "auto"\n'


def test_a_link_is_not_followed(plane: Plane, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("")
    plane.layout.config.unlink()
    plane.layout.config.symlink_to(other)
    with pytest.raises(AgentplaneError):
        settings_edit.set_key(plane.layout, "tools", "restart", "auto")
    assert other.read_text() == ""
