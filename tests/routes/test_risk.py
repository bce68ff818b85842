"""The risk route hands the symbol to the market's desk and its answer on."""

import msgspec
import pytest

from service.access.caller import Caller
from service.errors import ServiceError
from service.wire.envelope import success
from service.wire.market import RiskContext
from service.wire.queries import OfSymbol
from tests.routes.conftest import PEPE, Table

CALLER = Caller(1, "api_key", 1)


@pytest.mark.promise("symbols.case", "symbols.venue", "risk.symbol-upper", "risk.fields")
@pytest.mark.parametrize("symbol", ["kPEPE", "PEPE", "kpepe"])
async def test_a_symbol_is_answered_in_any_case_with_its_canonical_ticker(table: Table, symbol: str) -> None:
    answer = await table.call("coin.risk", CALLER, OfSymbol(symbol))
    body = msgspec.json.decode(success(answer, table.clock.now_ms()))
    risk = msgspec.convert(body["data"], RiskContext)
    assert (risk.symbol, risk.venue_symbol, risk.price) == ("PEPE", "kPEPE", 0.0123)
    assert list(body["data"]) == list(RiskContext.__struct_encode_fields__)


@pytest.mark.promise("risk.live-inputs")
async def test_as_of_is_the_older_of_price_and_funding(table: Table) -> None:
    answer = await table.call("coin.risk", CALLER, OfSymbol("PEPE"))
    assert answer.as_of_ms == PEPE.price_ms
    assert msgspec.json.decode(success(answer, table.clock.now_ms()))["meta"]["data_age_seconds"] == 10


@pytest.mark.promise("errors.candidates")
async def test_an_unknown_symbol_is_404_with_candidates(table: Table) -> None:
    with pytest.raises(ServiceError) as caught:
        await table.call("coin.risk", CALLER, OfSymbol("PEP"))
    assert caught.value.code == "UNKNOWN_SYMBOL"
    assert caught.value.details is not None
    assert caught.value.details["candidates"] == ["PEPE"]
