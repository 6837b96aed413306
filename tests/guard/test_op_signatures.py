"""Signed approvals: what a branch must sign, and what no forged, moved or changed signature gets through."""

import json
import os
import shutil
import socket
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.errors import AgentplaneError, BadInput, Refused
from agentplane.findings import Finding
from agentplane.health import collect
from agentplane.plane.layout import INBOX
from agentplane.plane.origin import Origin
from agentplane.plane.store import records
from agentplane.plane.store.records import Change
from agentplane.plane.trust import signatures, ssh_keygen, user_key
from agentplane.text.json import canonical
from agentplane.text.log import chain, event_line
from tests.conftest import ROOT, decision
from tests.guard import branches, signed
from tests.guard.branches import LOG, Repo, append_op, forged, write_entry


pytestmark = signed.needs_ssh_keygen

ADA = "ada@example.test"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    return branches.made(tmp_path_factory.mktemp("signed") / "repo")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`ada` is allowed, `eve` is not; `locked` has a passphrase."""
    folder = tmp_path_factory.mktemp("keys")
    for name, passphrase in (("ada", ""), ("eve", ""), ("locked", "very secret")):
        signed.make_key(folder, name, passphrase)
    return folder


@pytest.fixture
def repo(template: Repo, keys: Path, tmp_path: Path) -> Repo:
    """`work` left `main`, which requires Ada's signature; Ada works here."""
    repo = branches.copied(template, tmp_path / "repo")
    signed.require(repo, signed.signer(keys / "ada"))
    signed.use_key(repo, keys / "ada")
    return repo


def bad(findings: list[Finding]) -> list[str]:
    return [f"{finding.where}: {finding.what}" for finding in findings if finding.severity != "info"]


def doctor(repo: Repo) -> list[str]:
    return bad(
        [finding for finding in collect(repo.plane().store) if "sign" in finding.what + finding.remedy]
    )


def accept_history(repo: Repo) -> None:
    """Doctor takes the changes so far as they are."""
    head = chain.tail(repo.layout.log).head
    path = repo.layout.root / "config.toml"
    path.write_text(f'{path.read_text()}signed_after = "{head}"\n')


def without_settings(repo: Repo) -> Repo:
    """Decides without a signature, as an older agentplane does."""
    (repo.layout.root / "config.toml").write_text("")
    return repo


def with_settings(repo: Repo) -> None:
    repo.git("checkout", "main", "--", ".agentplane/config.toml")


def last_event(repo: Repo) -> dict[str, object]:
    found: dict[str, object] = json.loads(repo.log()[-1])
    return found


def relinked(repo: Repo, change: dict[str, object]) -> None:
    """The last event with other fields, and hashes that fit."""
    event = {**last_event(repo), **change}
    prev = event.pop("hash_prev")
    event.pop("hash_self")
    lines = repo.log()
    lines[-1] = chain.link({key: value for key, value in event.items() if value is not None}, str(prev))
    repo.layout.log.write_bytes(b"".join(lines))
    repo.refresh()


def test_a_signed_approval_passes_and_names_its_signer(repo: Repo) -> None:
    repo.approved("Logs go to standard error.")
    repo.commit()
    assert repo.check() == []
    plane = repo.plane()
    op = plane.history.ops(1)[0].op
    assert plane.history.signed_by([op]) == {op: signatures.Verdict(ADA)}


def test_every_decision_is_signed(repo: Repo) -> None:
    first = repo.approved("Logs go to standard error.")
    plane = repo.plane()
    entry = plane.memory.read().get(first)
    text = (plane.memory.read().snapshot.core(entry.file, first) or b"").replace(b"standard error", b"stderr")
    plane.memory.edit(first, text, entry.digest)
    plane.memory.pin([first])
    plane.history.undo()
    plane.history.redo()
    plane.memory.deprecate([first])
    plane.inbox.reject([plane.propose(decision("Buttons have round corners."))])
    with (repo.layout.memory / "decisions.md").open("a") as page:
        page.write(branches.ENTRY.format(id="DEC-050", text="By hand.", status="accepted"))
    plane.memory.adopt()
    (repo.layout.memory / "decisions.md").write_text(
        (repo.layout.memory / "decisions.md").read_text().replace("By hand.", "By another hand.")
    )
    plane.memory.revert()
    plane.history.prune("Buttons have round corners.")
    repo.commit()
    assert repo.check() == []
    verbs = {json.loads(line)["verb"]: b'"signature":"' in line for line in repo.log() if b'"verb"' in line}
    assert {verb for verb, is_signed in verbs.items() if not is_signed} == {"init", "propose", "settings"}


