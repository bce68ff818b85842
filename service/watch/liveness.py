"""Whether the upstream behind the streams feeds them."""

from typing import Final

from service.clock import SECOND_MS
from service.market.observed import State

LIVE_MS: Final = 30 * SECOND_MS
"""Two rounds of asking the venue."""


def is_live(state: State, now_ms: int) -> bool:
    """Whether quotes come in.

    Args:
        state: Of the market, as this process knows it.
        now_ms: Wall time; quotes dated as far ahead of it say nothing, for the clock was set back since.
    """
    fed = state.quotes_ms is not None and abs(now_ms - state.quotes_ms) <= LIVE_MS
    return fed and state.venue is not None
