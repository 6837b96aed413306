"""The statement of an entry, which is the first non-empty line of its body without the label of its kind."""


def statement_of(body: str, label: str) -> str:
    """Return the first non-empty line of a body, without its label."""
    first = body.strip("\n").partition("\n\n")[0]
    for line in first.splitlines():
        if line.strip():
            first = line.strip()
            break
    prefix = f"{label}:"
    return first[len(prefix) :].strip() if first.lower().startswith(prefix.lower()) else first
