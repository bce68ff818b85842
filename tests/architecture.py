"""The generated tables of ARCHITECTURE.md; `make commands` writes them, a test compares them."""

import ast
from typing import Final

from service.settings import Settings
from service.wire.offers import OFFERS
from tests.measures import SERVICE
from tests.test_layers import OWNERS, RANKS

PAGE: Final = SERVICE.parent / "ARCHITECTURE.md"
BEGIN: Final = "<!-- {name}: written by `make commands` -->\n"
END: Final = "<!-- end of {name} -->"


def packages() -> str:
    """Packages from the highest rank to the lowest, with their purpose and the libraries that only they may import."""
    rows = ["| rank | package | purpose | its libraries |", "|---|---|---|---|"]
    for rank, names in reversed([*enumerate(RANKS)]):
        rows += [f"| {rank} | `{name}` | {_purpose(name)} | {_libraries(name)} |" for name in sorted(names)]
    return "\n".join(rows) + "\n"


def figures() -> str:
    """Sizes of the project's tables."""
    migrations = len([*SERVICE.glob("storage/migrations/[0-9]*.sql")])
    priced = sum(1 for offer in OFFERS if offer.price)
    rows = {
        "operations in `wire/offers.py`": len(OFFERS),
        "priced operations": priced,
        "settings": len(Settings.__struct_fields__),
        "schema migrations": migrations,
        "ranks": len(RANKS),
    }
    return "\n".join(["| what | number |", "|---|---|", *(f"| {name} | {n} |" for name, n in rows.items())]) + "\n"


GENERATED: Final = {"packages": packages, "figures": figures}


def renewed(page: str) -> str:
    """Return the page with its generated tables replaced."""
    for name, make in GENERATED.items():
        begin, end = BEGIN.format(name=name), END.format(name=name)
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}{make()}{end}{after}"
    return page


def _libraries(package: str) -> str:
    return ", ".join(sorted(library for library, owners in OWNERS.items() if package in owners))


def _purpose(package: str) -> str:
    folder = SERVICE / package
    source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(source.read_text())) or ""
    first = " ".join(docstring.partition("\n\n")[0].split())
    return first.partition(" May import")[0].partition("; may import")[0]


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
