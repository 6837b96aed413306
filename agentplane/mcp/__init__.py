"""The door for coding tools over the Model Context Protocol.

It proposes, recalls and records, and never approves.
"""

from agentplane.mcp import library


# This runs before the library is imported, whichever module of this package is imported first.
library.spare()
