"""Numbers with their nouns."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun, such as `1 candidate` or `2 candidates`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