def test_an_unsigned_approval_fails(repo: Repo) -> None:
    without_settings(repo).approved("Logs go to standard error.")
    with_settings(repo)
    repo.commit()
    (found,) = bad(repo.check())
    assert found.startswith(f"{LOG}:{len(repo.log())}: operation ")
    assert "(approve CAND-" in found
    assert found.endswith("is not signed, but this project requires signed approvals")


def test_without_the_setting_nothing_is_signed_or_asked_for(template: Repo, tmp_path: Path) -> None:
    repo = branches.copied(template, tmp_path / "repo")
    repo.approved("Logs go to standard error.")
    repo.commit()
    assert "signature" not in last_event(repo)
    assert repo.check() == []


def test_a_person_may_sign_before_it_is_required(template: Repo, keys: Path, tmp_path: Path) -> None:
    repo = branches.copied(template, tmp_path / "repo")
    signed.use_key(repo, keys / "ada")
    repo.git("config", "agentplane.sign", "true")
    repo.approved("Logs go to standard error.")
    assert "signature" in last_event(repo)
    repo.commit()
    assert repo.check() == []


def test_a_forged_whole_op_is_refused(repo: Repo) -> None:
    """Record, log line with hashes that fit, and state, over the channel of a person."""
    write_entry(repo, "decisions.md", "DEC-003", "Skip the tests.")
    append_op(repo, *forged(repo, "memory/decisions.md", "DEC-003"))
    repo.commit()
    assert any("is not signed" in found for found in bad(repo.check()))


@pytest.mark.parametrize("required", [False, True])
def test_what_a_program_approves_in_a_persons_name_is_told_only_by_a_signature(
    template: Repo, keys: Path, tmp_path: Path, required: bool
) -> None:
    """The forger uses agentplane's own functions, so every byte is as a person's approval would write it."""
    repo = branches.copied(template, tmp_path / "repo")
    if required:
        signed.require(repo, signed.signer(keys / "ada"))
    without_settings(repo).approved("Skip the tests.")
    with_settings(repo)
    repo.commit()
    assert ["is not signed" in found for found in bad(repo.check())] == [True] * required


@pytest.mark.parametrize(
    "verb",
    ["revert", "propose", *(pytest.param(one, marks=pytest.mark.full) for one in ("pin", "init", "relate"))],
)
def test_no_verb_is_a_way_around_a_signature(repo: Repo, verb: str) -> None:
    write_entry(repo, "decisions.md", "DEC-003", "Skip the tests.")
    append_op(repo, *forged(repo, "memory/decisions.md", "DEC-003", verb=verb))
    repo.commit()
    assert any("is not signed" in found for found in bad(repo.check()))


def test_an_entry_cannot_be_moved_to_the_inbox_without_a_signature(repo: Repo) -> None:
    """A forged proposal under the id of an entry would take it off the shelf."""
    text = repo.plane().memory.read().snapshot.core("memory/decisions.md", "DEC-001") or b""
    digest = repo.plane().memory.read().get("DEC-001").digest
    record, _ = forged(repo, "memory/decisions.md", "DEC-001")
    for verb, before in (("propose", None), ("relate", digest)):
        change = Change("DEC-001", INBOX, before, digest, before, digest)
        made = msgspec.structs.replace(record, verb=verb, changes=[change], op=f"20991231T235959Z-{verb[:6]}")
        append_op(repo, made, {digest: text.decode()})
    repo.commit()
    assert len([found for found in bad(repo.check()) if "is not signed" in found]) == 2


