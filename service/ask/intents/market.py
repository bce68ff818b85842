"""Phrases about the whole market, and about records of what was decided."""

from collections.abc import Sequence
from typing import Final

from service.ask.intents.row import Row

_PAST: Final = "past|previous|earlier|history|historical|old|former|last|closed"

MARKET: Final[Sequence[Row]] = (
    Row(
        "track-record",
        79,
        """
        track|tracking record|records
        hit rate|rates|ratio
        hitrate|scorecard|brier
        score card
        batting average
        how good|accurate|reliable|trustworthy|correct|right|precise .. you|your|yours|<records>
        how good|accurate|reliable|trustworthy .. COIN .. <records>
        how well|good .. <records>
        <records> .. right|correct|wrong
        prove .. <records>
        how .. <records> done|performed|perform|performing|fared|held|aged|played|turned|been
        how .. COIN <records> done|performed|perform|do|doing|fared|held|aged|played|turned|been
        how often .. right|correct|wrong|win|hit
        how many .. <records> .. right|correct|wrong|hit
        accuracy|reliability
        your accurate|record
        <records> .. accurate|reliable
        past|previous|old|earlier|prior .. <records>
        <records> history|accuracy|performance|results|record|reliability
        you .. right|wrong|correct .. before|past|often|lately|history|COIN
        have|has|were|was|are .. <records> .. right|correct|wrong|good|accurate|reliable|any|profitable
        can|should i|we .. trust|rely .. you|your|<records>|on
        trust .. <records>
        performance of|for .. <records>
        do|does .. <records> work
        """,
    ),
    Row("crossings", 78, "crossing|crossings|crossover|crossovers\n        golden|death cross"),
    Row(
        "crossings",
        78,
        """
        breadth|market .. cross|crossed|crosses|flip|flips|flipped|turn|turned
        cross|crossed|crosses|flip|flipped .. breadth
        <up> .. cross|crossed|crosses|outnumber|outnumbered|overtake|overtook|overtaken|exceeded|pass|passed .. <down>
        <down> .. cross|crossed|crosses|outnumber|outnumbered|overtake|overtook|overtaken|exceeded|pass|passed .. <up>
        when did .. .. than <up>|<down>
        outnumber|outnumbered|outnumbering|overtake|overtook|overtaken
        last|latest|recent|most|previous .. cross|crosses|flip
        """,
        where="nothing",
    ),
    Row(
        "walkforward", 77, "^ .. trades|positions .. you|your|engine|system\n        your positions", action="positions"
    ),
    Row(
        "walkforward",
        76,
        """
        open|current|active|held|live|existing .. position|positions|trades|holdings
        walkforward|forward|backtest|strategy|strategies .. position|positions|holdings
        position|positions|holdings .. walkforward|backtest|strategy|strategies|engine|open
        open|live|running .. walk|walkforward|backtest|backtests|strategy|strategies|engine
        what .. engine|strategies|strategy|you .. hold|holds|holding|hold
        """,
        action="positions",
    ),
    Row(
        "walkforward",
        75,
        """
        walkforward|forward|backtest|strategy|strategies .. signal|signals|entries|entry|scan|scans
        signal|signals|entries .. walkforward|forward|backtest|strategy|strategies
        """,
        action="signals",
    ),
    Row(
        "walkforward",
        75,
        """
        walk forward
        walkforward|walkforwards
        backtest|backtests|backtested|backtesting
        back test|tests|tested
        strategy|strategies
        sharpe|sortino|calmar
        trend following|followers|follower
        momentum|reversion .. profitable|work|works|worked|pay
        trades|positions .. open
        cross sectional
        momentum strategy|factor|portfolio|work
        funding reversion
        mean? reversion
        out of sample
        max|maximum drawdown
        drawdown|drawdowns
        win rate|rates|ratio
        winrate
        closed|past|completed|finished|exited trades|positions|outcomes
        outcome|outcomes
        winning|losing trades
        paper trading|trades|portfolio
        beat .. buy and hold
        buy and hold
        equity curve
        engine
        """,
        action="outcomes",
    ),
    Row("regime", 80, "regime position|positions|trades", action="active", unless=_PAST),
    Row(
        "regime",
        83,
        """
        what|whats|which|wat is|s? the|our|this current? market? regime
        what regime
        """,
        where="nothing",
    ),
    Row(
        "regime",
        72,
        """
        regime .. history|historically|past|previous|trades|played|record|over
        history|past|previous|earlier|historical .. regime|regimes
        COIN .. regimes
        regimes .. COIN
        """,
        where="something",
        action="history",
    ),
    Row("regime", 72, "regime history|histories\n        history of .. regime|regimes", action="history"),
    Row(
        "regime",
        72,
        """
        regime .. sure|certain|confident|confidence|certainty|strong|reliable
        sure|certain|confident|confidence|certainty .. regime
        confidence .. coins|coin|each|all|every
        """,
        action="confidence",
    ),
    Row("regime", 39, "how sure|certain|confident\n        confidence", where="nothing", action="confidence"),
    Row(
        "regime",
        71,
        """
        regime signal|signals|change|changes|turn|turns|flip|flips|switch|switches|shift|shifts|events
        regime .. signal|signals|turned|changed|flipped|fired|triggered
        signal|signals|changes|turn|turned|flipped|shifted|changed|change .. regime|regimes
        """,
        action="signals",
    ),
    Row(
        "regime",
        70,
        """
        regime|regimes
        risk on|off
        riskon|riskoff
        risk appetite|averse|aversion|mood
        bull|bear|bullish|bearish <market>
        are we .. bull|bear
        """,
    ),
    Row(
        "breadth",
        81,
        """
        what|whats|wat is|s? the|current .. breadth
        what|whats is|s? the .. market health|breadth|overview
        how is|are|s|good|bad|strong|weak|wide|broad the? breadth|participation
        hows the? breadth|participation
        """,
        where="nothing",
    ),
    Row(
        "breadth",
        68,
        """
        breadth
        participation
        broad|broadly|narrow
        are|is <coins> doing|holding|all|mostly
        how many are
        how healthy|unhealthy|strong|weak|broad|bad|good|hot .. <market>|crypto|rally
        <market>|markets|crypto .. health|healthy|unhealthy|overview|summary|condition|conditions|state|status|internals
        <market> .. recap|snapshot|report|update|wrap|check|breakdown|picture|doing|look|looking|feel|feeling|today
        health|healthy|overview|summary|condition|conditions .. <market>
        state|status|snapshot|recap|update|picture|rundown .. <market>
        how|hows is|are|s? the? overall|crypto|whole|entire|general|broader? <market>|crypto
        overall|whole|entire|broad|broader|general|total|wider crypto? <market>|crypto
        how|hows is|are everything|things|crypto|alts|coins|altcoins
        how .. coins|market|crypto|things doing|holding|looking
        overheated|overextended|overbought|oversold|froth|frothy|bubble|overheating|exhausted
        how many|much .. <coins> .. <up>|<down>|hodl|uptrend|downtrend
        how many|much .. <coins> .. bullish|bearish|trending|sideways|positive|negative
        how many|much .. <up>|<down>
        percent|percentage|share|proportion|fraction|portion|ratio|number|count|majority|most of|part .. <coins>
        percent|percentage|share|proportion|fraction .. <up>|<down>|market
        what .. <coins> .. percent
        <market> .. <up>|<down>|bullish|bearish|strong|weak|crashing|mood
        <market> .. sentiment|bull|bear|euphoric|fear|greed|trend|trending
        market|crypto wide .. sentiment|mood|trend
        mood|sentiment|trend|feeling|vibe|direction .. <market>
        bullish|bearish .. <market>|crypto
        whole|entire market|thing
        is|are everything|all|most|alts|crypto <up>|<down>
        alt|altcoin season
        altseason
        divergence|divergences
        advancers|decliners|advance decline
        more|most <coins> <up>|<down>|trending
        are more|most <coins>
        what|whats .. happening|going|new|up .. market|markets|crypto
        is|hows crypto .. dead|ok|okay|fine|alive|doing
        hows everything|things|crypto
        big|bigger|broad|broader|macro|overall|general picture|view
        ^ everything|all|crypto|alts is|are <up>|<down>
        crypto|market|markets|things|alts .. doing|holding|looking|lookin|feeling|going
        """,
        where="nothing",
    ),
    Row(
        "breadth",
        68,
        """
        everything|all|market|markets|alts|altcoins .. .. or .. just|only|mostly <thing>
        just|only|mostly <thing> .. or .. everything|all|market|rest|alts|others|whole
        """,
    ),
    Row("breadth", 41, "market|markets|everything", where="nothing"),
    Row(
        "alerts",
        76,
        """
        alert|alerts|alarm|alarms
        notification|notifications|notify
        hot|cold|very hot|cold? funding
        very hot|cold
        funding .. hot|cold|extreme|extremes|unusual|unusually|spike|spikes|spiked|triggered|fired|events|event|abnormal
        funding .. crazy|anomaly|anomalies|outlier|outliers|overheated|blew|zone|zones
        extreme|extremes|unusual|abnormal|crazy|weird|overheated|spike|spikes .. funding
        """,
    ),
    Row(
        "rwa-list",
        74,
        """
        list|which|what|wat|show|all|any|available .. stocks|equities
        have|cover|track|support|got|offer|enumerate|many|name .. stocks|equities
        list|which|what|wat|show|all|any .. stock|equity|shares|stonks
        available|have|cover|track|support|offer|enumerate|many .. stock|equity|shares|stonks
        list|which|what|wat|show|all|any .. commodities|commodity|metals|metal
        available|have|cover|track|support|offer|many|name .. commodities|commodity|metals|metal
        list|which|what|wat|show|all|any .. etf|etfs|indices|indexes|index
        available|have|cover|track|support|offer|many|name .. etf|etfs|indices|indexes|index
        list|which|what|wat|show|all|any .. fx|forex|currencies|currency
        available|have|cover|track|support|offer|many|name .. fx|forex|currencies|currency
        list|which|what|wat|show|all|any|available|have|cover|track|support|offer|many .. real world assets
        list|which|what|wat|show|all|any|available|have|cover|track|support|offer|many .. rwa|rwas|tradfi|funds
        list|which|what|wat|show|all|any|available|cover|track|support|offer|many|trade .. CATEGORY assets
        <superlative> #? most? traded? stocks|stock|equities|commodities|metals|etfs|indices|currencies|rwas
        most traded|liquid|active .. stocks|stock|equities|commodities|metals|etfs|indices|currencies|rwas
        stocks|equities|commodities|metals .. list|listed|available|have|supported|covered|there
        etfs|indices|currencies|rwas|stonks .. list|listed|available|have|supported|covered|there
        ^ all? the? stocks|equities|commodities|metals|etfs|indices|currencies|rwas|forex|fx|stonks please? $
        real world assets .. list|available|have|there
        non crypto
        traditional assets|markets
        """,
        where="no-one",
    ),
)
