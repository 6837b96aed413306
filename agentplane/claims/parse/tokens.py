"""Tokens, sentences and clauses of a statement."""

import re
import unicodedata

import msgspec

from agentplane.claims.parse import vocabulary as words


MAX_CHARS = 800
"""Number of characters that are read. A first paragraph longer than this isn't a statement."""

_TOKEN = re.compile(
    r"c\+\+|[cf]\#|(?:node|vue|next|alpine|solid)\.js\b|asp\.net\b|fly\.io\b|py\.test\b"
    r"|[^\W\d_]{1,60}(?:[0-9][^\W_]{0,40})?(?:'[a-z]{1,2}\b)?|\d{1,15}(?:[.,]\d{1,9}){0,4}|[%.;:!?,()`/<>≤≥]",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"`[^`\s]{1,80}`"
    r"|(?<![\w/.])[~.@]{0,2}/?[\w*@-]{1,40}(?:/[\w.*{}-]{1,60}){1,12}/?"
    r"|\b[\w-]{1,40}\.(?:py|toml|json|ya?ml|md|jsx?|tsx?|txt|ini|cfg|c|h|go|rs|sql|lock|env|xml|sh)\b"
    r"|\b[a-z]{1,40}_[a-z0-9_]{1,60}\b"
    r"|\b[A-Z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6}\b"
)
"""Text for programs: paths, file names, identifiers, and text in backticks."""
_SIGNS = re.compile(r"[/._:*{}()<>=~@-]|[a-z][A-Z]")

_DOTTED_V = re.compile(r"\bv(?=\d{1,9}\.\d)", re.IGNORECASE)
"""The `v` of a number such as `v1.2`. The dot in it doesn't end a sentence."""
_ISSUE = re.compile(r"(?<![\w&#])#\d{1,5}\b")
"""The number of an issue or a pull request, such as `#867`. It isn't a quantity."""
_EURO = re.compile(r"€ ?(\d[\d,.]*\d|\d)")
_REASON = words.word_set("because since otherwise")

_CONDITIONS = words.word_set("if when whenever while without unless until once where for")

_BREAKS = frozenset(".;!?")

NEGATORS = words.word_set(
    "not never no cannot don't doesn't mustn't nothing nobody none can't won't shouldn't isn't aren't nor neither"
)


class Token(msgspec.Struct, gc=False):
    word: str
    raw: str
    is_word: bool
    """False for a number or a sign."""
    used: bool = False
    code: bool = False
    item: str | None = None
    """The stem in the line of the statement, if it differs from the stem of the word."""


def normal(text: str) -> str:
    """Return the text without invisible characters, normalized, on one line."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text[: MAX_CHARS * 2])
        text = _EURO.sub(r"\1 eur", text).replace("\u2019", "'").replace("\u2018", "'").replace("\u00a0", " ")
    text = _ISSUE.sub("", _DOTTED_V.sub("", text[:MAX_CHARS]))
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(text.split())


def sentences(clean: str) -> list[list[Token]]:
    found: list[list[Token]] = [[]]
    place = 0
    for code in _CODE.finditer(clean):
        name = _as_code(code.group())
        if name:
            _add_plain(found, clean[place : code.start()])
            is_code = name not in words.MEMBERS
            is_word = is_code or name[0].isalpha() or name[0] == "."
            found[-1].append(Token(name, code.group().strip("`"), is_word, code=is_code))
            place = code.end()
    _add_plain(found, clean[place:])
    return found


def _add_plain(found: list[list[Token]], text: str) -> None:
    """Add the tokens of a text without code to the last sentence, and begin another one after its end."""
    line = found[-1]
    for raw in _TOKEN.findall(text):
        if raw not in _BREAKS:
            word = raw.lower()
            line.append(Token(word, raw, word[0].isalpha()))
        elif line:
            line = []
            found.append(line)


def _as_code(written: str) -> str | None:
    """Return the normalized name, or None for plain words."""
    name = written.strip("`").removeprefix("./").removesuffix("()").rstrip(".").strip("/")
    known = re.sub(r"[-_.]", " ", name.lower())
    if name.lower() in words.MEMBERS and "." in name:
        return name.lower()
    if not name or known in words.MEMBERS or known in words.POLES:
        return None
    if known in words.SYNONYMS or not _SIGNS.search(written.strip("`")) or not _SIGNS.search(written):
        return None
    if "/" in name and "`" not in written and not re.search(r"[._/-].*/|/.*[._/-]|^[./~]|/$", written):
        return None
    return name.lower()


def clauses(sentence: list[Token]) -> list[tuple[bool, list[Token]]]:
    """Return the clauses of a sentence without its reason. True marks an aside about things denied: `X, never
    Y`.
    """
    for place in range(3, len(sentence)):
        if sentence[place].word in _REASON:
            sentence = sentence[:place]
            break
    if sentence and sentence[0].word in _CONDITIONS:
        return [(False, sentence)]
    for place in range(2, len(sentence) - 1):
        if sentence[place].word in (",", ":") and sentence[place + 1].word in NEGATORS:
            return _with_aside(sentence, place)
    return [(False, sentence)] if sentence else []


def _with_aside(sentence: list[Token], place: int) -> list[tuple[bool, list[Token]]]:
    """Split off the aside of `use A, not B, to do C`. It ends at the next comma if that is close."""
    end = next((at for at in range(place + 2, min(place + 6, len(sentence))) if sentence[at].word == ","), 0)
    if not end or sentence[place].word == ":":
        return [(False, sentence[:place]), (True, sentence[place + 1 :])]
    return [(False, sentence[:place] + sentence[end + 1 :]), (True, sentence[place + 1 : end])]


def has_phrase(line: list[str], phrase: tuple[str, ...]) -> bool:
    return phrase[0] in line and any(tuple(line[at : at + len(phrase)]) == phrase for at in range(len(line)))
