"""Signing and verifying with `ssh-keygen`, as Git does for SSH signatures. Only this module starts it.

Signatures, keys and lists of signers may come from a clone. They reach ssh-keygen as files in a private
folder or as the value of an option, never as an option. ssh-keygen gets no terminal, so it can't ask for a
passphrase.
"""

import base64
import binascii
import hashlib
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from agentplane.errors import AgentplaneError, BadInput, Refused
from agentplane.system import programs
from agentplane.text.visible import one_line


NAMESPACE = "agentplane"
"""Prevents a signature from being valid for other data that people sign with the same key."""

GUIDE = "docs/guides/pull-requests.md#signed-approvals"

_SIGN_SECONDS = 15
"""Time for a person to touch a security key or to confirm in the agent. The plane is locked meanwhile."""
_VERIFY_SECONDS = 10
_MOST_PRINCIPALS = 8

_FIRST = "-----BEGIN SSH SIGNATURE-----"
_LAST = "-----END SSH SIGNATURE-----"
_WIDTH = 70
_SIGNATURE = re.compile(r"[A-Za-z0-9+/]{64,16384}={0,2}")
_PRINCIPAL = re.compile(r"[^\s,\x00-\x1f\x7f-][^\s,\x00-\x1f\x7f]{0,255}")
_LITERAL = re.compile(
    r"(?:key::)?((?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[A-Za-z0-9@.-]{1,80} [A-Za-z0-9+/=]{16,16384})(?: [^\x00-\x1f\x7f]*)?"
)


class NoSshKeygenError(BadInput):
    """ssh-keygen is missing or can't be started."""


class Verdict(msgspec.Struct, frozen=True):
    """The result of verifying a signature."""

    by: str | None
    """The principal that the list of allowed signers gives the key, or None if the signature proves nothing."""
    trouble: str = ""
    """The reason why the signature proves nothing."""

    @property
    def text(self) -> str:
        """Return the verdict in a few words, for a list."""
        return f"signed by {one_line(self.by, 60)}" if self.by else f"INVALID SIGNATURE: {self.trouble}"


def sign(data: bytes, key: str) -> str:
    """Return the signature of `data` as one line of base64. `key` is a path, or a public key in an agent."""
    with tempfile.TemporaryDirectory(prefix="agentplane-") as folder:
        name, literal = _key_file(key, Path(folder))
        words = ["-Y", "sign", "-n", NAMESPACE, "-f", name, *(["-U"] if literal else [])]
        try:
            done = _run(words, data, folder, _SIGN_SECONDS)
        except subprocess.TimeoutExpired:
            raise Refused(
                f"Nothing was written: the signing key didn't respond within {_SIGN_SECONDS} seconds",
                where=_shown(key),
                todo="Touch the security key or confirm the request in your SSH agent, then try again.",
            ) from None
        found = _body(done.stdout.decode(errors="replace")) if done.returncode == 0 else None
        if found is None:
            raise _not_signed(key, done.stderr.decode(errors="replace"))
        return found


def _not_signed(key: str, output: str) -> AgentplaneError:
    if "passphrase" in output:
        why = "the key has a passphrase and isn't loaded into an SSH agent"
        todo = f"Run `ssh-add {_private(key)}`, then try again."
    elif "No such file" in output or "agent" in output.lower():
        why = _last_line(output)
        todo = f"Check the key in `git config user.signingKey`. Run `ssh-add -L` to check that your SSH agent has this key. See {GUIDE}."
    else:
        why = _last_line(output) or "ssh-keygen returned no signature"
        todo = f"See {GUIDE}."
    return Refused(
        f"Nothing was written, because agentplane can't sign with this key: {why}",
        where=_shown(key),
        todo=todo,
    )


def _private(key: str) -> str:
    return shlex.quote(_shown(key.removesuffix(".pub"))) if not _LITERAL.fullmatch(key) else "KEY"


def _shown(key: str) -> str:
    return one_line(key, 400)


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return one_line(lines[-1], 160) if lines else ""


def _key_file(key: str, folder: Path) -> tuple[str, bool]:
    """Return a file that names the key, and whether only an agent can have the private key."""
    literal = _LITERAL.fullmatch(key)
    if literal:
        path = folder / "key.pub"
        path.write_text(f"{literal[1]}\n")
        return str(path), True
    name = os.path.expanduser(key)
    if not os.path.isabs(name) or "\0" in name:
        raise BadInput(
            "The path of a signing key must be absolute or begin with ~/",
            where=_shown(key),
            todo="Set the path again, for example `git config --global user.signingKey ~/.ssh/id_ed25519.pub`.",
        )
    return name, False


