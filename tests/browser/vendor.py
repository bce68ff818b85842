"""Brings the files that pages are served with out of npm's packages, and pins them: `make vendor`.

`vendor.json` says which file of which package each one is; versions are the lock's. What has changed is told, and shows
in the version control: a hash is never changed by anything else.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VENDOR = HERE.parent.parent / "service" / "pages" / "static" / "vendor"
PINS = VENDOR / "vendor.json"


def bring() -> list[str]:
    """Copy each file; returns the names of those that are others now."""
    locked: dict[str, Any] = json.loads((HERE / "package-lock.json").read_text())["packages"]
    pins: dict[str, dict[str, str]] = json.loads(PINS.read_text())
    changed = []
    for name, row in pins.items():
        body = (HERE / "node_modules" / row["package"] / row["path"]).read_bytes()
        digest = hashlib.sha256(body).hexdigest()
        if digest != row["sha256"]:
            changed.append(name)
        row |= {"version": locked[f"node_modules/{row['package']}"]["version"], "sha256": digest}
        (VENDOR / name).write_bytes(body)
    PINS.write_text(json.dumps(pins, indent=2) + "\n")
    return changed


if __name__ == "__main__":
    sys.stdout.write("".join(f"changed: {name}\n" for name in bring()) or "nothing has changed\n")
