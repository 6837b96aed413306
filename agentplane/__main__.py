"""`python -m agentplane`."""

from agentplane.cli.start import main


main()
