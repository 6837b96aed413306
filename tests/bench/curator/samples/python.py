"""A payment service in Python."""

from tests.bench.curator.samples.project import Project, Target


RETRY = '''\
"""Retries of calls to payment providers."""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from billing.errors import ProviderError, Rejected

T = TypeVar("T")

log = logging.getLogger(__name__)


def is_retryable(error: Exception) -> bool:
    """Return whether a second attempt may succeed."""
    if isinstance(error, Rejected):
        return False
    return isinstance(error, ProviderError) and error.status in (408, 429, 500, 502, 503)


<<< next_delay
def next_delay(attempt: int, *, jitter: float = 0.2) -> float:
    """Return the seconds to wait before an attempt.

    The delay doubles with each attempt, up to a ceiling.
    """
    if attempt < 1:
        raise ValueError("attempts are counted from 1")
    ceiling = 30.0
    delay = min(ceiling, 0.5 * 2 ** (attempt - 1))
    spread = delay * jitter
    return delay + random.uniform(-spread, spread)


>>> next_delay
def with_retries(call: Callable[[], T], attempts: int = 6) -> T:
    """Call until it succeeds, or until there are no attempts left."""
    for attempt in range(1, attempts + 1):
        try:
            return call()
        except Exception as error:
            if attempt == attempts or not is_retryable(error):
                raise
            wait = next_delay(attempt)
            log.warning("attempt %d failed, next in %.1f s: %s", attempt, wait, error)
            time.sleep(wait)
    raise AssertionError("unreachable")
'''

LEDGER = '''\
"""The double-entry ledger. Amounts are integers in the currency's minor unit."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from billing.errors import Unbalanced


@dataclass(frozen=True)
class Line:
    account: str
    amount: int
    currency: str


<<< Ledger
@dataclass
class Ledger:
    """All lines that were posted, by account."""

    lines: dict[str, list[Line]] = field(default_factory=lambda: defaultdict(list))
    posted: set[str] = field(default_factory=set)

    def balance(self, account: str, currency: str) -> int:
        """Return the sum of an account."""
        return sum(line.amount for line in self.lines[account] if line.currency == currency)

    <<< post
    def post(self, key: str, lines: Iterable[Line]) -> bool:
        """Post lines once. Return False if the key was posted before."""
        if key in self.posted:
            return False
        batch = list(lines)
        if len(batch) > 250:
            raise ValueError("too many lines in one posting")
        totals: dict[str, int] = defaultdict(int)
        for line in batch:
            totals[line.currency] += line.amount
        if any(total != 0 for total in totals.values()):
            raise Unbalanced(key, dict(totals))
        for line in batch:
            self.lines[line.account].append(line)
        self.posted.add(key)
        return True

    >>> post
    def accounts(self) -> list[str]:
        """Return the names of all accounts that have lines."""
        return sorted(name for name, lines in self.lines.items() if lines)


>>> Ledger
def trial_balance(ledger: Ledger, currency: str) -> dict[str, int]:
    """Return the balance of each account. Their sum is zero."""
    return {account: ledger.balance(account, currency) for account in ledger.accounts()}
'''

WEBHOOKS = '''\
"""Webhooks of payment providers: their signatures and limits."""

import hashlib
import hmac
import time
from dataclasses import dataclass

from billing.errors import BadSignature


<<< WebhookSettings
@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """The limits of incoming webhooks."""

    secret: bytes
    tolerance: int = 300
    max_body: int = 512 * 1024
    headers: tuple[str, ...] = ("x-signature", "x-timestamp")

    def is_fresh(self, sent: float, now: float | None = None) -> bool:
        """Return whether a webhook was sent recently."""
        current = time.time() if now is None else now
        return abs(current - sent) <= self.tolerance

    def accepts(self, body: bytes) -> bool:
        return 0 < len(body) <= self.max_body


>>> WebhookSettings
def sign(secret: bytes, sent: int, body: bytes) -> str:
    """Return the signature of a body."""
    message = str(sent).encode() + b"." + body
    return hmac.new(secret, message, hashlib.sha256).hexdigest()


def verify(settings: WebhookSettings, sent: int, body: bytes, signature: str) -> None:
    """Raise if a webhook wasn't signed with the secret, or too long ago."""
    if not settings.accepts(body) or not settings.is_fresh(sent):
        raise BadSignature("too old or too large")
    if not hmac.compare_digest(sign(settings.secret, sent, body), signature):
        raise BadSignature("wrong signature")
'''

ERRORS = '''\
"""Errors of the payment service."""


class BillingError(Exception):
    """Base of all errors that callers may handle."""


class ProviderError(BillingError):
    def __init__(self, provider: str, status: int) -> None:
        super().__init__(f"{provider} answered {status}")
        self.provider = provider
        self.status = status


class Rejected(ProviderError):
    """The provider refused the payment. It will refuse it again."""


class Unbalanced(BillingError):
    def __init__(self, key: str, totals: dict[str, int]) -> None:
        super().__init__(f"{key} doesn't balance: {totals}")


class BadSignature(BillingError):
    """A webhook that can't be trusted."""
'''

