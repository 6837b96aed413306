"""The attack suite: hostile clones, forged histories and hostile fields, held against every command.

A small selection runs in `make test`. The other cases are marked `full` and run in `make test-full`.
"""
