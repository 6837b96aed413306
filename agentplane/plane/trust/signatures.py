"""Signatures of operations, with the signed data, the signing key, and the signers of operations in the log.

A signature is part of the operation's event. It covers the event without `signature` and `hash_self`. This
includes the digest of the operation's record and, through `hash_prev`, the whole history before it. A
signature is therefore not valid for another operation or plane, texts can be pruned, and a merge preserves
it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from agentplane.errors import BadInput, Refused
from agentplane.plane.derived import cache
from agentplane.plane.git import git
from agentplane.plane.layout import CONFIG, Layout
from agentplane.plane.ledger import log_events
from agentplane.plane.settings import Settings
from agentplane.plane.trust import rules, user_key
from agentplane.plane.trust.ssh_keygen import GUIDE, NoSshKeygenError, Verdict, Verifier, is_signature, sign
from agentplane.text.json import canonical
from agentplane.text.log import event_line


NEEDS_NONE = frozenset({"init", "propose", "relate", "replace", "settle", rules.VERB})
"""The verbs that decide nothing. Anyone may propose, and settling follows from other people's decisions."""

_KEY = "signature"
_MARK = b'"signature":"'
_CACHE_FILE = cache.CacheFile("signatures")
_PURPOSE = "signature"
_MOST_WRONG = 50
_YES = ("true", "yes", "on", "1")


class Signed(msgspec.Struct, frozen=True):
    """A parsed event with its signature."""

    op: str
    ts: str
    payload: bytes
    """The signed bytes."""
    signature: str


class _CachedSignature(msgspec.Struct, frozen=True, array_like=True):
    """A previous result of a verification, with a mark that only this user can make."""

    by: str
    mark: bytes


_cached_verdicts = msgspec.msgpack.Decoder(dict[str, _CachedSignature])


def signed_event(
    event: Mapping[str, Any], prev: str, settings: Settings, layout: Layout
) -> Mapping[str, Any]:
    """Return the event of an operation with its signature, if it needs one or the person wants one.

    Raise before anything is written if the event must be signed and can't be.
    """
    if event["verb"] in NEEDS_NONE or event["channel"] in ("policy", "merge"):
        return event
    trust, own = settings.trust, git.signing(layout.root)
    if not trust.require_signatures and own.get("agentplane.sign", "no").lower() not in _YES:
        return event
    payload = _payload(event, prev)
    made = sign(payload, _key(own))
    if trust.require_signatures:
        with Verifier(trust.allowed_signers) as verifier:
            verdict = verifier.verdict(payload, made)
        if verdict.by is None:
            raise Refused(
                f"Nothing was written: {verdict.trouble}",
                where=layout.shown(CONFIG),
                todo="Sign with a key that `trust.allowed_signers` lists, or ask the project owners to add your key.",
            )
    return {**event, _KEY: made}


def _key(own: Mapping[str, str]) -> str:
    key = own.get("agentplane.signingkey")
    if key is None and own.get("gpg.format") == "ssh":
        key = own.get("user.signingkey")
    if not key:
        raise Refused(
            "Nothing was written: the change must be signed, but no SSH signing key is configured in Git",
            todo=f"Run `git config --global agentplane.signingKey ~/.ssh/id_ed25519.pub`. See {GUIDE}.",
        )
    return key


def _payload(event: Mapping[str, Any], prev: str) -> bytes:
    return canonical.dumps({**event, "hash_prev": prev})


def of_line(line: bytes) -> Signed | None:
    """Return the signature in a line of the log, or None without one or if agentplane didn't write the line."""
    if _MARK not in line or not event_line.is_intact(line):
        return None
    try:
        event = msgspec.json.decode(line)
        del event["hash_self"]
        whole = canonical.dumps(event)
        signature, op, ts = event.pop(_KEY), event["op"], event["ts"]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, BadInput, msgspec.MsgspecError):
        return None
    if event_line.seal(whole[:-1]) != line or not all(isinstance(text, str) for text in (signature, op, ts)):
        return None
    return Signed(op, ts, canonical.dumps(event), signature) if is_signature(signature) else None


def verdicts(
    found: Iterable[Signed], signers: Sequence[str], layout: Layout | None = None
) -> dict[str, Verdict]:
    """Return the verdict on each operation's signature.

    With a layout, a key must have been allowed at the time of the operation, and earlier results come from
    the cache. Without one, a key must be allowed now, because the owner of an expired key can backdate an
    operation. After many wrong signatures, the rest are skipped, so that a branch full of them can't keep CI
    busy.
    """
    cached = _load(layout) if layout else {}
    all_signers = "\n".join(signers).encode()
    results: dict[str, Verdict] = {}
    wrong = 0
    fresh: dict[str, _CachedSignature] = {}
    with Verifier(signers) as verifier:
        for one in found:
            if wrong == _MOST_WRONG:
                break
            old = cached.get(one.op)
            parts = (one.payload, one.signature.encode(), all_signers)
            if old and user_key.is_marked(old.mark, _PURPOSE, *parts, old.by.encode()):
                results[one.op] = Verdict(old.by)
                continue
            at = _time(one.ts) if layout else None
            readable = at is not None or layout is None
            results[one.op] = verdict = (
                verifier.verdict(one.payload, one.signature, at)
                if readable
                else Verdict(None, "the time of the change can't be read")
            )
            wrong += verdict.by is None
            if verdict.by is not None and (mark := user_key.mark(_PURPOSE, *parts, verdict.by.encode())):
                fresh[one.op] = _CachedSignature(verdict.by, mark)
    if layout and fresh:
        cache.save(layout, _CACHE_FILE, msgspec.msgpack.encode({**cached, **fresh}))
    return results


def _load(layout: Layout) -> dict[str, _CachedSignature]:
    data = cache.load(layout, _CACHE_FILE)
    try:
        return _cached_verdicts.decode(data) if data else {}
    except msgspec.MsgspecError:
        return {}


def _time(ts: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(ts)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None


def signers_of(layout: Layout, settings: Settings, ops: Collection[str]) -> dict[str, Verdict]:
    """Return the verdicts on signed operations. Without a list of signers, there are none."""
    if not settings.trust.allowed_signers:
        return {}
    try:
        return verdicts(_in_log(layout, ops), settings.trust.allowed_signers, layout)
    except NoSshKeygenError:
        return {}


def _in_log(layout: Layout, ops: Collection[str]) -> Iterator[Signed]:
    """Yield the signatures of operations. Only the first event of each operation counts, signed or not."""
    left = set(ops)
    for line, event in log_events.iterate(log_events.oldest_first(layout.log), kind=log_events.OP):
        if not left:
            return
        if event.op in left:
            left.remove(event.op)
            if one := of_line(line):
                yield one
