"""The room of payments: whoever the operator has chosen settles."""

from pathlib import Path

import pytest

from service.payments.facilitators.chain import ChainFacilitator
from service.payments.facilitators.chain_reader import ChainReader
from service.payments.facilitators.ledger import LedgerFacilitator
from service.payments.facilitators.remote import RemoteFacilitator
from service.payments.factory import open_payments
from service.settings import Secret, Settings, SettingsError
from tests.fakes.clock import FakeClock
from tests.fakes.stores import open_database
from tests.payments.signing import PAYEE

NODE = "http://127.0.0.1:9"
"""Nobody is there: opening the room asks nobody."""

KEY = Secret("0x" + "11" * 32)


async def settling(folder: Path, **settings: object) -> tuple[object, object]:
    """Who settles, and who sees the chain, once the room is open."""
    clock = FakeClock()
    chosen = Settings(data_dir=folder, pay_to=PAYEE, **settings)  # type: ignore[arg-type]
    async with (
        open_database(folder / "verdict.db", clock) as database,
        open_payments(chosen, database, clock, lambda *_: [], 1, lambda: True, void=lambda *_: None) as payments,
    ):
        return payments.settlement._facilitator, payments.settlement._chain_reader


@pytest.mark.promise("pay.ledger")
async def test_by_default_payments_are_recorded_and_nobody_looks_at_a_chain(tmp_path: Path) -> None:
    facilitator, chain_reader = await settling(tmp_path)
    assert isinstance(facilitator, LedgerFacilitator)
    assert chain_reader is None


@pytest.mark.promise("pay.chain")
async def test_where_the_operator_settles_itself_its_node_is_the_witness_too(tmp_path: Path) -> None:
    facilitator, chain_reader = await settling(tmp_path, settlement="chain", rpc_url=NODE, operator_key=KEY)
    assert isinstance(facilitator, ChainFacilitator)
    assert isinstance(chain_reader, ChainReader)


@pytest.mark.parametrize("node", [None, NODE])
async def test_where_another_settles_the_chain_is_read_through_a_named_node_or_the_default(
    tmp_path: Path, node: str | None
) -> None:
    facilitator, chain_reader = await settling(tmp_path, settlement="remote", facilitator_url=NODE, rpc_url=node)
    assert isinstance(facilitator, RemoteFacilitator)
    assert isinstance(chain_reader, ChainReader), "nobody is asked: nothing is open"


async def test_a_room_whose_operator_has_no_key_does_not_open(tmp_path: Path) -> None:
    with pytest.raises(SettingsError):
        await settling(tmp_path, settlement="chain", rpc_url=NODE, operator_keystore=tmp_path / "none.json")
