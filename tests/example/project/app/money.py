"""Amounts are whole minor units with their currency; never floats."""

from typing import NamedTuple


class Money(NamedTuple):
    minor: int
    currency: str

    def plus(self, other: "Money") -> "Money":
        if other.currency != self.currency:
            raise ValueError(f"cannot add {other.currency} to {self.currency}")
        return Money(self.minor + other.minor, self.currency)
