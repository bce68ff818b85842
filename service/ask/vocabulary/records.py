"""What walk-forward records are: how strategies are judged on days nobody had seen."""

from typing import Final

from service.ask.vocabulary.term import Term

TERMS: Final = (
    Term(
        key="walkforward",
        title="walk-forward",
        short="A walk-forward judges a strategy on days that nobody had seen when its parameters were chosen.",
        text="A walk-forward chooses a strategy's parameters on past days and judges it on the days after them, "
        "fold after fold. Here the strategies are run once a day; what they decided (signals), hold (positions) "
        "and how it ended (outcomes) is history and no advice. A fold has 90 days, the first one begins after 365 "
        "days of training.",
        synonyms=("walkforward", "walk-forward", "walk forward", "backtest", "backtests", "back-test", "backtesting",
                  "out of sample"),
        see=("purge", "sharpe", "outcome"),
    ),
    Term(
        key="purge",
        title="purge and embargo",
        short="A purge keeps days out of training whose outcome reaches into the days that are tested.",
        text="Purge and embargo keep training and test days apart. Purge: a training window ends as many days before "
        "its fold as a position may be held, and one more. An embargo leaves out training days that follow a test "
        "fold; here no training day does, so none is applied.",
        synonyms=("purge", "embargo", "purging", "leakage", "fold", "folds"),
        see=("walkforward",),
    ),
    Term(
        key="outcome",
        title="outcome",
        short="An outcome is a closed position of a walk-forward, with what it returned after costs and funding.",
        text="An outcome is a closed position of a walk-forward: when and at what price it was entered and left, "
        "why, and what it returned after costs and funding, in percent.",
        synonyms=("outcome", "outcomes", "closed trade", "closed trades"),
        see=("walkforward", "win-rate"),
    ),
    Term(
        key="win-rate",
        title="win rate",
        short="The win rate is the share of closed positions that gained.",
        text="The win rate is the share of closed positions that gained, from 0 to 1. It says nothing of how much "
        "they gained or lost.",
        synonyms=("win rate", "winrate", "wins"),
        see=("outcome", "sharpe"),
    ),
    Term(
        key="sharpe",
        title="Sharpe ratio",
        short="The Sharpe ratio is the mean return divided by how widely returns scatter, as a yearly figure.",
        text="The Sharpe ratio is the mean of daily returns divided by their standard deviation, annualised over "
        "365 days, here after costs and funding. It is null under 30 test days.",
        synonyms=("sharpe", "sharpe ratio"),
        see=("deflated-sharpe", "walkforward"),
    ),
    Term(
        key="deflated-sharpe",
        title="deflated Sharpe ratio",
        short="The deflated Sharpe ratio is the probability that a result is more than the best of all trials by "
        "luck.",
        text="The deflated Sharpe ratio (Bailey and López de Prado, 2014) is the probability, 0 to 1, that the "
        "Sharpe ratio is above what the best of all trials would show by luck alone. The probabilistic one asks "
        "only whether it is above zero.",
        synonyms=("deflated sharpe", "deflated sharpe ratio", "dsr", "probabilistic sharpe", "trials"),
        see=("sharpe",),
    ),
    Term(
        key="drawdown",
        title="drawdown",
        short="A drawdown is how far a value has fallen from its highest point before.",
        text="The maximum drawdown is the largest fall of the capital from a high to a later low, in percent.",
        synonyms=("drawdown", "max drawdown", "maximum drawdown"),
        see=("sharpe",),
    ),
    Term(
        key="exposure",
        title="exposure",
        short="Exposure is the share of the capital that was invested.",
        text="Exposure is the mean share of the capital that was in positions, long or short.",
        synonyms=("exposure",),
        see=("walkforward",),
    ),
)  # fmt: skip
