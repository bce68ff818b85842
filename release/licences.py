"""What licences a wheel is under: as its metadata declare them, in the words of SPDX where those are meant."""

from importlib.metadata import Distribution
from typing import Any, Final

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

_CLASS: Final = "License :: "

_MEANT: Final = {"Apache Software License": "Apache-2.0", "MIT License": "MIT"}
"""Of "BSD License", say, there are several, so that it stays a name."""

_READ: Final = {"pysqlite3": "Zlib"}
"""Wheels that declare nothing, by what the text in them says."""


def of(wheel: Distribution) -> list[dict[str, Any]]:
    """The licences of a wheel, as CycloneDX lists them.

    Args:
        wheel: As it is installed.

    Raises:
        KeyError: If it declares nothing: its text has to be read then.
    """
    declared = _declared(wheel)
    if not declared:
        return [{"license": {"id": _READ[wheel.name], "acknowledgement": "concluded"}}]
    return [_entry(licence) for licence in declared]


def _declared(wheel: Distribution) -> list[str]:
    """An expression; or what stood before there were any, a field and classes, of which a field often says less."""
    told = wheel.metadata
    if "License-Expression" in told:
        return [told["License-Expression"]]
    field = [told["License"]] if "License" in told else []
    if field and _is_spdx(field[0]):
        return field
    lines = told.get_all("Classifier", [])
    classes = [line.rpartition(" :: ")[2] for line in lines if line.startswith(_CLASS)]
    return [_MEANT.get(licence, licence) for licence in classes or field]


def _entry(licence: str) -> dict[str, Any]:
    if not _is_spdx(licence):
        return {"license": {"name": licence, "acknowledgement": "declared"}}
    if " " in licence:
        return {"expression": licence, "acknowledgement": "declared"}
    return {"license": {"id": licence, "acknowledgement": "declared"}}


def _is_spdx(licence: str) -> bool:
    """Whether it is an expression of SPDX as SPDX itself writes it; one licence is one, too."""
    try:
        return canonicalize_license_expression(licence) == licence
    except InvalidLicenseExpression:
        return False
