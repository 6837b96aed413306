"""One action on a plane in a process of its own, with fixed time and ids: `python -m tests.actor ACTION FOLDER …`."""

import os
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agentplane.api import Plane
from agentplane.memory.proposing import Proposal
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.store import Store


def fixed_plane(folder: Path, actor: str = "Ada", seed: int = 7) -> Plane:
    """A plane whose clock and ids are the same in every run."""
    dice = random.Random(seed)
    moments = iter(datetime(2026, 10, 1, 9, tzinfo=UTC) + timedelta(seconds=count) for count in range(10**6))
    store = Store(
        Layout(root=folder.resolve() / ".agentplane"),
        clock=lambda: next(moments),
        token=lambda length: "".join(dice.choice("abcdefghjkmnpqrstuvwxyz") for _ in range(length)),
    )
    return Plane(store, Origin(actor, "terminal", "pytest"))


def propose_many(folder: Path, name: str, count: int) -> float:
    """Proposes `count` entries. Returns the longest that one of them took."""
    plane = Plane(Store(Layout(root=folder.resolve() / ".agentplane")), Origin(name, "mcp", "pytest"))
    longest = 0.0
    for number in range(count):
        begin = time.monotonic()
        plane.propose(Proposal(type="fact", statement=f"{name} found out number {number}.", tags=[name]))
        longest = max(longest, time.monotonic() - begin)
    return longest


def approve_while(folder: Path, stop: Path) -> int:
    """Approves whatever waits until `stop` is there and nothing waits. Returns how many."""
    plane = Plane(Store(Layout(root=folder.resolve() / ".agentplane")), Origin("Ada", "terminal", "pytest"))
    count = 0
    while True:
        last = stop.exists()
        waiting = [entry.id for entry in plane.memory.read().inbox]
        if waiting:
            plane.inbox.approve(waiting)
            count += len(waiting)
        elif last:
            return count
        else:
            time.sleep(0.01)


def main() -> None:
    action, folder, rest = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    match action:
        case "approve":
            fixed_plane(folder).inbox.approve(rest)
        case "propose":
            fixed_plane(folder, seed=10).propose(Proposal(type="fact", statement=rest[0]))
        case "undo":
            fixed_plane(folder, seed=8).history.undo()
        case "prune":
            fixed_plane(folder, seed=9).history.prune(rest[0])
        case "propose-many":
            print(propose_many(folder, rest[0], int(rest[1])))
        case "approve-while":
            print(approve_while(folder, Path(rest[0])))
        case "hold":
            from agentplane.plane.store import lock

            with lock.held(fixed_plane(folder).layout, 5):
                print("held", flush=True)
                time.sleep(float(rest[0]))
        case _:
            sys.exit(f"no action {action}")
    os._exit(0) if action == "hold" else None


if __name__ == "__main__":
    main()
