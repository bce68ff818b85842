"""What questions name, written by hand: ticker, id or exact name; `?` before what is unknown here; several by `+`."""

import pytest

from service.ask.parser.names import NameIndex
from service.market.symbols import CoinDirectory, CoinListing
from service.units import Symbol
from tests.ask.lexical.reading import WALLET, candidates, named, recognise

NAMED = """
is blorp up -> ?blorp
NOT interested in btc -> BTC
file coin price -> FIL
world coin -> WLD
is it not coin ->
is btc near its high -> BTC
is near bullish -> NEAR
how's near doing -> NEAR
tell me about near -> NEAR
near -> NEAR
coins near all time high ->
near vs sol -> NEAR + SOL
what about near and link -> NEAR + LINK
eth, near and link prices -> ETH + NEAR + LINK
gas -> GAS
$gas -> GAS
gas funding -> GAS
price of gas -> GAS
what are gas fees like ->
natural gas trend -> xyz:NATGAS
natgas -> xyz:NATGAS
ONE price -> ONE
is one of them up ->
which one is better, btc or eth -> BTC + ETH
show me price of btc -> BTC
give me funding for btc -> BTC
is ME bullish -> ME
NOT funding -> NOT
verdict on $not -> NOT
why not btc -> BTC
is it a good idea to buy or not ->
btc or not -> BTC
eth or no -> ETH
S price -> S
what's S at -> S
what is the price of sonic -> S
sonic -> S
how is W doing -> W
can't i buy eth -> ETH
don t buy btc -> BTC
op price -> OP
what's the op on this ->
is op up -> OP
id funding -> ID
what is my id ->
ip trend -> IP
is IP up -> IP
story verdict -> IP
whats the story on btc -> BTC
story protocol -> IP
dot -> DOT
dot trend -> DOT
link -> LINK
can you link me to the docs ->
link is up today? -> LINK
optimism price -> OP
is there optimism in the market ->
what's the hype about ->
how is hype doing -> HYPE
should i buy hype -> HYPE
pump price -> PUMP
will sol pump -> SOL
is a pump coming ->
did eth dump -> ETH
what is pumping ->
pump.fun sentiment -> PUMP
trump coin -> TRUMP
trump price -> TRUMP
how is trump doing -> TRUMP
uni -> UNI
apt vs sui -> APT + SUI
apt or sui? -> APT + SUI
ton price -> TON
a ton of coins ->
sand trend -> SAND
the sandbox funding -> SAND
gala -> GALA
dash funding -> DASH
maker verdict -> MKR
makerdao -> MKR
render price -> RENDER
the graph price -> GRT
show me the graph ->
show me the graph of btc -> BTC
jupiter price -> JUP
stellar -> XLM
mantle price -> MNT
stacks verdict -> STX
wormhole -> W
curve price -> CRV
curve dao -> CRV
ace price -> ACE
etc price -> ETC
btc, eth, etc. -> BTC + ETH
ETC funding -> ETC
ethereum classic -> ETC
bitcoin cash vs litecoin -> BCH + LTC
zk price -> ZK
ar price -> AR
arweave -> AR
magic eden -> ME
threshold price -> T
what's the threshold for very hot ->
harmony price -> ONE
immutable -> IMX
memecoin -> Meme
meme price -> MEME
meme coins -> Meme
$MEME -> MEME
top memes -> Meme
memecoins mood -> Meme
dog coins -> Dog-Themed
ai coins -> Artificial Intelligence (AI)
ai agents -> AI Agents
ai agent tokens -> AI Agents
how's ai doing -> Artificial Intelligence (AI)
are you an ai ->
is this ai ->
l2s vs l1s -> Layer 2 (L2) + Layer 1 (L1)
layer-2 tokens -> Layer 2 (L2)
layer two coins -> Layer 2 (L2)
Layer 1 (L1) -> Layer 1 (L1)
defi mood -> Decentralized Finance (DeFi)
dex tokens -> Decentralized Exchange (DEX)
solana ecosystem -> Solana Ecosystem
coins in the solana ecosystem -> Solana Ecosystem
nft sector -> NFT
gaming tokens -> Gaming (GameFi)
gaming -> Gaming (GameFi)
privacy coins -> Privacy
what is your privacy policy ->
oracle coins -> Oracle
storage coins -> Storage
rwa tokens -> Real World Assets (RWA)
which real world assets do you have ->
liquid staking mood -> Liquid Staking
smart contract platforms -> Smart Contract Platform
proof of work coins -> Proof of Work (PoW)
exchange tokens -> Centralized Exchange (CEX) Token
perp dexes -> Perpetuals
perps funding ->
lending protocols -> Lending/Borrowing
metaverse -> Metaverse
stablecoins mood -> ?stablecoins
how are stablecoins doing -> ?stablecoins
sports tokens -> ?sports
zombie coins -> ?zombie
quantum sector -> ?quantum
all coins ->
top coins ->
which coins are up ->
list coins by volume ->
tether price -> ?tether
convert 100 usdt to btc -> BTC
kaspa -> ?kaspa
KAS funding -> ?KAS
price of blorpcoin -> ?blorpcoin
blorp price -> ?blorp
is blorp bullish -> ?blorp
should i buy glorbex -> ?glorbex
blorp -> ?blorp
eth vs blorp -> ETH + ?blorp
FOO -> ?FOO
what about FOO and BTC -> BTC + ?FOO
matic price -> ?matic
fantom -> ?fantom
polygon -> POL
MATIC -> ?MATIC
ilv -> ?ilv
shiba inu -> SHIB
SHIB and BONK -> SHIB + BONK
1000PEPE price -> PEPE
kPEPE funding -> PEPE
kshib -> SHIB
Pepe (KPEPE) -> PEPE
bonk mood -> BONK
BTC/USDT -> BTC
btc-usd -> BTC
btcusdt -> BTC
eth/btc -> ETH + BTC
sol-perp funding -> SOL
etherium -> ETH
etherum -> ETH
bitcon -> BTC
bit coin -> BTC
solanna -> SOL
cardona price -> ADA
dogecion -> DOGE
doge coin -> DOGE
ripple -> XRP
riple price -> XRP
avalance -> AVAX
chain link -> LINK
chainlnk -> LINK
polkadott -> DOT
litcoin -> LTC
hyperliqud -> HYPE
arbitum -> ARB
uniswp -> UNI
monerro -> XMR
filecoinn -> FIL
worldcion -> WLD
celestai -> TIA
injectve -> INJ
ether -> ETH
the merge coin -> ETH
digital gold -> BTC
corn price -> BTC
gold -> xyz:GOLD
gold and silver -> xyz:GOLD + xyz:SILVER
apple -> xyz:AAPL
aple stock -> xyz:AAPL
telsa -> xyz:TSLA
microsft -> xyz:MSFT
nvida -> xyz:NVDA
amazn -> xyz:AMZN
google stock -> xyz:GOOGL
meta -> xyz:META
coinbase -> xyz:COIN
COIN stock -> xyz:COIN
$COIN -> xyz:COIN
which coin is best ->
what coin should i buy ->
oil -> xyz:CL + xyz:BRENTOIL
wti -> xyz:CL
brent crude -> xyz:BRENTOIL
s&p 500 -> xyz:SP500
S&P -> xyz:SP500
sp500 -> xyz:SP500
spx -> xyz:SP500
nasdaq -> xyz:XYZ100
nikkei -> xyz:JP225
euro -> xyz:EUR
eur/usd -> xyz:EUR
eurusd -> xyz:EUR
usd/jpy -> xyz:JPY
yen -> xyz:JPY
microstrategy -> xyz:MSTR
which strategy works ->
trading strategies ->
hood -> xyz:HOOD
robinhood price -> xyz:HOOD
treasury bonds -> xyz:TLT
xyz:gold -> xyz:GOLD
netflix -> ?netflix
AMD stock -> ?AMD
palladium price -> ?palladium
walmart shares -> ?walmart
dow jones -> ?dow jones
vix -> ?vix
is the market up ->
how healthy is the market ->
hi ->
thanks ->
yo whats good ->
gm ->
who are you ->
what can you do ->
what is open interest ->
explain supertrend ->
what's a perp ->
funding alerts ->
what is my quota ->
help me ->
sup ->
thx ->
BTC vs. ETH vs. SOL -> BTC + ETH + SOL
btc+eth -> BTC + ETH
btc,eth,sol,doge,xrp -> BTC + ETH + SOL + DOGE + XRP
BTC's funding and ETH's -> BTC + ETH
bitcoin`s price -> BTC
#bitcoin -> BTC
what is NEAR PROTOCOL -> NEAR
WHAT IS NEAR DOING -> NEAR
WHAT ARE THE TOP GAINERS ->
NEAR PRICE -> NEAR
WHATS UP WITH LINK -> LINK
fetch ai -> FET
fetch me the price of btc -> BTC
lido -> LDO
space id -> ID
bittensor -> TAO
ordinals -> ORDI
eigenlayer -> EIGEN
toncoin -> TON
open interest of sol -> SOL
is sol going up or down -> SOL
price of tea -> ?tea
price of WAGMI -> ?WAGMI
how much is 5 xyzcoin -> ?xyzcoin
PRICE OF MOON ->
weather in Paris ->
capital of australia ->
who is vitalik ->
is crypto dead ->
when lambo ->
wen moon ->
should I trust you ->
is the trend my friend ->
what's trending up ->
how is a verdict made ->
dydx v gmx -> DYDX + ?gmx
PENGU or PUMP -> PENGU + PUMP
how much funding would i pay ->
compare sol, ada and atom -> SOL + ADA + ATOM
cosmos ecosystem -> Cosmos Ecosystem
atom -> ATOM
tell me everything about sei -> SEI
xmr/zec -> XMR + ZEC
wats algo at -> ALGO
whats the vibe on inj -> INJ
yo how tia lookin -> TIA
do you like ondo -> ONDO
fartcoin -> FARTCOIN
whats up with wif -> WIF
mood of the category meme -> Meme
The Graph please -> GRT
render overview -> RENDER
link 7d -> LINK
why did near drop yesterday -> NEAR
is optimism stronger than eth -> OP + ETH
the near trend -> NEAR
coins near 60k ->
is the market near its high ->
How is Story doing -> IP
value of 5 link somewhere -> LINK
is a top in optimism -> OP
correlation of nebulyte with bitcoin -> BTC + ?nebulyte
compare btc with blorp -> BTC + ?blorp
is btc close to near its high -> BTC
usdc price -> ?usdc
price of MOON -> ?MOON
what is 5 btc in usdc -> BTC
how has optimism performed since midnight -> OP
mkrs score and btcs trend -> MKR + BTC
links price -> LINK
send me links to the docs ->
mes and ids ->
how come link is only bull -> LINK
trend of optimism 7 days ago -> OP
ratio of optimism to btc -> OP + BTC
is btc trading near 60k -> BTC
near: 24h and 7d change -> NEAR
arb op strk zk, which is the strongest -> ARB + OP + STRK + ZK
arb op -> ARB
on which day in the last 60 did link hit its top -> LINK
pump since it got listed -> PUMP
whys near so weak -> NEAR
lowest link has been in two weeks -> LINK
exchange, oracle and lending tokens -> Centralized Exchange (CEX) Token + Oracle + Lending/Borrowing
both NFT and meme -> NFT + Meme
not a meme, not an L1 -> Meme + Layer 1 (L1)
category=="Meme" -> Meme
the trend of the coin called Vexorium -> ?Vexorium
last WETH transfer -> ETH
which meme coin is best -> Meme
outlook on hamster kombat -> ?hamster kombat
"""