SCHEDULE = '''\
"""The times at which batches are settled."""

from datetime import date, datetime, time, timedelta, timezone

CUTOFF = time(17, 30, tzinfo=timezone.utc)
WEEKEND = (5, 6)


def business_day(day: date) -> date:
    """Return the first business day on or after a day."""
    while day.weekday() in WEEKEND:
        day += timedelta(days=1)
    return day


def settlement_day(now: datetime, lag: int = 2) -> date:
    """Return the day on which a payment that was made now is settled."""
    start = now.date() if now.timetz() <= CUTOFF else now.date() + timedelta(days=1)
    day = business_day(start)
    for _ in range(lag):
        day = business_day(day + timedelta(days=1))
    return day
'''

PROJECT = Project(
    files={
        "billing/__init__.py": "",
        "billing/retry.py": RETRY,
        "billing/ledger.py": LEDGER,
        "billing/webhooks.py": WEBHOOKS,
        "billing/errors.py": ERRORS,
        "billing/schedule.py": SCHEDULE,
    },
    remark="#",
    helper='''\
def describe(error: Exception) -> str:
    """Return a short text for logs."""
    name = type(error).__name__
    return f"{name}: {error}" if str(error) else name


''',
    targets=(
        Target(
            path="billing/retry.py",
            symbol="next_delay",
            claim="Retries of provider calls wait twice as long each time, and at most 30 seconds.",
            formatting=(
                "    delay = min(ceiling, 0.5 * 2 ** (attempt - 1))\n",
                "    delay = min(\n        ceiling,\n        0.5 * 2 ** (attempt - 1),\n    )\n",
            ),
            docs=(
                "The delay doubles with each attempt, up to a ceiling.",
                "Each delay is twice the one before, up to a ceiling.",
            ),
            signature=(
                "attempt: int, *, jitter: float = 0.2",
                "attempt: int, jitter: float, *, base: float = 0.5",
            ),
            constant=("ceiling = 30.0", "ceiling = 120.0"),
            logic=("0.5 * 2 ** (attempt - 1)", "0.5 * attempt"),
            other=("attempts: int = 6) -> T:", "attempts: int = 8) -> T:"),
            renamed="delay_before",
            renamed_file=("billing/backoff.py", ""),
            moved_to="billing/schedule.py",
            imported="from billing.schedule import next_delay\n",
        ),
        Target(
            path="billing/ledger.py",
            symbol="Ledger.post",
            claim="A posting that doesn't balance in each currency is refused, and a key is posted once.",
            formatting=(
                "        if any(total != 0 for total in totals.values()):\n            raise Unbalanced(key, dict(totals))\n",
                "\n        if any(\n            total != 0\n            for total in totals.values()\n        ):\n            raise Unbalanced(\n                key, dict(totals)\n            )\n\n",
            ),
            docs=(
                "Post lines once. Return False if the key was posted before.",
                "Post the lines of a key. A second posting of the key does nothing.",
            ),
            signature=(
                "key: str, lines: Iterable[Line]) -> bool",
                "key: str | None, lines: Iterable[Line], *, force: bool = False) -> bool",
            ),
            constant=("len(batch) > 250", "len(batch) > 1000"),
            logic=("if any(total != 0 for total in totals.values()):", "if sum(totals.values()) != 0:"),
            other=(
                "return sorted(name for name, lines in self.lines.items() if lines)",
                "return sorted(self.lines)",
            ),
            renamed="record",
            renamed_file=("billing/books.py", ""),
            moved_to="billing/schedule.py",
            moves="Ledger",
            imported="from billing.schedule import Ledger\n",
        ),
        Target(
            path="billing/webhooks.py",
            symbol="WebhookSettings",
            claim="Webhooks are refused after five minutes or over 512 KiB.",
            formatting=(
                '    headers: tuple[str, ...] = ("x-signature", "x-timestamp")\n',
                "    headers: tuple[str, ...] = (\n        'x-signature',\n        'x-timestamp',\n    )\n",
            ),
            docs=("The limits of incoming webhooks.", "What an incoming webhook may be like."),
            signature=("    secret: bytes\n", "    secret: bytes\n    previous_secret: bytes | None\n"),
            constant=("tolerance: int = 300", "tolerance: int = 3600"),
            logic=("return abs(current - sent) <= self.tolerance", "return current - sent <= self.tolerance"),
            other=(
                "if not settings.accepts(body) or not settings.is_fresh(sent):",
                "if not (settings.accepts(body) and settings.is_fresh(sent)):",
            ),
            renamed="WebhookLimits",
            renamed_file=("billing/providers/webhooks.py", ""),
            moved_to="billing/errors.py",
            imported="from billing.errors import WebhookSettings\n",
        ),
    ),
)
