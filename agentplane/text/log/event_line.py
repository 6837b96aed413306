"""One line of a log: its form, what it states of itself, and which events it names."""

import re
from binascii import unhexlify
from collections.abc import Iterator
from hashlib import sha256


GENESIS = "0" * 64
"""What the first event of a history names as the one before it."""

HASH = re.compile(rb"[0-9a-f]{64}")

_PREV = b'"hash_prev":"'
_SELF = b',"hash_self":"'
_END = b'"}\n'
_TAIL = len(_SELF) + 64 + len(_END)
_STATED = slice(-64 - len(_END), -len(_END))
_OPENING = ord("{")
_FIRST_KEY = b'{"hash_prev":'
# Canonical JSON sorts keys, so a merge event has this form, and `link` gives it to no other event.
_MERGE = re.compile(
    rb'\{"hash_prev":"([0-9a-f]{64})","heads":\[("[0-9a-f]{64}"(?:,"[0-9a-f]{64}")+)\],'
    rb'"kind":"merge","ts":"[^"\\\x00-\x1f]*","hash_self":"[0-9a-f]{64}"\}\n'
)


def seal(content: bytes) -> bytes:
    """The line of an event, from its canonical JSON without the brace at the end."""
    return content + _SELF + sha256(content).hexdigest().encode() + _END


def stated_by(line: bytes) -> bytes:
    """The hash that a line of the form of an event states for itself."""
    return line[_STATED]


def is_hash(text: str) -> bool:
    return HASH.fullmatch(text.encode(errors="replace")) is not None


def has_form(line: bytes) -> bool:
    """Whether a line ends as an event does."""
    ends = line[-_TAIL : -_TAIL + len(_SELF)] == _SELF and line.endswith(_END)
    return ends and HASH.fullmatch(stated_by(line)) is not None


def is_intact(line: bytes) -> bool:
    return has_form(line) and sha256(line[:-_TAIL]).hexdigest().encode() == stated_by(line)


def is_torn(line: bytes) -> bool:
    """Whether the line was not written to its end; one that was is no tear, whatever stands before it."""
    if not line.endswith(b"\n"):
        return True
    # Canonical JSON holds no NUL: a file system left it where a write did not arrive.
    return line.startswith(b"\0") and not is_intact(line.lstrip(b"\0"))


def is_merge(line: bytes) -> bool:
    return _MERGE.fullmatch(line) is not None


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def straight(log: Iterator[bytes], last: bytes) -> tuple[bytearray, int, bytes | None]:
    """The digests of the next lines that each follow the one above, their size, and the line after.

    Nearly all lines of nearly all logs are read here and nowhere else.
    """
    digests, size = bytearray(), 0
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
            return digests, size, line
        digests += digest.digest()
        size += len(line)
        want = _PREV + name + b'"'
    return digests, size, None


def parents_of(line: bytes) -> tuple[bytes, ...]:
    """The digests of the events that a line names; none where it names them in no proper way."""
    if line.startswith(_FIRST_KEY) and (found := _MERGE.fullmatch(line)):
        named = found[2].replace(b'"', b"").split(b",")
        proper = named == sorted(set(named)) and named[0] == found[1]
        return tuple(map(unhexlify, named)) if proper else ()
    begin = line.find(_PREV) + len(_PREV)
    prev = line[begin : begin + 64]
    proper = line.count(_PREV) == 1 and HASH.fullmatch(prev) and line[begin + 64 : begin + 65] == b'"'
    return (unhexlify(prev),) if proper else ()
