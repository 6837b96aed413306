"""`python -m tests.runs.wrapped RECORD COMMAND…`: a command under the relay, as a program of its own.

RECORD gets the streams as files, `pid` once the command runs, and `ending` as JSON at the end. A command that is told to
end has as long as the tests wait, unless WRAPPED says otherwise.
"""

import json
import os
import sys
from pathlib import Path

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.runs.terminal.relay import Exit, run
from agentplane.runs.terminal.signals import held
from tests.runs.screen import PATIENCE


def main() -> int:
    record = Path(sys.argv[1])
    record.mkdir(exist_ok=True)
    options = json.loads(os.environ.pop("WRAPPED", "{}"))
    given = dict(os.environ)

    def sink(stream: str, data: bytes) -> None:
        if options.get("sink_fails"):
            raise OSError(28, "no space left on device")
        with (record / stream).open("ab") as file:
            file.write(data)

    def started(pid: int) -> None:
        _put(record / "pid", str(pid))
        if options.get("started_fails"):
            raise RuntimeError("the log is locked")

    with held():
        try:
            grace = options.get("grace", PATIENCE)
            ending = run(sys.argv[2:], env=given, cwd=Path.cwd(), sink=sink, started=started, grace=grace)
        except AgentplaneError as error:
            print(error, file=sys.stderr)
            return error.exit_code
        _put(record / "ending", json.dumps(_plain(ending)))
        return ending.code


def _plain(ending: Exit) -> dict[str, object]:
    return {**msgspec.structs.asdict(ending), "sink_error": ending.sink_error and str(ending.sink_error)}


def _put(path: Path, text: str) -> None:
    """At once, so that who waits for the file finds it whole."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


if __name__ == "__main__":
    sys.exit(main())
