"""The states that are right for a piece of evidence at a later release, worked out from the two trees alone.

The rules:

- A symbol is left out if its file defines the name more than once in either release, or if the same code is defined
  elsewhere in the earlier release. Lines are left out if they have fewer than 40 characters or are in the earlier
  release more than once. A file is left out if it has fewer than 40 bytes or a copy. Anything in a file that the
  parser of the language refuses is left out.
- Where a person could say one or the other, both are right. Only comments or docstrings changed: reformatted or
  changed. A definition that is gone while something similar took its place: changed or gone.
- Lines may cut a statement in half. If their code is the same but the rest of the statement changed, it is reformatted
  or changed.
- A state that says that the code is the same is never right where the code changed.

They were written before the first results were seen, and amended after them: about docstrings of code that moved,
statements that lines cut in half, definitions that have a successor of the same name elsewhere, and lines that are similar in another file.
"""

from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import PurePosixPath

import msgspec

from tests.bench.curator.trees import Definition, Source, Tree, dedented, loosely, squeezed


UNCHANGED, REFORMATTED, MOVED, CHANGED, GONE = "unchanged", "reformatted", "moved", "changed", "gone"
SAME = frozenset({UNCHANGED, REFORMATTED, MOVED})
"""States that say that the code is the same."""
_SHORTEST = 40
_SIMILAR = 0.5
_RENAMED = 0.3
_LONG = 120
"""Characters from which code without its name tells that it is the same code."""
_ENOUGH_TOKENS = 8
_LONG_TOKENS = 30
"""Tokens from which code is the same code in another file."""
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


class Anchor(msgspec.Struct, frozen=True):
    """A file, lines of a file or a symbol of a file."""

    path: str
    name: str | None = None
    first: int | None = None
    last: int | None = None

    @property
    def kind(self) -> str:
        return "symbol" if self.name else "lines" if self.first else "file"

    @property
    def evidence(self) -> str:
        if self.name:
            return f"{self.path}#{self.name}"
        return place(self.path, self.first, self.last) if self.first and self.last else self.path


class Truth(msgspec.Struct, frozen=True):
    accepted: frozenset[str]
    reason: str
    places: frozenset[str] = frozenset()
    """Where the evidence is now, if it is still the same."""

    @property
    def is_changed(self) -> bool:
        """True if every state that says that the code is the same is wrong."""
        return not self.accepted & SAME


class LeftOut(msgspec.Struct, frozen=True):
    reason: str


def place(path: str, first: int, last: int) -> str:
    return f"{path}:{first}-{last}" if last > first else f"{path}:{first}"


def truth_of(anchor: Anchor, old: Tree, new: Tree) -> Truth | LeftOut:
    match anchor.kind:
        case "symbol":
            return _symbol(anchor, old, new)
        case "lines":
            return _lines(anchor, old, new)
        case _:
            return _file(anchor, old, new)


def _truth(reason: str, *accepted: str, places=()) -> Truth:
    return Truth(frozenset(accepted), reason, frozenset(places))


def _symbol(anchor: Anchor, old: Tree, new: Tree) -> Truth | LeftOut:
    was = old.defined(anchor.path, anchor.name)
    now = new.defined(anchor.path, anchor.name)
    if len(was) != 1 or len(now) > 1:
        return LeftOut("defined more than once")
    (one,) = was
    if len(old.by_code[one.code]) > 1:
        return LeftOut("the same code elsewhere in the earlier release")
    there = new.sources.get(anchor.path)
    if there is not None and not there.is_parsed:
        return LeftOut("the later release can't be parsed")
    elsewhere = [same for same in new.by_code.get(one.code, []) if same.place != one.place]
    if now:
        return _same_name(one, now[0], elsewhere)
    return _missing(one, there, elsewhere, new)


def _same_name(one: Definition, now: Definition, elsewhere: list[Definition]) -> Truth:
    here = [now.place]
    if one.text == now.text:
        if one.above == now.above and one.lines == now.lines:
            return _truth("the same text", UNCHANGED, places=here)
        return _truth("the same text among other comments", UNCHANGED, REFORMATTED, places=here)
    if one.documented == now.documented:
        return _truth("the same syntax tree", REFORMATTED, places=here)
    if one.code == now.code:
        return _truth("another docstring", REFORMATTED, CHANGED, places=here)
    if elsewhere:
        return _truth("other code here, the same elsewhere", CHANGED, MOVED, places=_places(elsewhere))
    if one.loose == now.loose:
        return _truth("the same tokens but for quotes and punctuation", REFORMATTED, CHANGED, places=here)
    return _truth("other code", CHANGED)


