"""The door for coding tools: the Model Context Protocol. It proposes, recalls and records; it approves nothing."""

from agentplane.mcp import library


# Whatever of this room is imported first, the library comes after this.
library.spare()
