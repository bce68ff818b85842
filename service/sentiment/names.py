"""What names mean besides coins: tickers and titles that are English words, and other names coins go by."""

from collections.abc import Mapping
from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ACRONYMS: Final = _set(
    """
    ai aml apr apy ar ath atl ceo cex cfo cftc cpi cto dao defi dex doj etf eu fbi fed fomc gdp id imf io ip irs
    kyc nft roi sec tv tvl uk un us usa vr
    """
)
"""Written in capitals whatever they mean: a ticker among them is only ever counted with its name or a `$`."""

WORDS: Final = _set(
    """
    ace act agent ages aim air alien all alpha alt amp ant any apt arc arch arena ark art at atom aura aurora
    avail avalanche axe baby badger ban banana band bank base bat be beam bear beat berry big bio bird bit blast
    block blue blur bold bond bone book boom box brett bull burger by cake can cap car cat cats celo chain chess
    chia clean cloud coin compound core cosmos cow cream creator cult curve cyber cycle dash data dawn dego dent
    dog dogs dream dusk dust eclipse edge egg ego elf energy epic era ethereal eve ever fair fight fine fire fit
    flash flow flux for forth frame free front fun gala game gas genius gift glitch go goat gold good grand
    graph grass green grin gun hard harmony hash hat high hive home hook hop horizon hot hype ice idea if
    immutable in initial ink is it jasmine joe jupiter just keep kernel key king kite layer led leo less life
    lift like lime link lit local lock loom lot luna magic major maker man mantle mantra map mark mars mask
    maverick me melania meme memecoin mercury metal min mind mine mint mode moon more most mother move movement my near
    neon neptune new next nil no not now oak of official om on one only ooh open optimism or orbit orca orders
    origin our out oxen pack paper peace pearl people pepper perp pi pixel play plume pluto point polygon popcat
    portal power prime prom pump quick rad rare raw ray real red ren render rep request resolve ride ring rock
    rose rune safe saga sage sand sandbox saturn self sentinel set ship show side sign silver sky slim smile
    snap so solar sonic space spell stable stacks stage star stargate stars steem stellar step stone storm story
    sun super swap swarm sweat sync syrup taiko tap team theta threshold time to token tower trade trump trust
    turbo turtle two uni up us usual vanilla velvet venice venus verge vine virtual wave waves we wen win wing
    woo world worm wormhole yield you zen zero zeta zone
    """
)
"""Lower case. A ticker or title among them counts only where the text shows that the coin is meant."""

CAPITAL: Final = frozenset({"ripple"})
"""Names that are no coin's without their capital, and need no more than it."""

COMMON: Final = _set(
    """
    act all any art base beam big block blue bold bond book boom box can chain clean cloud coin compound core
    curve data dream edge energy era ever fair fight fine fire fit flash flow for free front fun game gas gift
    go gold good graph grass green hard harmony hash high home hot hype ice idea if in is it just keep key layer
    life like link local lock lot magic major maker man mark mask me meme memecoin metal mind mine mint mode moon more
    most mother move movement my near new next no not now of official on one only open optimism or our out pack
    paper peace people play point portal power prime pump quick rare raw real red render request ride ring rock
    rose safe sandbox self set ship show side sign silver sky so space stable stacks stage star stars step stone
    storm story sun super swap team threshold time to token tower trade trust turbo two up us usual virtual wave
    we win world yield you zero zone
    """
)
"""Of these, the words so common that a price verb after them proves nothing: "Optimism surges", "Gas rises"."""

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "BTC": ("btc", "xbt"),
    "ETH": ("ether", "eth"),
    "XRP": ("xrp", "xrp ledger", "ripple"),
    "BNB": ("bnb", "bnb chain", "binance coin", "binance smart chain"),
    "DOGE": ("doge",),
    "SOL": ("sol",),
    "TON": ("toncoin", "the open network"),
    "MKR": ("maker", "makerdao"),
    "SHIB": ("shib", "shiba inu"),
    "LUNC": ("lunc", "terra classic", "luna classic"),
    "WIF": ("dogwifhat",),
    "ATOM": ("cosmos hub", "cosmos"),
    "POL": ("polygon",),
    "FET": ("fetch.ai", "artificial superintelligence alliance"),
    "ZRO": ("layerzero",),
    "STRK": ("starknet",),
    "ENA": ("ethena", "usde"),
    "MATIC": ("polygon",),
    "HYPE": ("hyperliquid",),
}
"""Symbol → other names, lower case, beside its title. No price of a stablecoin is meant by its issuer's token."""

OTHERS: Final = frozenset(
    {
        "bitcoin cash", "bitcoin sv", "bitcoin gold", "bitcoin diamond", "baby doge", "ethereum classic",
        "ethereum name service", "ethereum pow", "terra classic", "luna classic", "usd coin",
    }
)  # fmt: skip
"""Coins that are called after another: where they are not listed themselves, their names stand for no coin."""

TAILS: Final = frozenset({"dao", "protocol", "network", "token", "finance", "coin", "chain", "labs", "hub"})
"""Last words of a title that writers leave out: "Lido DAO" is "Lido"."""

TOPICS: Final[Mapping[str, tuple[str, ...]]] = {
    "meme": ("meme coin", "meme coins", "memecoin", "memecoins", "meme token", "meme tokens", "meme rally"),
    "artificial intelligence": ("ai token", "ai tokens", "ai coin", "ai coins", "ai agents"),
    "decentralized finance": ("defi",),
    "defi": ("defi",),
    "decentralized exchange": ("dex", "dexs", "dexes", "decentralized exchanges"),
    "layer 1": ("layer-1", "layer 1", "l1", "layer-1s"),
    "layer 2": ("layer-2", "layer 2", "l2", "l2s", "rollup", "rollups", "superchain"),
    "real world assets": ("rwa", "tokenized assets", "tokenized treasuries", "tokenized fund", "tokenized funds"),
    "oracle": (
        "oracles", "price oracle", "oracle network", "oracle networks", "oracle provider", "oracle providers",
        "oracle token", "oracle tokens", "oracle manipulation",
    ),
    "privacy": ("privacy coin", "privacy coins"),
    "gaming": ("gamefi", "game tokens", "gaming tokens", "gaming token"),
    "liquid staking": ("liquid staking",),
    "restaking": ("restaking",),
    "nft": ("nft", "nfts"),
    "stablecoin": ("stablecoin", "stablecoins"),
    "exchange": ("exchange token", "exchange tokens"),
    "storage": ("decentralized storage",),
    "lending": ("defi lender", "defi lenders", "defi lending"),
    "depin": ("depin",),
}  # fmt: skip
"""What a category is about (the beginning of its name, lower case) → the words texts have for it."""

NOUNS: Final = _set(
    """
    airdrop blockchain bridge chain coin coins dao delegates developers ecosystem finance foundation founder
    futures governance holder holders labs mainnet network perp perpetual perpetuals perps pools price protocol
    stack stakers staking subnet subnets team testnet token tokens treasury unlock validator validators vault
    wallet whales
    """
)
"""What follows the name of a coin, and hardly ever the plain word."""

MOVES: Final = _set(
    """
    advances bounces breaks climbed climbs crashed crashes dips dives down dropped drops extends fall falls fell gain
    gained gains hits jump jumped jumps leads loses outperforms plunged plunges pops price rallied rallies
    rebounded rebounds recovers rise rises rose sank sheds sinks slid slides slipped slips slumped slumps soared
    soars surged surges tops trades tumbled tumbles up
    """
)
"""What prices do."""
