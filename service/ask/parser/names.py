"""Names that askers have for things beside their titles, and what they ask about that is not here."""

from collections.abc import Mapping
from typing import Final

from service.ask.parser.words import bag

SLANG: Final[Mapping[str, tuple[str, ...]]] = {
    "BTC": ("btc", "xbt", "bitcoins", "digital gold", "corn", "orange coin", "bit coin", "btcs", "king coin"),
    "ETH": ("eth", "ether", "ethers", "the merge coin", "merge coin", "vitaliks coin", "eths", "ethereums"),
    "SOL": ("sols", "solanas"),
    "XRP": ("ripple", "xrp ledger", "xrps"),
    "BNB": ("bnb chain", "binance coin", "binance smart chain", "binance chain"),
    "DOGE": ("doge", "dogecoins", "doges", "the doge", "doge coin", "original dog coin", "dog money"),
    "ADA": ("cardanos",),
    "AVAX": ("avax", "avalanche"),
    "LINK": ("chain link", "link marines"),
    "DOT": ("polka dot",),
    "LTC": ("lite coin", "digital silver", "litecoins"),
    "BCH": ("bcash", "bitcoin cash", "btc cash"),
    "NEAR": ("near protocol",),
    "HYPE": ("hyperliquid", "hyper liquid", "hype coin"),
    "TON": ("toncoin", "ton coin", "the open network", "telegram coin"),
    "TRX": ("tron",),
    "MKR": ("maker", "makerdao", "maker dao"),
    "LDO": ("lido",),
    "CRV": ("curve", "curve finance"),
    "UNI": ("uniswap",),
    "FET": ("fetch", "fetch.ai", "fetch ai", "asi", "artificial superintelligence alliance"),
    "RENDER": ("render network", "render token"),
    "WLD": ("world coin",),
    "TIA": ("celestia",),
    "WIF": ("dogwifhat", "dog wif hat", "dogwif"),
    "TRUMP": ("trump coin", "trumpcoin", "trump token", "trump meme", "trump memecoin"),
    "PENGU": ("pudgy", "pudgy penguins", "penguins coin"),
    "PUMP": ("pump.fun", "pump fun", "pumpfun"),
    "S": ("sonic labs",),
    "T": ("threshold",),
    "POL": ("polygon", "polygon ecosystem token"),
    "ATOM": ("cosmos", "cosmos hub"),
    "XMR": ("monero",),
    "ZK": ("zksync", "zk sync"),
    "ZRO": ("layerzero", "layer zero"),
    "STRK": ("starknet", "stark net"),
    "GRT": ("graph protocol", "graph token"),
    "ALGO": ("algo",),
    "HBAR": ("hedera hashgraph",),
    "EIGEN": ("eigenlayer", "eigen layer", "eigencloud"),
    "INJ": ("injective protocol",),
    "IP": ("story protocol",),
    "ORDI": ("ordinals",),
    "STX": ("stacks",),
    "ONDO": ("ondo finance",),
    "ETC": ("eth classic", "ether classic"),
    "KPEPE": ("pepe coin", "pepecoin"),
    "KSHIB": ("shib", "shiba", "shiba inu", "shib inu"),
    "KBONK": ("bonk inu", "bonk coin"),
    "KFLOKI": ("floki inu",),
    "KLUNC": ("lunc", "terra classic", "luna classic"),
}
"""Ticker → what people say for the coin, lower case. A name is used only while the coin is listed."""

ASSETS: Final[Mapping[str, tuple[str, ...]]] = {
    "AAPL": ("apple", "apple stock", "apple inc"),
    "TSLA": ("tesla", "tesla motors", "elons car company"),
    "NVDA": ("nvidia",),
    "MSFT": ("microsoft",),
    "AMZN": ("amazon",),
    "META": ("meta platforms", "facebook", "meta stock"),
    "GOOGL": ("alphabet", "google", "goog"),
    "COIN": ("coinbase", "coin stock", "coinbase stock"),
    "MSTR": ("strategy stock", "microstrategy", "micro strategy", "saylors company"),
    "HOOD": ("robinhood",),
    "EWY": ("korea etf", "south korea etf", "korean etf", "korean stocks", "south korea"),
    "SMH": ("semiconductor etf", "vaneck semiconductor", "chip etf", "semiconductors"),
    "TLT": ("treasury etf", "treasuries", "treasury bonds", "us treasuries", "long bonds", "20 year treasury"),
    "SP500": ("s&p", "s&p 500", "s&p500", "sp 500", "snp 500", "spx", "s and p", "s and p 500", "sp500", "us500"),
    "JP225": ("nikkei", "nikkei 225", "japanese index", "nikkei225"),
    "XYZ100": ("nasdaq", "nasdaq 100", "nasdaq100", "ndx", "xyz 100", "us100"),
    "GOLD": ("gold", "xau", "xauusd", "bullion", "yellow metal"),
    "SILVER": ("silver", "xag", "xagusd"),
    "PLATINUM": ("platinum", "xpt"),
    "COPPER": ("copper", "dr copper"),
    "CL": ("wti", "wti crude", "wti oil", "wti crude oil", "us oil", "usoil", "crude", "crude oil", "west texas"),
    "BRENTOIL": ("brent", "brent crude", "brent oil", "brent crude oil", "ukoil"),
    "NATGAS": ("natural gas", "natgas", "nat gas", "henry hub"),
    "EUR": ("euro", "eurusd", "euro dollar", "eur usd", "euros"),
    "JPY": ("yen", "usdjpy", "japanese yen", "usd jpy", "dollar yen"),
}
"""Ticker → what people say for the real-world asset, lower case. A name is used only while the asset is listed."""

