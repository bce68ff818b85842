"""Open sessions of the tool server over HTTP: who holds them, and which ends if there are too many."""

from collections import Counter
from typing import Final, NamedTuple

from msgspec import Struct

from service.clock import Clock

SESSION_IDLE_S: Final = 300
"""A session without a request for so long is ended."""

SESSIONS_PER_HOLDER: Final = 16

MOST_SESSIONS: Final = 500
"""Of all holders together; the tool server has some tens of kilobytes for each."""


class Holder(NamedTuple):
    """Who opens sessions: a credential that the service has confirmed, or the network of callers without one.

    Args:
        name: The credential's digest, or the network.
        confirmed: Whether it is a credential.
    """

    name: bytes | str
    confirmed: bool


class ToolSession(Struct, eq=False):
    """An open session.

    Args:
        id: As the tool server has assigned it.
        credential: Digest of the token that opened it; empty without one.
        holder: Who holds it.
        under_way: Requests under way, without open streams of the server's messages.
        streams: Open streams.
        used_s: When the last request began or ended.
    """

    id: bytes
    credential: bytes
    holder: Holder
    under_way: int
    streams: int
    used_s: float


class Sessions:
    """Counts sessions, by holder and in all, and chooses which end if there are too many.

    A holder's new session ends its own oldest idle one. Beyond the total, sessions without a confirmed credential end
    first, then the oldest idle one of the largest holder. An open stream is idle. A call under way ends only if it has
    no confirmed credential and the new session has one.

    Args:
        clock: Tells how long a session has been idle.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[bytes, ToolSession] = {}
        self._opening: Counter[Holder] = Counter()

    def find(self, session_id: bytes, credential: bytes) -> ToolSession | None:
        """A session, by the credential that opened it; to others it does not exist."""
        session = self._open.get(session_id)
        return session if session is not None and session.credential == credential else None

    def begin(self, holder: Holder) -> bool:
        """Reserve a place. `add` or `give_up` must follow.

        Returns:
            False if too many of the holder's sessions, or of all, are at work.
        """
        opening = self._opening[holder] + 1
        at_work = sum(session.holder == holder and session.under_way > 0 for session in self._open.values())
        in_all = len(self._open) + self._opening.total() + 1 - sum(self._may_end(holder, one) for one in self._all)
        if opening + at_work > SESSIONS_PER_HOLDER or in_all > MOST_SESSIONS:
            return False
        self._opening[holder] += 1
        return True

    def give_up(self, holder: Holder) -> None:
        """Release a reserved place."""
        self._opening[holder] -= 1
        if not self._opening[holder]:
            del self._opening[holder]

    def add(self, session_id: bytes, credential: bytes, holder: Holder) -> tuple[ToolSession, list[ToolSession]]:
        """Count the session that a reserved place was for, with its first request under way.

        Returns:
            The session, and those that no longer count and have to be ended.
        """
        self.give_up(holder)
        session = ToolSession(session_id, credential, holder, 1, 0, self._clock.monotonic())
        self._open[session_id] = session
        ended = self.expired()
        own = [one for one in self._all if one.holder == holder]
        if len(own) > SESSIONS_PER_HOLDER:
            ended += self._end([one for one in own if not one.under_way], len(own) - SESSIONS_PER_HOLDER)
        excess = len(self._open) - MOST_SESSIONS
        if excess > 0:
            ended += self._end([one for one in self._all if self._may_end(holder, one)], excess)
        return session, ended

    def expired(self) -> list[ToolSession]:
        """Sessions that were idle for too long; they no longer count and have to be ended."""
        due_s = self._clock.monotonic() - SESSION_IDLE_S
        old = [one for one in self._all if not one.under_way and not one.streams and one.used_s <= due_s]
        return self._end(old, len(old))

    def of(self, credential: bytes) -> list[ToolSession]:
        """Sessions of a credential that is no longer valid; they no longer count and have to be ended."""
        own = [one for one in self._all if one.credential == credential]
        return self._end(own, len(own))

    def drop(self, session: ToolSession) -> None:
        """Count a session no longer, because its client has ended it."""
        self._open.pop(session.id, None)

    @property
    def _all(self) -> list[ToolSession]:
        return list(self._open.values())

    def _may_end(self, newcomer: Holder, session: ToolSession) -> bool:
        """Whether a session may end in favour of a newcomer's."""
        if newcomer.confirmed:
            return not session.under_way or not session.holder.confirmed
        return not session.under_way and not session.holder.confirmed

    def _end(self, candidates: list[ToolSession], number: int) -> list[ToolSession]:
        ended: list[ToolSession] = []
        held = Counter(session.holder for session in self._open.values())
        for _ in range(min(number, len(candidates))):
            one = min(
                candidates,
                key=lambda one: (one.holder.confirmed, one.under_way > 0, -held[one.holder], one.used_s),
            )
            candidates.remove(one)
            held[one.holder] -= 1
            del self._open[one.id]
            ended.append(one)
        return ended
