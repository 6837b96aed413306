"""The results of a condition."""

import msgspec

from agentplane.curate.finding import Proof


class Holds(msgspec.Struct, frozen=True, tag="holds"):
    """The condition holds."""


class Fails(msgspec.Struct, frozen=True, tag="fails"):
    """The condition doesn't hold."""

    what: str
    """The reason as a sentence."""
    where: str
    """The place that shows it, such as `uv.lock:12`."""
    proof: Proof


class CantTell(msgspec.Struct, frozen=True, tag="cant-tell"):
    """Nothing proves or refutes the condition."""

    why: str
    """The reason, as words that follow "because"."""
    where: str = ""
    proof: Proof | None = None


Result = Holds | Fails | CantTell
HOLDS = Holds()
