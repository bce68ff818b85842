"""The words that people say for kinds of coins, beside those that headlines have (`sentiment.names.TOPICS`).

Published: this table is the rule, and `topics` says how it is read. A faint phrase counts where a coin is named, too.
"""

from collections.abc import Mapping
from typing import Final

from service.transcripts.topics import TopicWords

_KINDS: Final = "coin coins token tokens crypto chain chains blockchain blockchains web3 decentralized depin protocols"

SPOKEN: Final[Mapping[str, TopicWords]] = {
    "layer 1": TopicWords("layer one/ones, layer 1/1s, l1/l1s, alt l1/l1s"),
    "layer 2": TopicWords(
        said="""
            layer two/twos, layer 2/2s, l2/l2s, second layer/layers, superchain, rollup/rollups, roll ups,
            zk rollup/rollups
        """,
    ),
    "smart contract platform": TopicWords("smart contract platform/platforms/chain/chains"),
    "proof of work": TopicWords("proof of work, pow coin/coins/chain/chains"),
    "interoperability": TopicWords(
        said="interoperability, interop, cross chain, bridge hack/hacks/token/tokens, token bridge/bridges",
        faint="bridges",
        company=_KINDS,
    ),
    "modular blockchain": TopicWords(
        said="modular blockchain/blockchains/chain/chains/thesis/stack/world, data availability",
        faint="modular, modularity",
        company=_KINDS,
    ),
    "decentralized finance": TopicWords("defi lending/loans, defi, de fi, decentralized finance"),
    "decentralized exchange": TopicWords(
        said="dex/dexes/dexs, perp/perps dex/dexs/dexes, decentralized exchange/exchanges, amm/amms",
    ),
    "perpetuals": TopicWords(
        said="""
            perps, perp protocol/protocols/dex/dexs/dexes/exchange/exchanges/market/markets,
            perp volume/volumes/trader/traders/trading,
            perps dex/dexs/dexes, perpetuals, perpetual futures/swap/swaps/exchange/exchanges
        """,
    ),
    "lending/borrowing": TopicWords(
        said="""
            lending protocol/protocols/market/markets/platform/platforms, money market protocol/protocols, borrow lend,
            lending on chain, on chain lending/credit/loans, defi lending/loans, crypto lending/lender/lenders/loans
        """,
        faint="lending, money markets",
        company="defi protocols tokens",
    ),
    "liquid staking": TopicWords("liquid staking, liquid staked, LST, LSTs"),
    "restaking": TopicWords("restaking, re staking, restake/restaked, LRT, LRTs"),
    "yield farming": TopicWords(
        said="""
            yield farm/farms/farmed/farmer/farmers/farming, farming yield/yields, liquidity mining, food coins
        """,
    ),
    "real world assets": TopicWords(
        said="""
            rwa/rwas, treasuries/stocks/equities/bonds on-chain, real world asset/assets,
            tokenization, tokenisation, tokenized, tokenised, tokenize, tokenizing
        """,
    ),
    "oracle": TopicWords(
        said="oracles, price feed/feeds, oracle problem/network/networks/provider/providers/token/tokens",
        faint="oracle",
        company=_KINDS + " defi exploit exploits vault vaults protocol",
    ),
    "artificial intelligence": TopicWords(
        said="""
            ai coin/coins/token/tokens/crypto/sector/narrative, crypto ai, decentralized ai/compute/training
        """,
        faint="ai",
        company=_KINDS,
    ),
    "ai agents": TopicWords("ai agent/agents, agent token/tokens/coin/coins, agents on chain"),
    "depin": TopicWords("depin, de pin, physical infrastructure network/networks, decentralized wireless"),
    "storage": TopicWords("decentralized storage, storage network/networks/token/tokens/coin/coins"),
    "gaming": TopicWords(
        said="""
            gamefi, game fi, crypto/blockchain/web3/on-chain game/games/gaming, web 3 game/games/gaming, play to earn,
            gaming/game token/tokens/coin/coins
        """,
        faint="gaming, games, gamers, game studio/studios/developers/devs",
        company=_KINDS,
    ),
    "nft": TopicWords(
        said="""
            nft/nfts, n.f.t, non fungible, non fungible token/tokens, jpegs, profile picture/pictures project/projects,
            pfp/pfps
        """,
    ),
    "metaverse": TopicWords(
        said="metaverse land/coin/coins/token/tokens, virtual land",
        plain="metaverse",
        alien="zuckerberg zuck facebook meta quest headset apple",
    ),
    "meme": TopicWords(
        said="""
            meme coin/coins/token/tokens/season/sector/trade/stuff/casino/rally, memecoin/memecoins,
            meme coiner/coiners, frog/cat/celebrity coin/coins
        """,
        faint="meme, memes",
        company="coins tokens doge dogecoin shiba shib pepe bonk wif dogwifhat floki fartcoin solana pump",
    ),
    "dog-themed": TopicWords("dog coin/coins/token/tokens, dog themed"),
    "politifi": TopicWords(
        said="""
            politifi, political/politician/presidential meme/memecoin/coin/token/memecoins/coins/tokens,
            political meme coin/coins
        """,
    ),
    "privacy": TopicWords(
        said="privacy coin/coins/token/tokens/chain/chains/protocol/protocols/sector",
        faint="privacy, private money, private transactions",
        company="monero zcash xmr zec tornado shielded mixers",
    ),
    "payment solutions": TopicWords(
        said="payment/payments coin/coins/token/tokens/chain/chains, payment solutions, crypto payments",
    ),
    "centralized exchange": TopicWords("exchange token/tokens/coin/coins, cex token/tokens"),
    "identity": TopicWords(
        said="""
            decentralized/digital/on-chain/self-sovereign identity, identity protocol/protocols/token/tokens
        """,
    ),
    "socialfi": TopicWords(
        said="""
            socialfi, social fi, decentralized/on-chain/crypto social, decentralized social media/network/networks
        """,
    ),
    "launchpad": TopicWords("launchpad/launchpads, launch pad/pads"),
    "infrastructure": TopicWords("infrastructure/infra token/tokens/coin/coins/play/plays, crypto infrastructure"),
    "solana ecosystem": TopicWords("solana ecosystem, sol ecosystem"),
    "bitcoin ecosystem": TopicWords("bitcoin/btc ecosystem, btcfi, btc fi"),
    "cosmos ecosystem": TopicWords("cosmos ecosystem"),
    "ton ecosystem": TopicWords("ton ecosystem, telegram ecosystem"),
    "stablecoin": TopicWords("stablecoin/stablecoins, stable coin/coins"),
}
"""The beginning of a category's name, lower case → how people speak of its kind."""

OTHERS: Final = """
    gaming the, oracle of, cold storage, video games, mind games, the olympic games, games with, playing games,
    head games, bank/student/car/business loan/loans, payday loans, bank lending, oracle manipulation attack,
    proof of work required, ai companies, ai company stocks, ai bubble, ai data, ai trade, ai stocks, ai capex
"""
"""What sounds like a kind of coins and is none."""
