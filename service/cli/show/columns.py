"""Column lists: what is shown of an answer, declared rather than programmed. A row of `answers.VIEWS` is one view."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from service.cli.formatting import footer, moment
from service.cli.layout import facts, flow, heading, table
from service.cli.terminal import Cell, Display, Part, Style, safe

Data = Any
"""The answer's `data`, or one of its entries: decoded JSON."""


def strong(value: object) -> Cell:
    """What the eye looks for first."""
    return Cell(value, "strong")


STYLES: Final[Mapping[str, Style]] = {
    **dict.fromkeys(("accumulation", "bullish", "ok", "in", "very-cold"), "good"),
    **dict.fromkeys(("distribution", "euphoria", "blocked", "hot"), "warn"),
    **dict.fromkeys(("capitulation", "bearish", "failing", "out", "very-hot"), "bad"),
    **dict.fromkeys(("exhaustion", "cold"), "accent"),
}
"""Colours of states: stances, zones of funding, directions, states of a source."""

_SIGNS: Final = {"very-hot": "▲▲", "hot": "▲", "cold": "▼", "very-cold": "▼▼", "in": "→", "out": "←"}


def state(name: str | None) -> Cell:
    """A state in its colour, with its sign if it has one."""
    sign = f"{_SIGNS[name]} " if name in _SIGNS else ""
    return Cell(name and f"{sign}{name}", STYLES.get(name or ""))


def joined(values: Iterable[object]) -> str:
    """Values separated by commas."""
    return ", ".join(map(str, values))


def counts(found: Mapping[str, int]) -> str:
    """How many there are of each name: `4 news, 0 podcasts`."""
    return joined(f"{count} {name}" for name, count in found.items())


def utc(instant: str | None) -> str:
    """An instant under a header that names the time zone."""
    return moment(instant).removesuffix(" UTC")


def otherwise(text: str) -> Callable[[Any], Cell]:
    """A formatter that shows this text for a value that is missing or empty."""
    return lambda value: Cell(value or text)


class Field(NamedTuple):
    """A labelled fact, or a column of a table.

    `path` is names separated by dots, empty for the answer or the entry itself. `write` makes what is shown of the
    value: a text, a cell, or for a fact a list of them. `side` is one of `table`: only `l` is cut, so no figure may be
    one. The column is shown on screens of at least `wide` cells.
    """

    label: str
    path: str
    write: Callable[[Any], Any] = Cell
    side: str = "w"
    wide: int = 0


class View(NamedTuple):
    """An answer as text: sections in this order, those without a line left out, then the next page and the age.

    A fact or a column whose field the answer lacks is left out; a stale fact is marked. `entries` finds the rows of the
    table: a path, or a function of the answer; below it stands that it is stale, if the answer says so of what it is
    made of. `empty` stands in for a table without rows.
    """

    heading: Callable[[Data], Sequence[Cell]] = lambda _: ()
    facts: Sequence[Field] = ()
    entries: str | Callable[[Data], Sequence[Any]] = ""
    columns: Sequence[Field] = ()
    empty: str | Callable[[Data], str] = "None."
    note: str | Callable[[Data], str] = ""
    source: str | Callable[[Data], str] = ""


def rendered(view: View, data: Data, meta: Mapping[str, Any], screen: Display) -> Iterator[str]:
    """The lines of a view."""
    sections = [
        heading(screen, view.heading(data)),
        facts(screen, [(one.label, _fact(one, data)) for one in view.facts if _is_there(one.path, data)]),
        _table(view, data, screen) if view.columns else iter(()),
        flow(screen, [Cell(_said(view.note, data), "dim")]),
        ending(data, meta, screen, _said(view.source, data)),
    ]
    shown = [lines for section in sections if (lines := list(section))]
    for place, lines in enumerate(shown):
        yield from ["", *lines] if place else lines


def columns(screen: Display, shown: Sequence[Field], entries: Sequence[Any]) -> Iterator[str]:
    """Entries as a table of fields; one that no entry has is left out."""
    shown = [one for one in shown if screen.width >= one.wide and any(_is_there(one.path, each) for each in entries)]
    rows = [[_cell(one, entry) for one in shown] for entry in entries]
    return table(screen, [one.label for one in shown], rows, right="".join(one.side for one in shown))


def _cell(field: Field, entry: Data) -> object:
    return field.write(value_at(entry, field.path)) if _is_there(field.path, entry) else None


def value_at(found: Any, path: str) -> Any:
    """The value at a path; None where a part of the way is None.

    Raises:
        LookupError: If there is no such field.
    """
    for name in path.split(".") if path else ():
        found = None if found is None else found[name]
    return found


def ending(data: Data, meta: Mapping[str, Any], screen: Display, *source: str) -> Iterator[str]:
    """How to get the next page, the cursor unbroken so that it can be copied; then the answer's age."""
    page = data.get("meta", data) if isinstance(data, dict) else {}
    if page.get("next_cursor"):
        of = f" of {page['total']:,}" if "total" in page else ""
        yield screen.paint("dim", safe(f"More{of}: --cursor {page['next_cursor']}"))
    if "as_of" in meta:
        yield from footer(screen, meta, *filter(None, source))
    elif "ts" in meta:
        yield screen.paint("dim", f"at {moment(meta['ts'])}")


def _table(view: View, data: Data, screen: Display) -> Iterator[str]:
    entries = view.entries(data) if callable(view.entries) else value_at(data, view.entries)
    yield from columns(screen, view.columns, entries) if entries else flow(screen, [_said(view.empty, data)])
    as_facts = {name for one in view.facts for name in one.path.split(".")}
    stale = [name for name in data.get("_stale_fields", ()) if isinstance(data.get(name), list | dict)]
    if entries and any(name == view.entries or name not in as_facts for name in stale):
        yield from flow(screen, [Cell("stale: not all of it could be refreshed", "warn")])


def _said(text: str | Callable[[Data], str], data: Data) -> str:
    return text(data) if callable(text) else text


def _is_there(path: str, data: Data) -> bool:
    return not path or path.partition(".")[0] in data


def _fact(field: Field, data: Data) -> list[Part]:
    written = field.write(value_at(data, field.path))
    parts = list(written) if isinstance(written, list | tuple) else [written] if written else []
    stale = not {*field.path.split(".")}.isdisjoint(data.get("_stale_fields", ()))
    return [*parts, Cell("stale", "warn")] if parts and stale else parts
