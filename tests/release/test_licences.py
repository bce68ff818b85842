"""What licences wheels are said to be under, by the metadata that wheels have been seen to have."""

from importlib.metadata import Distribution, PathDistribution
from pathlib import Path
from typing import Any

import pytest

from release import licences


def wheel(folder: Path, *lines: str, name: str = "some") -> Distribution:
    (folder / "METADATA").write_text("\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1", *lines, ""]))
    return PathDistribution(folder)


def declared(**licence: str) -> dict[str, Any]:
    return {"license": {**licence, "acknowledgement": "declared"}}


APACHE = "Classifier: License :: OSI Approved :: Apache Software License"
BSD = "Classifier: License :: OSI Approved :: BSD License"
MIT = "Classifier: License :: OSI Approved :: MIT License"


@pytest.mark.parametrize(
    ("lines", "entries"),
    [
        (["License-Expression: BSD-3-Clause", "License: BSD", BSD], [declared(id="BSD-3-Clause")]),
        (
            ["License-Expression: MIT OR Apache-2.0", MIT],
            [{"expression": "MIT OR Apache-2.0", "acknowledgement": "declared"}],
        ),
        (["License: MPL-2.0", MIT], [declared(id="MPL-2.0")]),
        (["License: Apache 2.0", APACHE], [declared(id="Apache-2.0")]),
        (["License: MIT License", APACHE, MIT], [declared(id="Apache-2.0"), declared(id="MIT")]),
        (
            [BSD, "Classifier: Topic :: Database", "Classifier: License :: Public Domain"],
            [declared(name="BSD License"), declared(name="Public Domain")],
        ),
        (["License: MIT License"], [declared(id="MIT")]),
        (["License: ours alone"], [declared(name="ours alone")]),
    ],
)
def test_what_says_most_of_what_a_wheel_declares_is_told(
    lines: list[str], entries: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert licences.of(wheel(tmp_path, *lines)) == entries


def test_a_wheel_that_declares_nothing_is_told_by_its_text_or_stops_the_making(tmp_path: Path) -> None:
    read = licences.of(wheel(tmp_path, name="pysqlite3"))
    assert read == [{"license": {"id": "Zlib", "acknowledgement": "concluded"}}]
    with pytest.raises(KeyError, match="some"):
        licences.of(wheel(tmp_path))
