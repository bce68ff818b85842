"""What can be asked, by examples."""

from typing import Final

from service.ask.draft import Draft, bold
from service.ask.writing.assignment import Assignment

_EXAMPLES: Final = (
    ("A coin", "“how is SOL doing”, “funding on DOGE”, “weekly trend of BTC”, “mood on ETH”"),
    ("A verdict", "“bull or bear on ETH”, “why”, “what would flip it”, “hit rate of BTC verdicts”"),
    ("Several", "“ETH vs SOL”, “top gainers”, “most negative funding”, “least correlated with BTC”"),
    ("The market", "“risk on or off”, “how healthy is the market”, “when did breadth last cross”, “funding alerts”"),
    ("Categories", "“how are meme coins doing”, “mood in AI tokens”"),
    ("Stocks, metals and more", "“gold price”, “AAPL trend”, “which stocks do you have”"),
    ("What was", "“how much did ETH move this week”, “backtest results”, “open walk-forward positions”"),
    ("Wallets", "“what are whales doing”, “who moved LINK”, “which wallets do you follow”"),
    ("Podcasts and videos", "“what do podcasts say about SOL”, “podcasts on inflation”, “which shows do you follow”"),
    ("Words and costs", "“what is funding”, “how many questions do I have left”, “what does a question cost”"),
)


def write(assignment: Assignment, draft: Draft) -> None:
    """Name what can be looked up, with words that work."""
    draft.say(bold("Ask me what crypto and real-world markets are doing"), ", and what rules make of it. For example:")
    draft.items([(bold(what), ": ", examples) for what, examples in _EXAMPLES])
    if not assignment.style.terse:
        draft.say(
            "Every figure comes from a result that I name with its time; what is stale or not known I say. I give no "
            "forecasts and no advice, and I do not trade."
        )
