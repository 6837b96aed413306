"""The gate: checks of a proposal before it enters the inbox."""
