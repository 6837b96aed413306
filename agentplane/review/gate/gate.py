"""The gate, which checks a proposal before it enters the inbox.

Each finding has a code. The settings decide for each code whether the gate refuses the proposal, flags it for
the reviewer, or skips the check. The gate changes nothing, and its messages never repeat a text that could
hold a secret.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentplane.memory import condition, condition_place
from agentplane.memory.entry import Entry
from agentplane.memory.proposing import Proposal
from agentplane.memory.view import Memory
from agentplane.plane.derived import server_memory
from agentplane.plane.layout import INBOX
from agentplane.plane.settings import Action, Gate
from agentplane.review.gate import evidence_lookup, notices, raw_header, verbatim
from agentplane.review.gate.notices import Notice
from agentplane.review.gate.past_rejections import Repeat, Tombstones
from agentplane.review.gate.verdicts import (
    HIGH,
    SECRET,
    Consequence,
    Flag,
    Verdict,
    earlier_text,
    shown_earlier,
)
from agentplane.scan.secrets import find
from agentplane.text.visible import one_line


if TYPE_CHECKING:
    from agentplane.memory.word_index import Words

DEFAULTS: Mapping[str, Action] = msgspec.structs.asdict(Gate())
"""Default action for each code. `Gate` describes the codes."""

_MOST_FLAGS = 40

_NOT_READ_AS_ORDERS = frozenset(("source", "type", "expires_at"))
_NEEDS_EVIDENCE = ("fact", "assumption")


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """The data that a proposal is checked against. Checks without their data are skipped."""

    today: date
    actions: Mapping[str, Action] = {}
    """Actions by code. Missing codes have their default."""
    project: Path | None = None
    instructions: Mapping[str, str] = {}
    shelf: tuple[Entry, ...] = ()
    words: "Words | None" = None
    """Index of the entries that contain a word, if it is available."""
    tombstones: Tombstones | None = None
    candidate: str = ""
    """The id of a candidate that is checked again. It isn't compared with itself."""
    header: bytes = b""
    """The raw header of that candidate."""

    def looks_for(self, *codes: str) -> bool:
        return any(self.action(code) != "off" for code in codes)

    def action(self, code: str) -> Action:
        return self.actions.get(code) or DEFAULTS[code]


def context(
    memory: Memory,
    today: date,
    actions: Mapping[str, Action] = DEFAULTS,
    tombstones: Tombstones | None = None,
) -> Context:
    """Return the context in a project. Reads the instruction files, and reads memory if the gate looks for
    `known`.
    """
    project = memory.snapshot.layout.project
    result = Context(today=today, actions=actions, project=project, tombstones=tombstones)
    return msgspec.structs.replace(
        result,
        instructions=verbatim.read_instructions(project) if result.looks_for("restated") else {},
        shelf=memory.shelf_in_order if result.looks_for("known") else (),
        words=_words(memory) if result.looks_for("known") else None,
    )


def _words(memory: Memory) -> "Words | None":
    if not server_memory.is_on():
        return None
    from agentplane.memory import word_index

    return word_index.of_shelf(memory)


def check(proposal: Proposal, context: Context) -> Verdict:
    """Return the verdict with all findings, refusals first."""
    texts, whole = notices.clipped(_texts(proposal))
    refused: dict[Flag, None] = {}
    flags: dict[Flag, None] = {}
    if not whole:
        what = f"has more than {notices.MOST_CHARACTERS:,} characters, so the rest was not checked"
        refused[Flag("size", "refuse", what, "proposal")] = None
    noticed = list(_noticed(proposal, texts, context))
    repeat = _repeat(dict(texts)["statement"], proposal, context)
    noticed += _repeats(repeat)
    noticed += notices.of_header(context.header, frozenset(code for code, _, _ in noticed))
    for code, what, where in noticed:
        action = context.action(code)
        if action == "off":
            continue
        # A statement that is only similar to a rejected one is never refused, whatever the settings say.
        unsure = code == "repeat" and repeat is not None and not repeat.sure
        follows: Consequence = "flag" if unsure else action
        (refused if follows == "refuse" else flags)[Flag(code, follows, what, where)] = None
    repeats = any(flag.code == "repeat" for flag in refused)
    earlier = shown_earlier(repeat.rejection) if repeats and repeat else None
    return Verdict(tuple(refused)[:_MOST_FLAGS], tuple(flags)[:_MOST_FLAGS], earlier)


