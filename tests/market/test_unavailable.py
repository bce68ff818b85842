"""What is answered where an upstream has given nothing yet."""

import pytest

from service.errors import ServiceError
from service.market.loading import raise_unavailable
from service.storage.documents import FetchFailure


@pytest.mark.parametrize(
    ("status", "code"), [(429, "UPSTREAM_4XX"), (502, "UPSTREAM_5XX"), (None, "UPSTREAM_UNREACHABLE")]
)
def test_an_upstreams_failure_is_passed_on(status: int | None, code: str) -> None:
    with pytest.raises(ServiceError) as caught:
        raise_unavailable("coingecko", FetchFailure(1, status, "why"), "categories")
    assert caught.value.code == code
    assert caught.value.details == {"upstream": "coingecko", "upstreamStatus": status, "upstreamBody": "why"}


def test_what_has_not_been_asked_yet_is_worth_another_try() -> None:
    with pytest.raises(ServiceError) as caught:
        raise_unavailable("coingecko", None, "categories")
    assert caught.value.code == "UNAVAILABLE"
    assert caught.value.headers["Retry-After"] == "5"
