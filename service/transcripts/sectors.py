"""The words that people say for kinds of coins, beside those that headlines have (`sentiment.names.TOPICS`).

Published: this table is the rule, and `topics` says how it is read. A faint phrase counts where a coin is named, too.
"""

from collections.abc import Mapping
from typing import Final

from service.transcripts.topics import Topic

_KINDS: Final = "coin coins token tokens crypto chain chains blockchain blockchains web3 decentralized depin protocols"

SPOKEN: Final[Mapping[str, Topic]] = {
    "layer 1": Topic("layer one/ones, layer 1/1s, l1/l1s, alt l1/l1s"),
    "layer 2": Topic(
        said="""
            layer two/twos, layer 2/2s, l2/l2s, second layer/layers, superchain, rollup/rollups, roll ups,
            zk rollup/rollups
        """,
    ),
    "smart contract platform": Topic("smart contract platform/platforms/chain/chains"),
    "proof of work": Topic("proof of work, pow coin/coins/chain/chains"),
    "interoperability": Topic(
        said="interoperability, interop, cross chain, bridge hack/hacks/token/tokens, token bridge/bridges",
        faint="bridges",
        company=_KINDS,
    ),
    "modular blockchain": Topic(
        said="modular blockchain/blockchains/chain/chains/thesis/stack/world, data availability",
        faint="modular, modularity",
        company=_KINDS,
    ),
    "decentralized finance": Topic("defi lending/loans, defi, de fi, decentralized finance"),
    "decentralized exchange": Topic(
        said="dex/dexes/dexs, perp/perps dex/dexs/dexes, decentralized exchange/exchanges, amm/amms",
    ),
    "perpetuals": Topic(
        said="""
            perps, perp protocol/protocols/dex/dexs/dexes/exchange/exchanges/market/markets,
            perp volume/volumes/trader/traders/trading,
            perps dex/dexs/dexes, perpetuals, perpetual futures/swap/swaps/exchange/exchanges
        """,
    ),
    "lending/borrowing": Topic(
        said="""
            lending protocol/protocols/market/markets/platform/platforms, money market protocol/protocols, borrow lend,
            lending on chain, on chain lending/credit/loans, defi lending/loans, crypto lending/lender/lenders/loans
        """,
        faint="lending, money markets",
        company="defi protocols tokens",
    ),
    "liquid staking": Topic("liquid staking, liquid staked, LST, LSTs"),
    "restaking": Topic("restaking, re staking, restake/restaked, LRT, LRTs"),
    "yield farming": Topic(
        said="""
            yield farm/farms/farmed/farmer/farmers/farming, farming yield/yields, liquidity mining, food coins
        """,
    ),
    "real world assets": Topic(
        said="""
            rwa/rwas, treasuries/stocks/equities/bonds on-chain, real world asset/assets,
            tokenization, tokenisation, tokenized, tokenised, tokenize, tokenizing
        """,
    ),
    "oracle": Topic(
        said="oracles, price feed/feeds, oracle problem/network/networks/provider/providers/token/tokens",
        faint="oracle",
        company=_KINDS + " defi exploit exploits vault vaults protocol",
    ),
    "artificial intelligence": Topic(
        said="""
            ai coin/coins/token/tokens/crypto/sector/narrative, crypto ai, decentralized ai/compute/training
        """,
        faint="ai",
        company=_KINDS,
    ),
    "ai agents": Topic("ai agent/agents, agent token/tokens/coin/coins, agents on chain"),
    "depin": Topic("depin, de pin, physical infrastructure network/networks, decentralized wireless"),
    "storage": Topic("decentralized storage, storage network/networks/token/tokens/coin/coins"),
    "gaming": Topic(
        said="""
            gamefi, game fi, crypto/blockchain/web3/on-chain game/games/gaming, web 3 game/games/gaming, play to earn,
            gaming/game token/tokens/coin/coins
        """,
        faint="gaming, games, gamers, game studio/studios/developers/devs",
        company=_KINDS,
    ),
    "nft": Topic(
        said="""
            nft/nfts, n.f.t, non fungible, non fungible token/tokens, jpegs, profile picture/pictures project/projects,
            pfp/pfps
        """,
    ),
    "metaverse": Topic(
        said="metaverse land/coin/coins/token/tokens, virtual land",
        plain="metaverse",
        alien="zuckerberg zuck facebook meta quest headset apple",
    ),
    "meme": Topic(
        said="""
            meme coin/coins/token/tokens/season/sector/trade/stuff/casino/rally, memecoin/memecoins,
            meme coiner/coiners, frog/cat/celebrity coin/coins
        """,
        faint="meme, memes",
        company="coins tokens doge dogecoin shiba shib pepe bonk wif dogwifhat floki fartcoin solana pump",
    ),
    "dog-themed": Topic("dog coin/coins/token/tokens, dog themed"),
    "politifi": Topic(
        said="""
            politifi, political/politician/presidential meme/memecoin/coin/token/memecoins/coins/tokens,
            political meme coin/coins
        """,
    ),
    "privacy": Topic(
        said="privacy coin/coins/token/tokens/chain/chains/protocol/protocols/sector",
        faint="privacy, private money, private transactions",
        company="monero zcash xmr zec tornado shielded mixers",
    ),
    "payment solutions": Topic(
        said="payment/payments coin/coins/token/tokens/chain/chains, payment solutions, crypto payments",
    ),
    "centralized exchange": Topic("exchange token/tokens/coin/coins, cex token/tokens"),
    "identity": Topic(
        said="""
            decentralized/digital/on-chain/self-sovereign identity, identity protocol/protocols/token/tokens
        """,
    ),
    "socialfi": Topic(
        said="""
            socialfi, social fi, decentralized/on-chain/crypto social, decentralized social media/network/networks
        """,
    ),
    "launchpad": Topic("launchpad/launchpads, launch pad/pads"),
    "infrastructure": Topic("infrastructure/infra token/tokens/coin/coins/play/plays, crypto infrastructure"),
    "solana ecosystem": Topic("solana ecosystem, sol ecosystem"),
    "bitcoin ecosystem": Topic("bitcoin/btc ecosystem, btcfi, btc fi"),
    "cosmos ecosystem": Topic("cosmos ecosystem"),
    "ton ecosystem": Topic("ton ecosystem, telegram ecosystem"),
    "stablecoin": Topic("stablecoin/stablecoins, stable coin/coins"),
}
"""The beginning of a category's name, lower case → how people speak of its kind."""

OTHERS: Final = """
    gaming the, oracle of, cold storage, video games, mind games, the olympic games, games with, playing games,
    head games, bank/student/car/business loan/loans, payday loans, bank lending, oracle manipulation attack,
    proof of work required, ai companies, ai company stocks, ai bubble, ai data, ai trade, ai stocks, ai capex
"""
"""What sounds like a kind of coins and is none."""
