"""Static files, and what was brought along from elsewhere."""

import hashlib
import json
from pathlib import Path

import pytest

from service.errors import ServiceError
from service.pages.rendering import FOR_EVER
from service.pages.static_files import FOLDER, StaticFiles

VENDOR = FOLDER / "vendor"


async def test_a_file_is_served_for_ever_under_a_name_that_says_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "a.js").write_bytes(b"1")
    files = StaticFiles(tmp_path)
    url = files.url("vendor/a.js")
    assert url == f"/static/a.{hashlib.sha256(b'1').hexdigest()[:12]}.js"
    page = await files.show(url.removeprefix("/static/"), {})
    assert (page.body, page.content_type, page.cache_control) == (b"1", b"text/javascript; charset=utf-8", FOR_EVER)
    (tmp_path / "vendor" / "a.js").write_bytes(b"2")
    assert StaticFiles(tmp_path).url("vendor/a.js") != url


@pytest.mark.parametrize("segment", ["a.js", "", "..", "secret.txt", "vendor/a.js"])
async def test_nothing_else_is_served(tmp_path: Path, segment: str) -> None:
    (tmp_path / "a.js").write_bytes(b"1")
    (tmp_path / "secret.txt").write_bytes(b"1")
    with pytest.raises(ServiceError) as caught:
        await StaticFiles(tmp_path).show(segment, {})
    assert caught.value.code == "NOT_FOUND"


def test_what_was_brought_along_is_pinned_by_its_hash() -> None:
    pinned = json.loads((VENDOR / "vendor.json").read_text())
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.iterdir()}
    del found["vendor.json"]
    assert found == {name: row["sha256"] for name, row in pinned.items()}


def test_what_was_brought_along_is_of_the_release_that_the_lock_names() -> None:
    lock = json.loads((Path(__file__).parent.parent / "browser" / "package-lock.json").read_text())["packages"]
    pinned = json.loads((VENDOR / "vendor.json").read_text())
    for row in pinned.values():
        locked = lock[f"node_modules/{row['package']}"]
        assert (locked["version"], locked["license"]) == (row["version"], row["licence"])
