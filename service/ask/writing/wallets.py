"""Wallets that are followed: who they are, and what moved in and out of them."""

from collections.abc import Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold, listed
from service.ask.evidence import Evidence, Found, is_symbol
from service.ask.figures import address, amount, cents, count, counted, instant, quote, said
from service.ask.numerals import LONGEST
from service.ask.tokens import coin_of, is_token
from service.ask.writing import sound
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import Style

MOVED: Final = "wallets"
RECENT: Final = "wallets.recent"
_SHOWN: Final = 5
_WALLETS: Final = 10
_MOST: Final = 50
_HEAD: Final = ("Token", "Wallet", "Way", "Amount", "US dollars then", "Other side", "When")
_OF_A_WALLET: Final = ("Token", "Contract", "Movements", "Last moved")
_WATCHED: Final = ("Wallet", "Kind", "Address", "Moved last")


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell what moved, the largest or the newest first, or who is followed."""
    evidence = assignment.evidence
    found = (*evidence.all(RECENT), *evidence.all(MOVED))
    if found and all(_of_nobody(each) for each in found):
        draft.say(bold("No wallets are followed here"), ": the operator of this service has listed none.")
        return
    for each in found:
        _tell(each, assignment, draft)
    if any(each.size("/movements") for each in found) and not assignment.style.terse:
        draft.say("What moved is known, and not why: a transfer is no purchase and no sale.")
    _untold(assignment, draft)


def _of_nobody(found: Found) -> bool:
    where = "/meta/chainId" if found.tool == MOVED else "/chainId"
    return found.get(where) is None


def _tell(found: Found, assignment: Assignment, draft: Draft) -> None:
    style, limit = assignment.style, assignment.entities.limit
    if found.tool == RECENT:
        _recent(found, assignment.evidence, style, limit, draft)
    elif found.get("/watchlist") is None:
        _movements(found, assignment.evidence, style, limit, draft)
    elif found.args.get("address") is not None:
        _one(found, assignment.evidence, draft)
    else:
        _watchlist(found, assignment.evidence, style, draft)


def _rows(found: Found, of: str = "/movements") -> list[str]:
    return [f"{of}/{index}" for index in range(found.size(of))]


def _recent(found: Found, evidence: Evidence, style: Style, limit: int | None, draft: Draft) -> None:
    wallets, since = counted(found, "/wallets", "watched wallet", "watched wallets"), instant(found, "/since")
    rows = _rows(found)
    if not rows:
        draft.say(bold("Nothing of known worth moved"), " in or out of ", wallets, " since ", since, ".")
        return
    draft.say(bold("The largest movement: ", _sum(found, rows[0])), *_from_whom(found, rows[0]), ".")
    _table(found, evidence, style, rows[: _most(style, limit)], draft)
    draft.say(
        counted(found, "/total", "movement", "movements"),
        " of tokens with a known price went in or out of ",
        wallets,
        " since ",
        since,
        ".",
    )


def _movements(found: Found, evidence: Evidence, style: Style, limit: int | None, draft: Draft) -> None:
    coin, rows = coin_of(str(found.args.get("contract"))), _rows(found)
    name: Piece = address(found, "/meta/contract") if coin is None else said(coin)
    if not rows:
        draft.say(bold("No movements of ", name), " in or out of ", *_of(found), " are on record.")
    else:
        draft.say(bold("The newest movement: ", _sum(found, rows[0])), *_from_whom(found, rows[0]), ".")
        _table(found, evidence, style, rows[: _most(style, limit)], draft)
        total = counted(found, "/meta/total", "movement", "movements")
        draft.say("On record: ", total, " of ", _token(found, rows[0]), " in and out of ", *_of(found), ".")
    if coin is not None:
        draft.say(name, " is followed as ", *_what_it_is(found, coin, rows))


def _of(found: Found) -> Sequence[Piece]:
    if found.args.get("address") is None:
        return ("the watched wallets",)
    return ("this wallet",) if found.get("/movements/0") is None else (_wallet(found, "/movements/0"),)


def _what_it_is(found: Found, coin: str, rows: Sequence[str]) -> Sequence[Piece]:
    contract = ("the contract ", quote(found, "/meta/contract"))
    token = found.get(f"{rows[0]}/token") if rows else None
    if token == coin:
        return (*contract, ".")
    named: Piece = (_token(found, rows[0]), ", ") if rows and is_symbol(token) else ()
    return (named, *contract, ": a token that stands for the coin, not the coin itself.")


def _most(style: Style, limit: int | None) -> int:
    return _MOST if style.full else limit or _SHOWN


def _token(found: Found, row: str) -> Piece:
    """What a token calls itself, or where that is no name that can be told, its contract."""
    for name in ("token", "symbol"):
        if is_symbol(found.get(f"{row}/{name}")):
            return quote(found, f"{row}/{name}")
    return ("the token ", address(found, f"{row}/contract"))


def _wallet(found: Found, row: str) -> Piece:
    return address(found, f"{row}/address") if found.get(f"{row}/label") is None else quote(found, f"{row}/label")


def _amount(found: Found, row: str) -> Piece:
    shown = amount(found, f"{row}/amount")
    return shown if len(shown.text) <= LONGEST else "an amount of too many digits to be told"


def _sum(found: Found, row: str) -> Piece:
    """`12.5 WETH ($46,250.12)`."""
    worth: Piece = ()
    if found.get(f"{row}/amount_usd") is not None:
        worth = (" (", cents(found, f"{row}/amount_usd"), ")")
    return (_amount(found, row), " ", _token(found, row), worth)


def _from_whom(found: Found, row: str) -> Sequence[Piece]:
    other = address(found, f"{row}/counterparty")
    ways = (" out of ", " to ") if found.get(f"{row}/direction") == "out" else (" into ", " from ")
    return ways[0], _wallet(found, row), ways[1], other, " at ", instant(found, f"{row}/ts")


def _table(found: Found, evidence: Evidence, style: Style, rows: Sequence[str], draft: Draft) -> None:
    if len(rows) > 1:
        head = (*_HEAD, "Transaction") if style.full else _HEAD
        if not sound.table(evidence, draft, head, [_cells(found, row, style) for row in rows]):
            draft.say("A part of this list is left out: it could not be told safely.")


def _cells(found: Found, row: str, style: Style) -> Sequence[Piece]:
    way = "out" if found.get(f"{row}/direction") == "out" else "in"
    sums = (_amount(found, row), cents(found, f"{row}/amount_usd"))
    cells = (_token(found, row), _wallet(found, row), way, *sums)
    ends = (address(found, f"{row}/counterparty"), instant(found, f"{row}/ts"))
    return (*cells, *ends, quote(found, f"{row}/tx")) if style.full else (*cells, *ends)


def _watchlist(found: Found, evidence: Evidence, style: Style, draft: Draft) -> None:
    total = counted(found, "/meta/total", "wallet is", "wallets are")
    through = count(found, "/meta/through_block")
    draft.say(bold(total, " followed"), ", on chain ", count(found, "/meta/chainId"), " up to block ", through, ".")
    rows = _rows(found, "/watchlist")[: _MOST if style.full else _WALLETS]
    cells = [
        (_wallet(found, row), _kind(found, row), quote(found, f"{row}/address"), _last(found, row)) for row in rows
    ]
    whole = sound.table(evidence, draft, _WATCHED, cells)
    if len(rows) < (found.get("/meta/total") or 0) or not whole:
        draft.say("This is a part of the list.")


def _kind(found: Found, row: str) -> Piece:
    return "" if found.get(f"{row}/kind") is None else quote(found, f"{row}/kind")


def _last(found: Found, row: str) -> Piece:
    token = f"{row}/tokens/0"
    if found.get(token) is None:
        return "nothing yet"
    return (_token(found, token), " at ", instant(found, f"{token}/last_moved_at"))


def _one(found: Found, evidence: Evidence, draft: Draft) -> None:
    for row in _rows(found, "/watchlist"):
        kind = _kind(found, row)
        is_a: Piece = (" (", kind, ")") if kind else ""
        draft.say(bold(_wallet(found, row)), is_a, " is followed: ", quote(found, f"{row}/address"), ".")
        tokens = _rows(found, f"{row}/tokens")
        if not tokens:
            draft.say("Nothing moved in or out of it yet.")
        sound.table(evidence, draft, _OF_A_WALLET, [_of_token(found, token) for token in tokens])


def _of_token(found: Found, token: str) -> Sequence[Piece]:
    moved = (count(found, f"{token}/movements"), instant(found, f"{token}/last_moved_at"))
    return (_token(found, token), address(found, f"{token}/contract"), *moved)


def _untold(assignment: Assignment, draft: Draft) -> None:
    """Say what was named and makes no difference."""
    entities = assignment.entities
    without = [said(coin) for coin in entities.coins if not is_token(coin)]
    if without:
        draft.say("No token is known here for ", listed(without), ": what moves of it is not followed.")
    others = [said(name) for name in (*entities.categories, *entities.assets)]
    if others:
        draft.say("What moves is not told apart by ", listed(others), ".")
