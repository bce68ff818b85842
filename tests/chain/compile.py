"""Compile the contracts again, with Vyper on the path: `python -m tests.chain.compile`. What it wrote is committed."""

import json
import subprocess
from pathlib import Path

HERE = Path(__file__).parent


def compile_contract(name: str) -> None:
    """Write NAME.json: the compiler's version, the code as it stands at an address, where variables are stored."""

    def vyper(*arguments: str) -> str:
        return subprocess.run(["vyper", *arguments], check=True, capture_output=True, text=True).stdout.strip()

    code, layout = vyper("-f", "bytecode_runtime,layout", str(HERE / f"{name}.vy")).splitlines()
    slots = {variable: kept["slot"] for variable, kept in json.loads(layout)["storage_layout"].items()}
    compiled = {"compiler": f"vyper {vyper('--version')}", "slots": slots, "code": code}
    (HERE / f"{name}.json").write_text(json.dumps(compiled, indent=1) + "\n")


if __name__ == "__main__":
    compile_contract("token")
    compile_contract("wallet")
