"""The search for secrets in a text. Other packages use `find.py`, which loads this module when it is needed.

It reads the plain text (`plain_text.py`), then decoded escapes, wrapped words and base64. It searches for token
formats (`formats.py`), values with names and in sentences (`named.py`), and passwords on command lines
(`command_lines.py`). `values.py` decides which values can be secrets.
"""

import base64
import re
from collections.abc import Iterator

from agentplane.scan.secrets import command_lines, formats, layouts, named, plain_text, values
from agentplane.scan.secrets.find import Secret
from agentplane.scan.secrets.plain_text import Hit, Lowered


_ENOUGH = 20
_MOST_PACKED = 400
_BEFORE_MARK, _BEHIND_MARK = 120, 600

_IN_URL = re.compile(
    r"(?<![a-z0-9+.-])(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]{1,20})://(?P<user>[^\s:/?#@\[\]\"'`<>]{0,120}):"
    r"(?P<value>[^\s/?#@\[\]\"'`<>]{3,160}|[^\s@\[\]\"'`<>]{3,160})@(?=[\w\[.$({-])"
)
_USER_OF_URL = re.compile(
    r"https?://(?P<value>[0-9A-Za-z_-]{20,200})(?::x-oauth-basic)?@(?!(?:o\d+\.)?(?:ingest\.)?(?:[\w.]*)sentry)"
)
_ADDRESS = plain_text.marks_of("://")
_CANDIDATE = re.compile(r"[0-9A-Za-z+/_=-]{20,}")
_PACKED = re.compile(r"(?<![0-9A-Za-z+/_-])[0-9A-Za-z+/_-]{20,20000}={0,2}(?![0-9A-Za-z+/_-])")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SEGMENT_ENDS = re.compile(r"[+/_=-]+")
_PLAIN_SEGMENT = re.compile(r"[0-9a-f]+|[0-9A-F]+|[0-9]+T?[0-9]*Z?|[A-Za-z]+")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_BEFORE_HASH = re.compile(r"(?i)(?:sha-?(?:1|224|256|384|512)|md5|blake[23][bs]?|h1|integrity)[:=-]$")
_PUBLIC_KEY = re.compile(r"AAAA[BCE][0-9]N")
_ADDRESS_OF_CHAIN = re.compile(r"[a-z]{1,12}(?:_[a-z]{1,8})?1[02-9ac-hj-np-z]{30,120}")
_URL = re.compile(
    r"https?://[^\s?#]+|-----BEGIN (?:[A-Z]{2,12} )?(?:PUBLIC KEY|CERTIFICATE|SIGNATURE)[A-Z ]{0,12}-----[^-]{0,20000}"
)
_KEY_LINES = 400


def find(text: str) -> list[Secret]:
    """Return the first few secrets of a text, in order."""
    found: list[Secret] = []
    for at, _, kind in spans(text)[:_ENOUGH]:
        found.append(Secret(kind, *_place(text, at)))
    if len(found) >= _ENOUGH:
        return found
    known = {secret.line for secret in found}
    read = plain_text.plain(text)
    for at, until in _random(read.text if read else text):
        start = read.back(at, until)[0] if read else at
        line, column = _place(text, start)
        if line not in known:
            found.append(Secret("a random string", line, column, sure=False))
            if len(found) >= _ENOUGH:
                break
    return sorted(found, key=lambda secret: (secret.line, secret.column))


def spans(text: str) -> list[tuple[int, int, str]]:
    """Return the start, end and kind of all certain secrets, in order and without overlaps."""
    read = plain_text.plain(text)
    whole = read.text if read else text
    low = plain_text.lowered(whole)
    found = list(_hits(whole, low))
    if (escaped := plain_text.decoded(whole)) is not None:
        found += [(*escaped.back(at, until), kind, sure) for at, until, kind, sure in _hits(escaped.text)]
    found += _wrapped(whole, low)
    found += _packed(whole)
    if read:
        found = [(*read.back(at, until), kind, sure) for at, until, kind, sure in found]
    return _without_overlaps(found)