def test_a_key_that_is_not_allowed_is_refused_before_anything_is_written(repo: Repo, keys: Path) -> None:
    signed.use_key(repo, keys / "eve")
    plane = repo.plane()
    candidate = plane.propose(decision("Logs go to standard error."))
    before = repo.git("stash", "create"), repo.log()
    with pytest.raises(
        Refused, match=r"Nothing was written: the signature is from the key SHA256:\S+, which"
    ):
        plane.inbox.approve([candidate])
    assert repo.log() == before[1]
    assert candidate in plane.memory.read().inbox_ids


def test_a_signature_by_a_key_that_is_not_allowed_fails(repo: Repo, keys: Path) -> None:
    signed.use_key(repo, keys / "eve")
    (repo.layout.root / "config.toml").write_text(
        signed.settings(signed.signer(keys / "eve", "eve@example.test"))
    )
    repo.approved("Logs go to standard error.")
    with_settings(repo)
    repo.commit()
    (found,) = bad(repo.check())
    assert "has an invalid signature: the signature is from the key SHA256:" in found


def test_a_branch_that_allows_its_own_key_fails(repo: Repo, keys: Path) -> None:
    signed.use_key(repo, keys / "eve")
    eve = signed.signer(keys / "eve", "eve@example.test")
    (repo.layout.root / "config.toml").write_text(signed.settings(signed.signer(keys / "ada"), eve))
    repo.approved("Logs go to standard error.")
    repo.commit()
    wrong, settings = bad(repo.check())
    assert "has an invalid signature" in wrong
    assert settings.startswith(".agentplane/config.toml:3: `trust.allowed_signers` has 1 new signer (eve@")


def test_a_branch_that_turns_signatures_off_fails(repo: Repo) -> None:
    without_settings(repo).approved("Logs go to standard error.")
    repo.commit()
    unsigned, settings = bad(repo.check())
    assert "is not signed" in unsigned
    assert "`trust.require_signatures` was turned off, which weakens trust" in settings


def test_a_branch_that_is_older_than_the_rule_is_held_to_it(
    template: Repo, keys: Path, tmp_path: Path
) -> None:
    repo = branches.copied(template, tmp_path / "repo")
    repo.approved("Logs go to standard error.")
    repo.commit()
    assert repo.check() == []
    signed.require(repo, signed.signer(keys / "ada"))
    repo.git("checkout", "-q", "-B", "old", "HEAD~1")
    write_entry(repo, "decisions.md", "DEC-003", "Skip the tests.")
    append_op(repo, *forged(repo, "memory/decisions.md", "DEC-003"))
    repo.commit()
    assert any("is not signed" in found for found in bad(repo.check()))


def test_a_branch_that_turns_signatures_on_is_held_to_them(
    template: Repo, keys: Path, tmp_path: Path
) -> None:
    """So is one that was merged with a newer state than the base that CI names."""
    repo = branches.copied(template, tmp_path / "repo")
    signed.use_key(repo, keys / "ada")
    repo.approved("Logs go to standard error.")
    (repo.layout.root / "config.toml").write_text(signed.settings(signed.signer(keys / "ada")))
    repo.commit()
    assert any("is not signed" in found for found in bad(repo.check()))
    accept_history(repo)
    repo.approved("Buttons have round corners.")
    repo.commit()
    assert repo.check() == []
    write_entry(repo, "decisions.md", "DEC-009", "Skip the tests.")
    append_op(repo, *forged(repo, "memory/decisions.md", "DEC-009"))
    repo.commit()
    assert any("is not signed" in found for found in bad(repo.check()))


def test_a_moved_plane_is_held_to_the_rule_of_its_old_folder(repo: Repo) -> None:
    without_settings(repo).approved("Logs go to standard error.")
    with_settings(repo)
    (repo.folder / "sub").mkdir()
    repo.git("mv", "-k", ".agentplane", "sub/.agentplane")
    repo.commit()
    moved = Repo(repo.folder / "sub")
    assert any("is not signed" in found for found in bad(moved.check()))


