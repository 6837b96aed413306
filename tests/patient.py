"""`python -m tests.patient …`: the program, whose hooks and badge take their time on a machine with other work."""

import sys


# As `python -m agentplane` does.
del sys.path[0]

from agentplane.cli.hooks import badge, hook  # noqa: E402
from agentplane.cli.start import main  # noqa: E402


hook._SECONDS = 60
badge._SECONDS = 60.0
badge._CPU_SECONDS = 60

if __name__ == "__main__":
    main()
