"""The door for coding tools: the Model Context Protocol. It proposes, recalls and records; it approves nothing."""
