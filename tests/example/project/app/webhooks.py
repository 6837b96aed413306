"""Delivery of payment events to merchants."""

from app.settings import WEBHOOK_TIMEOUT_SECONDS


MAX_ATTEMPTS = 6


def retry_delay(attempt: int) -> float:
    """Seconds to wait before the next attempt; doubles each time, at most an hour."""
    return min(3600.0, 2.0**attempt)


def deliver(post, url: str, body: bytes, signature: str) -> int:
    headers = {"Content-Type": "application/json", "X-Signature": signature}
    return post(url, data=body, headers=headers, timeout=WEBHOOK_TIMEOUT_SECONDS).status_code