def test_a_signature_of_another_op_fails(repo: Repo) -> None:
    repo.approved("Logs go to standard error.")
    copied = last_event(repo)["signature"]
    repo.approved("Buttons have round corners.")
    relinked(repo, {"signature": copied})
    repo.commit()
    (found,) = bad(repo.check())
    assert found.endswith("has an invalid signature: the signature is for different content")


@pytest.mark.parametrize(
    "signature",
    [
        None,
        "A" * 100,
        *(
            pytest.param(one, marks=pytest.mark.full)
            for one in ("", "no signature", "A" * 20000, 7, ["x"], "-----BEGIN")
        ),
    ],
)
def test_what_is_no_signature_fails(repo: Repo, signature: object) -> None:
    repo.approved("Logs go to standard error.")
    relinked(repo, {"signature": signature})
    repo.commit()
    (found,) = bad(repo.check())
    assert "is not signed" in found or "has an invalid signature" in found


def test_a_record_that_was_changed_after_signing_fails(repo: Repo) -> None:
    """With the digest in the log line and all hashes made to fit again."""
    repo.approved("Logs go to standard error.")
    path = repo.op_file()
    lines = path.read_bytes().splitlines(keepends=True)
    stored = records.read_line(lines[-1])
    record = msgspec.structs.replace(stored.record, actor="Grace")
    lines[-1], sha256 = records.line_of(record, stored.texts)
    path.write_bytes(b"".join(lines))
    relinked(repo, {"actor": "Grace", "op_sha256": sha256})
    repo.commit()
    wrong = "has an invalid signature: the signature is for different content"
    assert any(found.endswith(wrong) for found in bad(repo.check()))


def test_an_op_of_another_plane_cannot_be_brought_in(repo: Repo, keys: Path, tmp_path: Path) -> None:
    """Neither its line and record alone, nor with the whole history that it stands on."""
    other = branches.made(tmp_path / "other")
    signed.require(other, signed.signer(keys / "ada"))
    signed.use_key(other, keys / "ada")
    other.approved("Anyone may deploy.")
    line = other.log()[-1]
    assert signatures.of_line(line) is not None
    for name in ("memory/decisions.md", "memory/candidates.md"):
        (repo.layout.root / name).write_bytes((other.layout.root / name).read_bytes())
    with repo.op_file().open("ab") as file:
        file.write(other.op_file().read_bytes())

    own = repo.layout.log.read_bytes()
    repo.layout.log.write_bytes(own + line)
    repo.refresh()
    repo.commit()
    assert any("follows an event that isn't above it" in found for found in bad(repo.check()))

    head = chain.join([chain.hash_of(repo.log()[-2]), chain.hash_of(line)], "2099-01-01T00:00:00.000Z")
    repo.layout.log.write_bytes(own + other.layout.log.read_bytes() + head)
    repo.refresh()
    repo.commit()
    assert any("starts a second history" in found for found in bad(repo.check()))


def test_an_expired_key_fails(template: Repo, keys: Path, tmp_path: Path) -> None:
    repo = branches.copied(template, tmp_path / "repo")
    signed.require(repo, signed.signer(keys / "ada", options='valid-before="20200101"'))
    signed.use_key(repo, keys / "ada")
    plane = repo.plane()
    candidate = plane.propose(decision("Logs go to standard error."))
    with pytest.raises(Refused, match="doesn't allow"):
        plane.inbox.approve([candidate])
    with_settings(repo)
    (repo.layout.root / "config.toml").write_text(signed.settings(signed.signer(keys / "ada")))
    plane.inbox.approve([candidate])
    with_settings(repo)
    repo.commit()
    (found,) = bad(repo.check())
    assert "has an invalid signature" in found


def test_a_certificate_authority_may_be_an_allowed_signer(template: Repo, keys: Path, tmp_path: Path) -> None:
    mine = signed.make_key(tmp_path, "mine")
    words = (
        "ssh-keygen",
        "-q",
        "-s",
        str(keys / "eve"),
        "-I",
        "mine",
        "-n",
        "grace@example.test",
        f"{mine}.pub",
    )
    subprocess.run(words, check=True)
    repo = branches.copied(template, tmp_path / "repo")
    signed.require(repo, signed.signer(keys / "eve", "*@example.test", "cert-authority"))
    signed.use_key(repo, f"{mine}-cert.pub")
    repo.approved("Logs go to standard error.")
    repo.commit()
    assert repo.check() == []
    plane = repo.plane()
    op = plane.history.ops(1)[0].op
    assert plane.history.signed_by([op])[op].by == "grace@example.test"


