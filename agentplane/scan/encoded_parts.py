"""Encoded parts of a text, such as Base64, hex, escapes, Morse code and invisible characters, decoded to text."""

import base64
import binascii
import html
import re
import string
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote


_ENCODED = re.compile(
    r"[A-Za-z0-9+/_-]{16}|(?:[0-9a-fA-F]{2,3}[\s:,-]{1,2}){8}|(?:[.-]{1,5}[ /]){6}|[01]{7,8}\s[01]{7}"
)
_SIGNS = re.compile(r"[\\%&]|=[0-9A-F]{2}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}(?:\s+[A-Za-z0-9+/_-]{16,}={0,2})*")
_BASE32 = re.compile(r"\b[A-Z2-7]{24,}={0,6}")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{2}(?:[\s:,-]{0,2}(?:0x)?[0-9a-fA-F]{2}){9,}")
_BINARY = re.compile(r"[01]{7,8}(?:\s*[01]{7,8}){5,}")
_DECIMAL = re.compile(r"\b\d{2,3}(?:[\s,]{1,2}\d{2,3}){9,}\b")
_ESCAPES = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"
)
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_QUOTED = re.compile(r"=[0-9A-F]{2}")
_ENTITY = re.compile(r"&(?:#\d{2,6}|#x[0-9a-fA-F]{2,6}|[a-zA-Z]{2,8});")
_MORSE = re.compile(r"(?<![\w.-])[.-]{1,5}(?:[ /]{1,3}[.-]{1,5}){9,}(?![\w-])")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_ZERO_WIDTH = re.compile("[\u200b\u200c\u200d\u2060\u2062\u2063\ufeff]{16,}")
_MORSE_CODE = dict(
    zip(
        [
            ".-",
            "-...",
            "-.-.",
            "-..",
            ".",
            "..-.",
            "--.",
            "....",
            "..",
            ".---",
            "-.-",
            ".-..",
            "--",
            "-.",
            "---",
            ".--.",
            "--.-",
            ".-.",
            "...",
            "-",
            "..-",
            "...-",
            ".--",
            "-..-",
            "-.--",
            "--..",
            "-----",
            ".----",
            "..---",
            "...--",
            "....-",
            ".....",
            "-....",
            "--...",
            "---..",
            "----.",
        ],
        string.ascii_lowercase + string.digits,
        strict=True,
    )
)


@lru_cache(maxsize=16)
def may_be_encoded(text: str) -> bool:
    """Return False if no part of the text can be encoded. This is a quick test."""
    return bool(not text.isascii() or _ENCODED.search(text) or _SIGNS.search(text))


def decoded_parts(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the parts that decode to text: the encoding, the decoded text, and the start."""
    if _ENCODED.search(text):
        for hit in _BASE64.finditer(text):
            yield from _as(("in base64", _base64(hit[0]), hit.start()))
        for hit in _BASE32.finditer(text):
            yield from _as(("in base32", _base32(hit[0]), hit.start()))
        for hit in _HEX.finditer(text):
            digits = re.sub(r"0x|[^0-9a-fA-F]", "", hit[0])
            yield from _as(("in hex", bytes.fromhex(digits[: len(digits) // 2 * 2]), hit.start()))
        for hit in _BINARY.finditer(text):
            yield from _as(("in binary", _bits(hit[0]), hit.start()))
        for hit in _DECIMAL.finditer(text):
            codes = [int(code) for code in re.findall(r"\d+", hit[0])]
            yield from _as(("in character codes", bytes(code for code in codes if code < 256), hit.start()))
        for hit in _MORSE.finditer(text):
            words = re.split(r"\s*/\s*| {2,}", hit[0])
            read = " ".join("".join(_MORSE_CODE.get(sign, "") for sign in word.split()) for word in words)
            yield "in Morse code", read, hit.start()
    if "\\" in text and (hits := list(_ESCAPES.finditer(text))) and len(hits) > 3:
        yield "in escapes", _ESCAPES.sub(lambda hit: _char(hit[0]), text), hits[0].start()
    if "%" in text and (hits := list(_PERCENT.finditer(text))) and len(hits) > 1:
        yield "in percent signs", unquote(text, errors="replace"), hits[0].start()
    if "&" in text and (hits := list(_ENTITY.finditer(text))):
        yield "in HTML entities", html.unescape(text), hits[0].start()
    if "=" in text and (hits := list(_QUOTED.finditer(text))) and len(hits) > 5:
        read = re.sub(
            "(?:=[0-9A-F]{2})+",
            lambda hit: bytes.fromhex(hit[0].replace("=", "")).decode(errors="replace"),
            text,
        )
        yield "in quoted-printable", read, hits[0].start()
    if not text.isascii():
        for hit in _TAGS.finditer(text):
            yield "in invisible tags", "".join(chr(ord(char) - 0xE0000) for char in hit[0]), hit.start()
        for hit in _SELECTORS.finditer(text):
            yield from _as(("in invisible selectors", bytes(_byte(char) for char in hit[0]), hit.start()))
        for hit in _ZERO_WIDTH.finditer(text):
            first = hit[0][0]
            for one in "01":
                other = "1" if one == "0" else "0"
                yield from _as(
                    (
                        "in invisible bits",
                        _bits("".join(one if c == first else other for c in hit[0])),
                        hit.start(),
                    )
                )


def _as(found: tuple[str, bytes, int]) -> Iterator[tuple[str, str, int]]:
    how, data, at = found
    if len(data) < 6:
        return
    for encoding in ("utf-8", "utf-16-le"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if is_text(text):
            yield how, text, at
            return


def is_text(text: str) -> bool:
    """True if the data reads as text and not as random bytes."""
    good = sum(char.isalpha() or char in " .,:;!?'\"/_-=\n" or char.isdigit() for char in text)
    return good >= 0.9 * len(text) and any(map(str.isalpha, text)) and text.isprintable() | ("\n" in text)


def _base64(text: str) -> bytes:
    letters = re.sub(r"[\s=]", "", text).replace("-", "+").replace("_", "/")
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4))
    except (binascii.Error, ValueError):
        return b""


def _base32(text: str) -> bytes:
    letters = text.rstrip("=")
    try:
        return base64.b32decode(letters + "=" * (-len(letters) % 8))
    except (binascii.Error, ValueError):
        return b""


def _bits(text: str) -> bytes:
    groups = text.split()
    if len(groups) < 2 or any(len(group) not in (7, 8) for group in groups):
        whole = "".join(groups)
        groups = [whole[at : at + 8] for at in range(0, len(whole) - 7, 8)]
    return bytes(int(group, 2) for group in groups)


def _byte(char: str) -> int:
    code = ord(char)
    return code - 0xFE00 if code < 0xE0000 else code - 0xE0100 + 16


def _char(escape: str) -> str:
    digits = escape.lstrip("\\xuU{").rstrip("}")
    code = int(digits, 8 if escape[1] in "0123" else 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
