"""Conflicts of a candidate and their reasons, found by the structure of statements, without a model
or files.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import msgspec

from agentplane.claims.relation import Kind, Relation
from agentplane.memory.entry import INBOX_STATUS, Entry
from agentplane.text import globs


if TYPE_CHECKING:
    from agentplane.claims.verdict import RelationCache


Weight = Literal["blocks", "resolve", "warns", "quiet"]
"""The effect of a conflict after the other entry is approved:

- `blocks`: the candidate is never approved next to the other entry.
- `resolve`: a person chooses what happens to both.
- `warns`: a person reads it and can approve.
- `quiet`: it is only shown in the details.
"""

OUT_OF_FORCE = frozenset(("superseded", "deprecated"))
WEIGHTS: dict[str, Weight] = {"invariant": "blocks", "decision": "resolve"}
_ORDER: dict[Kind, int] = {"supersession": 0, "contradiction": 1, "duplicate": 2, "overlap": 3, "near": 4}

MAX_CLAIMS = 4000
"""Maximum number of characters of a body that are searched for claims."""
_CLAIM = re.compile(r"\b(?:[Ss]upersedes|[Rr]eplaces|[Oo]bsoletes) ([A-Z][A-Za-z]{0,15}-\w{1,32})\b")


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    id: str = msgspec.field(name="with")
    """The id of the other entry."""
    kind: Kind
    score: float
    """Confidence from 0 to 1, within the kind."""
    reasons: tuple[str, ...]
    weight: Weight
    blocks: bool
    """True if a person must choose before the candidate can be approved, and the other entry is approved."""

    @property
    def needs_choice(self) -> bool:
        """True if a person must choose between the two before both are approved."""
        return self.weight in ("blocks", "resolve")

    @property
    def is_quiet(self) -> bool:
        return self.weight == "quiet"


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of an entry or a proposal that are compared."""

    id: str
    type: str
    statement: str
    body: str = ""
    tags: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    status: str = "accepted"
    external_id: str | None = None


Compare = Callable[[Text, Sequence[Text]], list[Conflict | None]]


def text_of(entry: Entry) -> Text:
    head = entry.head
    return Text(
        id=entry.id,
        type=head.type,
        statement=entry.statement,
        body=entry.body,
        tags=head.tags,
        scope=head.scope,
        supersedes=head.supersedes,
        superseded_by=head.superseded_by,
        status=head.arrives or head.status,
        external_id=head.external_id,
    )


def compare(candidate: Text, other: Text) -> Conflict | None:
    """Return the conflict of the candidate with the other entry, or None if a person needn't look at the
    pair.
    """
    return _compared(candidate, [other], None)[0]


def compare_each(
    candidate: Text, others: Sequence[Text], both_ways: "RelationCache | None" = None
) -> list[Conflict | None]:
    """Return the conflicts with many entries, including entries that are only near.

    This is much faster than calling `compare` for each entry. `both_ways` is given if the others are
    candidates as well.
    """
    found = _compared(candidate, others, both_ways)
    remaining = [at for at, one in enumerate(found) if one is None and _can_meet(candidate, others[at])]
    if not remaining:
        return found
    from agentplane.claims.parse.statement import parse
    from agentplane.claims.verdict import near_each

    near = near_each(parse(candidate.statement), [parse(others[at].statement) for at in remaining])
    for at, one in zip(remaining, near, strict=True):
        found[at] = _conflict(candidate, others[at], one, claimed=False)
    return found


def _compared(
    candidate: Text, others: Sequence[Text], both_ways: "RelationCache | None"
) -> list[Conflict | None]:
    claimed = claims(candidate)
    comparable = [
        at
        for at, other in enumerate(others)
        if _can_meet(candidate, other, claims=_claims(candidate, other, claimed))
    ]
    found: list[Conflict | None] = [None] * len(others)
    if not comparable:
        return found
    from agentplane.claims.parse.statement import parse
    from agentplane.claims.verdict import judge_each

    relations = judge_each(
        parse(candidate.statement), [parse(others[at].statement) for at in comparable], both_ways
    )
    for at, relation in zip(comparable, relations, strict=True):
        found[at] = _conflict(
            candidate, others[at], relation, claimed=_claims(candidate, others[at], claimed)
        )
    return found


def _can_meet(candidate: Text, other: Text, *, claims: bool = False) -> bool:
    if candidate.id == other.id or {candidate.status, other.status} & OUT_OF_FORCE:
        return False
    if candidate.external_id is not None and _changes(candidate, other):
        return False
    return claims or globs.can_meet(candidate.scope, other.scope)


def _changes(candidate: Text, other: Text) -> bool:
    """True if a candidate changes the other entry when it is approved, so that the two never exist together."""
    name = candidate.external_id
    return (
        name is not None
        and name in (other.external_id, other.id)
        and (candidate.status, other.status, other.type) == (INBOX_STATUS, "accepted", candidate.type)
    )


def _claims(candidate: Text, other: Text, claimed: frozenset[str]) -> bool:
    return other.id in claimed or candidate.id in other.superseded_by


def _conflict(candidate: Text, other: Text, found: Relation | None, *, claimed: bool) -> Conflict | None:
    if claimed:
        reasons = (f"the candidate states that it supersedes {other.id}", *(found.reasons if found else ()))
        found = Relation("supersession", 1.0, reasons, proven=True)
    if found is None:
        return None
    reasons = found.reasons
    shared_tags = [tag for tag in candidate.tags if tag in other.tags]
    if shared_tags and found.kind == "overlap":
        reasons = (*reasons, f"same tag `{shared_tags[0]}`")
    return Conflict(
        id=other.id,
        kind=found.kind,
        score=round(min(1.0, max(0.0, found.score)), 2),
        reasons=reasons,
        weight=(weight := _weight(found, other)),
        blocks=weight in ("blocks", "resolve") and other.status == "accepted",
    )


def _weight(found: Relation, other: Text) -> Weight:
    """Return the weight of a conflict. Only a proof or the author's own words block a candidate. Every other
    conflict is advice.
    """
    if found.kind == "near":
        return "quiet"
    if found.kind == "supersession" and found.proven:
        return "resolve"
    return WEIGHTS.get(other.type, "warns") if found.proven else "warns"


def claims(candidate: Text) -> frozenset[str]:
    """Return the entries that the author claims to supersede, in links or in words such as `replaces
    DEC-004`.
    """
    return frozenset((*candidate.supersedes, *_claimed(candidate.statement, candidate.body)))


@lru_cache(maxsize=1024)
def _claimed(statement: str, body: str) -> list[str]:
    return _CLAIM.findall(f"{statement[:MAX_CLAIMS]}\n{body[:MAX_CLAIMS]}")


def find(candidate: Text, others: Sequence[Text], how: Compare | None = None) -> list[Conflict]:
    """Return all conflicts with the others, the most serious first. `how` compares texts with
    cached results.
    """
    return sorted(
        filter(None, (how or compare_each)(candidate, others)),
        key=lambda one: (not one.needs_choice, _ORDER[one.kind], -one.score, one.id),
    )
