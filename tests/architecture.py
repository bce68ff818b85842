"""What ARCHITECTURE.md says of the code that the code says itself: written by `make commands`, held by a test."""

import ast
from typing import Final

from service.settings import Settings
from service.wire.offers import OFFERS
from tests.test_layers import OWNERS, RANKS, SERVICE

PAGE: Final = SERVICE.parent / "ARCHITECTURE.md"
BEGIN: Final = "<!-- {name}: written by `make commands` -->\n"
END: Final = "<!-- end of {name} -->"


def rooms() -> str:
    """Every room from the highest rank to the lowest, what it is for, and the libraries that it may use alone."""
    rows = ["| rank | room | what it is for | its libraries |", "|---|---|---|---|"]
    for rank, names in reversed([*enumerate(RANKS)]):
        rows += [f"| {rank} | `{name}` | {_purpose(name)} | {_libraries(name)} |" for name in sorted(names)]
    return "\n".join(rows) + "\n"


def figures() -> str:
    """How much of what there is."""
    migrations = len([*SERVICE.glob("storage/migrations/[0-9]*.sql")])
    priced = sum(1 for offer in OFFERS if offer.price)
    rows = {
        "operations in `wire/offers.py`": len(OFFERS),
        "of them priced": priced,
        "settings": len(Settings.__struct_fields__),
        "steps of the schema": migrations,
        "ranks of rooms": len(RANKS),
    }
    return "\n".join(["| what | how many |", "|---|---|", *(f"| {name} | {n} |" for name, n in rows.items())]) + "\n"


GENERATED: Final = {"rooms": rooms, "figures": figures}


def renewed(page: str) -> str:
    """The page with what is generated as the code has it now."""
    for name, make in GENERATED.items():
        begin, end = BEGIN.format(name=name), END.format(name=name)
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}{make()}{end}{after}"
    return page


def _libraries(room: str) -> str:
    return ", ".join(sorted(library for library, owners in OWNERS.items() if room in owners))


def _purpose(room: str) -> str:
    folder = SERVICE / room
    source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    told = ast.get_docstring(ast.parse(source.read_text())) or ""
    first = " ".join(told.partition("\n\n")[0].split())
    return first.partition(" May import")[0].partition("; may import")[0]


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
