"""Keys, agents and planes that require signed approvals."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.guard.branches import Repo


needs_ssh_keygen = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed: `apt install openssh-client`"
)


def make_key(folder: Path, name: str, passphrase: str = "", kind: str = "ed25519") -> Path:
    path = folder / name
    words = ("ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", name, "-f", str(path))
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return path


def public(key: Path) -> str:
    """The public key without its comment."""
    return " ".join(Path(f"{key}.pub").read_text().split()[:2])


def signer(key: Path, name: str = "ada@example.test", options: str = "") -> str:
    return " ".join(word for word in (name, options, public(key)) if word)


def settings(*signers: str, **more: str) -> str:
    """A config.toml that requires signatures by these signers."""
    listed = ", ".join(f"'{line}'" for line in signers)
    rows = [f"{key} = {value}" for key, value in more.items()]
    return "\n".join(("[trust]", "require_signatures = true", f"allowed_signers = [{listed}]", *rows, ""))


def use_key(repo: Repo, key: Path | str) -> None:
    """The person of this clone signs with a key, as with git."""
    repo.git("config", "gpg.format", "ssh")
    repo.git("config", "user.signingKey", str(key))


def require(repo: Repo, *signers: str, **more: str) -> None:
    """Main requires signatures from now on, and `work` begins there."""
    repo.git("checkout", "-q", "main")
    (repo.layout.root / "config.toml").write_text(settings(*signers, **more))
    repo.commit("signatures are required")
    repo.git("checkout", "-q", "-B", "work")


_NO_AGENT = 2
"""The exit code of ssh-add(1) where none answers."""


@contextmanager
def agent(folder: Path, key: Path, passphrase: str) -> Iterator[str]:
    """An agent of its own that holds a key. Yields its socket."""
    socket, ask = folder / "agent", folder / "ask"
    ask.write_text(f"#!/bin/sh\necho '{passphrase}'\n")
    ask.chmod(0o700)
    process = subprocess.Popen(("ssh-agent", "-D", "-a", str(socket)), stdout=subprocess.DEVNULL)
    try:
        environment = os.environ | {"SSH_AUTH_SOCK": str(socket), "SSH_ASKPASS": str(ask)}
        environment |= {"SSH_ASKPASS_REQUIRE": "force"}
        # Its socket is there a moment before it answers.
        while subprocess.run(("ssh-add", "-l"), env=environment, capture_output=True).returncode == _NO_AGENT:
            assert process.poll() is None
        subprocess.run(("ssh-add", "-q", str(key)), check=True, env=environment, stdin=subprocess.DEVNULL)
        yield str(socket)
    finally:
        process.terminate()
        process.wait()