def check_again(entry: Entry, context: Context) -> Verdict:
    """Return the verdict for a candidate in the inbox, including its raw header."""
    verdict = check(
        proposal_of(entry), msgspec.structs.replace(context, candidate=entry.id, header=entry.header)
    )
    if not context.looks_for(SECRET) or any(
        flag.code == SECRET for flag in (*verdict.refused, *verdict.flags)
    ):
        return verdict
    # A secret can begin in the statement and end in the rationale.
    whole = tuple(_flag(SECRET, what, where, context.actions) for _, what, where in _secrets_of_body(entry))
    if context.action(SECRET) == "refuse":
        return msgspec.structs.replace(verdict, refused=(*whole, *verdict.refused))
    return msgspec.structs.replace(verdict, flags=(*whole, *verdict.flags))


def suspicious(text: str) -> tuple[Flag, ...]:
    """Return the high-severity flags of a text that a tool wrote and that never was a candidate.

    Run summaries, `next` lines and session titles are such texts. The flags are the ones that a candidate
    with this statement would get under the default settings: secrets, hidden text, and orders to the reader.
    An empty tuple means that the text can be delivered.
    """
    texts = [("text", text[: notices.MOST_CHARACTERS])]
    found = dict.fromkeys((*notices.secrets(texts), *notices.hidden(texts), *notices.orders(texts)))
    flags = [_flag(code, what, at, DEFAULTS) for code, what, at in found]
    if len(text) > notices.MOST_CHARACTERS:
        what = f"has more than {notices.MOST_CHARACTERS:,} characters, so the rest was not checked"
        flags.insert(0, Flag("size", "refuse", what, "text"))
    return tuple(flag for flag in flags if flag.high or flag.code == "size")[:_MOST_FLAGS]


def high_flags(entry: Entry, actions: Mapping[str, Action]) -> tuple[Flag, ...]:
    """Return the flags of high severity that an entry or a candidate has under these settings."""
    texts = list(texts_of(entry))
    texts_for_reader = [text for text in texts if text[0] not in _NOT_READ_AS_ORDERS]
    found = [*notices.secrets(texts), *notices.hidden(texts), *notices.orders(texts_for_reader)]
    flagged = frozenset(code for code, _, _ in found)
    found += notices.of_header(entry.header, flagged, candidate=entry.file == INBOX)
    if not any(code == SECRET for code, _, _ in found):
        found += _secrets_of_body(entry)
    flags = (_flag(code, what, where, actions) for code, what, where in found if code in HIGH)
    return tuple(dict.fromkeys(flag for flag in flags if actions.get(flag.code) != "off"))[:_MOST_FLAGS]


def has_high_flag(entry: Entry, actions: Mapping[str, Action]) -> bool:
    """True if an entry or a candidate has a flag of high severity, so that no bulk approval may take it."""
    return bool(high_flags(entry, actions))


def likely_secrets(entry: Entry) -> tuple[Flag, ...]:
    """Return the flags for likely secrets in an entry, whatever the settings say."""
    texts = [*texts_of(entry), *notices.header_texts(raw_header.text_of(entry.header))]
    found = [one for one in notices.secrets(texts) if one[0] == SECRET] or list(_secrets_of_body(entry))
    return tuple(dict.fromkeys(_flag(code, what, where, {}) for code, what, where in found))[:_MOST_FLAGS]


