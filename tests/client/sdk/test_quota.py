import pytest

from service.access.quota import QuotaStatus
from service.client.answer import CallerQuota, read_quota
from service.clock import DAY_MS
from service.http.quota_response import quota_headers
from tests.fakes.clock import FakeClock


@pytest.mark.parametrize(
    ("left", "policy", "told"),
    [
        ('"questions";r=7', '"questions";q=10', CallerQuota(7, 10, daily=False, reset_s=None)),
        ('"questions";r=0;t=3600', '"questions";q=1;w=86400', CallerQuota(0, 1, daily=True, reset_s=3600)),
        ('"requests";r=0;t=1, "questions";r=7', "", CallerQuota(7, None, daily=False, reset_s=None)),
        ('"questions" ; r=7 ;t=5', '"questions"; q=10', CallerQuota(7, 10, daily=False, reset_s=5)),
    ],
)
def test_a_quota_is_read_from_the_fields_of_an_answer(left: str, policy: str, told: CallerQuota) -> None:
    assert read_quota({"ratelimit": left, "ratelimit-policy": policy}) == told


@pytest.mark.parametrize(
    "left", ["", '"requests";r=0;t=1', '"questions"', '"questions";r=x', "questions;r=1", '"questions";r=' + "9" * 20]
)
def test_where_none_is_told_there_is_none(left: str) -> None:
    assert read_quota({"ratelimit": left}) is None


def test_it_reads_what_the_service_writes() -> None:
    clock = FakeClock()
    standing = QuotaStatus("access", 3, 50, 47, "day", clock.now_ms() + DAY_MS)
    fields = {name.decode(): value.decode() for name, value in quota_headers(standing, clock)}
    assert read_quota(fields) == CallerQuota(47, 50, daily=True, reset_s=86_400)
