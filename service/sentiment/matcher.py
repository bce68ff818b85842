"""Which coins and categories a text is about. Pure: known coins in, places in a text out.

How sure one has to be depends on what the name means besides the coin:

- `$TICKER`, a pair (`LINK/USDT`, `LINK-PERP`), or `Name (TICKER)` always counts.
- A price verb after a name or a ticker, with a percentage in the text, always counts ("Optimism surges 13%").
- A ticker in capitals counts where the rest of the text is not in capitals too. One that is an English word (`NEAR`,
  `LINK`, `ONE`) counts only with the coin's name in the same text or a token's word beside it ("ONE token", "NEAR
  holders", "LINK jumps"); an acronym (`AI`, `IP`, `ID`) only with the name, a single letter with that or "token".
- A name counts in any case, or with a capital where it is an English word, and then only where the next word is a
  coin's ("Optimism Foundation"), or the text talks of crypto and the word is not a common one ("Avalanche jumps").
- `kPEPE`, `KPEPE` and `1000PEPE` are tickers of a thousand `PEPE` where the venue trades it so.
- Of names that overlap the longest counts: "Bitcoin Cash" is not Bitcoin, "Ethereum Classic" not Ethereum, whether
  those are listed or not.
- A name that two coins share is neither's, unless it is the whole title of one of them alone.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from service.sentiment.names import ACRONYMS, ALIASES, CAPITAL, COMMON, MOVES, NOUNS, OTHERS, TAILS, TOPICS, WORDS

LONGEST: Final = 4_000
"""Characters that are read of a text."""

_TOKEN: Final = re.compile(r"[$#]?[A-Za-z0-9](?:[A-Za-z0-9.]*[A-Za-z0-9])?(?:['\u2019][sS]\b)?")
_POSSESSIVE: Final = re.compile(r"['\u2019][sS]\Z")
_ITS: Final = frozenset({"token", "coin"})
_CUES: Final = re.compile(
    r"\b(?:crypto|cryptocurrency|token(?:s|ized|holders)?|coins?|blockchain|altcoins?|bitcoin|ether|ethereum|defi|staking|"
    r"validators?|on-chain|layer-[12]|mainnet|dex|stablecoins?|airdrop|memecoins?|tvl|traders|unlock|dao|wallets?|exploit|"
    r"funding|perps?|longs|shorts|liquidat(?:ed|ions))\b",
    re.IGNORECASE,
)
_PERCENT: Final = re.compile(r"\d ?(?:%|percent\b)")
_PAIR: Final = re.compile(r"[/-]?(?:USD[TC]?|PERP)\Z")
_PAIRED: Final = re.compile(r"[/-](?:USD[TC]?|BTC|ETH|PERP)\b")
_SHORT_TICKER: Final = 3
_PLAIN: Final = frozenset({"effect", "effects", "of"})
"""What follows a plain word, capital or not: "Ripple effects", "Avalanche of liquidations"."""

_NOBODY: Final = ""


class Known(NamedTuple):
    """A coin that may be meant: canonical ticker, title ("Chainlink"), and how many of it the venue trades as one."""

    symbol: str
    title: str
    units: int = 1


class Mention(NamedTuple):
    """One place where a coin is named: characters from `start` to before `end`."""

    symbol: str
    start: int
    end: int


class Attribution(Struct, frozen=True):
    """What a text is about: coins in order of first mention, categories it names itself, and where coins are named."""

    coins: tuple[str, ...]
    categories: tuple[str, ...]
    mentions: tuple[Mention, ...]


class _Name(NamedTuple):
    """A name: `wordy` is an English word, `common` one of the commonest, `capital` needs a capital in its last word."""

    symbol: str
    wordy: bool
    common: bool
    capital: bool


class _Token(NamedTuple):
    """A word of the text; `bare` is it without `$`, `'s` and the quote of a pair, `word` that in lower case."""

    text: str
    bare: str
    word: str
    start: int
    end: int


class _Text(NamedTuple):
    """What is read: `cued` talks of crypto, `measured` names a percentage, `shouted` is in capitals as a whole."""

    text: str
    tokens: Sequence[_Token]
    cued: bool
    measured: bool
    shouted: bool

    def after(self, at: int) -> str:
        """The word that follows the token before `at`, in lower case."""
        return self.tokens[at].word if at < len(self.tokens) else ""

    def is_bracketed(self, token: _Token) -> bool:
        """Whether a bracket opens right before a token."""
        return self.text[token.start - 1 : token.start] == "("


class Matcher:
    """Finds known coins and categories in texts.

    Args:
        known: All coins that may be meant.
        categories: Names of categories, as they are asked for.
    """

    def __init__(self, known: Iterable[Known], categories: Iterable[str] = ()) -> None:
        coins = list(known)
        self._tickers = {coin.symbol: coin.symbol for coin in coins}
        for coin in coins:
            for ticker in _lots(coin):
                self._tickers.setdefault(ticker, coin.symbol)
        self._names = _book(coins)
        self._longest = max(map(len, self._names))
        self._topics = [(category, _any_of(topics)) for category in categories if (topics := _topics(category))]

    def read(self, text: str) -> Attribution:
        """Find what a text is about; its first 4,000 characters are read.

        Returns:
            Coins, categories and mentions; all empty where none is known to be meant.
        """
        read = _read(text[:LONGEST])
        named = list(self._named(read))
        symbols = {mention.symbol for mention in named}
        taken = {at for mention in named for at in range(mention.start, mention.end)}
        ticked = [mention for mention in self._ticked(read, symbols) if mention.start not in taken]
        mentions = sorted([*named, *ticked], key=lambda mention: mention.start)
        lowered = read.text.lower()
        return Attribution(
            coins=tuple(dict.fromkeys(mention.symbol for mention in mentions)),
            categories=tuple(category for category, topics in self._topics if topics.search(lowered)),
            mentions=tuple(mentions),
        )

    def _named(self, read: _Text) -> Iterator[Mention]:
        at, tokens = 0, read.tokens
        # After a `$` stands a ticker, whatever else it spells.
        words = ["" if token.text[0] == "$" and token.bare.upper() in self._tickers else token.word for token in tokens]
        standing = self._standing(read)
        while at < len(tokens):
            size, name = self._longest_name(words, at)
            if name is not None and name.symbol == _NOBODY:
                at += size
            elif name is not None and _is_meant(name, read, at + size, standing.get(name.symbol, set()) - {at}):
                yield Mention(name.symbol, tokens[at].start, tokens[at + size - 1].end)
                at += size
            else:
                at += 1

    def _longest_name(self, words: Sequence[str], at: int) -> tuple[int, _Name | None]:
        for size in range(min(self._longest, len(words) - at), 0, -1):
            name = self._names.get(tuple(words[at : at + size]))
            if name is not None:
                return size, name
        return 0, None

    def _standing(self, read: _Text) -> dict[str, set[int]]:
        """Coins whose own ticker stands in capitals, and at which tokens."""
        standing: dict[str, set[int]] = {}
        for at, token in enumerate(read.tokens):
            symbol = self._tickers.get(token.bare)
            if symbol is not None and (len(token.bare) > 1 or token.text[0] == "$" or read.is_bracketed(token)):
                standing.setdefault(symbol, set()).add(at)
        return standing

    def _ticked(self, read: _Text, symbols: set[str]) -> Iterator[Mention]:
        for at, token in enumerate(read.tokens):
            symbol = self._tickers.get(token.bare.upper() if token.text[0] == "$" else token.bare)
            if symbol is not None and _is_ticker(token, read, read.after(at + 1), is_named=symbol in symbols):
                yield Mention(symbol, token.start, token.end)


def _is_meant(name: _Name, read: _Text, end: int, standing: Collection[int]) -> bool:
    """Whether the words that spell a name mean the coin; `standing`: where its ticker is besides."""
    after = read.after(end)
    if name.capital and (read.tokens[end - 1].bare.islower() or after in _PLAIN):
        return False
    if not name.wordy or after in NOUNS or standing:
        return True
    moves = after in MOVES
    return (moves and read.measured) or (not name.common and (read.cued or moves))


def _is_ticker(token: _Token, read: _Text, after: str, *, is_named: bool) -> bool:
    """Whether the letters of a ticker mean the coin."""
    if token.text[0] == "$" or _PAIRED.match(read.text, token.end) or _PAIR.search(token.text):
        return True
    if read.shouted or is_named:
        return is_named and (not read.shouted or read.is_bracketed(token))
    moves = after in MOVES
    if moves and read.measured:
        return True
    if len(token.bare) == 1 or token.word in ACRONYMS:
        return after in _ITS and len(token.bare) == 1
    return token.word not in WORDS or moves or after in NOUNS


def _read(text: str) -> _Text:
    return _Text(
        text,
        [_token(found) for found in _TOKEN.finditer(text)],
        cued=_CUES.search(text) is not None,
        measured=_PERCENT.search(text) is not None,
        shouted=_is_shouted(text),
    )


def _token(found: re.Match[str]) -> _Token:
    text = found[0]
    bare = _POSSESSIVE.sub("", text.lstrip("$#"))
    bare = _PAIR.sub("", bare) or bare
    return _Token(text, bare, bare.lower(), found.start(), found.end())


def _lots(coin: Known) -> Iterator[str]:
    """Venues' tickers of many of a coin. Three letters after a capital K may be another coin: KAVA, KAIA."""
    if coin.units > 1:
        yield from (f"k{coin.symbol}", f"{coin.units}{coin.symbol}")
        if len(coin.symbol) > _SHORT_TICKER:
            yield f"K{coin.symbol}"