def texts_of(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield each text of an entry with the name of its field."""
    yield from _texts(proposal_of(entry))


def _secrets_of_body(entry: Entry) -> Iterator[Notice]:
    return (one for one in notices.secrets([("text", entry.body)]) if one[0] == SECRET)


def _flag(code: str, what: str, where: str, actions: Mapping[str, Action]) -> Flag:
    action = actions.get(code) or DEFAULTS[code]
    return Flag(code, "refuse" if action == "refuse" else "flag", what, where)


def let_in_again(context: Context) -> Context:
    """Return the context for a person who proposes a previously rejected memory again."""
    if context.action("repeat") != "refuse":
        return context
    return msgspec.structs.replace(context, actions={**context.actions, "repeat": "flag"})


def proposal_of(entry: Entry) -> Proposal:
    """Return a candidate as a proposal, to check it again."""
    head = entry.head
    body = verbatim.unlabeled_body(entry)
    statement, _, rationale = body.partition("\nRationale:")
    return Proposal(
        type=head.type,
        statement=statement.strip(),
        rationale=rationale.strip() or None,
        tags=list(head.tags),
        source=head.source,
        evidence=list(head.evidence),
        confidence=head.confidence,
        expires_at=head.expires_at,
        check=head.check,
        scope=list(head.scope),
        supersedes=list(head.supersedes),
        superseded_by=list(head.superseded_by),
        arrives=head.arrives,
        refines=list(head.refines),
        unrelated=list(head.unrelated),
        harvested=head.harvested,
        external_id=head.external_id,
        layer=head.layer,
        systemic_scale=head.systemic_scale,
    )


def _texts(proposal: Proposal) -> Iterator[tuple[str, str]]:
    """Yield each text of a proposal with the name of its field."""
    yield "statement", proposal.statement
    singles = ("rationale", "check", "source", "external_id", "layer", "expires_at", "arrives", "type")
    for name in singles:
        if text := getattr(proposal, name):
            yield name, text
    for name, label in (
        ("evidence", "evidence"),
        ("tags", "tag"),
        ("scope", "scope"),
        ("supersedes", "supersedes"),
        ("superseded_by", "superseded by"),
        ("refines", "refines"),
        ("unrelated", "unrelated"),
    ):
        for number, text in enumerate(getattr(proposal, name), 1):
            yield f"{label} {number}", text


def _noticed(proposal: Proposal, texts: list[tuple[str, str]], context: Context) -> Iterator[Notice]:
    if context.looks_for("secret", "random"):
        yield from notices.secrets(texts)
    if context.looks_for("escape", "bidi", "smuggled", "hidden"):
        yield from notices.hidden(texts)
    texts_for_reader = [(where, text) for where, text in texts if where not in _NOT_READ_AS_ORDERS]
    if context.looks_for("instruction", "markup", "command"):
        yield from notices.orders(texts_for_reader)
    yield from notices.size(proposal)
    yield from _evidence(proposal, context)
    if context.looks_for("check"):
        yield from _condition(proposal, context)
    clipped = dict(texts)
    statement = clipped["statement"]
    if context.looks_for("status"):
        yield from notices.status(statement, proposal, context.today)
    if (
        context.looks_for("restated")
        and not _is_taken_from_project(proposal)
        and (place := verbatim.in_instructions(statement, context.instructions))
        and not any(cited.partition(":")[0] == place.partition(":")[0] for cited in proposal.evidence)
    ):
        yield "restated", f"repeats the text at {place} word for word", "statement"
    if context.looks_for("known"):
        ignored = frozenset(proposal.supersedes) | _changed_by(proposal, context)
        entries = context.words.holding(statement) if context.words else context.shelf
        if id_ := verbatim.on_shelf(statement, entries, ignored):
            yield "known", f"repeats {one_line(id_, 40)} word for word", "statement"


def _changed_by(proposal: Proposal, context: Context) -> frozenset[str]:
    """Return the entries that a proposal changes because it has their external id or their id."""
    name = proposal.external_id
    if not name:
        return frozenset()
    return frozenset(one.id for one in context.shelf if name in (one.head.external_id, one.id))


def _is_taken_from_project(proposal: Proposal) -> bool:
    """True if the proposal was imported from a file of the project.

    A person wrote that text, and it may be in two files.
    """
    return (
        proposal.harvested is not None
        and bool(proposal.evidence)
        and not proposal.evidence[0].startswith("~")
    )


def _evidence(proposal: Proposal, context: Context) -> Iterator[Notice]:
    kind = proposal.type.lower()
    supported = bool(proposal.evidence) or (kind == "assumption" and bool(proposal.check))
    if kind in _NEEDS_EVIDENCE and not supported:
        yield (
            "unsupported",
            f"{'an' if kind == 'assumption' else 'a'} {kind} should cite evidence",
            "evidence",
        )
    if context.project is None or not proposal.evidence or not context.looks_for("gone", "outside"):
        return
    for lack in evidence_lookup.lacks(proposal.evidence, context.project):
        name = _shown(proposal.evidence[lack.place])
        yield lack.trouble, f"{name} {lack.what}", f"evidence {lack.place + 1}"
    if len(proposal.evidence) > evidence_lookup.MOST:
        yield "gone", f"only the first {evidence_lookup.MOST} pieces of evidence were checked", "evidence"


def _condition(proposal: Proposal, context: Context) -> Iterator[Notice]:
    problem = condition.parse(proposal.check) if proposal.check else None
    if not isinstance(problem, condition.Problem):
        return
    at = f"column {problem.offset + 1}"
    if context.header:
        place = condition_place.place(raw_header.text_of(context.header), problem.offset)
        at = f"line {place.line}, column {place.column} of the header"
    yield "check", f"is invalid at {at}: {problem.what}", "check"


def _shown(text: str) -> str:
    """Return a short text of a proposal for a message, or `this evidence` if the text could be a secret."""
    return "this evidence" if find.find(text[:400]) else f"`{one_line(text[:200], 60)}`"


def _repeat(statement: str, proposal: Proposal, context: Context) -> Repeat | None:
    if not context.tombstones or not context.looks_for("repeat"):
        return None
    return context.tombstones.find(statement, scope=proposal.scope, ignoring=context.candidate)


def _repeats(repeat: Repeat | None) -> Iterator[Notice]:
    if repeat is None:
        return
    earlier = earlier_text(shown_earlier(repeat.rejection))
    likeness = "" if repeat.sure else f" in similar words ({repeat.alike:.0%} match)"
    yield "repeat", f"was rejected before{likeness}, {earlier}", "statement"