OIL: Final = ("oil", "oil price")
"""What both crudes are called."""
CRUDES: Final = ("CL", "BRENTOIL")

TOPICS: Final[Mapping[str, tuple[str, ...]]] = {
    "solana ecosystem": ("solana",),
    "cosmos ecosystem": ("cosmos",),
    "bitcoin ecosystem": ("bitcoin",),
    "ton ecosystem": ("ton",),
    "layer 1": (
        "l1",
        "l1s",
        "layer 1",
        "layer 1s",
        "layer one",
        "layer ones",
        "layer1",
        "layer1s",
        "alt l1",
        "alt l1s",
    ),
    "layer 2": ("l2", "l2s", "layer 2", "layer 2s", "layer two", "layer twos", "layer2", "layer2s", "rollups"),
    "smart contract": ("smart contract platforms", "smart contracts", "smart contract chains"),
    "proof of work": ("pow", "proof of work", "mineable"),
    "infrastructure": ("infra",),
    "interoperability": ("interop", "cross chain", "crosschain"),
    "modular": ("modular", "modular blockchains"),
    "decentralized finance": ("defi", "decentralised finance", "de fi"),
    "decentralized exchange": ("dex", "dexes", "dexs", "decentralised exchange", "decentralised exchanges"),
    "perpetuals": ("perp dex", "perp dexes", "perps dex", "perp dexs", "perpetual dex"),
    "lending": ("lending", "borrowing", "lending protocols", "money markets", "lenders"),
    "liquid staking": ("liquid staking", "lst", "lsts"),
    "restaking": ("restaking",),
    "yield farming": ("yield farming", "yield"),
    "real world": ("rwa", "rwas", "tokenized assets", "tokenised assets", "real world asset"),
    "oracle": ("oracle", "oracles"),
    "artificial intelligence": ("ai", "a.i"),
    "ai agents": ("ai agents", "ai agent", "agents", "agent"),
    "depin": ("depin", "de pin"),
    "storage": ("storage", "decentralized storage"),
    "gaming": ("gaming", "gamefi", "game fi", "game", "games", "play to earn", "p2e"),
    "nft": ("nft", "nfts"),
    "metaverse": ("metaverse",),
    "meme": ("meme", "memes", "memecoin", "memecoins", "shitcoin", "shitcoins"),
    "dog": ("dog", "dogs", "doggy", "dog themed"),
    "politifi": ("politifi", "political", "politics", "politi fi"),
    "privacy": ("privacy",),
    "payment": ("payment", "payments"),
    "centralized exchange": ("cex", "exchange", "centralized exchange", "centralised exchange"),
    "identity": ("identity",),
    "socialfi": ("socialfi", "social fi", "social"),
    "launchpad": ("launchpads", "launchpad"),
    "solana ecosystem": ("solana ecosystem", "sol ecosystem"),
    "bitcoin ecosystem": ("bitcoin ecosystem", "btc ecosystem", "bitcoin l2", "bitcoin defi"),
    "cosmos ecosystem": ("cosmos ecosystem", "atom ecosystem"),
    "ton ecosystem": ("ton ecosystem", "telegram ecosystem"),
}
"""How a category's name begins, lower case → what people say for it."""

SURE_TOPICS: Final = frozenset(
    {
        "ai agents", "cex", "cross chain", "decentralised exchange", "decentralised exchanges", "decentralised finance",
        "defi", "depin", "dex", "dexes", "dexs", "game fi", "gamefi", "interop", "l1", "l1s", "l2", "l2s", "layer 1",
        "layer 1s", "layer one", "layer ones", "layer1", "layer1s", "layer 2", "layer 2s", "layer two", "layer twos",
        "layer2", "layer2s", "liquid staking", "lst", "lsts", "memecoin", "memecoins", "memes", "metaverse", "nft",
        "nfts", "perp dex", "perp dexes", "perp dexs", "perps dex", "play to earn", "politifi", "proof of work",
        "restaking", "rollups", "shitcoin", "shitcoins", "smart contract platforms", "socialfi", "tokenised assets",
        "tokenized assets", "yield farming", "launchpads", "oracles", "p2e", "alt l1s", "perpetual dex",
    }
)  # fmt: skip
"""Of these, the ones that mean the category wherever they stand; the others need a word beside them that says so."""

