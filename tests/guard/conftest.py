"""A repository whose branches are checked."""

from pathlib import Path

import pytest

from tests.conftest import clean_environment
from tests.guard.branches import Repo, copied, made


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Made once: each test gets a copy."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in clean_environment().items():
            patch.setenv(name, value)
        return made(tmp_path_factory.mktemp("guarded") / "repo")


@pytest.fixture
def repo(template: Repo, tmp_path: Path) -> Repo:
    """A repository with DEC-001, DEC-002 and a candidate on `main`; `work` is checked out."""
    return copied(template, tmp_path / "repo")
