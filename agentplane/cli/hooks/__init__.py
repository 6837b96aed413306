"""Commands that coding tools, Git and the shell prompt call."""