def _place(text: str, at: int) -> tuple[int, int]:
    """Return the line and the column."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _without_overlaps(found: list[Hit]) -> list[tuple[int, int, str]]:
    """Return the hits in order, with overlapping ones merged."""
    merged: list[tuple[int, int, str]] = []
    for at, until, kind, _ in sorted(found, key=lambda hit: (hit[0], -hit[1])):
        if merged and at < merged[-1][1]:
            first, last, name = merged[-1]
            merged[-1] = (first, max(last, until), name)
        elif until > at:
            merged.append((at, until, kind))
    return merged


def _hits(text: str, low: Lowered | None = None) -> Iterator[Hit]:
    low = low or plain_text.lowered(text)
    if b"private" in low.encoded:
        yield from _key_blocks(text)
    yield from _formats(text, low)
    yield from named.hits(text, low)
    yield from layouts.hits(text, low)
    yield from command_lines.hits(text)
    yield from _in_urls(text, low)


def _formats(text: str, low: Lowered) -> Iterator[Hit]:
    for form in formats.possible(low):
        for match in _around(form, text, low):
            if form.is_live(match[form.group]):
                start, end = match.span(form.group)
                yield start, end, form.kind, True


def _around(form: formats.Format, text: str, low: Lowered) -> Iterator[re.Match[str]]:
    """Yield the matches of a format, searching only near its marks."""
    if form.marks.short:
        if plain_text.holds(low, form.marks):
            yield from form.pattern.finditer(text)
        return
    done = 0
    for start, end in plain_text.near(low, form.marks, _BEFORE_MARK, _BEHIND_MARK):
        for match in form.pattern.finditer(text, max(start, done), end):
            whole = form.pattern.match(text, match.start()) if match.end() == end else match
            if whole is not None:
                done = whole.end()
                yield whole


def _in_urls(text: str, low: Lowered) -> Iterator[Hit]:
    places = [place for place in plain_text.near(low, _ADDRESS, 24, 400) if text.find("@", *place) >= 0]
    for match in (match for place in places for match in _IN_URL.finditer(text, *place)):
        value, user = match["value"], match["user"]
        if values.is_stand_in(value) or values.is_reference(value) or value.lower() == user.lower():
            continue
        if re.fullmatch(r"[A-Z_]+", value) or (value[0] in "{<$[(%" and not re.match(r"%[0-9A-F]{2}", value)):
            continue
        yield match.start("value"), match.end("value"), "a password in a URL", True
    for match in (match for place in places for match in _USER_OF_URL.finditer(text, *place)):
        if values.is_random(match["value"]) and not values.is_stand_in(match["value"]):
            yield match.start("value"), match.end("value"), "a token in a URL", True


def _key_blocks(text: str) -> Iterator[Hit]:
    """Yield private keys of one or more lines, even if cut off at either end.

    A diff or a log can put a prefix before each line.
    """
    begins = [match.span() for match in formats.KEY_BEGIN.finditer(text)]
    begins += [match.span() for match in formats.PUTTY.finditer(text)]
    begins.sort()
    ends = [match.span() for match in formats.KEY_END.finditer(text)]
    next_end = 0
    for number, (start, after) in enumerate(begins):
        limit = begins[number + 1][0] if number + 1 < len(begins) else len(text)
        limit = min(limit, after + 40_000)
        while next_end < len(ends) and ends[next_end][0] < after:
            yield from _key_above(text, ends[next_end], ends[next_end - 1][1] if next_end else 0)
            next_end += 1
        until = None
        if next_end < len(ends) and ends[next_end][0] <= limit:
            until = ends[next_end][1]
            body = text[after : ends[next_end][0]]
            next_end += 1
            if _is_body(body):
                yield start, until, "a private key", True
            continue
        last = _key_below(text, after, limit)
        if last is not None and _is_body(text[after:last]):
            yield start, last, "a private key", True
    for number in range(next_end, len(ends)):
        yield from _key_above(text, ends[number], ends[number - 1][1] if number else 0)


def _is_body(body: str) -> bool:
    """True if the text is a key and not a placeholder for one."""
    inside = re.search(r"[0-9A-Za-z+/=]{16}", body)
    return (
        inside is not None and not (("..." in body or "…" in body) and len(body) < 200) and len(set(body)) > 8
    )


def _key_below(text: str, after: int, limit: int) -> int | None:
    """Return the end of a key without a last line, or None."""
    first = re.compile(r"(?:\\{1,4}[nr]|[\s>|+\"',-]){0,24}").match(text, after, limit)
    place = first.end() if first else after
    last = None
    for _ in range(_KEY_LINES):
        end = text.find("\n", place, limit)
        end = limit if end < 0 else end
        if formats.KEY_LINE.match(text, place, end):
            last = end
        elif last is None:
            begin = re.compile(r"(?:[0-9A-Za-z+/=]{4,1700}(?:\\{1,4}[nr]|[ ])?){1,100}").match(
                text, place, end
            )
            if not begin and not formats.KEY_HEADER.match(text, place, end):
                return None
            if begin:
                return begin.end()
        elif not (formats.KEY_HEADER.match(text, place, end) or formats.KEY_EMPTY.match(text, place, end)):
            break
        place = end + 1
        if place >= limit:
            break
    return last


def _key_above(text: str, end: tuple[int, int], limit: int) -> Iterator[Hit]:
    """Yield the lines of a key above its last line, if its first line was cut off."""
    begin = text.rfind("\n", limit, end[0]) + 1
    begin = max(begin, limit)
    inline = re.search(r"[0-9A-Za-z+/=\\ ]{16,}$", text[max(begin, end[0] - 20_000) : end[0]])
    begin = end[0] - len(inline[0]) if inline else begin
    for _ in range(_KEY_LINES):
        line = max(text.rfind("\n", limit, max(limit, begin - 1)) + 1, limit)
        if line >= begin or not formats.KEY_LINE.match(text, line, begin - 1):
            break
        begin = line
    if re.search(r"[0-9A-Za-z+/=]{4}", text[begin : end[0]]):
        yield begin, end[1], "a private key", True


def _wrapped(text: str, low: Lowered) -> Iterator[Hit]:
    """Yield tokens that continue on the next line."""
    if "\n" not in text:
        return
    for form in formats.WRAPPED:
        for begin, until in plain_text.near(low, form.marks, 20, 400):
            joined = plain_text.unwrapped(text[begin:until])
            for match in form.pattern.finditer(joined.text) if joined else ():
                start, end = joined.back(*match.span()) if joined else (0, 0)
                if (
                    "\n" in text[begin + start : begin + end]
                    and form.is_live(match[0])
                    and not form.pattern.match(text, begin + start)
                ):
                    yield begin + start, begin + end, form.kind, True


def _packed(text: str) -> Iterator[Hit]:
    """Yield base64 of texts that contain a secret."""
    count = 0
    for match in _PACKED.finditer(text):
        word = match[0]
        if values.is_public(word) or word.isalpha() or not any(map(str.isupper, word)):
            continue
        unpacked = _unpacked(word)
        if unpacked is None:
            continue
        count += 1
        if count > _MOST_PACKED:
            return
        if any(sure for _, _, _, sure in _hits(unpacked)):
            yield match.start(), match.end(), "a secret in base64", True


def _unpacked(word: str) -> str | None:
    bare = word.rstrip("=")
    try:
        data = base64.b64decode(
            bare[: len(bare) - (len(bare) % 4 == 1)] + "=" * (-len(bare) % 4),
            altchars=b"-_" if "-" in bare or "_" in bare else None,
        )
    except ValueError:
        return None
    text = data.decode("ascii", errors="replace") if data[:8].isascii() else ""
    return (
        text
        if text
        and sum(char.isprintable() or char in "\r\n\t" for char in text) == len(text)
        and "\ufffd" not in text
        else None
    )


def _random(text: str) -> Iterator[tuple[int, int]]:
    urls = [match.span() for match in _URL.finditer(text)]
    place = 0
    for match in _CANDIDATE.finditer(text):
        while place < len(urls) and urls[place][1] <= match.start():
            place += 1
        in_url = place < len(urls) and urls[place][0] <= match.start()
        word = match[0]
        if in_url or _is_public(word) or _PUBLIC_KEY.match(word):
            continue
        if _BEFORE_HASH.search(text[max(0, match.start() - 12) : match.start()]):
            continue
        if _looks_random(word[:400]) and not values.is_stand_in(word[:400]):
            yield match.start(), match.end()


def _is_public(word: str) -> bool:
    """True for hashes, commits, UUIDs and ULIDs. They identify something but open nothing."""
    return (
        values.is_public(word)
        or _ULID.fullmatch(word) is not None
        or _ADDRESS_OF_CHAIN.fullmatch(word) is not None
        or _BEFORE_HASH.match(word[:7]) is not None
    )


def _looks_random(word: str) -> bool:
    segments = [part for part in _SEGMENT_ENDS.split(word) if part and not _PLAIN_SEGMENT.fullmatch(part)]
    rest = "".join(segments)
    if len(rest) < 20 or sum(char.isdigit() for char in rest) < 2:
        return False
    pieces = sum(len(_PIECE.findall(part)) for part in segments)
    return len(rest) / pieces < 2.4 and values.entropy(rest) > 3.5
