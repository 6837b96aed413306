"""Detection of secrets away from their name, for example on a later line, in a column, in a list, or after an
old value.
"""

import re
from collections.abc import Iterator

from agentplane.scan.secrets import values
from agentplane.scan.secrets.plain_text import Hit, Lowered, marks_of, near


_CODE_WORDS = marks_of(
    "recovery",
    "backup",
    "scratch",
    "rescue",
    "emergency",
    "einmal",
    "secours",
    "recupera",
    "wiederherst",
    "备用",
    "резерв",
)
_CODES = re.compile(
    r"(?:(?:recovery|backup|scratch|rescue|emergency|one-time|2fa|mfa|single-use)[ _-]?(?:(?:verification|access|login|2fa|mfa)[ _-]?)?(?:codes?|keys)|wiederherstellungscodes?|backup-codes?|"
    r"codes? de (?:secours|récupération|recuperación|recuperação))"
    r"(?P<between>[^\n:=]{0,60}(?:[:=]|(?=\n)|[ ](?=\d{8}|[0-9a-z]{4,6}-))[\"'\[ \t]{0,6})"
)
_CODE = re.compile(
    r"(?P<value>[0-9A-Za-z]{4,8}(?:-[0-9A-Za-z]{4,8}){1,6}|\d{8,12}|(?=[a-z]*\d)(?=\d*[a-z])[0-9a-z]{8,16}|(?=[A-Z]*\d)(?=\d*[A-Z])[0-9A-Z]{8,16}|\d{4} \d{4})"
)
_CODE_GAP = re.compile(r"[\s\"',;|•·*\[\]]{0,24}(?:(?:\d{1,2}[.)]|-|\[[ x]\])[ \t]{1,4}){0,2}[\"'`]?")
_RULE = re.compile(r"(?:[ \t]*\n){0,2}[ \t]{0,8}[-=─*~]{3,80}[ \t]*\n")
_MOST_CODES = 30

_PHRASE_WORDS = marks_of("phrase", "mnemonic", "words", "seed")
_PHRASE = re.compile(
    r"(?:(?:seed|recovery|backup|mnemonic|secret|wallet)[ _-]?(?:phrases?|words|seed)|mnemonic|(?:bip-?39|12|24)[ -](?:words?|phrase)|frase (?:semilla|de recuperación)|phrase de récupération)"
    r"[^\n:=\"']{0,50}?(?:[:=]|\bis\b|\bare\b|\n|[\"'`(])[\s\"'`:(=\-]{0,8}(?P<value>(?:\d{1,2}[.)] ?)?[a-z]{3,8}(?:[ ,]{1,2}\n?(?:\d{1,2}[.)] ?)?[a-z]{3,8}|\n(?:\d{1,2}[.)] ?)?[a-z]{3,8}){11,23})(?![a-z])"
)
_MOST_SENTENCE = 0.3

_CHANGED = re.compile(
    r"[\"'`]?\s{0,3}[:=]?\s{0,3}(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|\([^)\n]{1,40}\)|null|\S{1,80})\s{1,3}(?:->|=>|→|⇒)\s{1,3}"
    r"(?:\"(?P<dq>[^\"\n]{1,300})\"|'(?P<sq>[^'\n]{1,300})'|(?P<bare>[^\s\"'(]{6,200}))"
)
_CELL = re.compile(
    r"[ \t*_`]{0,3}[|│┃][ \t]{0,30}[`*]{0,2}(?P<value>[^|│┃\s`]{6,120})[`*]{0,2}[ \t]{0,60}(?:[|│┃]|(?=\n|$))"
)
_BELOW = re.compile(
    r"(?P<rest>[ \t*_`\"')\]]{0,4}(?:[a-z][^\n]{0,80})?[:：]?[ \t*_`]{0,4})(?:\n[ \t]{0,12}[-=─*~]{3,80}[ \t]*)?(?:\n[ \t]*){1,3}[`\"'>]{0,3}[ \t]{0,12}[`\"']?(?P<value>[^\s`\"']{6,200})[`\"']?[ \t]*(?=\n|$)",
    re.IGNORECASE,
)
_ROWS_OF_TABLE = 25
_CELLS = re.compile(r"[\w .()/-]{0,40}")


def hits(text: str, low: Lowered) -> Iterator[Hit]:
    """Yield the codes of lists, and recovery phrases."""
    done = 0
    for start, end in near(low, _CODE_WORDS, 0, 120):
        for match in _CODES.finditer(low.text, max(start, done), end):
            for found in _codes(text, match.end()):
                done = found[1]
                yield found
    for start, end in near(low, _PHRASE_WORDS, 12, 420):
        for match in _PHRASE.finditer(low.text, start, end):
            if _is_phrase(match["value"]):
                yield *match.span("value"), "a phrase that restores a key", True


