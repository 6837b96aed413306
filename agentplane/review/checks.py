"""What this room notices for `doctor`."""

from collections.abc import Iterator

from agentplane.findings import Finding
from agentplane.plane.store import Store
from agentplane.review.neighbours import embeds


def check(_store: Store) -> Iterator[Finding]:
    if not embeds():
        yield Finding(
            "info",
            "wordllama",
            "not installed: what is near in meaning is found by words and spelling only",
            "`pip install wordllama`, in the environment of agentplane.",
        )
