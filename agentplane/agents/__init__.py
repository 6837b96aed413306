"""The coding tools that agentplane knows: a catalog with a row for each of them, and a module for each that needs code of its own."""