def cases() -> list[tuple[str, str]]:
    return [
        (text.strip(), names.strip())
        for text, _, names in (line.rpartition("->") for line in NAMED.split("\n") if line)
    ]


@pytest.mark.parametrize(("text", "names"), cases(), ids=[text for text, _ in cases()])
def test_a_question_names_what_it_says_and_nothing_else(text: str, names: str) -> None:
    assert named(text) == names


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("funding on MATIC", ("POL",)),
        ("fantom price", ("S",)),
        ("price of $FARTCOINN", ("FARTCOIN",)),
        ("KAS funding", ("GAS",)),
        ("price of blorpcoin", ()),
        ("netflix stock price", ()),
    ],
)
def test_an_unknown_name_comes_with_what_may_be_meant_if_that_is_near(text: str, near: tuple[str, ...]) -> None:
    assert candidates(text) == near


def test_a_title_of_two_coins_is_unknown_and_both_may_be_meant() -> None:
    twins = NameIndex(
        CoinDirectory([CoinListing("AAA", Symbol("AAA"), "Twinny"), CoinListing("BBB", Symbol("BBB"), "Twinny")]),
        {},
        (),
    )
    assert named("twinny price", twins) == "?twinny"
    assert candidates("twinny price", twins) == ("AAA", "BBB")