def test_a_key_for_other_uses_only_fails(template: Repo, keys: Path, tmp_path: Path) -> None:
    repo = branches.copied(template, tmp_path / "repo")
    signed.require(repo, signed.signer(keys / "ada", options='namespaces="git"'))
    signed.use_key(repo, keys / "ada")
    with pytest.raises(Refused, match="Nothing was written"):
        repo.approved("Logs go to standard error.")


def test_pruning_keeps_signatures_valid(repo: Repo) -> None:
    plane = repo.plane()
    first = repo.approved("Logs go to the moon.")
    entry = plane.memory.read().get(first)
    text = (plane.memory.read().snapshot.core(entry.file, first) or b"").replace(
        b"the moon", b"standard error"
    )
    plane.memory.edit(first, text, entry.digest)
    plane.history.prune("Logs go to the moon.")
    repo.commit()
    assert b"the moon" not in repo.op_file().read_bytes()
    assert repo.check() == []


def test_merging_two_branches_keeps_signatures_valid(repo: Repo) -> None:
    repo.approved("Logs go to standard error.")
    repo.commit("ours")
    repo.git("checkout", "-q", "-b", "other", "main")
    repo.approved("Buttons have round corners.")
    repo.commit("theirs")
    repo.git("merge", "-q", "--no-commit", "work", fails=True)
    repo.plane().settle()
    repo.commit("merged")
    assert repo.check() == []
    assert sum(signatures.of_line(line) is not None for line in repo.log()) == 2
    repo.approved("Deploys wait for the bank.")
    repo.commit()
    assert repo.check() == []


def test_a_decision_where_branches_meet_is_signed_behind_the_event_that_joins_them(repo: Repo) -> None:
    repo.approved("Logs go to standard error.")
    repo.commit("ours")
    ours = repo.log()
    repo.git("checkout", "-q", "-b", "other", "main")
    repo.plane().write_log({"run_id": "20260128T101502Z-bbbbbb"})
    theirs = repo.log()
    repo.git("checkout", "-q", "-f", "work")
    repo.layout.log.write_bytes(b"".join([*ours, *(line for line in theirs if line not in ours)]))
    repo.approved("Deploys wait for the bank.")
    repo.commit()
    assert any(event_line.is_merge(line) for line in repo.log())
    assert repo.check() == []


def test_an_undo_is_signed_and_so_is_a_redo(repo: Repo) -> None:
    repo.approved("Logs go to standard error.")
    plane = repo.plane()
    for take in (plane.history.undo, plane.history.redo):
        take()
        assert signatures.of_line(repo.log()[-1]) is not None
    repo.commit()
    assert repo.check() == []
    without_settings(repo).plane().history.undo()
    with_settings(repo)
    repo.commit()
    assert any("(undo " in found and "is not signed" in found for found in bad(repo.check()))


def test_a_key_with_a_passphrase_and_no_agent_is_refused_at_once(
    template: Repo, keys: Path, tmp_path: Path
) -> None:
    repo = branches.copied(template, tmp_path / "repo")
    signed.require(repo, signed.signer(keys / "locked"))
    signed.use_key(repo, keys / "locked.pub")
    plane = repo.plane()
    candidate = plane.propose(decision("Logs go to standard error."))
    before = {path: path.read_bytes() for path in repo.layout.root.rglob("*.jsonl")}
    with pytest.raises(Refused) as error:
        plane.inbox.approve([candidate])
    assert error.value.what.startswith(
        "Nothing was written, because agentplane can't sign with this key: the key has a passphrase"
    )
    assert error.value.todo == f"Run `ssh-add {keys / 'locked'}`, then try again."
    assert {path: path.read_bytes() for path in repo.layout.root.rglob("*.jsonl")} == before
    assert candidate in plane.memory.read().inbox_ids