def _missing(one: Definition, there: Source | None, elsewhere: list[Definition], new: Tree) -> Truth:
    bound = {CHANGED} if there is not None and one.name in there.imported else set()
    if elsewhere:
        if any(same.text == one.text for same in elsewhere):
            return _truth("the same text elsewhere", MOVED, *bound, places=_places(elsewhere))
        if any(same.documented == one.documented for same in elsewhere):
            return _truth("the same code elsewhere", MOVED, REFORMATTED, *bound, places=_places(elsewhere))
        states = (MOVED, REFORMATTED, CHANGED)
        return _truth("the same code elsewhere with another docstring", *states, places=_places(elsewhere))
    renamed = [same for same in new.by_nameless.get(one.nameless, []) if same.place != one.place]
    if renamed and len(one.loose) >= _LONG:
        return _truth("the same code under another name", MOVED, *bound, places=_places(renamed))
    if renamed:
        return _truth(
            "short code, the same under another name", MOVED, CHANGED, GONE, places=_places(renamed)
        )
    loose = [same for same in _candidates(one, there, new) if same.loose == one.loose]
    if loose:
        return _truth(
            "elsewhere but for punctuation", MOVED, REFORMATTED, CHANGED, GONE, places=_places(loose)
        )
    if bound:
        return _truth("bound in another way", CHANGED, GONE)
    candidates = _candidates(one, there, new)
    if any(other.name == one.name or _alike(one.text, other.text) >= _SIMILAR for other in candidates):
        return _truth("gone, and something similar is there", CHANGED, GONE)
    return _truth("gone", GONE)


def _candidates(one: Definition, there: Source | None, new: Tree) -> list[Definition]:
    """Definitions of the same last name anywhere, and all of the same file."""
    named = new.by_name.get(one.name.rpartition(".")[2], [])
    return [*named, *(there.definitions if there is not None else [])]


def _places(found: list[Definition]) -> list[str]:
    return [one.place for one in found]


