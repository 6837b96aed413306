"""`python -m agentplane`.

Python puts the current folder first on its path then, and imports this package before any line here runs. What is
imported from here on does not come from that folder.
"""

import sys


if not sys.flags.safe_path:
    del sys.path[0]

from agentplane.cli.start import main


main()
