"""Path and query parameters are decoded strictly; everything else is refused."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import ServiceError
from service.http.gates.parameters import LONGEST_VALUE, ParameterDecoder
from service.wire.offer import Offer
from service.wire.offers import OFFERS
from service.wire.queries import NoParameters, OfSymbol


class Movements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    action: Literal["watchlist", "movements"] = "watchlist"
    contract: Annotated[str, msgspec.Meta(max_length=42, extra={"required_when": {"action": "movements"}})] | None = (
        None
    )
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50
    context: Literal[0, 1] = 0
    since: int | None = None


class Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(max_length=60)]
    prefix: str


def offer(parameters: type[msgspec.Struct], path: str = "/api/cli/wallets") -> Offer:
    return Offer(id="test", path=path, summary="A route of the tests", result=NoParameters, parameters=parameters)


WALLETS = offer(Movements)
RISK = next(offer for offer in OFFERS if offer.id == "coin.risk")
MANIFEST = next(offer for offer in OFFERS if offer.id == "manifest")
CATEGORY = offer(Named, "/api/cli/category/info/{name}")


@cache
def decoder(of: Offer) -> ParameterDecoder:
    return ParameterDecoder(of)


def decode(of: Offer, path: Mapping[str, str], query: bytes) -> msgspec.Struct:
    return decoder(of).decode(path, query)


def refused(of: Offer, query: bytes = b"", path: dict[str, str] | None = None) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        decode(of, path or {}, query)
    assert caught.value.code == "BAD_REQUEST"
    return caught.value


def outcome(of: Offer, path: dict[str, str], query: bytes) -> msgspec.Struct | ServiceError:
    try:
        return decode(of, path, query)
    except ServiceError as error:
        return error


def test_a_symbol_in_the_path_is_decoded() -> None:
    assert decode(RISK, {"symbol": "kPEPE"}, b"") == OfSymbol(symbol="kPEPE")


def test_a_route_without_parameters_decodes_to_nothing() -> None:
    assert decode(MANIFEST, {}, b"") == NoParameters()


def test_what_is_not_given_takes_its_default() -> None:
    assert decode(WALLETS, {}, b"limit=7&context=1") == Movements(limit=7, context=1)


def test_escapes_and_plus_signs_are_read_as_forms_write_them() -> None:
    query = b"prefix=%C3%A9+a%2Bb"
    assert decode(CATEGORY, {"name": "Layer 1 (L1)"}, query) == Named(name="Layer 1 (L1)", prefix="é a+b")


def test_empty_pieces_between_ampersands_are_nothing() -> None:
    assert decode(WALLETS, {}, b"&limit=3&") == Movements(limit=3)


@pytest.mark.promise("parameters.exact", "errors.bad-request-parameter")
def test_an_unknown_parameter_is_refused_by_name() -> None:
    error = refused(WALLETS, b"limit=3&token=verdict_sk_secret")
    assert error.details == {"parameter": "token"}
    assert error.message == "token is not a parameter of this route. It takes action, context, contract, limit, since."


def test_a_parameter_on_a_route_that_takes_none_is_refused() -> None:
    assert (
        refused(MANIFEST, b"a=1").message == "a is not a parameter of this route. It takes no parameters in the query."
    )


@pytest.mark.promise("tier.no-parameters")
def test_the_tier_route_takes_no_parameters() -> None:
    tier = next(offer for offer in OFFERS if offer.id == "billing.tier")
    assert decode(tier, {}, b"") == NoParameters()
    assert refused(tier, b"userId=1").details == {"parameter": "userId"}


def test_a_very_long_unknown_name_is_cut_in_the_answer() -> None:
    details = refused(WALLETS, b"a" * 4_000 + b"=1").details
    assert details == {"parameter": "a" * 64 + "…"}


def test_a_path_parameter_cannot_be_given_in_the_query() -> None:
    assert refused(RISK, b"symbol=ETH", {"symbol": "BTC"}).details == {"parameter": "symbol"}


@pytest.mark.promise("parameters.exact")
def test_a_repeated_parameter_is_refused() -> None:
    error = refused(WALLETS, b"limit=3&limit=3")
    assert error.message == "limit is given more than once."
    assert error.details == {"parameter": "limit"}


@pytest.mark.parametrize("query", [b"limit=", b"limit"])
def test_an_empty_parameter_is_refused(query: bytes) -> None:
    error = refused(WALLETS, query)
    assert error.message == "limit is empty. It takes a whole number from 1 to 200, in plain digits."


@pytest.mark.promise("errors.required-by")
def test_a_missing_parameter_names_what_requires_it() -> None:
    error = refused(offer(Named), b"name=DeFi")
    assert error.message == "prefix is required by GET /api/cli/wallets."
    assert error.details == {"parameter": "prefix"}


@pytest.mark.promise("errors.required-by")
def test_a_parameter_that_another_value_requires_says_so() -> None:
    error = refused(WALLETS, b"action=movements")
    assert error.message == "contract is required when action=movements."
    assert error.details == {"parameter": "contract"}
    assert decode(WALLETS, {}, b"action=movements&contract=0xa0b8") == Movements(action="movements", contract="0xa0b8")


@pytest.mark.promise("parameters.enumerations", "errors.bad-request-parameter")
@pytest.mark.parametrize("value", ["Movements", "MOVEMENTS", "movement", "watchlist,movements"])
def test_an_enumeration_is_case_sensitive_and_lists_what_it_takes(value: str) -> None:
    error = refused(WALLETS, b"action=" + quote(value).encode())
    assert error.details == {"parameter": "action", "allowed": ["watchlist", "movements"]}
    assert error.message == "action is not valid. It takes watchlist, movements."


def test_the_unfit_one_of_several_is_named() -> None:
    assert refused(WALLETS, b"limit=3&action=nothing&since=1").details == {
        "parameter": "action",
        "allowed": ["watchlist", "movements"],
    }


@pytest.mark.parametrize("value", ["2", "01", "-0", "true", "1_0", "\u0661"])
def test_an_enumeration_of_numbers_takes_only_their_plain_spelling(value: str) -> None:
    assert refused(WALLETS, b"context=" + quote(value).encode()).details == {
        "parameter": "context",
        "allowed": ["0", "1"],
    }


@pytest.mark.parametrize(
    "value",
    [
        "1_0",
        "\u0661\u0660",
        "nan",
        "inf",
        "-Infinity",
        "1e400",
        "1e2",
        "1.0",
        "+5",
        "0x10",
        "-1",
        "0",
        "201",
        "1" * 9,
        "1" * 200,
        "1000000000",
        " 5",
        "5 ",
        "\uff15",
        "\u00b2",
    ],
)
def test_a_number_that_is_not_plain_digits_in_range_is_refused(value: str) -> None:
    assert refused(WALLETS, b"limit=" + quote(value).encode()).details == {"parameter": "limit"}


def test_a_number_without_bounds_says_only_what_it_is() -> None:
    assert refused(WALLETS, b"since=now").message == "since is not valid. It takes a whole number, in plain digits."
    assert decode(WALLETS, {}, b"since=-12") == Movements(since=-12)


@pytest.mark.parametrize("value", ["%zz", "%", "%4", "5%"])
def test_a_bad_percent_escape_is_refused(value: str) -> None:
    error = refused(WALLETS, b"contract=" + value.encode())
    assert error.message == "contract contains a percent sign without two hexadecimal digits."
    assert "A parameter's name contains" in refused(WALLETS, value.encode() + b"=1").message


@pytest.mark.parametrize("value", [b"%ff", b"%C0%AF", b"%ED%A0%80", b"\xff"])
def test_bytes_that_are_not_utf_8_are_refused(value: bytes) -> None:
    assert refused(WALLETS, b"contract=" + value).message == "contract contains bytes that are not UTF-8."


@pytest.mark.parametrize("value", ["\0", "a\n", "\r\nSet-Cookie: a", "\x7f", "\u200b", "\u2028", "\ufeff", "\ue000"])
def test_what_cannot_be_printed_is_refused(value: str) -> None:
    error = refused(WALLETS, b"contract=" + quote(value).encode())
    assert (
        error.message == "contract contains characters that cannot be printed. It takes text of at most 42 characters."
    )


def test_an_overlong_value_is_refused() -> None:
    error = refused(WALLETS, b"contract=" + b"a" * (LONGEST_VALUE + 1))
    assert error.message.startswith("contract is longer than 200 characters")
    assert refused(WALLETS, b"contract=" + b"a" * 43).message.startswith("contract is not valid")


@pytest.mark.parametrize(
    "symbol",
    [
        "BTC/USD",
        "%2F",
        "BTC\n",
        "\0",
        "\r\n",
        "\ufffd",
        "\u0412\u0422\u0421",
        "\uff22\uff34\uff23",
        "BT\u200bC",
        "🚀",
        "A" * 201,
        "1" * 5_000,
        "",
        "A" * 21,
    ],
)
def test_a_symbol_that_cannot_be_one_is_refused(symbol: str) -> None:
    error = refused(RISK, path={"symbol": symbol})
    assert error.details == {"parameter": "symbol"}
    assert error.message.endswith("It takes a ticker such as BTC, 1 to 20 letters and digits; case does not matter.")


def test_more_than_32_parameters_are_refused_before_they_are_read() -> None:
    assert (
        refused(WALLETS, b"&".join(b"a%d=1" % n for n in range(33))).message == "A request takes at most 32 parameters."
    )
    assert refused(WALLETS, b"&" * 8_000).message == "A request takes at most 32 parameters."


def test_a_refusal_never_repeats_the_value() -> None:
    for query in (b"limit=verdict_sk_secret", b"action=verdict_sk_secret", b"contract=" + b"verdict_sk_secret" * 20):
        assert "secret" not in refused(WALLETS, query).message


def test_a_parameter_of_a_type_that_no_query_can_carry_is_a_mistake_in_the_table() -> None:
    class Listed(msgspec.Struct, frozen=True):
        symbols: list[str]

    with pytest.raises(TypeError, match="parameter symbols must be text"):
        decode(offer(Listed), {}, b"")


@given(st.binary(max_size=300))
def test_no_query_ever_raises_anything_but_a_refusal(query: bytes) -> None:
    result = outcome(WALLETS, {}, query)
    if isinstance(result, ServiceError):
        assert result.code == "BAD_REQUEST"
        msgspec.json.encode((result.message, result.details))


@given(st.text(max_size=210))
def test_no_path_ever_raises_anything_but_a_refusal(symbol: str) -> None:
    result = outcome(RISK, {"symbol": symbol}, b"")
    if isinstance(result, ServiceError):
        assert result.code == "BAD_REQUEST"
    else:
        assert symbol.isascii()
        assert symbol.isalnum()


@given(st.integers(1, 200), st.sampled_from(["watchlist", "movements"]), st.text("abc019", min_size=1, max_size=42))
def test_what_is_right_is_read_back_whatever_its_order(
    limit: int, action: Literal["watchlist", "movements"], contract: str
) -> None:
    expected = Movements(action=action, contract=contract, limit=limit)
    pieces = [f"limit={limit}", f"action={action}", f"contract={contract}"]
    assert decode(WALLETS, {}, "&".join(pieces).encode()) == expected
    assert decode(WALLETS, {}, "&".join(reversed(pieces)).encode()) == expected
