"""Who is watched: the operator's file, the operator's commands, and who wins."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import ServiceError
from service.settings import Settings, SettingsError
from service.storage.database import Database
from service.wallets.watchlist import MOST_WALLETS, Watched, WatchedWallets, is_word, place, read_listed, watched_in
from tests.fakes.clock import FakeClock

ONE = "0x" + "1" * 40
TWO = "0x" + "2" * 40
THREE = "0x" + "3" * 40
LISTED = [Watched(ONE, "One", "fund"), Watched(TWO)]


@pytest.fixture
def watchlist(database: Database, clock: FakeClock) -> WatchedWallets:
    return WatchedWallets(database, LISTED, clock)


async def watched(watchlist: WatchedWallets) -> dict[str, Watched]:
    return {wallet.address: wallet for wallet in await watchlist.wallets()}


async def refused(waited: object) -> tuple[str, str]:
    with pytest.raises(ServiceError) as caught:
        await waited  # type: ignore[misc]
    return caught.value.code, caught.value.message


async def test_the_files_wallets_are_watched_as_it_says(watchlist: WatchedWallets) -> None:
    assert await watched(watchlist) == {ONE: LISTED[0], TWO: LISTED[1]}
    assert sorted(await watchlist.addresses()) == [ONE, TWO]


async def test_what_was_added_is_watched_beside_them_and_another_process_sees_it(
    watchlist: WatchedWallets, database: Database, clock: FakeClock
) -> None:
    await watchlist.add(Watched(THREE, "Three", None))
    elsewhere = WatchedWallets(database, LISTED, clock)
    assert await watched(elsewhere) == {ONE: LISTED[0], TWO: LISTED[1], THREE: Watched(THREE, "Three", None)}


async def test_what_is_watched_is_not_added_twice(watchlist: WatchedWallets) -> None:
    await watchlist.add(Watched(THREE))
    for address in (ONE, THREE):
        code, message = await refused(watchlist.add(Watched(address)))
        assert (code, message.endswith("is watched already.")) == ("BAD_REQUEST", True)
    assert (await watched(watchlist))[ONE] == LISTED[0]


async def test_what_the_file_names_can_be_removed_and_stays_so_until_it_is_added_again(
    watchlist: WatchedWallets, database: Database, clock: FakeClock
) -> None:
    await watchlist.remove(ONE)
    assert ONE not in await watched(WatchedWallets(database, LISTED, clock))
    await watchlist.add(Watched(ONE, "again"))
    assert (await watched(watchlist))[ONE] == Watched(ONE, "again", None)


async def test_a_label_by_command_wins_over_the_files_and_the_kind_stays(watchlist: WatchedWallets) -> None:
    await watchlist.label(ONE, "First")
    assert (await watched(watchlist))[ONE] == Watched(ONE, "First", "fund")


async def test_who_is_not_watched_is_neither_removed_nor_labelled(watchlist: WatchedWallets) -> None:
    await watchlist.remove(TWO)
    for address in (TWO, THREE):
        for waited in (watchlist.remove(address), watchlist.label(address, "x")):
            code, message = await refused(waited)
            assert (code, message.endswith("is not watched.")) == ("NOT_FOUND", True)
    assert set(await watched(watchlist)) == {ONE}


async def test_no_more_are_watched_than_nodes_can_be_asked_for(database: Database, clock: FakeClock) -> None:
    many = [Watched(f"0x{number:040x}") for number in range(MOST_WALLETS)]
    watchlist = WatchedWallets(database, many, clock)
    assert (await refused(watchlist.add(Watched(ONE))))[0] == "BAD_REQUEST"
    await watchlist.remove(many[0].address)
    await watchlist.add(Watched(ONE))
    assert len(await watchlist.wallets()) == MOST_WALLETS


async def test_the_order_stays_for_those_who_stay(watchlist: WatchedWallets) -> None:
    before = await watchlist.addresses()
    await watchlist.add(Watched(THREE))
    after = await watchlist.addresses()
    assert [address for address in after if address != THREE] == before
    await watchlist.remove(before[0])
    assert [address for address in await watchlist.addresses() if address != THREE] == before[1:]


async def test_a_look_at_the_database_alone_sees_the_same(watchlist: WatchedWallets, database: Database) -> None:
    await watchlist.add(Watched(THREE))
    await watchlist.remove(ONE)
    seen = await database.inspect(lambda connection: watched_in(connection, LISTED))
    assert sorted(wallet.address for wallet in seen) == [TWO, THREE]


@given(st.lists(st.integers(0, 2**160 - 1), unique=True, min_size=2, max_size=20))
def test_no_two_addresses_have_one_place_and_each_fits_a_cursor(numbers: list[int]) -> None:
    places = [place(Watched(f"0x{number:040x}")) for number in numbers]
    assert len(set(places)) == len(places)
    assert all(0 <= part < 2**63 for each in places for part in each)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tern Foundation", True), ("x" * 80, True), ("Zürich 東京", True),
        ("", False), ("x" * 81, False), (" x", False), ("a\nb", False), ("a\x1b[2Jb", False), ("a\u202eb", False),
    ],
)  # fmt: skip
def test_a_word_can_be_seen_and_is_short(text: str, expected: bool) -> None:
    assert is_word(text) is expected


class TestTheFile:
    def read(self, tmp_path: Path, text: str) -> list[Watched]:
        path = tmp_path / "wallets.toml"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return read_listed(Settings(wallets_file=path))

    def refusal(self, tmp_path: Path, text: str) -> str:
        with pytest.raises(SettingsError, match="VERDICT_WALLETS_FILE: ") as caught:
            self.read(tmp_path, text)
        return str(caught.value)

    def test_names_wallets_in_any_case_with_or_without_words(self, tmp_path: Path) -> None:
        text = f'[[wallet]]\naddress = "0x{"AB" * 20}"\n[[wallet]]\naddress = "{ONE}"\nlabel = "One"\nkind = "fund"\n'
        assert self.read(tmp_path, text) == [Watched("0x" + "ab" * 20), Watched(ONE, "One", "fund")]

    def test_may_be_empty(self, tmp_path: Path) -> None:
        assert self.read(tmp_path, "# nobody yet\n") == []

    def test_is_needed_by_nobody(self) -> None:
        assert read_listed(Settings()) == []

    def test_of_the_recording_is_read_with_fixtures_where_there_is_one(self, tmp_path: Path) -> None:
        assert len(read_listed(Settings(source="fixtures"))) == 10
        assert read_listed(Settings(source="fixtures", fixtures_dir=tmp_path)) == []

    def test_of_the_operator_comes_before_the_recordings(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.toml"
        path.write_text(f'[[wallet]]\naddress = "{ONE}"\n')
        assert read_listed(Settings(source="fixtures", wallets_file=path)) == [Watched(ONE)]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("[[wallet]\n", "[[wallet]] tables"),
            ("wallet = 7\n", "wallet takes a list, not a whole number"),
            ("\udcff", "utf-8"),
            ("x = " + "[" * 5_000, "[[wallet]] tables"),
            ("[[wallets]]\n", "wallets is not a known field"),
            ("[[wallet]]\nlabel = 'x'\n", "wallet[0].address is required"),
            (f"[[wallet]]\naddress = '{ONE}'\nname = 'x'\n", "wallet[0].name is not a known field"),
            ("[[wallet]]\naddress = 'me'\n", "'me': An address is 0x and 40 hexadecimal digits"),
            (
                "[[wallet]]\naddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'\n",
                "The capital letters do not match the EIP-55 checksum",
            ),
            (f"[[wallet]]\naddress = '{ONE}'\nlabel = ''\n", "1 to 80 printable characters"),
            (f'[[wallet]]\naddress = "{ONE}"\nkind = "\\u202e"\n', "1 to 80 printable characters"),
            (f"[[wallet]]\naddress = '{ONE}'\n" * 2, f"names {ONE} twice"),
            (f"[[wallet]]\naddress = '{ONE}'\n" * (MOST_WALLETS + 1), "wallet takes at most 1000 entries"),
            ("#" * (2**20 + 1), "larger than 1048576 bytes"),
        ],
    )  # fmt: skip
    def test_that_cannot_be_used_is_refused_with_what_is_wrong(self, tmp_path: Path, text: str, said: str) -> None:
        assert said in self.refusal(tmp_path, text)

    def test_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match=r"VERDICT_WALLETS_FILE: .* cannot be read \(No such file"):
            read_listed(Settings(wallets_file=tmp_path / "none.toml"))
