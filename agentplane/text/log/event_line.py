"""One line of a log, with its form, its stated hash and the events that it names."""

import re
from binascii import unhexlify
from collections.abc import Iterator
from hashlib import sha256


GENESIS = "0" * 64
"""The hash that the first event of a history names as its predecessor."""

HASH = re.compile(rb"[0-9a-f]{64}")

_PREV = b'"hash_prev":"'
_SELF = b',"hash_self":"'
_END = b'"}\n'
_TAIL = len(_SELF) + 64 + len(_END)
_STATED = slice(-64 - len(_END), -len(_END))
_OPENING = ord("{")
_FIRST_KEY = b'{"hash_prev":'
# Canonical JSON sorts keys, so a merge event has this form. `link` gives it to no other event.
_MERGE = re.compile(
    rb'\{"hash_prev":"([0-9a-f]{64})","heads":\[("[0-9a-f]{64}"(?:,"[0-9a-f]{64}")+)\],'
    rb'"kind":"merge","ts":"[^"\\\x00-\x1f]*","hash_self":"[0-9a-f]{64}"\}\n'
)


def seal(content: bytes) -> bytes:
    """Return the line of an event, from its canonical JSON without the closing brace."""
    return content + _SELF + sha256(content).hexdigest().encode() + _END


def stated_by(line: bytes) -> bytes:
    """Return the hash that a line in the form of an event states for itself."""
    return line[_STATED]


def digest_of(line: bytes) -> bytes:
    """Return the stated hash of such a line as bytes."""
    return unhexlify(stated_by(line))


def is_hash(text: str) -> bool:
    return HASH.fullmatch(text.encode(errors="replace")) is not None


def has_form(line: bytes) -> bool:
    """True if a line has the ending of an event."""
    ends = line[-_TAIL : -_TAIL + len(_SELF)] == _SELF and line.endswith(_END)
    return ends and HASH.fullmatch(stated_by(line)) is not None


def is_intact(line: bytes) -> bool:
    return has_form(line) and sha256(line[:-_TAIL]).hexdigest().encode() == stated_by(line)


def is_torn(line: bytes) -> bool:
    """True if a line is incomplete. A complete event after NUL bytes is not torn."""
    if not line.endswith(b"\n"):
        return True
    # Canonical JSON contains no NUL. A file system leaves NULs where a write was lost.
    return line.startswith(b"\0") and not is_intact(line.lstrip(b"\0"))


def is_merge(line: bytes) -> bool:
    return _MERGE.fullmatch(line) is not None


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def straight(log: Iterator[bytes], last: bytes) -> tuple[bytearray, bytes | None]:
    """Return the digests of the next lines, and the first line after them.

    Each of these lines follows the line above it. Nearly all lines of nearly all logs are read only here.
    """
    digests = bytearray()
    want = _PREV + last.hex().encode() + b'"'
    for line in log:
        digest = sha256(line[:-_TAIL])
        name = digest.hexdigest().encode()
        at = line.find(_PREV)
        if not (
            line[-_TAIL:] == _SELF + name + _END
            and line[at : at + len(want)] == want
            and line.rfind(_PREV) == at
            and line[0] == _OPENING
            and not line.startswith(_FIRST_KEY)
            and (line.isascii() or is_utf8(line))
        ):
            return digests, line
        digests += digest.digest()
        want = _PREV + name + b'"'
    return digests, None


def parents_of(line: bytes) -> tuple[bytes, ...]:
    """Return the digests of the events that a line names.

    Return none if they are not named in the required form.
    """
    if line.startswith(_FIRST_KEY) and (found := _MERGE.fullmatch(line)):
        named = found[2].replace(b'"', b"").split(b",")
        proper = named == sorted(set(named)) and named[0] == found[1]
        return tuple(map(unhexlify, named)) if proper else ()
    begin = line.find(_PREV) + len(_PREV)
    prev = line[begin : begin + 64]
    proper = line.count(_PREV) == 1 and HASH.fullmatch(prev) and line[begin + 64 : begin + 65] == b'"'
    return (unhexlify(prev),) if proper else ()
