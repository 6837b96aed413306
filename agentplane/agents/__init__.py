"""The catalog of coding tools that agentplane knows, with modules for tools that need specific code."""