@pytest.mark.parametrize("text", ["1000 milady", "k milady", "milady"])
def test_a_word_before_a_coin_is_never_joined_to_the_ticker_of_a_thousand(text: str) -> None:
    lots = NameIndex(CoinDirectory([CoinListing("kMILADY", Symbol("MILADY"))]), {}, ())
    found = [name for name in recognise(f"price of {text}", lots).names if name.kind == "coin"]
    assert [(name.value, name.end - name.start) for name in found] == [(("MILADY",), 1)]


def test_without_listings_no_coin_and_no_asset_is_named() -> None:
    empty = NameIndex(CoinDirectory(), {}, ())
    assert {name.kind for name in recognise("price of btc and gold", empty).names} <= {"unknown"}


def test_an_asset_that_shares_its_ticker_with_a_coin_leaves_it_to_the_coin() -> None:
    both = NameIndex(CoinDirectory([CoinListing("GOLD", Symbol("GOLD"), None)]), {"xyz:GOLD": "Gold"}, ())
    assert named("GOLD funding, xyz:GOLD funding", both) == "GOLD + xyz:GOLD"


def test_watched_wallets_are_named_by_label_and_address_and_shows_by_name() -> None:
    assert named("transfers of Halyard Exchange in eth") == f"ETH + {WALLET}"
    assert named(f"transfers of {WALLET}") == WALLET
    assert named("what was said on chain reaction about btc") == "BTC + chain-reaction"
