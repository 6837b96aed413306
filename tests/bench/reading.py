"""`python -m tests.bench.reading PLANE`: seconds for reading a plane cold and warm, and for libyaml on its headers."""

import json
import shutil
import sys
from pathlib import Path

import yaml

from agentplane.api import Plane, open_plane
from agentplane.memory.entry import Entry
from tests.bench.timing import best


def entries(plane: Plane) -> dict[str, Entry]:
    return plane.memory.read().entries


def headers(plane: Plane) -> list[str]:
    """The YAML of each entry, without the lines around it."""
    documents = [page.document for page in plane.store.snapshot().pages.values()]
    return [
        document.data[block.head : block.body].rpartition(b"---")[0].decode()
        for document in documents
        for block in document.blocks
    ]


def libyaml(texts: list[str]) -> None:
    for text in texts:
        yaml.load(text, Loader=yaml.CSafeLoader)


def main() -> None:
    plane = open_plane(Path(sys.argv[1]))
    warm = best(lambda: entries(plane), 20)
    # Once only: a process remembers the headers that it has parsed. Nothing was parsed until now, as the cache had it all.
    cold = best(lambda: entries(plane), 1, before=lambda: shutil.rmtree(plane.layout.cache))
    times = {"warm": warm, "cold": cold}
    texts = headers(plane)
    times["libyaml"] = best(lambda: libyaml(texts), 5)
    print(json.dumps(times))


if __name__ == "__main__":
    main()
