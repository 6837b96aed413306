"""Where the command begins. `badge` is answered here, before anything else is loaded."""

import sys


def main() -> None:
    if sys.argv[1:] == ["badge"]:
        from agentplane.cli.badge import answer

        try:
            if answer():
                return
        except OSError as error:
            sys.stderr.write(f"error: cannot write the badge: {error.strerror}\n")
            sys.exit(4)
    from agentplane.cli.app import run

    sys.exit(run())


if __name__ == "__main__":
    main()
