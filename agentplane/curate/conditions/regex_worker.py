"""Searches texts with regular expressions, in a process that its parent can end at any moment.

It imports only small parts of the standard library, and reads no file. The parent sends a line with the number of
bytes of a pattern and of a text, and then both. The answer is one line: the number of the first line that matches,
`0` without a match, or `!` if the memory isn't enough.
"""

import re
import resource
import sys
import warnings


MEMORY = 1 << 30


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    _limit()
    warnings.simplefilter("ignore")
    while header := sys.stdin.buffer.readline():
        sizes = [int(size) for size in header.split()]
        pattern, text = (sys.stdin.buffer.read(size).decode(errors="surrogateescape") for size in sizes)
        sys.stdout.write(f"{_answer(pattern, text)}\n")
        sys.stdout.flush()


def _answer(pattern: str, text: str) -> str:
    try:
        found = re.search(pattern, text, re.MULTILINE)
    except (MemoryError, RecursionError, OverflowError, re.error):
        return "!"
    return str(text.count("\n", 0, found.start()) + 1) if found else "0"


def _limit() -> None:
    for which, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(which, (most, resource.getrlimit(which)[1]))
        except (OSError, ValueError):  # macOS knows some limits by name only
            continue


if __name__ == "__main__":
    main()
