"""Runs commands of the program one after the other: `python -m tests.attack.commands`, with a JSON list of command lines on
standard input. Each has a process of its own, forked from one that has loaded the program. What no command may let through
ends in a traceback.
"""

import io
import json
import os
import sys
import traceback

from agentplane import api  # noqa: F401 -- loaded once, before each command has its process
from agentplane.cli.app import run


def one(words: list[str]) -> None:
    code = 1
    try:
        sys.stdin = io.TextIOWrapper(io.BytesIO())
        code = run(words)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    lines = json.load(sys.stdin)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    for words in lines:
        print(f"$ {' '.join(words)}", flush=True)
        child = os.fork()
        if not child:
            one(words)
        _, status = os.waitpid(child, 0)
        print(f"exit {os.waitstatus_to_exitcode(status)}", flush=True)


if __name__ == "__main__":
    main()
