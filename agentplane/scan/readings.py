"""Alternative readings of a text: with look-alike letters replaced, letters joined, and encoded parts
decoded.

Rules read each of them. Quick tests find the possible readings, and a usual text has only one.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Literal, NamedTuple

import msgspec

from agentplane.scan.encoded_parts import decoded_parts, may_be_encoded
from agentplane.text import visible


class View(msgspec.Struct, frozen=True):
    how: str
    """The encoding, for example `in base64`, or empty for the text as a reader sees it."""
    text: str
    offset: int = 0
    """Start of the decoded part, or -1 if the view has the same places as the text."""
    joined: bool = False
    """True if the words are not separated."""


# Letters of other scripts that look like Latin letters. Capitals are folded before.
_TWINS = str.maketrans(
    "аɑαеоοсϲрρѕхχуγіɩιјјԁһгкκмнтτвβдпипԛԝνѵӏɡցոսհօяշքєёзьъүҮһєїéӧӓ",
    "aaaeooccppsxxyyiiijjdhrkkmhttbbdnunqwvvlggnuhoazeeezbbyyheieoa",
)
_SMALL = str.maketrans(
    "ᴀʙᴄᴅᴇꜰғɢʜɪᴊᴋʟᴍɴᴏᴘꞯǫʀꜱᴛᴜᴠᴡʏᴢɐqɔǝɟƃɥıɾʞʃɯuʇʌʍʎƨɹ", "abcdeffghijklmnopqqrstuvwyzaqcefghijklmutvwysr"
)
_FLIPPED = str.maketrans("ɐqɔpǝɟƃɥıᴉɾʞlʃɯuodbɹsʇnʌʍxʎz˙'", "abcdefghiijkllmnopqrstuvwxyz.,")
_CYRILLIC = str.maketrans("aecopxykmhtb", "аесорхукмнтв")
_SMALL_ANY = re.compile("[\u1d00-\u1d22\ua730\ua731\ua7af\u0262\u026a\u0274\u0280\u028f\u029c\u029f\u0299]")
_FLIPPED_ANY = re.compile("[ɐɔǝɟƃɥɹʇʌʍʎɯᴉɾʞ]")
_MIXED = re.compile(
    "[a-z][\u0370-\u03ff\u0400-\u052f\u0531-\u058f]|[\u0370-\u03ff\u0400-\u052f\u0531-\u058f][a-z]"
)
_OTHER = re.compile("[\u0370-\u052f\u0531-\u058f\u0261\u0251]")
_SQUARED = re.compile(
    "[\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189\U0001f1e6-\U0001f1ff]"
)
_STRUCK = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")

_LEET_WORD = re.compile(
    r"(?<![\w@$!|])(?=[\w@$!|+]*[a-z])(?=[\w@$!|+]*[0-9@$!|+])[a-z0-9@$!|+]{3,30}(?![\w@$])"
)
_LEET_SIGN = re.compile(r"[a-z][0-9@$!|+][a-z0-9@$!|+]|(?<![a-z0-9])[0-9@$!|+][a-z]")
_LEET = str.maketrans("013456789@$!|+", "oieasbtbgaslit"[:14])
_LEET_L = str.maketrans("013456789@$!|+", "oleasgtbgasllt")
# In the scripts of India, vowel signs aren't word characters, so usual words would look like separate
# letters.
_LETTER = r"[^\W\u0900-\u0dff]"
_SPACED = re.compile(rf"(?<!\w)(?:{_LETTER}(?:[^\w\n\u0900-\u0dff]|_|\n){{1,3}}){{5,}}{_LETTER}(?!\w)")
_DASHED = re.compile(r"(?<![\w.·*_+-])[^\W_](?:([-.·*_+])[^\W_])(?:\1[^\W_])+(?![\w·*_+-])")
_GAP = re.compile(r"(?:[^\w]|_)+")
_WIDE_GAP = re.compile(r"[^\S\n]{2,}|\s*[/|]\s*")
_BREAK = re.compile(r"[-\u2010]\n\s*")

_MARKUP = re.compile(
    r"(?<=\w)(?:\*{1,3}|_{2}|~~|`)(?=\w)|</?(?:b|i|em|strong|u|s|span|font|sub|sup|mark|code|wbr)\b[^<>\n]{0,80}/?>"
)
_MARKS = re.compile(r"[*_`<~]")
_LINES = re.compile(r"(?<=\w)\n(?=\w)")
_ITEM = re.compile(r"^[ \t]*(?:[-*+\u2022]|\d{1,2}[.)])[ \t]+(?:\w{1,12}:[ \t]+)?(.*)$", re.MULTILINE)
_SHORT_ITEM = 40
_SHORT_LINE = 12
_PICTURES = re.compile(r"(?<=[a-z])[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d]{1,4}(?=[a-z])")
_ROT13 = re.compile(
    r"\b(?:gur|lbhe|lbh|naq|abg|guvf|gung|nobhg|jvgu|jvgubhg|sebz|hfre|nyy|svyr|ehyrf|gryy|fraq|arire|nyjnlf|vtaber|sbetrg|eha|nal)\b"
)

_WORDS_OF_ORDERS = (
    "ignore", "disregard", "previous", "instructions", "instruction", "system", "prompt", "approve", "secret", "password",
    "credentials", "assistant", "reveal", "execute", "delete", "silently", "memory", "guidelines", "restrictions",
    "developer", "without", "contents", "server", "override", "bypass", "everything", "candidate", "review", "upload",
    "environment", "security", "disable",
)  # fmt: skip
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_LETTERS = re.compile(r"(?<![a-z])[a-z]{6,20}(?![a-z])")
_DEPTH = 3
_MOST = 24
_LONGEST = 200_000


def plain(text: str) -> str:
    """Return the text in lower case, with compatibility letters replaced, without emphasis and invisible
    characters.
    """
    if not text.isascii():
        unseen = {hit.char for hit in visible.hidden(text)} - {"\r"}
        if unseen or "\u2800" in text:
            gone = dict.fromkeys((ord(char) for char in unseen), "")
            text = text.translate(gone | {0x2800: " "})
        text = unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u2018", "'")
    if _MARKS.search(text):
        text = _MARKUP.sub("", text)
    return text.lower()


def views(text: str) -> Iterator[View]:
    """Yield the usual reading of the text, then all its other readings."""
    yield from _views(text[:_LONGEST], 0, "", 0)


def decoded(text: str) -> Iterator[View]:
    """Yield only the decoded parts, each as text."""
    yield from _only_decoded(text[:_LONGEST], 0, "", 0)


def _only_decoded(text: str, depth: int, how: str, offset: int) -> Iterator[View]:
    if depth < _DEPTH and may_be_encoded(text):
        for kind, read, at in _decoded(text):
            yield View(_both(how, kind), read, offset or at)
            yield from _only_decoded(read, depth + 1, _both(how, kind), offset or at)


def _views(text: str, depth: int, how: str, offset: int) -> Iterator[View]:
    base = plain(text)
    yield View(how, base, offset)
    for reading in _readings(base):
        yield View(_both(how, reading.how), reading.text, offset, reading.joined)
    if depth < _DEPTH and may_be_encoded(text):
        for kind, read, at in _decoded(text):
            yield from _views(read, depth + 1, _both(how, kind), offset or at)


def _both(how: str, more: str) -> str:
    return f"{how}, {more}" if how and more else how or more


class _Reading(NamedTuple):
    how: str
    text: str
    joined: bool = False
    """True if words are not told apart."""


def _readings(base: str) -> Iterator[_Reading]:
    """Yield the other readings of a text without encoded parts."""
    if not base.isascii():
        yield from _of_odd_letters(base)
    if _SPACED.search(base):
        yield _Reading("with its letters apart", _SPACED.sub(_together, base))
        together = " ".join(_GAP.sub("", hit[0]) for hit in _SPACED.finditer(base))
        yield _Reading("with its letters apart", together, joined=True)
    if _LEET_SIGN.search(base) and sum(1 for _ in _LEET_WORD.finditer(base)) > 1:
        for table in (_LEET, _LEET_L):
            read = _LEET_WORD.sub(lambda hit, table=table: hit[0].translate(table), base)  # type: ignore[misc]
            yield _Reading("in leet", read)
    if _DASHED.search(base):
        yield _Reading("with its letters apart", _DASHED.sub(lambda hit: re.sub(r"[\W_]", "", hit[0]), base))
    if "\n" in base:
        yield from _over_lines(base)
    words = set(_LETTERS.findall(base))
    for kind, decode in _ciphers(words):
        yield _Reading(kind, decode(base))
    if len(set(_ROT13.findall(base))) > 1:
        yield _Reading("in rot13", _shifted(base, 13))
    if swapped := {word: real for word in words if (real := _respelled(word))}:
        yield _Reading("with misspelled words", _LETTERS.sub(lambda hit: swapped.get(hit[0], hit[0]), base))


def _over_lines(base: str) -> Iterator[_Reading]:
    if _LINES.search(base):
        yield _Reading("over line breaks", _LINES.sub("", _BREAK.sub("", base)))
        lines = [line for line in base.split("\n") if line.strip()]
        if len(lines) > 2 and len(base) <= _SHORT_LINE * len(lines):
            yield _Reading("over line breaks", base, joined=True)
    items = [hit[1].strip() for hit in _ITEM.finditer(base)]
    if len(items) > 2 and all(len(item) <= _SHORT_ITEM for item in items):
        yield _Reading("over list items", " ".join(items))


def _of_odd_letters(base: str) -> Iterator[_Reading]:
    if _OTHER.search(base) and (_MIXED.search(base) or not re.search("[\u0431-\u044f]{4}", base)):
        yield _Reading("in letters of other scripts", base.translate(_TWINS))
    if _MIXED.search(base):
        yield _Reading(
            "in letters of other scripts",
            re.sub(
                "[a-z\u0400-\u04ff]*(?:[a-z][\u0400-\u04ff]|[\u0400-\u04ff][a-z])[a-z\u0400-\u04ff]*",
                lambda hit: hit[0].translate(_CYRILLIC),
                base,
            ),
        )
    if _SMALL_ANY.search(base):
        yield _Reading("in small capitals", base.translate(_SMALL))
    if _FLIPPED_ANY.search(base):
        yield _Reading("upside down", base.translate(_FLIPPED)[::-1])
        yield _Reading("upside down", base.translate(_FLIPPED))
    if _SQUARED.search(base):
        yield _Reading(
            "in boxed letters", _SQUARED.sub(lambda hit: _ALPHABET[_place_of_box(ord(hit[0]))], base)
        )
    if _STRUCK.search(unicodedata.normalize("NFKD", base)):
        yield _Reading("with marks over its letters", _STRUCK.sub("", unicodedata.normalize("NFKD", base)))
    if _PICTURES.search(base):
        yield _Reading("with pictures between its letters", _PICTURES.sub("", base))
    odd = re.sub("[^\x00-\x7f]", "", base)
    if len(odd) > 11 and len(base) - len(odd) > len(odd) // 3:
        yield _Reading("with signs between its letters", odd)


def _place_of_box(code: int) -> int:
    return next(code - first for first in (0x1F1E6, 0x1F170, 0x1F150, 0x1F130) if code >= first)


def _together(hit: "re.Match[str]") -> str:
    return " ".join(_GAP.sub("", word) for word in _WIDE_GAP.split(hit[0]))


_Cipher = Literal["backwards", "atbash"] | int
"""A cipher for letters. A number is the shift in places of the alphabet."""


@cache
def _disguised() -> dict[str, _Cipher]:
    """Return the words of orders in each cipher, with the cipher."""
    found: dict[str, _Cipher] = {}
    for word in (word for word in _WORDS_OF_ORDERS if len(word) > 5):
        found[word[::-1]] = "backwards"
        found[word.translate(str.maketrans(_ALPHABET, _ALPHABET[::-1]))] = "atbash"
        for shift in range(1, 26):
            found[_shifted(word, shift)] = 26 - shift
    return found


def _shifted(text: str, shift: int) -> str:
    return text.translate(str.maketrans(_ALPHABET, _ALPHABET[shift:] + _ALPHABET[:shift]))


@lru_cache(maxsize=16384)
def _respelled(word: str) -> str | None:
    """Return the word of an order that this word misspells: with inner letters permuted, omitted or doubled."""
    if word in _WORDS_OF_ORDERS:
        return None
    misspelled = _misspelled()
    if found := misspelled.get(_key(word)) or misspelled.get(word):
        return found
    if len(word) < 9:
        return None
    shorter = {word[:at] + word[at + 1 :] for at in range(1, len(word) - 1)}
    return next((real for real in _WORDS_OF_ORDERS if len(real) > 7 and real in shorter), None)


@cache
def _misspelled() -> dict[str, str]:
    found = {}
    for word in _WORDS_OF_ORDERS:
        found[_key(word)] = word
        if len(word) > 7:
            found |= {word[:at] + word[at + 1 :]: word for at in range(1, len(word) - 1)}
    return found


def _key(word: str) -> str:
    return word[0] + "".join(sorted(word[1:-1])) + word[-1]


def _ciphers(words: set[str]) -> Iterator[tuple[str, Callable[[str], str]]]:
    known = _disguised()
    seen: set[_Cipher] = set()
    for word in words:
        cipher = known.get(word)
        if cipher is None or cipher in seen:
            continue
        seen.add(cipher)
        if cipher == "backwards":
            yield "backwards", lambda text: text[::-1]
            yield "backwards", lambda text: " ".join(word[::-1] for word in text.split())
        elif cipher == "atbash":
            yield "in atbash", lambda text: text.translate(str.maketrans(_ALPHABET, _ALPHABET[::-1]))
        else:
            how = "in rot13" if cipher == 13 else f"with letters shifted by {cipher}"
            yield how, lambda text, shift=cipher: _shifted(text, shift)  # type: ignore[misc]


@lru_cache(maxsize=16)
def _decoded(text: str) -> tuple[tuple[str, str, int], ...]:
    """Return the parts that decode to text: the encoding, the text, and the start."""
    return tuple(islice(chain(decoded_parts(text), _backwards(text)), _MOST))


def _backwards(text: str) -> Iterator[tuple[str, str, int]]:
    if "\u202e" in text or "\u2067" in text:
        yield "backwards", plain(text)[::-1], 0