@pytest.mark.parametrize("literal", [False, True])
def test_an_agent_signs_with_a_key_that_has_a_passphrase(
    template: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, literal: bool
) -> None:
    repo = branches.copied(template, tmp_path / "repo")
    signed.require(repo, signed.signer(keys / "locked"))
    signed.use_key(repo, f"key::{signed.public(keys / 'locked')} ada" if literal else keys / "locked.pub")
    with signed.agent(tmp_path, keys / "locked", "very secret") as socket:
        monkeypatch.setenv("SSH_AUTH_SOCK", socket)
        repo.approved("Logs go to standard error.")
    repo.commit()
    assert repo.check() == []


@pytest.mark.parametrize(
    ("key", "what"),
    [
        (None, "no SSH signing key is configured"),
        ("", "no SSH signing key is configured"),
        ("relative.pub", "must be absolute"),
        ("-oProxyCommand", "must be absolute"),
        ("/nowhere/id_ed25519", "No such file"),
        (
            "key::ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILWWNz8cf7k3Y4dGb4Ck0Jm4c7uJYdQX7a9gk2L8cB1T",
            "can't sign",
        ),
    ],
)
def test_what_cannot_sign_is_named_and_nothing_is_written(repo: Repo, key: str | None, what: str) -> None:
    repo.git("config", "--unset", "user.signingKey")
    if key is not None:
        repo.git("config", "user.signingKey", key)
    plane = repo.plane()
    candidate = plane.propose(decision("Logs go to standard error."))
    before = repo.log()
    with pytest.raises(AgentplaneError, match=what):
        plane.inbox.approve([candidate])
    assert repo.log() == before


def test_an_agent_that_does_not_answer_is_not_waited_for(
    repo: Repo, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_keygen, "_SIGN_SECONDS", 0.5)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    plane = repo.plane()
    candidate = plane.propose(decision("Logs go to standard error."))
    before = repo.log()
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(str(tmp_path / "agent"))
        agent.listen()
        with pytest.raises(Refused, match=r"Nothing was written: the signing key didn't respond within"):
            plane.inbox.approve([candidate])
    assert repo.log() == before
    monkeypatch.delenv("SSH_AUTH_SOCK")
    plane.inbox.approve([candidate])


