"""Markets on which nothing can be earned: the recorded one, each day turned over or not as a tossed coin falls.

On such a tape the expected move from one open to the next is zero, whatever is known at the open before: a plan that
earns there before costs knows something that it cannot know. All coins share the toss of a day, so that what moves
together still does, and volatility, volume in dollars, gaps and delistings stay where they were.
"""

from typing import Final

import numpy as np

from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats

FURTHEST: Final = 0.9
"""Moves from a day's open are cut to this share of it, both ways, so that a mirrored price stays positive."""


def sign_flip_tape(tape: MarketTape, seed: int) -> MarketTape:
    """Reflect the days of a tape by random signs.

    A day is what happens from its open to the next one, because that is what a position is held over. Its moves, as
    simple returns from its open, are kept or negated. (Of logarithms, the mean would be zero but not that of the
    returns: E[exp(±x)] = cosh x, some 0.1 % a day for a usual coin, in favour of a long position.)

    Args:
        tape: The recorded market.
        seed: Of the signs; the same one gives the same tape on every machine.

    Returns:
        A tape of the same shape, with bars on the same days, the same funding and the same dollar volumes.
    """
    sign = _signs(len(tape.close), seed)[:, None]
    up = sign > 0
    high, low, close = (_move(price, tape.open) for price in (tape.high, tape.low, tape.close))
    opens = _walk(tape.open, sign * np.nan_to_num(_move(_next_open(tape.open), tape.open)))
    closes = opens * (1 + sign * close)
    return tape._replace(
        open=opens,
        high=opens * (1 + np.where(up, high, -low)),
        low=opens * (1 + np.where(up, low, -high)),
        close=closes,
        volume=tape.volume * tape.close / closes,
    )


def _signs(days: int, seed: int) -> Floats:
    # Raw bits of a generator are promised to stay what they are between numpy's releases; what is drawn of them is not.
    raw = np.random.PCG64(seed).random_raw(days)
    return np.where(raw >> np.uint64(63), 1.0, -1.0)


def _move(price: Floats, start: Floats) -> Floats:
    return np.clip(price / start - 1, -FURTHEST, FURTHEST)


def _next_open(opens: Floats) -> Floats:
    """The open of each coin's next bar, NaN after its last."""
    rows = len(opens)
    there: Flags = ~np.isnan(opens)
    row = np.where(there, np.arange(rows)[:, None], rows)
    following = np.full_like(row, rows)
    following[:-1] = np.minimum.accumulate(row[::-1], axis=0)[::-1][1:]
    padded = np.vstack([opens, np.full((1, opens.shape[1]), np.nan)])
    return np.take_along_axis(padded, following, axis=0)


def _walk(opens: Floats, moves: Floats) -> Floats:
    """Opens that begin where the recorded ones do and go on by the moves; NaN where there is no bar."""
    there: Flags = ~np.isnan(opens)
    grown = np.cumprod(np.where(there, 1 + moves, 1.0), axis=0)
    level = np.vstack([np.ones((1, opens.shape[1])), grown[:-1]])
    begin = np.take_along_axis(opens, there.argmax(axis=0)[None, :], axis=0)
    return np.where(there, begin * level, np.nan)
