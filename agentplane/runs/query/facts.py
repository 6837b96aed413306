"""Facts of a run that can be proposed, with the run as source and its receipts as evidence."""

from collections.abc import Iterable
from typing import Any

from agentplane.errors import BadInput
from agentplane.plane.views import external_ids
from agentplane.runs.capsule.capsule import SUMMARY
from agentplane.runs.events import RunEvent


_MOST = 8


def of(run: RunEvent, fact: object, plane: str) -> dict[str, Any]:
    """Return the fields of a fact. Source and evidence are added if the fact doesn't state them."""
    if not isinstance(fact, str | dict):
        raise BadInput(
            "A fact must be text or an object",
            where="derived_facts",
            todo="Pass the fact as text, or as an object with a `statement`.",
        )
    fields: dict[str, Any] = {"statement": fact} if isinstance(fact, str) else dict(fact)
    if not any(fields.get(name) for name in ("source", "source_run", "run_id")):
        fields["source"] = run.run_id
    if not fields.get("evidence"):
        fields["evidence"] = list(_evidence(run, plane))[:_MOST]
    return fields


def is_reference(fact: object) -> bool:
    """True if a run names a fact by its id. Then the fact exists or waits for its statement. The id isn't a
    statement.
    """
    return isinstance(fact, str) and external_ids.is_one(fact)


def _evidence(run: RunEvent, plane: str) -> Iterable[str]:
    found = [text for receipt in run.receipts if (text := _reference(receipt))]
    if found:
        return found
    return [f"{plane}/runs/{run.run_id}/{SUMMARY}"] if run.capsule else []


def _reference(receipt: object) -> str | None:
    """Return a receipt as evidence, either its text or the reference that it names."""
    if isinstance(receipt, str):
        return receipt
    if isinstance(receipt, dict):
        named = (receipt.get(key) for key in ("path", "commit", "url", "ref"))
        return next((value for value in named if isinstance(value, str)), None)
    return None
