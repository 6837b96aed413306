"""`python -m agentplane`.

Python puts the current directory first on its path, and imports this package before any line of this module
runs. Later imports don't come from that directory.
"""

import sys


if not sys.flags.safe_path:
    del sys.path[0]

from agentplane.cli.start import main


main()
