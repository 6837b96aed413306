"""Commands that propose, decide about, find and show memory."""
