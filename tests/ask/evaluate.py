"""How well questions are answered: `python -m tests.ask.evaluate [--show]` (`make eval`)."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from fixtures.coins import CATEGORIES, COINS
from tests.ask.evaluation.labelled import DEV, HELD_OUT, PRACTICE, Labelled, labelled
from tests.ask.evaluation.marks import Marks, mark
from tests.ask.evaluation.payloads import Payloads
from tests.ask.evaluation.scores import Scores, failures, report
from tests.ask.evaluation.told import ask
from tests.fakes.serving import wait_until
from tests.service.asking import Whole, whole_market

NAMES = (
    *CATEGORIES.values(),
    *(name for coin in COINS for name in (coin.name, coin.title, f"{coin.units} {coin.title}")),
)
"""Names that hold numerals and are none."""

_AT_ONCE = 2


def evaluate(whole: Whole, part: str) -> Scores:
    """Ask every question of a part of a service that knows the whole recording."""
    wait_until(lambda: _is_followed(whole))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return Scores(list(pool.map(Examiner(whole).examine, labelled(part))))


def _is_followed(whole: Whole) -> bool:
    """Whether wallets and shows have been read, for which no other route waits."""
    wallets, shows = whole.pro.ask("wallets"), whole.pro.ask("transcripts?action=sources")
    read = all(show["status"] != "waiting" for show in shows.body["data"]["sources"])
    return wallets.status == 200 and wallets.body["data"]["meta"]["through_block"] is not None and read


class Examiner:
    """Asks, and marks what is answered.

    Args:
        whole: Who is asked.
    """

    def __init__(self, whole: Whole) -> None:
        self._whole = whole
        self._payloads = Payloads(whole.pro.data)

    def examine(self, question: Labelled) -> Marks:
        marks = self._examine(question, self._payloads)
        if marks.missing and question.intent == "walkforward":
            # Its engine may have made its first run since: both are looked up again.
            return self._examine(question, Payloads(self._whole.pro.data))
        return marks

    def _examine(self, question: Labelled, payloads: Payloads) -> Marks:
        told = ask(self._whole.service.port, self._whole.pro.token, question.body)
        return mark(question, told, payloads, NAMES)


def main() -> None:
    with TemporaryDirectory() as directory, whole_market(Path(directory) / "data", replay="frozen") as whole:
        for part in (DEV, PRACTICE, HELD_OUT):
            scores = evaluate(whole, part)
            sys.stdout.write("\n".join(report(part, scores)) + "\n")
            if part != HELD_OUT and "--show" in sys.argv[1:]:
                sys.stdout.write("\n".join(failures(scores)) + "\n")
            sys.stdout.write("\n")


if __name__ == "__main__":
    main()