@lru_cache(maxsize=50_000)
def _alike(one: str, other: str) -> float:
    matcher = SequenceMatcher(None, one.split(), other.split(), autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= _SIMILAR else 0.0


def _lines(anchor: Anchor, old: Tree, new: Tree) -> Truth | LeftOut:
    first, last = anchor.first or 0, anchor.last or 0
    block = old.sources[anchor.path].part(first, last)
    if len("".join("".join(block).split())) < _SHORTEST:
        return LeftOut("too few characters")
    if sum(len(_found(block, source)) for source in old.sources.values()) != 1:
        return LeftOut("more than once in the earlier release")
    there = new.sources.get(anchor.path)
    size = len(block)
    here = _found(block, there) if there else []
    if first in here:
        return _truth("the same lines at the same place", UNCHANGED, places=[anchor.evidence])
    if here:
        places = [place(anchor.path, at, at + size - 1) for at in here]
        return _truth("the same lines further up or down", MOVED, UNCHANGED, places=places)
    other = [
        place(source.path, at, at + size - 1)
        for source in new.sources.values()
        for at in _found(block, source)
    ]
    if other:
        short = size < 3 and there is not None
        states = (MOVED, CHANGED, GONE) if short else (MOVED,)
        return _truth("the same lines in another file", *states, places=other)
    found = _like_lines(anchor, block, old.sources[anchor.path], there, [*new.sources.values()])
    if there is None or not found.is_changed:
        return found
    # What is no longer in its file may be in another one.
    others = [source for source in new.sources.values() if source is not there]
    alike = _like_lines(anchor, block, old.sources[anchor.path], None, others)
    return (
        found
        if alike.is_changed
        else _truth("similar lines in another file", *found.accepted, *alike.accepted)
    )


def _like_lines(
    anchor: Anchor, block: list[str], was: Source, there: Source | None, every: list[Source]
) -> Truth:
    sources = [there] if there else every
    # In another file it is the same only to those who look for it by its words.
    elsewhere = () if there else (GONE,)
    if any(dedented(block) in source.dedented for source in sources):
        return _truth("the same lines but for indentation", REFORMATTED, MOVED, CHANGED, *elsewhere)
    tokens = [token for token in was.tokens if anchor.first <= token.first and token.last <= anchor.last]
    straddled = any(
        token.first < anchor.first <= token.last or token.first <= anchor.last < token.last
        for token in was.tokens
    )
    code = [token.text for token in tokens if not token.is_doc]
    if code and not straddled:
        for source in sources:
            if not source.is_parsed:
                continue
            few = (CHANGED, GONE) if len(code) < (_ENOUGH_TOKENS if there else _LONG_TOKENS) else ()
            found = _contained(source, code)
            if found is not None:
                whole_text = squeezed(block) in source.squeezed
                if found.is_whole and whole_text and _is_followed(anchor, was, source):
                    return _truth("the same tokens, comments and docstrings", REFORMATTED, MOVED, *few)
                return _truth("the same tokens", REFORMATTED, MOVED, CHANGED, *few)
            if f"\0{loosely(code)}\0" in f"\0{source.loose}\0":
                return _truth("the same tokens but for punctuation", REFORMATTED, MOVED, CHANGED, GONE)
    elif any(squeezed(block) in source.squeezed for source in sources):
        return _truth("the same text but for spaces", REFORMATTED, MOVED, CHANGED, *elsewhere)
    kept = max((_kept(block, source) for source in sources), default=0.0)
    if there:
        return _truth("other lines", *((CHANGED,) if kept >= _SIMILAR else (CHANGED, GONE)))
    renamed = any(_is_successor(was, source) for source in sources)
    return _truth("no such file", *((CHANGED, GONE) if renamed or kept >= _SIMILAR else (GONE,)))


def _found(block: list[str], source: Source) -> list[int]:
    """Return the lines at which a block of lines begins."""
    if source.text is None:
        return []
    lines, first = source.lines, block[0]
    return [at + 1 for at, line in enumerate(lines) if line == first and lines[at : at + len(block)] == block]


class _Found(msgspec.Struct, frozen=True):
    is_whole: bool
    """True if the lines contain no other code."""


def _contained(source: Source, code: list[str]) -> _Found | None:
    """Look for tokens that follow each other."""
    if "\0".join(("", *code, "")) not in source.token_text:
        return None
    tokens, found = source.plain_tokens, None
    for at, first in enumerate(tokens):
        end = at + len(code)
        if first.text == code[0] and [token.text for token in tokens[at:end]] == code:
            after = end == len(tokens) or tokens[end].first > tokens[end - 1].last
            before = at == 0 or tokens[at - 1].last < first.first
            if before and after:
                return _Found(is_whole=True)
            found = _Found(is_whole=False)
    return found


def _is_followed(anchor: Anchor, was: Source, source: Source) -> bool:
    """True if the statements that the lines cut in half are the same as a whole."""
    tokens = was.plain_tokens
    first = next(at for at, token in enumerate(tokens) if token.first >= (anchor.first or 0))
    end = next((at for at, token in enumerate(tokens) if token.first > (anchor.last or 0)), len(tokens))
    depth, lowest = 0, 0
    for token in tokens[first:end]:
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        lowest = min(lowest, depth)
    over, under = depth - lowest, -lowest
    while over > 0 and end < len(tokens):
        over += (tokens[end].text in _OPEN) - (tokens[end].text in _CLOSE)
        end += 1
    while under > 0 and first > 0:
        first -= 1
        under += (tokens[first].text in _CLOSE) - (tokens[first].text in _OPEN)
    return _contained(source, [token.text for token in tokens[first:end]]) is not None


def _kept(block: list[str], source: Source) -> float:
    """Return the share of the lines that the file still has."""
    wanted = [line.strip() for line in block if len(line.strip()) >= _ENOUGH_TOKENS]
    there = {line.strip() for line in source.lines}
    return sum(line in there for line in wanted) / len(wanted) if wanted else 0.0


def _file(anchor: Anchor, old: Tree, new: Tree) -> Truth | LeftOut:
    was = old.sources[anchor.path]
    if len(was.data) < _SHORTEST:
        return LeftOut("an almost empty file")
    if sum(source.data == was.data for source in old.sources.values()) > 1:
        return LeftOut("a copy in the earlier release")
    there = new.sources.get(anchor.path)
    copies = [source.path for source in new.sources.values() if source.data == was.data]
    if there is None:
        return _no_file(was, copies, new)
    if there.data == was.data:
        return _truth("the same file", UNCHANGED, places=[anchor.path])
    if copies:
        return _truth("another file here, the same elsewhere", CHANGED, MOVED, places=copies)
    if was.is_parsed and there.is_parsed:
        if was.documented == there.documented:
            return _truth("the same syntax tree", REFORMATTED, places=[anchor.path])
        if was.code == there.code:
            return _truth("other docstrings", REFORMATTED, CHANGED, places=[anchor.path])
        if was.loose == there.loose:
            return _truth("the same tokens but for punctuation", REFORMATTED, CHANGED, places=[anchor.path])
    elif was.data.split() == there.data.split():
        return _truth("the same words", REFORMATTED, CHANGED, places=[anchor.path])
    return _truth("another content", CHANGED)


def _no_file(was: Source, copies: list[str], new: Tree) -> Truth:
    if copies:
        return _truth("the same file elsewhere", MOVED, places=copies)
    same = [source.path for source in new.sources.values() if was.code and source.code == was.code]
    if same:
        return _truth("the same code in another file", MOVED, REFORMATTED, places=same)
    if any(_is_successor(was, source) for source in new.sources.values()):
        return _truth("gone, and a similar file is there", CHANGED, GONE)
    return _truth("gone", GONE)


def _is_successor(one: Source, other: Source) -> bool:
    """True if a file may be the same file under another name."""
    names = [PurePosixPath(source.path).name.lstrip("_") for source in (one, other)]
    return names[0] == names[1] or _alike_files(one, other) >= _RENAMED


def _alike_files(one: Source, other: Source) -> float:
    """Return the share of the lines that two files have in common."""
    first, second = one.counted, other.counted
    size = max(first.total(), second.total())
    return (first & second).total() / size if size else 0.0
