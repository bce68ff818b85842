"""The settings, as `verdict serve --help` and `docs/settings.md` describe them."""

import textwrap
from typing import Any, Final, NamedTuple, get_type_hints

import msgspec

from service.settings import Settings, variable

_WIDTH: Final = 80
_MARGIN: Final = " " * 6


def settings_text() -> str:
    """Every setting with its default and meaning."""
    rows = []
    for row in describe():
        default = row.default.replace(",", ", ") or "unset"
        rows.append(f"{_filled(f'{row.variable} ({default})', '  ')}\n{_filled(row.description, _MARGIN)}\n")
    return "\nsettings (environment variables, with their defaults):\n" + "".join(rows)


class SettingRow(NamedTuple):
    """One line of the documentation of settings."""

    variable: str
    default: str
    description: str


def describe() -> list[SettingRow]:
    """Every setting in order, for `verdict serve --help` and `docs/settings.md`."""
    hints = get_type_hints(Settings, include_extras=True)
    return [
        SettingRow(
            variable(field.name), _default(field.name, field.default), hints[field.name].__metadata__[0].description
        )
        for field in msgspec.structs.fields(Settings)
    ]


def _default(name: str, value: Any) -> str:
    if name == "data_dir":
        return "the platform's data folder"
    if name == "fixtures_dir":
        return "fixtures/upstream"
    if name == "wallets_rpc":
        return ",".join(url.text for url in value)
    return "" if value in (None, ()) else str(value)


def _filled(text: str, indent: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=_MARGIN)