def test_no_temporary_file_is_left_or_readable_by_others(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    modes = []
    real = subprocess.run

    def run(words: tuple[str, ...], **more: Any) -> Any:
        if words[0].endswith("ssh-keygen"):
            modes.extend(stat.S_IMODE(path.stat().st_mode) & 0o077 for path in place.iterdir())
        return real(words, **more)

    monkeypatch.setattr(subprocess, "run", run)
    repo.approved("Logs go to standard error.")
    assert modes
    assert set(modes) == {0}
    assert list(place.iterdir()) == []


def test_a_signing_program_that_git_names_is_never_run(repo: Repo, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o700)
    for name in ("gpg.ssh.program", "gpg.ssh.defaultKeyCommand", "gpg.program"):
        repo.git("config", name, str(trap))
    repo.approved("Logs go to standard error.")
    assert not (tmp_path / "ran").exists()


def test_an_ssh_keygen_in_the_current_folder_is_never_run(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = repo.folder / "ssh-keygen"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o700)
    monkeypatch.chdir(repo.folder)
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")
    repo.approved("Logs go to standard error.")
    assert not (tmp_path / "ran").exists()


def test_without_ssh_keygen_nothing_is_decided_or_checked(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = shutil.which("git")
    repo.approved("Logs go to standard error.")
    repo.commit()
    programs = repo.folder.parent / "bin"
    programs.mkdir()
    (programs / "git").symlink_to(str(git))
    monkeypatch.setenv("PATH", str(programs))
    with pytest.raises(BadInput, match="require ssh-keygen, but it can't be run: program not found"):
        repo.check()
    with pytest.raises(BadInput, match="require ssh-keygen, but it can't be run: program not found"):
        repo.approved("Buttons have round corners.")


def test_bulk_approval_signs_once(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    count = []
    monkeypatch.setattr(
        signatures, "sign", lambda *words, real=signatures.sign: (count.append(1), real(*words))[1]
    )
    plane = repo.plane()
    plane.inbox.approve(
        [plane.propose(decision(text)) for text in ("Logs go to stderr.", "Amounts are in euros.")]
    )
    assert len(count) == 1


def test_doctor_names_what_is_not_signed_and_how_to_accept_it(repo: Repo) -> None:
    (found,) = [f for f in collect(repo.plane().store) if "not signed" in f.what]
    assert found.severity == "error"
    assert found.what.startswith("2 changes are not signed, but `trust.require_signatures` is on: operation ")
    assert f'signed_after = "{chain.tail(repo.layout.log).head}"' in found.remedy
    accept_history(repo)
    assert doctor(repo) == []
    repo.approved("Logs go to standard error.")
    assert doctor(repo) == []
    without_settings(repo).approved("Buttons have round corners.")
    with_settings(repo)
    assert any("not signed" in one for one in doctor(repo))


def test_doctor_refuses_forged_moved_and_foreign_signatures(repo: Repo, keys: Path) -> None:
    accept_history(repo)
    config = (repo.layout.root / "config.toml").read_text()
    repo.approved("Logs go to standard error.")
    assert doctor(repo) == []
    copied = last_event(repo)["signature"]
    repo.approved("Buttons have round corners.")
    relinked(repo, {"signature": copied})
    assert any(
        "has an invalid signature: the signature is for different content" in one for one in doctor(repo)
    )
    (repo.layout.root / "config.toml").write_text(
        config.replace(signed.signer(keys / "ada"), signed.signer(keys / "eve"))
    )
    assert len([one for one in doctor(repo) if "doesn't allow" in one or "different content" in one]) == 2


def test_doctor_refuses_a_forged_settle(repo: Repo) -> None:
    accept_history(repo)
    write_entry(repo, "decisions.md", "DEC-003", "Skip the tests.")
    append_op(repo, *forged(repo, "memory/decisions.md", "DEC-003", verb="settle", channel="merge"))
    assert any("not signed" in one for one in doctor(repo))


def test_doctor_refuses_a_second_event_of_a_signed_op(repo: Repo) -> None:
    accept_history(repo)
    repo.approved("Logs go to standard error.")
    event = {key: value for key, value in last_event(repo).items() if not key.startswith("hash_")}
    branches.append_event(repo, {**event, "actor": "Eve"})
    found = [f.what for f in collect(repo.plane().store)]
    assert "this line isn't a valid operation event, or it repeats the event of another line" in found


def test_a_start_that_the_log_does_not_hold_accepts_nothing(repo: Repo) -> None:
    path = repo.layout.root / "config.toml"
    path.write_text(f'{path.read_text()}signed_after = "{"ab" * 32}"\n')
    assert any(
        "the hash in `trust.signed_after` doesn't belong to any line of the log" in one
        for one in doctor(repo)
    )
    assert any("2 changes are not signed" in one for one in doctor(repo))


def test_doctor_verifies_once_and_a_forged_cache_proves_nothing(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_history(repo)
    repo.approved("Logs go to standard error.")
    repo.approved("Buttons have round corners.")
    real, asked = signatures.Verifier.verdict, []

    def verdict(*words: object) -> signatures.Verdict:
        asked.append(1)
        return real(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(signatures.Verifier, "verdict", verdict)
    assert doctor(repo) == []
    assert len(asked) == 2
    assert doctor(repo) == []
    assert len(asked) == 2
    # The same cache, as another user's machine would have marked it.
    monkeypatch.setattr(user_key, "is_marked", lambda *_: False)
    assert doctor(repo) == []
    assert len(asked) == 4


def test_settings_that_contradict_signatures_are_refused(repo: Repo, keys: Path) -> None:
    path = repo.layout.root / "config.toml"
    for text, what in (
        ("[trust]\nrequire_signatures = true\n", "`trust.allowed_signers` is empty"),
        (
            signed.settings(signed.signer(keys / "ada"), hand_edits='"accept"'),
            "manual edits are never signed",
        ),
        (
            signed.settings(signed.signer(keys / "ada")) + "[policy]\nauto_approve_confidence = 0.9\n",
            "automatic approvals are never signed",
        ),
        (
            signed.settings("ada@example.test ssh-ed25519 " + "A" * 60 + "\\neve *"),
            "config.toml:3: item 1 of",
        ),
        (signed.settings("# ada@example.test ssh-ed25519 " + "A" * 60), "item 1 of"),
        (signed.settings("ada@example.test"), "item 1 of"),
        (signed.settings("-oada ssh-ed25519 " + "A" * 60), "item 1 of"),
    ):
        path.write_text(text.replace("'", '"'))
        with pytest.raises(BadInput, match=what):
            repo.plane().store.settings()


def test_a_branch_that_moves_the_start_fails(repo: Repo) -> None:
    accept_history(repo)
    repo.commit()
    assert any("`trust.signed_after` was set to" in found for found in bad(repo.check()))


def test_broken_settings_of_the_base_are_no_way_around(repo: Repo) -> None:
    repo.git("checkout", "-q", "main")
    path = repo.layout.root / "config.toml"
    path.write_text(path.read_text() + "nonsense = 1\n")
    repo.commit()
    repo.git("checkout", "-q", "work")
    assert any("signatures can't be checked" in found for found in bad(repo.check()))


def test_the_signed_bytes_are_those_of_the_event_and_can_be_verified_by_hand(repo: Repo) -> None:
    repo.approved("Logs go to standard error.")
    event = last_event(repo)
    one = signatures.of_line(repo.log()[-1])
    assert one is not None
    del event["signature"], event["hash_self"]
    assert one.payload == canonical.dumps(event)
    assert event["op_sha256"]
    assert event["hash_prev"] == chain.hash_of(repo.log()[-2])


def test_the_page_shows_how_to_verify_by_hand(repo: Repo, keys: Path, tmp_path: Path) -> None:
    repo.approved("Logs go to standard error.")
    page = (ROOT / "docs/reference/formats.md").read_text()
    script = (
        page[page.index("## Signatures") :]
        .split("```sh\n")[1]
        .split("```")[0]
        .replace("ada@example.org", ADA)
    )
    for name in ("allowed_signers", "signed", "signature"):
        assert name in script
    (repo.folder / "allowed_signers").write_text(f"{signed.signer(keys / 'ada')}\n")
    words = ("sh", "-ec", script)
    done = subprocess.run(words, cwd=repo.folder, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(f'Good "agentplane" signature for {ADA}'), done


def test_a_branch_full_of_wrong_signatures_is_not_verified_to_its_end(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signatures, "_MOST_WRONG", 2)
    repo.approved("Logs go to standard error.")
    copied = last_event(repo)["signature"]
    for text in ("Buttons have round corners.", "Deploys wait for the bank.", "Reports are written as CSV."):
        repo.approved(text)
        relinked(repo, {"signature": copied})
    repo.commit()
    assert len([found for found in bad(repo.check()) if "has an invalid signature" in found]) == 2


def test_without_a_list_of_signers_nothing_is_said_of_a_signature(repo: Repo) -> None:
    repo.approved("Logs go to standard error.")
    plane = without_settings(repo).plane()
    assert plane.history.signed_by([plane.history.ops(1)[0].op]) == {}


def test_tools_still_propose_without_a_key(repo: Repo) -> None:
    repo.git("config", "--unset", "user.signingKey")
    plane = repo.plane("claude-code", "mcp", "claude-code")
    plane.propose(decision("Logs go to standard error.", source=branches.RUN))
    repo.commit()
    assert repo.check() == []


def test_a_policy_that_the_base_does_not_have_signs_nothing(repo: Repo) -> None:
    plane = repo.plane()
    candidate = plane.propose(decision("Logs go to standard error."))
    forged = Plane(plane.store, Origin("Ada", "policy", "bash"))
    forged.inbox.approve([candidate])
    repo.commit()
    assert any("is not signed" in found for found in bad(repo.check()))