def _book(coins: Sequence[Known]) -> dict[tuple[str, ...], _Name]:
    """All names, by their words; those of coins called after another stand for no coin unless they are listed."""
    owners: dict[str, dict[str, Known]] = {}
    for coin in coins:
        for name in _names(coin):
            owners.setdefault(name, {})[coin.symbol] = coin
    book = {tuple(name.split()): _Name(_NOBODY, wordy=False, common=False, capital=False) for name in OTHERS}
    for name, found in owners.items():
        owned = [coin for coin in found.values() if _title(coin) == name] if len(found) > 1 else [*found.values()]
        if len(owned) == 1:
            book[tuple(name.split())] = _named_so(name, owned[0])
    return book


def _named_so(name: str, coin: Known) -> _Name:
    words = name.split()
    wordy = len(words) == 1 and (name in WORDS or name in ACRONYMS)
    own = name == coin.title.lower() == coin.symbol.lower()
    return _Name(coin.symbol, wordy, name in COMMON, own or words[-1] in WORDS | ACRONYMS | CAPITAL)


def _title(coin: Known) -> str:
    return " ".join(_token(found).word for found in _TOKEN.finditer(coin.title))


def _names(coin: Known) -> Iterator[str]:
    """The names of a coin, lower case: its title, that without its last word, and its aliases."""
    title = _title(coin)
    if title and coin.title != coin.symbol:
        yield title
        first, _, last = title.rpartition(" ")
        if last in TAILS and first:
            yield first
    yield from ALIASES.get(coin.symbol, ())


def _topics(category: str) -> frozenset[str]:
    """The words that texts have for a category: its name where that is more than a plain word, and those of TOPICS."""
    plain = category.lower().partition("(")[0].strip()
    own = {plain} if " " in plain else set()
    return frozenset(own.union(*(topics for beginning, topics in TOPICS.items() if plain.startswith(beginning))))


def _any_of(topics: Iterable[str]) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, sorted(topics, key=len, reverse=True))) + r")(?!\w)")


def _is_shouted(text: str) -> bool:
    """Whether a text is written in capitals as a whole, so that they mean nothing."""
    letters = [letter for letter in text if letter.isalpha()]
    upper = sum(map(str.isupper, letters))
    return upper > 0.7 * len(letters) and len(letters) > 12  # noqa: PLR2004
