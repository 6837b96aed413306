"""The loop over the projects that a person opens in one terminal."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from agentplane.tui import main


class _Exited(Exception):
    pass


@pytest.mark.parametrize("reading", [(True, False), (False, True)])
def test_the_process_ends_at_once_if_a_thread_of_any_project_still_reads(
    reading: tuple[bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def app(still_reads: bool, chosen: Path | None) -> SimpleNamespace:
        return SimpleNamespace(
            settle=lambda: still_reads, projects=SimpleNamespace(chosen=chosen), return_code=3
        )

    def exits(code: int) -> None:
        assert code == 3
        raise _Exited

    apps = iter([app(reading[0], Path("other")), app(reading[1], None)])
    monkeypatch.setattr(main, "_run_app", lambda *_: next(apps))
    monkeypatch.setattr(os, "_exit", exits)
    with pytest.raises(_Exited):
        main.run()
