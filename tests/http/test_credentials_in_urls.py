"""A credential in a URL is refused; the prefix by which a key is listed and revoked is none."""

import pytest
from starlette.types import Scope

from service.access.api_keys import ApiKeyFormat
from service.errors import ServiceError
from service.http.gates.limits import RequestLimitsGate
from service.http.request import RequestContext


async def never(*_: object) -> None:
    raise AssertionError("no application is called")


FORM = ApiKeyFormat("verdict_sk_", b"pepper")
LIMITS = RequestLimitsGate(never, (), "verdict_sk_")


def check(path: bytes, query: bytes) -> None:
    scope: Scope = {"headers": [(b"host", b"localhost")], "raw_path": path, "query_string": query}
    LIMITS.check(RequestContext(scope))


@pytest.mark.promise("auth.key-in-url")
@pytest.mark.parametrize("query", ["token={}", "prefix={}", "{}", "a=%76erdict{}"])
def test_a_key_in_the_query_is_a_bad_request(query: str) -> None:
    key = FORM.draw()
    value = key.removeprefix("verdict") if "%76" in query else key
    with pytest.raises(ServiceError, match="must not contain a credential") as caught:
        check(b"/api/keys", query.format(value).encode())
    assert caught.value.code == "BAD_REQUEST"
    assert key not in caught.value.message


@pytest.mark.promise("auth.key-in-url")
def test_a_key_in_the_path_is_a_bad_request() -> None:
    with pytest.raises(ServiceError, match="must not contain a credential"):
        check(b"/api/cli/coin/risk/" + FORM.draw().encode(), b"")


@pytest.mark.promise("auth.key-in-url")
def test_a_session_in_the_query_is_a_bad_request() -> None:
    with pytest.raises(ServiceError, match="must not contain a credential"):
        check(b"/api/keys", b"access_token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln")


@pytest.mark.promise("keys.revoke")
def test_the_prefix_by_which_a_key_is_revoked_is_let_through() -> None:
    check(b"/api/keys", b"prefix=" + FORM.display_prefix(FORM.draw()).encode())
