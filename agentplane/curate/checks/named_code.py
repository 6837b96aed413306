"""Code that a statement names in backticks, that existed when the entry was approved, and that no longer exists."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agentplane.curate.anchors import named_files, parts, text_blocks
from agentplane.curate.anchors.known_names import KnownNames
from agentplane.curate.anchors.part_diff import diff_of
from agentplane.curate.anchors.past import Past
from agentplane.curate.finding import Diff, Finding, Lines, Proof
from agentplane.curate.remedies import Deprecate, EditEntry, Renew
from agentplane.curate.subject import Subject
from agentplane.memory import evidence
from agentplane.memory.entry import Entry
from agentplane.memory.evidence import File, Place, Symbol
from agentplane.plane.git import code_history
from agentplane.plane.git.code_history import Author
from agentplane.plane.git.git import ObjectId
from agentplane.plane.git.object_reader import ObjectReader


_QUOTED = re.compile(r"(?<!`)`([^`\n]{2,120})`(?!`)")
_CALL = re.compile(r"(?:[A-Za-z_]\w*(?:\.|::))*[A-Za-z_]\w*\(\)")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+")
_PATH = re.compile(r"(?:[\w@+-][\w.@+-]*/)+[\w.@+-]*|[\w@+-][\w.@+-]*")
_ENDING = re.compile(
    r"\b(?:remov|delet|drop|replac|deprecat|retir|migrat|renam|mov(?:e|es|ed|ing)\b|supersed|legacy|former|used to|"
    r"obsolete|discontinu|revert|abandon|eliminat|phas(?:e|es|ed|ing) out|will\b|plan(?:s|ned)?\b|propos|example|e\.g\.|"
    r"such as)",
    re.IGNORECASE,
)
"""Words in statements that stay true without the code, or that only mention possible code."""
_DENIAL = re.compile(
    r"\b(?:not|never|no|cannot|without|avoid|stop|instead of|rather than|nor|neither|old)\b|n't\b",
    re.IGNORECASE,
)
"""Words of a clause that says that the code isn't used."""
_CLAUSE_END = re.compile(r"[.;:,()!?]\s|\s[-\u2013\u2014]\s|\b(?:but|because|so|and)\b")
_LONGEST = 2_000
_MOST_FILES = 20


class Name(NamedTuple):
    """Code that an entry names."""

    entry: Entry
    text: str
    commit: str
    is_path: bool


def check(subject: Subject) -> Iterable[Finding]:
    """Return the findings about code that no longer exists."""
    names = [name for entry in subject.entries for name in _names(subject, entry)]
    if not names:
        return
    subject.report(0, 0, "Looking for named code")
    with ObjectReader(subject.project) as reader:
        past = Past(subject.project, reader, None)
        if past.head is None or past.is_shallow:
            return
        known = KnownNames(subject.layout)
        missing = _missing(subject, names, known)
        for number, name in enumerate(missing):
            subject.report(number, len(missing), "Looking for named code")
            if finding := _finding(subject, name, past, known):
                yield finding
        known.save()


def _names(subject: Subject, entry: Entry) -> Iterator[Name]:
    """Yield the code that the statement of an entry names."""
    if b"`" not in entry.raw:
        return
    recorded = subject.recorded.observed.get(entry.id)
    commit = (recorded.commit if recorded is not None else None) or entry.head.anchor
    statement = entry.statement[:_LONGEST]
    if not commit or _ENDING.search(_QUOTED.sub(" ", statement)):
        return
    for found in _QUOTED.finditer(statement):
        text = found[1].strip().removeprefix("./")
        if _DENIAL.search(_clause(statement, found.start(), found.end())):
            continue
        if _PATH.fullmatch(text) and ("/" in text or evidence.is_file_name(text)):
            yield Name(entry, text, commit, is_path=True)
        elif _CALL.fullmatch(text) or _DOTTED.fullmatch(text):
            yield Name(entry, text, commit, is_path=False)


def _clause(statement: str, start: int, end: int) -> str:
    """Return the words around a name, up to the next punctuation."""
    before = [found.end() for found in _CLAUSE_END.finditer(statement, 0, start)]
    after = _CLAUSE_END.search(statement, end)
    return f"{statement[before[-1] if before else 0 : start]} {statement[end : after.start() if after else None]}"


def _missing(subject: Subject, names: Sequence[Name], known: KnownNames) -> list[Name]:
    """Return the names that no file in the work tree contains."""
    wanted = [name for name in names if not known.is_here(name.text)]
    wanted = [name for name in wanted if not known.was_never(name.commit, name.text)]
    if not wanted:
        return []
    places = named_files.of(subject.project, [_word(name) for name in wanted if not name.is_path])
    missing = []
    for name in wanted:
        here = places.file(name.text) if name.is_path else places.code_with(_word(name))
        if here is None:
            missing.append(name)
        else:
            known.add_here(name.text, here)
    return missing


def _word(name: Name) -> str:
    return text_blocks.last_part(name.text)


def _finding(subject: Subject, name: Name, past: Past, known: KnownNames) -> Finding | None:
    commit = past.commit(name.commit)
    if commit is None:
        return None
    place = _path_then(name, commit, past) if name.is_path else _definition_then(subject, name, commit, past)
    if place is None:
        known.add_never(name.commit, name.text)
        return None
    path = place.path.rstrip("/")
    if isinstance(place, File) and (past.renamed(path) or past.renamed_folder(path)):
        return None
    by = past.removed_by(place)
    proof = _proof(place, commit, by, past)
    what = f"Names `{name.text}`, which {_end(by)}"
    id_ = name.entry.id
    remedies = (EditEntry(id_), Deprecate((id_,)), Renew((id_,)))
    where = subject.shown(name.entry)
    return Finding(
        "code-gone", (id_,), where, what, proof, remedies, f"{name.text} {by.commit if by else ''}"
    )


def _path_then(name: Name, commit: ObjectId, past: Past) -> Place | None:
    """Return the path that a name meant in a commit, or None if the commit had no such file."""
    if past.exists(commit, name.text):
        return File(name.text)
    if "/" in name.text:
        return None
    found = [path for path in past.files_of(commit) if os.path.basename(path) == name.text]
    return File(found[0]) if len(found) == 1 else None


def _definition_then(subject: Subject, name: Name, commit: ObjectId, past: Past) -> Place | None:
    """Return the definition that a name meant in a commit, or None if no code of the commit defined it."""
    word = _word(name)
    named = code_history.naming_in(subject.project, commit, [word])
    for path in sorted(filter(named_files.is_code, named.get(word, ())))[:_MOST_FILES]:
        text = past.text_in(commit, path)
        part = parts.named(text, name.text) if text is not None and not text.is_binary else None
        if part is not None and part.definitions and text_blocks.last_part(part.name) == word:
            return Symbol(path, part.name)
    return None


def _proof(place: Place, commit: ObjectId, by: Author | None, past: Past) -> Proof:
    text = past.text_in(commit, place.path)
    part = parts.at(text, place) if text is not None else None
    if by is None and part is None:
        return Lines(place.path, f"{commit[:10]} contained it, and no file contains it now.")
    where = f"{place.path}:{part.first}" if part is not None and isinstance(place, Symbol) else place.path
    diff = diff_of(part, None, place.path, place.path)
    if by is None:
        return Diff(where, diff)
    return Diff(where, diff, by.commit, by.name, by.date)


def _end(by: Author | None) -> str:
    if by is None:
        return "no longer exists"
    return f"was removed in {by.commit[:10]} ({by.name}, {by.date[:10]})"
