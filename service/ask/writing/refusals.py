"""Why a question is not answered with figures: one to three honest sentences, and what to ask instead."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from service.ask.draft import Draft, Piece, joined, listed
from service.ask.figures import said
from service.ask.intents.followed import NOT_FOLLOWED
from service.ask.numerals import scan
from service.ask.writing.assignment import Assignment
from service.ask.writing.languages import sentences
from service.wire.ask import Classification, Entities, Intent

_LONGEST_NAME: Final = 40
_MOST_NAMES: Final = 5

_EXAMPLES: Final[Mapping[Intent, tuple[str, str]]] = MappingProxyType(
    {
        "price": ("price of ", ""),
        "verdict": ("verdict on ", ""),
        "trend": ("trend of ", ""),
        "funding": ("funding on ", ""),
        "carry": ("what would a long on ", " cost for a day"),
        "sentiment": ("mood on ", ""),
        "correlation": ("how correlated is ", " with ETH"),
        "comparison": ("compare ", " with ETH"),
        "regime": ("regime history of ", ""),
        "alerts": ("funding alerts on ", ""),
        "history": ("how much did ", " move this week"),
        "wallets": ("who moved ", ""),
        "transcripts": ("what do podcasts say about ", ""),
        "track-record": ("hit rate of ", " verdicts"),
        "convert": ("how much is one ", " in dollars"),
    }
)
"""What to write around a coin, by what was asked about."""

_OTHER_EXAMPLES: Final[Mapping[Intent, str]] = MappingProxyType(
    {
        "ranking": "top gainers",
        "category": "how are meme coins doing",
        "category-sentiment": "mood of meme coins",
        "rwa": "gold price",
        "rwa-list": "list the metals",
        "walkforward": "backtest results",
        "definition": "what is funding",
    }
)
"""What to write where it is about no coin."""

_OVERVIEW: Final = ("how is ", " doing")
_USUAL: Final = "BTC"


def write(assignment: Assignment, draft: Draft) -> None:
    """Say why the question is not answered, and what to ask instead; no figure is in it."""
    asked = assignment.classification
    match asked.refusal or asked.intent:
        case "language":
            for sentence in sentences(asked.language):
                draft.say(sentence)
        case "unknown-symbol":
            _unknown(asked, draft)
        case "ambiguous":
            _ambiguous(asked, draft)
        case "forecast":
            _forecast(asked, draft)
        case "out-of-scope":
            draft.say(
                "That is not something I answer, or not in words that I know. I look up market data on crypto and "
                "real-world assets and say what published rules make of it; I do not trade, advise, or act for "
                "anybody. Try ",
                *_quoted(*_around(_OVERVIEW, asked)),
                " or “market regime”.",
            )
        case _:
            _not_available(asked, draft)


def unknown_names(entities: Entities) -> Sequence[Piece]:
    """Say what was named and is not known here, and what may have been meant; nothing where all is known."""
    return joined([_unknown_name(name, entities) for name in entities.unknown[:_MOST_NAMES]], " ")


def _unknown(asked: Classification, draft: Draft) -> None:
    entities = asked.entities
    draft.say(*unknown_names(entities))
    if not any(entities.candidates.get(name) for name in entities.unknown):
        draft.say("There is nothing I can say of it without making it up. What I can answer: ", *_example(asked), ".")


def _unknown_name(name: str, entities: Entities) -> Piece:
    written, candidates = said(_shorten(name)), entities.candidates.get(name, ())
    told: list[Piece] = ["I know no coin, asset or category called ", written, "."]
    if candidates:
        told += [" Did you mean ", _any_of(candidates), "?"]
    thousands = f"K{name.upper()}"
    if thousands in candidates:
        told += [" ", said(thousands), " is quoted by the kilo: its price is of a whole lot, not of one ", written, "."]
    return tuple(told)


def _ambiguous(asked: Classification, draft: Draft) -> None:
    unclear = [(name, found) for name, found in asked.entities.candidates.items() if found][:_MOST_NAMES]
    if not unclear:
        draft.say("Which coin, asset or category do you mean? Name it, for example: ", *_example(asked), ".")
    for name, found in unclear:
        draft.say(said(_shorten(name)), " may be ", _any_of(found), ": which do you mean?")


def _forecast(asked: Classification, draft: Draft) -> None:
    coins = asked.entities.coins
    draft.say(
        "I do not forecast prices: any figure",
        *((" for ", _ticker(coins[0])) if coins else ()),
        " to come would be made up. What I can give is what is known now: ask ",
        *_quoted(*_around(("verdict on ", ""), asked)),
        " for what the rules read in it and what would flip it, or ",
        *_quoted(*_around(("hit rate of ", " verdicts"), asked)),
        " for how such verdicts turned out.",
    )


def _not_available(asked: Classification, draft: Draft) -> None:
    coins = asked.entities.coins
    if asked.intent == "wallets" and coins and asked.entities.action != NOT_FOLLOWED:
        draft.say(
            "I follow wallets on one chain, and know no token of ",
            listed([_ticker(coin) for coin in coins[:_MOST_NAMES]]),
            " there: what moves of it I cannot say. Ask “what are whales doing” for what moves there.",
        )
    elif asked.intent == "wallets":
        draft.say(
            "I follow what moves in and out of the wallets of a list. What anybody holds, what goes to whole "
            "exchanges, and what people and firms do that are not on that list, I cannot say. Ask “which wallets do "
            "you follow” or “what are whales doing”.",
        )
    else:
        draft.say("I do not have that. Ask “help” for what I can look up, or ", *_example(asked), ".")


def _example(asked: Classification) -> Sequence[Piece]:
    other = _OTHER_EXAMPLES.get(asked.intent)
    return _quoted(other) if other else _quoted(*_around(_EXAMPLES.get(asked.intent, _OVERVIEW), asked))


def _around(words: tuple[str, str], asked: Classification) -> Sequence[Piece]:
    coins = asked.entities.coins
    return words[0], _ticker(coins[0]) if coins else _USUAL, words[1]


def _ticker(coin: str) -> Piece:
    """A ticker as one writes it; one that counts (`ONE`, `XYZ100`) stands apart, lest it be read as a figure."""
    return said(coin) if scan(coin) else coin


def _quoted(*pieces: Piece) -> Sequence[Piece]:
    return "“", *pieces, "”"


def _any_of(names: Sequence[str]) -> Piece:
    first = [said(name) for name in names[:_MOST_NAMES]]
    return (*joined(first[:-1]), " or " if len(first) > 1 else "", first[-1])


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME].rstrip()}…"
