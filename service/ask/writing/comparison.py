"""Several coins and assets beside each other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold, listed
from service.ask.evidence import Evidence, Found
from service.ask.figures import NOT_KNOWN, big_usd, number, quote, signed, signed_number
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import RISK, SIGNAL, price, quoted_price, say_units, ticker
from service.ask.writing.styles import Style

_RWA: Final = "rwa.symbol"
_Form = Callable[[Found, str], Piece]
_Column = tuple[str, str, Mapping[str, tuple[str, _Form]]]

_COLUMNS: Final[Sequence[_Column]] = (
    ("price", "Price", {RISK: ("/price", quoted_price), _RWA: ("/price", quoted_price)}),
    ("change_24h", "Change a day", {_RWA: ("/change_24h", signed)}),
    ("trend", "Daily trend", {RISK: ("/trend_daily", quote), _RWA: ("/trend_daily", quote)}),
    ("trend", "Weekly trend", {RISK: ("/trend_weekly", quote), _RWA: ("/trend_weekly", quote)}),
    ("funding_apr", "Funding a year", {RISK: ("/funding_apr", signed), _RWA: ("/funding/apr", signed)}),
    ("btc_correlation", "Correlation to BTC", {RISK: ("/btc_correlation", number)}),
    ("mood", "Mood", {RISK: ("/sentiment_stance", quote)}),
    ("volume_usd", "Volume a day", {_RWA: ("/volume_24h_usd", big_usd)}),
    ("open_interest_usd", "Open interest", {_RWA: ("/open_interest_usd", big_usd)}),
    ("verdict", "Verdict", {SIGNAL: ("/verdict", quote)}),
    ("verdict", "Score", {SIGNAL: ("/score", signed_number)}),
    ("verdict", "Confidence", {SIGNAL: ("/confidence", quote)}),
)
"""What is compared, by its name as a metric; of which tool, where in its result, and how it is shown."""

_NO_SUCH: Final = "-"
"""In place of a figure that nobody looks up of such a thing."""

_TERSE: Final = ("price", "trend", "funding_apr", "verdict")


def write(assignment: Assignment, draft: Draft) -> None:
    """What is asked for first, then everything in a table."""
    entities = assignment.entities
    metric = entities.metric or ("trend" if entities.term == "trend" else None)
    compare(assignment.evidence, assignment.style, draft, metric)
    for term in ("trend", "funding", "btc-correlation"):
        draft.explain(term)


def compare(evidence: Evidence, style: Style, draft: Draft, metric: str | None = None) -> None:
    """Compare all coins and assets of the evidence.

    Args:
        evidence: What was found.
        style: How much is said.
        draft: Where it is written.
        metric: What is asked about; null: the verdicts where there are some, else the prices.
    """
    things = (*evidence.all(RISK), *evidence.all(_RWA))
    signals = evidence.all(SIGNAL)
    if not things and not signals:
        return
    if signals and metric is None:
        draft.say(listed([_verdict(signal) for signal in signals]), ".")
    else:
        draft.say(listed([bold(_main(thing, metric)) for thing in things]), ".")
    columns = [column for column in _COLUMNS if not style.terse or column[0] in _TERSE]
    draft.table(*_table(evidence, things or signals, columns))
    say_units(evidence, draft)


def _verdict(signal: Found) -> Piece:
    score = (" (score ", signed_number(signal, "/score"), ")")
    return (bold(ticker(signal), ": ", quote(signal, "/verdict")), *score)


def _main(thing: Found, metric: str | None) -> Piece:
    if metric == "trend":
        return (ticker(thing), ": ", _trends(thing))
    for name, head, places in _COLUMNS:
        if name == metric:
            pointer, form = places.get(thing.tool, ("", quote))
            shown = form(thing, pointer) if pointer else NOT_KNOWN
            return (ticker(thing), f": {head.lower().replace('btc', 'BTC')} ", shown)
    return price(thing)


def _trends(thing: Found) -> Piece:
    return listed([(f"{frame} ", quote(thing, f"/trend_{frame}")) for frame in ("daily", "weekly")])


def _table(
    evidence: Evidence, things: Sequence[Found], columns: Sequence[_Column]
) -> tuple[list[Piece], list[list[Piece]]]:
    """A column for each thing, a row for each figure of which something is known of at least one of them."""
    cells = [list(_cells(evidence, thing, columns)) for thing in things]
    used = [index for index in range(len(columns)) if any(row[index] is not None for row in cells)]
    rows: list[list[Piece]] = [[columns[index][1], *(row[index] or _NO_SUCH for row in cells)] for index in used]
    return ["", *(ticker(thing) for thing in things)], rows


def _cells(evidence: Evidence, thing: Found, columns: Sequence[_Column]) -> Iterator[Piece | None]:
    signal = evidence.of(SIGNAL, str(thing.get("/symbol"))) if thing.tool == RISK else None
    for _, _, places in columns:
        of = signal if signal is not None and SIGNAL in places else thing
        pointer, form = places.get(of.tool, ("", quote))
        yield form(of, pointer) if pointer else None