ABSENT_TOPICS: Final = frozenset(
    {
        "stablecoin", "stablecoins", "fan", "sports", "music", "insurance", "cat", "frog", "education", "tourism",
        "healthcare", "energy", "quantum", "zombie", "science", "desci", "art", "metal", "charity", "wallet", "bridge",
        "carbon", "green", "adult", "cannabis", "football", "travel", "real estate", "gambling", "betting",
        "prediction", "prediction market", "vr", "food", "weather",
        "space", "anime", "animal", "telegram", "base ecosystem",
        "avalanche ecosystem", "arbitrum ecosystem", "tron ecosystem", "bnb ecosystem", "ethereum ecosystem",
        "zero knowledge", "wrapped", "commodity backed", "murad", "elon", "parallelized evm", "account abstraction",
    }
)  # fmt: skip
"""What categories are called elsewhere: before "coins", "tokens" or "sector" they are named as one, and none here."""

FORMER: Final[Mapping[str, str]] = {
    "fantom": "S",
    "matic network": "POL",
    "polygon matic": "POL",
    "render old": "RENDER",
}
"""Names of coins whose holders were given another: what may be meant."""

_ELSEWHERE: Final = """
    usdc, usdt, stablecoins, tether, usd coin, dai, busd, tusd, fdusd, pyusd, frax, usde, kaspa, kas, vechain, vet,
    icp, internet computer, theta, eos, iota, tezos, xtz, qnt, okb, cronos, cro, luna, terra luna, lunc, terra
    classic, ust, ftt, safemoon, pi network, pi coin, picoin, monad, berachain, bera, mog, popcat, moodeng, ai16z,
    aixbt, kaito, jito, jto, raydium, gmx, snx, synthetix, sushi, sushiswap, 1inch, yfi, yearn, yearn.finance, lrc,
    loopring, basic attention token, zil, zilliqa, chz, chiliz, mana, decentraland, axs, axie infinity, axie, enj,
    enjin, rune, thorchain, kava, celo, mina, egld, elrond, multiversx, klay, xec, bittorrent, btt, holochain, wbtc,
    wrapped bitcoin, steth, bsv, bitcoin sv, bitcoin gold, bitcoin diamond, ethereum pow, ethw, baby doge, babydoge,
    ens, ethereum name service, quant network, nexo, nem, xem, waves coin, ravencoin, rvn, ontology, ont, qtum,
    lisk, siacoin, bat, arkham, arkm, ethfi, etherfi, blur coin, brett, turbo coin, worldcoin 2, hex coin,
    pulsechain, pls coin, spx6900, giga coin, gigachad, neiro, pnut, peanut the squirrel, chillguy, virtuals
    protocol, virtual protocol, melania, melania coin, libra coin, hawk tuah, trust wallet token, twt, pancakeswap,
    flare network, flr, casper, cspr, conflux, cfx, akash, akt, osmosis, osmo, juno, kusama, ksm, moonbeam, glmr,
    astar, astr, compound, terra, iotex, iotx, oasis, vaulta, squid game coin, floki 2, netflix, nflx, amd, intel,
    intc, palantir, pltr, gamestop, gme, amc, palladium, uranium, wheat, soybeans, soybean, coffee, cocoa, sugar
    futures, lumber, cotton, nickel, aluminum, aluminium, zinc, iron ore, lithium, dow jones, the dow, djia, dax,
    ftse, hang seng, russell 2000, vix, kospi, gbp, gbpusd, pound sterling, british pound, swiss franc, chf, yuan,
    cny, aud, cad, audusd, spy, qqq, berkshire, berkshire hathaway, jpmorgan, jp morgan, jpm, goldman sachs, disney,
    nike, uber, airbnb, alibaba, baba, toyota, samsung, tsmc, tsm, openai stock, spacex, spcx, boeing, ford stock,
    walmart, costco, mcdonalds, coca cola, pepsi, visa stock, mastercard, paypal, square stock, shopify, oracle
    stock, salesforce, adobe, ibm, broadcom, avgo, qualcomm, asml, arm stock, supermicro, smci, circle stock, crcl,
    rivian, lucid motors, marathon digital, riot platforms, exxon, chevron, lvmh, ferrari, volkswagen
    """
ABSENT: Final = frozenset(name.strip() for name in _ELSEWHERE.split(","))
"""Coins and assets that people ask about and that may not be here; what is listed is found before these are looked at.
Many are also no English words, so nobody means anything else by them."""

ACRONYMS: Final = bag(
    """
    adx aml api apr apy ath atl atr aum bc btw bps cagr ceo cfo cftc cpi csv dao dca dd dm dyor ecb ema eod eoy est etf
    etfs eu faq fbi fed fomc fomo fud fx fyi gdp gm gmt gn hodl hft ico ido imf imo ipo irs it json kyc lfg llm lmao lol
    macd ml mtd mvrv nav ngmi no nvt obv oi ok omg ohlc otc p2p pa pce pct pl pls plz pm pnl pow pos ppi qe q1 q2 q3 q4
    h1 h2 qt qtd rekt rfq roe roi rsi rwa sdk sec sl sma sql stfu tbh ta tf tia tldr tp tps tvl tx uk un us usa usd utc
    vol vwap wagmi wtf www yoy ytd
    """
)
"""Written in capitals and no ticker."""
