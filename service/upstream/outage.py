"""Tells the operator when an upstream stops answering, why, and when it answers again."""

import logging
from typing import Final

from service.upstream.reasons import TITLES

_log: Final = logging.getLogger("verdict.upstream")


class Outage:
    """The state of one upstream, logged when it changes: an outage is two lines, however many retries it takes.

    Args:
        name: The upstream's name (`hyperliquid`).
        what: Which of its services, if not all (`feed`).

    Attributes:
        reason: Why it does not answer (`DNS lookup failed`); null while it does.
    """

    def __init__(self, name: str, what: str = "") -> None:
        self.reason: str | None = None
        self._name = name
        self._title = f"{TITLES.get(name, name)} {what}".rstrip()
        self._failures = 0

    def failed(self, reason: str, *, status: int | None = None, body: str = "") -> None:
        """Note a failed request. The first one, and the first for another reason, is a warning; others are debug.

        Args:
            reason: In a few words, the same for the same cause.
            status: HTTP status of the answer, if there was one.
            body: What was answered, redacted.
        """
        self._failures += 1
        level = logging.DEBUG if reason == self.reason else logging.WARNING
        self.reason = reason
        details = {"upstream": self._name, "status": status, "body": body[:200]}
        _log.log(level, "Waiting for %s: %s", self._title, reason, extra=details)

    def answered(self) -> None:
        """Note a usable answer; the first one after failures is logged."""
        if self.reason is not None:
            _log.warning(
                "%s answers again (failed requests: %d)", self._title, self._failures, extra={"upstream": self._name}
            )
            self.reason, self._failures = None, 0
