"""The memory in the instruction files of coding tools."""
