"""The MCP server, through which coding tools use the project memory.

It proposes, recalls and records, and never approves.
"""

from agentplane.mcp import library


# This runs before the library is imported, whichever module of this package is imported first.
library.spare()
