"""What a call costs and how it is paid for; and words of crypto that people ask about."""

from typing import Final

from service.access.quota import PER_DAY, STARTER
from service.ask.vocabulary.term import Term
from service.units import usdc
from service.wire.offers import DATA_CALL, DEAR_CALL

TERMS: Final = (
    Term(
        key="question",
        title="question",
        short="A question is a counted call: every answer that comes from a priced route uses one up.",
        text=f"Every call of a priced route counts as one question. The free plan has {STARTER} to start with, "
        f"then {PER_DAY['free']} a day, reset at 00:00 UTC. Refusals, definitions and what concerns your own "
        "account cost nothing.",
        synonyms=("question", "questions", "quota", "free plan", "allowance", "free tier"),
        see=("x402", "tier"),
    ),
    Term(
        key="tier",
        title="tier",
        short="The tier of a credential says how many questions a day it may ask.",
        text=f"The tier of a credential says how many questions it has: free {STARTER} to start and then "
        f"{PER_DAY['free']} a day, access {PER_DAY['access']} a day, pro without a limit.",
        synonyms=("tier", "tiers", "plan", "plans", "access tier", "pro tier", "entitlement"),
        see=("question",),
    ),
    Term(
        key="x402",
        title="x402",
        short="Such a call is paid for by itself: the answer to a spent quota says what to sign.",
        text="x402 is payment over HTTP: once the quota is spent a priced route answers 402 with a challenge, and "
        f"the call is repeated with a signed payment of USDC: {usdc(DATA_CALL)} for a data call, {usdc(DEAR_CALL)} "
        "for a question in plain words or walk-forward records.",
        synonyms=("x402", "402", "pay per call", "payment required", "usdc payment"),
        see=("question", "receipt"),
    ),
    Term(
        key="receipt",
        title="receipt",
        short="A receipt is a signed statement of what a payment bought.",
        text="A receipt is a signed statement of what a payment bought: amount, payer, route, and the digest of "
        "the answer. Its signer's address stands in the manifest.",
        synonyms=("receipt", "receipts"),
        see=("x402",),
    ),
    Term(
        key="manifest",
        title="manifest",
        short="The manifest is the public list of priced routes.",
        text="The manifest is the public list of priced routes with their price, parameters and refresh interval. "
        "It needs no token and never counts.",
        synonyms=("manifest", "price list"),
        see=("x402", "question"),
    ),
    Term(
        key="stablecoin",
        title="stablecoin",
        short="A stablecoin is a token that is meant to be worth as much as a currency, mostly the US dollar.",
        text="A stablecoin is a token that is meant to hold the value of a currency, mostly the US dollar, such "
        "as USDC or USDT.",
        synonyms=("stablecoin", "stablecoins", "stable coin"),
        see=("x402",),
    ),
    Term(
        key="defi",
        title="DeFi",
        short="DeFi is finance by programs on a blockchain: lending, exchanges and derivatives without an "
        "intermediary.",
        text="DeFi (decentralised finance) is lending, exchanges and derivatives run by programs on a blockchain.",
        synonyms=("decentralised finance", "decentralized finance"),
        see=("category",),
    ),
    Term(
        key="layer-1",
        title="layer 1",
        short="A base-layer chain settles its own transactions, such as Bitcoin or Ethereum.",
        text="A layer 1 is a blockchain that settles its own transactions, such as Bitcoin, Ethereum or Solana.",
        synonyms=("layer 1", "layer-1", "l1"),
        see=("layer-2", "category"),
    ),
    Term(
        key="layer-2",
        title="layer 2",
        short="A scaling chain executes transactions apart and settles them on a base-layer chain.",
        text="A layer 2 executes transactions apart and settles them on a layer 1, mostly Ethereum.",
        synonyms=("layer 2", "layer-2", "l2", "rollup", "rollups"),
        see=("layer-1", "category"),
    ),
    Term(
        key="meme-coin",
        title="meme coin",
        short="A meme coin is a token that lives by attention alone.",
        text="A meme coin is a token that is named after a joke and lives by attention, such as DOGE.",
        synonyms=("meme coin", "memecoin", "meme coins", "memecoins"),
        see=("category",),
    ),
)  # fmt: skip
