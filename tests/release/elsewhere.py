"""A service that is not started from this clone: out of the file, or from a former version of the code."""

import subprocess
from collections.abc import Mapping, Sequence

from tests.fakes.serving import PATIENCE_S, Serving


class Elsewhere(Serving):
    """`verdict` as another command, with an environment of its own.

    Args:
        start: What stands for `verdict`.
        outer: The environment, without settings.
        arguments: After `serve`.
        settings: As `Serving` takes them; the recording is the one that it has.
    """

    def __init__(self, start: Sequence[str], outer: Mapping[str, str], *arguments: str, **settings: str) -> None:
        own = {"port": "0", "source": "fixtures", **settings}
        self._start, self._environ = list(start), {**outer, **{f"VERDICT_{name.upper()}": own[name] for name in own}}
        super().__init__(*arguments, **settings)

    def command(self) -> list[str]:
        return self._start

    def environ(self) -> dict[str, str]:
        return self._environ

    def verdict(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run an operator's command on the same data folder."""
        done = type_in([*self._start, *arguments], self.environ())
        assert done.returncode == 0, done.stderr
        return done


def type_in(command: Sequence[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, where no code lies."""
    return subprocess.run(
        command, env=dict(environ), cwd="/", capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False
    )
