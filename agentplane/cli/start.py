"""The entry point of the command.

It answers `badge` and `hook` and opens the TUI before it loads anything else.
"""

import gc
import os
import sys


def main() -> None:
    if sys.argv[1:] in (["badge"], ["badge", "--all"]):
        from agentplane.cli.hooks.badge import answer, answer_all

        try:
            if answer_all() if sys.argv[2:] else answer():
                return
        except OSError as error:
            sys.stderr.write(f"error: Can't write the badge: {error.strerror}\n")
            sys.exit(4)
    elif sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        from agentplane.cli.hooks.hook import answer as answer_tool

        answer_tool(sys.argv[2:])
        os._exit(0)  # nothing is left to write, and shutting Python down takes time
    elif not sys.argv[1:]:
        from agentplane.cli.project.screens import opened

        code = opened(os.environ.get("AGENTPLANE_PLANE"))
        if code is not None:
            sys.exit(code)
    # A command ends before garbage counts, and looking for it among thousands of new objects takes a tenth of the time.
    gc.set_threshold(20_000)
    from agentplane.cli.app import run

    sys.exit(run())


if __name__ == "__main__":
    main()
