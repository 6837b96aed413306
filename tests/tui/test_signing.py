"""Signed approvals in the screens: one key stroke stays one key stroke."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.context.choose import Ask
from agentplane.plane.trust import signatures
from agentplane.text.log import chain
from tests.guard import signed
from tests.tui.conftest import Sitting, on_shelf, sit, waiting


pytestmark = signed.needs_ssh_keygen


def require(plane: Plane, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = key.parent / "gitconfig"
    config.write_text(f"[gpg]\nformat = ssh\n[user]\nsigningKey = {key}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    (plane.layout.root / "config.toml").write_text(signed.settings(signed.signer(key)))


def test_one_key_approves_and_signs(three: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require(three, signed.make_key(tmp_path, "ada"), monkeypatch)

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.calm()
        await sitting.press("2")
        await sitting.until(
            lambda: "signed by" in sitting.screen and "ada@example.test" in sitting.screen, "who signed"
        )

    sit(three, steps)
    assert len(on_shelf(three)) == 1
    assert signatures.of_line([line for _, line in chain.lines(three.layout.log)][-1]) is not None


def test_a_key_that_cannot_sign_leaves_all_as_it_was(
    three: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(three, signed.make_key(tmp_path, "ada", "a passphrase"), monkeypatch)
    three.tools.pack(Ask())  # the log gets the note about the settings
    before = three.layout.log.read_bytes()

    async def steps(sitting: Sitting) -> None:
        await sitting.press("a")
        await sitting.until(lambda: "Nothing was written" in sitting.screen, "why not")
        assert "passphrase" in sitting.screen
        await sitting.calm()

    sit(three, steps, size=(200, 40))
    assert len(waiting(three)) == 3
    assert three.layout.log.read_bytes() == before
