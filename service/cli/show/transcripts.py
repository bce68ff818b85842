"""Views of `transcripts`: highlights and sources."""

from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any, Final

from service import formats
from service.cli.formatting import day, footer, moment
from service.cli.layout import flow, table
from service.cli.show.plain import next_page
from service.cli.terminal import Cell, Display, Style, cells, safe

_TONES: Final[Mapping[str, Style]] = {"bullish": "good", "bearish": "bad"}
_STATES: Final[Mapping[str, Style]] = {"ok": "good", "failing": "bad", "blocked": "warn"}
_MINUTE_S: Final = 60


def transcripts(data: Any, meta: Any, screen: Display, chosen: Mapping[str, object]) -> Iterator[str]:
    """Show an answer of either action."""
    yield from (_sources if chosen.get("action") == "sources" else _highlights)(data, screen)
    yield ""
    if "meta" in data:
        yield from next_page(screen, data["meta"])
    yield from footer(screen, meta)


def _highlights(data: Any, screen: Display) -> Iterator[str]:
    page = data["meta"]
    if not data["highlights"]:
        yield "Nothing was said of it in what is read."
        return
    by = ", ".join(f"{count} of {source}" for source, count in page["by_source"].items())
    yield from flow(screen, [Cell(formats.count(page["total"], "highlight"), "strong"), f"({by})"])
    episode = None
    for one in data["highlights"]:
        if one["url"] != episode:
            episode = one["url"]
            yield ""
            where = Cell(f"· {one['source']}, {day(one['publishedAt'])}", "accent")
            yield from flow(screen, [Cell(unescape(one["title"]), "strong"), where])
            yield screen.paint("dim", safe(episode))
        yield ""
        yield from flow(screen, [f"“{unescape(one['quote'])}”"], indent=2)
        yield from flow(screen, _about(one), indent=4)


def _about(one: Any) -> list[str | Cell]:
    minutes, seconds = divmod(one["start_seconds"], _MINUTE_S)
    speaker = f"{unescape(one['speaker'])} at" if one["speaker"] else "at"
    tags = "".join(f" · {tag}" for tag in (*one["coins"], *one["sectors"], *one["macro"]))
    return [
        Cell(f"{speaker} {minutes}:{seconds:02} ·", "dim"),
        Cell(one["stance"], _TONES.get(one["stance"])),
        Cell(tags, "dim"),
    ]


def _sources(data: Any, screen: Display) -> Iterator[str]:
    if not data["sources"]:
        yield "No source is read."
        return
    rows = [
        (
            one["id"],
            unescape(one["name"]),
            one["kind"],
            one["language"],
            one["episodes"],
            moment(one["lastEpisodeAt"]).removesuffix(" UTC"),
            Cell(one["status"], _STATES.get(one["status"])),
        )
        for one in data["sources"]
    ]
    yield from table(screen, ("ID", "NAME", "KIND", "LANG", "READ", "NEWEST, UTC", "STATUS"), rows, right="llllr")
    yield ""
    width = max(cells(one["id"]) for one in data["sources"])
    for one in data["sources"]:
        yield f"{safe(one['id']):<{width}}  {screen.paint('dim', safe(one['feed']))}"
