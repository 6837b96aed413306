"""Which cases of a test run in `make test`: where there are many of one form, some; the others are marked `full`."""

from collections.abc import Iterable

import pytest


def some(cases: Iterable[object], every: int = 4) -> list[object]:
    """All cases, of which every n-th runs in `make test`, the first among them."""
    return [
        pytest.param(*case, marks=pytest.mark.full)
        if number % every and isinstance(case, tuple)
        else pytest.param(case, marks=pytest.mark.full)
        if number % every
        else case
        for number, case in enumerate(cases)
    ]
