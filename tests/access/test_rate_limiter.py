from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.access import rate_limiter as room
from service.access.rate_limiter import RateLimiter
from tests.fakes.clock import FakeClock


@pytest.mark.promise("rate.limit")
def test_a_rested_key_gets_its_burst_and_then_the_rate() -> None:
    clock = FakeClock()
    rate = RateLimiter(clock, 600, 300)
    assert [rate.take("a") for _ in range(300)] == [None] * 300
    assert rate.take("a") == pytest.approx(0.1)
    clock.elapsed_s += 0.1001
    assert rate.take("a") is None
    assert rate.take("a") is not None


@pytest.mark.promise("rate.limit")
def test_keys_do_not_share_their_rate() -> None:
    rate = RateLimiter(FakeClock(), 60, 1)
    assert rate.take("a") is None
    assert rate.take("b") is None
    assert rate.take("a") is not None


def test_refused_requests_do_not_lengthen_the_wait() -> None:
    clock = FakeClock()
    rate = RateLimiter(clock, 60, 1)
    rate.take("a")
    assert [rate.take("a") for _ in range(5)] == [pytest.approx(1.0)] * 5
    clock.elapsed_s += 1.0
    assert rate.take("a") is None


def test_wall_time_set_back_or_forward_changes_nothing() -> None:
    clock = FakeClock()
    rate = RateLimiter(clock, 60, 2)
    rate.take("a")
    clock.set_wall(0)
    assert rate.take("a") is None
    clock.set_wall(9_999_999_999_999)
    assert rate.take("a") is not None


steps = st.lists(st.tuples(st.integers(0, 3_000), st.sampled_from("ab")), max_size=200)


@pytest.mark.slow
@settings(max_examples=200)
@given(steps, st.sampled_from([60, 600, 1_000]), st.integers(1, 20))
def test_it_grants_what_an_exact_leaky_bucket_grants(calls: list[tuple[int, str]], per_minute: int, burst: int) -> None:
    clock = FakeClock()
    rate = RateLimiter(clock, per_minute, burst)
    level: dict[str, Fraction] = {}
    last: dict[str, Fraction] = {}
    now = Fraction(0)
    for pause_ms, key in calls:
        now += Fraction(pause_ms, 1_000)
        clock.elapsed_s = float(now)
        drained = (now - last.get(key, now)) * per_minute / 60
        filled = max(Fraction(0), level.get(key, Fraction(0)) - drained)
        level[key], last[key] = filled, now
        wait = rate.take(key)
        if abs(filled + 1 - burst) < Fraction(1, 10**4):  # on the edge rounding may decide, either way once
            level[key] += wait is None
            continue
        assert (wait is None) is (filled + 1 <= burst)
        if wait is None:
            level[key] += 1
        else:
            assert wait == pytest.approx(float((filled + 1 - burst) * 60 / per_minute), abs=1e-6)


def test_a_key_at_rest_is_forgotten_and_one_that_is_not_is_kept() -> None:
    clock = FakeClock()
    rate = RateLimiter(clock, 60, 10)
    for _ in range(10):
        rate.take("busy")
    for step in range(1, 40):
        clock.elapsed_s = float(step)
        rate.take(step)
        assert rate.take("busy") is None
        assert rate.take("busy") is not None
    assert len(rate._young) + len(rate._old) <= 22


def test_memory_is_bounded_however_many_keys_come_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_TRACKED_KEYS", 100)
    rate = RateLimiter(FakeClock(), 60, 10)
    for key in range(1_000):
        assert rate.take(key) is None
        assert len(rate._young) + len(rate._old) <= 200