def _codes(text: str, at: int) -> Iterator[Hit]:
    """Yield each code of a list, up to the first item that isn't a code."""
    rule = _RULE.match(text, at)
    place = rule.end() if rule else at
    forms: set[str] = set()
    for _ in range(_MOST_CODES):
        gap = _CODE_GAP.match(text, place)
        start = gap.end() if gap else place
        code = _CODE.match(text, start)
        if not code or text[code.end() : code.end() + 1] not in {
            "",
            " ",
            "\n",
            "\r",
            "\t",
            ",",
            ";",
            '"',
            "'",
            "`",
            "]",
            "|",
            ".",
            "/",
        }:
            return
        value = code["value"]
        form = re.sub(r"[0-9A-Za-z]", "x", value)
        if (
            (any(char.isdigit() for char in value) or form in forms)
            and not values.is_stand_in(value)
            and not re.match(r"(?:19|20)\d\d-\d\d", value)
        ):
            forms.add(form)
            yield start, code.end(), "a recovery code", True
        elif not (value.islower() and "-" in value):
            return
        place = code.end()


def _is_phrase(phrase: str) -> bool:
    """True if the number of words fits a recovery phrase and few of them are words of sentences.

    Some words are in both.
    """
    words = re.findall(r"[a-z]+", phrase)
    return len(words) in {12, 15, 18, 21, 24} and values.share_of_sentence(words) < _MOST_SENTENCE


def behind(text: str, begin: int, end: int, strong: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield the secrets whose name is from `begin` to `end`, in another cell, line or column than the name."""
    if change := _CHANGED.match(text, end):
        name = change.lastgroup or "bare"
        value = change[name]
        if values.is_secret(value, strong=strong, quoted=name != "bare") and (
            name != "bare" or values.is_mixed(value)
        ):
            yield *change.span(name), True
            return
    line = text.rfind("\n", max(0, begin - 200), begin) + 1 or (0 if begin < 200 else -1)
    if line < 0:
        return
    before = text[line:begin].strip(" \t*_`>+-")
    cell = _CELL.match(text, end) if before[:1] in {"|", "│", "┃"} else None
    if cell and _fits(cell["value"], strong):
        yield *cell.span("value"), True
        return
    found = list(_in_column(text, line, begin, strong))
    yield from found
    if not found and (below := _BELOW.match(text, end)):
        line_rest = below["rest"].strip(" \t*_`\"')]")
        value = below["value"]
        alone = (
            not line_rest.rstrip(":：")
            and len(before) <= 30
            and not before.rstrip().endswith(("=", "(", ",", "{", "."))
        )
        if (alone or line_rest.endswith((":", "："))) and _fits(value, strong, alone or strong):
            start = below.start("value")
            yield start, start + len(value.rstrip(".,;")), True


def _in_column(text: str, line: int, begin: int, strong: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield the values under a heading, in a table of Markdown, of a shell or with commas."""
    stop = text.find("\n", begin, begin + 300)
    if stop < 0:
        return
    heading = text[line:stop]
    sign = next((sign for sign in ("|", "│", "\t", ",", ";") if sign in heading), None)
    if sign is None or not all(_CELLS.fullmatch(cell.strip("\"' \t\r")) for cell in heading.split(sign)):
        return
    number, count = text.count(sign, line, begin), heading.count(sign)
    place = stop + 1
    for _ in range(_ROWS_OF_TABLE):
        after = text.find("\n", place, place + 600)
        row = text[place : after if after >= 0 else place + 600]
        if row.count(sign) != count:
            if row.strip("-+=|─┼├┤ \t\r"):
                return
        else:
            cells = row.split(sign)
            value = cells[number].strip("\"'` \t\r")
            if value and " " not in value and _fits(value, strong):
                start = place + sum(map(len, cells[:number])) + number + cells[number].index(value)
                yield start, start + len(value), True
        if after < 0:
            return
        place = after + 1


def _fits(value: str, strong: bool, if_random: bool = True) -> bool:
    value = value.rstrip(".,;")
    if values.is_stand_in(value) or values.is_reference(value) or value.endswith((":", "=", "(", "{")):
        return False
    if values.is_random(value) and not re.match(r"(?i)sha\d*[:-]|SHA256:", value):
        return if_random
    return strong and values.is_password_in_sentence(value, near=True)
