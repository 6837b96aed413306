"""Commands to review candidates and manual edits."""