class Verifier:
    """A verifier for one list of allowed signers. While it is open, it stores the list in a private folder."""

    def __init__(self, signers: Sequence[str]) -> None:
        self._signers = signers
        self._stack = ExitStack()
        self._folder = ""
        self._of_key: dict[bytes, str] = {}
        """A key's last principal. Checking whether it still fits needs one process instead of two."""

    def __enter__(self) -> Self:
        self._folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="agentplane-"))
        Path(self._folder, "signers").write_text("".join(f"{line}\n" for line in self._signers), "utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def verdict(self, data: bytes, signature: str, at: datetime | None = None) -> Verdict:
        """Return who signed `data`. The key must have been allowed at the time `at`, or now if it is None."""
        key = _key_of(signature)
        if key is None:
            return Verdict(None, "the signature can't be read")
        path = Path(self._folder, "signature")
        path.write_text(_armored(signature))
        when = [] if at is None else ["-O", f"verify-time={at:%Y%m%d%H%M%S}"]
        known = self._of_key.get(key)
        if known is not None and self._is_good(data, path, known, when):
            return Verdict(known)
        words = ["-Y", "find-principals", "-s", str(path), "-f", self._signers_file, *when]
        names = self._ask(words, b"")
        for name in (names or "").splitlines()[:_MOST_PRINCIPALS]:
            if _PRINCIPAL.fullmatch(name) and self._is_good(data, path, name, when):
                self._of_key[key] = name
                return Verdict(name)
        return Verdict(None, self._trouble(data, path, key))

    @property
    def _signers_file(self) -> str:
        return os.path.join(self._folder, "signers")

    def _is_good(self, data: bytes, path: Path, name: str, when: list[str]) -> bool:
        words = [
            "-Y",
            "verify",
            "-n",
            NAMESPACE,
            "-s",
            str(path),
            "-f",
            self._signers_file,
            "-I",
            name,
            *when,
        ]
        return self._ask(words, data) is not None

    def _trouble(self, data: bytes, path: Path, key: bytes) -> str:
        fits = self._ask(["-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(path)], data)
        if fits is None:
            return "the signature is for different content"
        mark = base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")
        return f"the signature is from the key SHA256:{mark}, which `trust.allowed_signers` doesn't allow"

    def _ask(self, words: list[str], data: bytes) -> str | None:
        try:
            done = _run(words, data, self._folder, _VERIFY_SECONDS)
        except subprocess.TimeoutExpired:
            return None
        return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def is_signature(text: str) -> bool:
    """True if a text has the form of a signature from `sign`."""
    return _SIGNATURE.fullmatch(text) is not None


def _key_of(signature: str) -> bytes | None:
    """Return the public key inside a signature, or None if the text isn't a signature."""
    if not is_signature(signature):
        return None
    try:
        blob = base64.b64decode(signature, validate=True)
    except binascii.Error:
        return None
    size = int.from_bytes(blob[10:14])
    return blob[14 : 14 + size] if blob[:6] == b"SSHSIG" and 0 < size <= len(blob) - 14 else None


def _armored(signature: str) -> str:
    lines = (signature[at : at + _WIDTH] for at in range(0, len(signature), _WIDTH))
    return "\n".join((_FIRST, *lines, _LAST, ""))


def _body(armored: str) -> str | None:
    lines = armored.split()
    text = "".join(armored.replace(_FIRST, "").replace(_LAST, "").split())
    return text if lines and is_signature(text) else None


def _run(words: list[str], data: bytes, folder: str, seconds: float) -> subprocess.CompletedProcess[bytes]:
    program = _program()
    try:
        return subprocess.run(
            (program, *words),
            cwd=folder,
            env=_environment(),
            input=data,
            capture_output=True,
            timeout=seconds,
            # Without a terminal, it can't prompt on the terminal of the screens.
            start_new_session=True,
        )
    except OSError as error:
        raise _unavailable(error.strerror or str(error)) from None


def _program() -> str:
    found = programs.find("ssh-keygen")
    if found is None:
        raise _unavailable("program not found")
    return found


def _unavailable(why: str) -> NoSshKeygenError:
    todo = "Install OpenSSH 8.9 or later (`apt install openssh-client`), then try again."
    return NoSshKeygenError(f"signed approvals require ssh-keygen, but it can't be run: {why}", todo=todo)


def _environment() -> dict[str, str]:
    dropped = {"SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY"}
    inherited = {key: value for key, value in os.environ.items() if key not in dropped}
    # Makes times without a zone in a list of signers mean the same on every machine.
    return inherited | {"SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C", "TZ": "UTC"}
