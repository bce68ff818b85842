"""Phrases about what is named, and rankings of what is not: an aspect of coins, assets and categories."""

from collections.abc import Sequence
from typing import Final

from service.ask.intents.row import Row

NAMED: Final[Sequence[Row]] = (
    Row(
        "ranking",
        66,
        """
        <superlative> #? .. <coins>|gainers|gainer|losers|loser|movers|mover|performers|performer|performing|earners
        <superlative> #? .. funding|volume|oi|interest|change|price|gains|losses|return|returns|CATEGORY|traded|trending
        <superlative> #
        <superlative> negative|positive|traded|liquid|active|volatile|bullish|bearish|expensive|shorted|longed|popular
        best|worst by|in|among|today|performing|performer|performers
        top by|in|among|AMOUNT|gaining
        top
        biggest|highest|lowest|largest|smallest|strongest|weakest|hottest|cheapest|steepest
        list|show|which|what|any|find|give <up>|<down>|bullish|bearish <coins>|CATEGORY
        trending|hot|popular|bullish|bearish <coins>|CATEGORY
        gainers|losers|movers|mooners|winners|laggards|leaders|leaderboard|outperformers|underperformers
        rank|ranked|ranking|rankings|sort|sorted|order|ordered|screener|screen|scan|filter
        which|what|any|all .. <coins> .. .. .. <up>|<down>|hodl|sideways|flat|uptrend|bullish|bearish
        list|show|find|give|every .. <coins> .. .. .. <up>|<down>|hodl|sideways|flat|uptrend|bullish|bearish
        which|what|any|all .. <coins> .. gained|lost|rose|fell|dropped|pumped|dumped|moved|trending
        list|show|find|give|every .. <coins> .. gained|lost|rose|fell|dropped|pumped|dumped|moved|trending
        which|what|any|all|list|show|find|give|every .. <coins> .. negative|positive|funding|paying|pay|pays|above|below
        which|what|all|list|show|find|every|any .. CATEGORY .. <up>|<down>|hodl|bullish|bearish|trending|gained|lost
        which|what|who|whats|whos|anything is|are|s? <up>|<down>|hot|hodling|sideways|flat|trending|moving
        whats|who|whos|anything|what <up>|<down>|hot|moving|trending|popping
        what .. pumped|dumped|moved|popped|rallied|crashed|gained|dropped .. most|today|hardest
        all|every|only|list|show .. <coins> <up>|<down>|hodl
        ^ everything|anything|all|every|whatever|those|only .. <up>|<down>|hodl|bullish|bearish
        <coins>|anything|everything .. that|which .. move|moves|moving|follow|follows|correlate .. COIN
        <coins> .. in|with|that|trending|going|are .. <up>|<down>|hodl|positive|negative
        <up>|<down> <coins>
        which|what|any|all <coins> .. high|highs|low|lows|hit|hitting|made|making|broke|breaking
        <coins> with|by|having the? <superlative>
        most|least
        by volume|funding|oi|change|correlation|interest|gain|gains
        by 24h|daily|open change|gain|gains|interest|move
        """,
        where="no-one",
    ),
    Row("category", 67, "are|is|many|hows CATEGORY", where="no-one"),
    Row(
        "ranking",
        64,
        """
        who .. pays|pay|paying|paid|earns|gets|collects
        where .. funding|shorts|longs .. <superlative>|paid|pay|negative|positive
        which|what|list|show|all .. <coins> .. funding|pay|paying|paid
        funding rates|everywhere|across|leaderboard|rankings|heatmap|table|market
        market wide? funding
        negative|positive funding
        """,
        where="no-one",
    ),
    Row(
        "verdict",
        58,
        """
        why
        how come
        reason|reasons|reasoning|rationale .. for|behind|of|COIN
        what is|s? driving|behind|causing
        whats driving|behind|causing
        """,
        where="something",
    ),
    Row(
        "history",
        56,
        """
        change|changed|changes|move|moved|moves|gain|gained|gains
        returns|returned|lost|dropped|fell|fallen|rose|risen
        perform|performed|performance|performing|pumped|dumped|rallied|crashed|climbed|slid|tanked|mooned
        PERIOD return
        return on|of|over|since|in
        historical|history|historic|historically|timeseries|series|chart|past|previously
        did <thing>|it|they|this .. do|go|trade|cost|stand|close|open|look|have
        did <thing>|it|they|this .. fare|move|end|fall|rise|drop|gain|lose|pump|dump
        was|were <thing>|it|they|the .. at|trading|price|worth|before|ago|back
        what|where|how|price was|were
        has|have <thing>|it|they .. done|gone|come|fared|held|gained|lost|made
        how <thing> did
        far|much .. up|down
        is|are <thing>|it up|down .. .. PERIOD
        up|down .. since
        market cap
        marketcap|mcap
        open interest
        oi|volume|volumes
        """,
    ),
    Row("history", 54, "ago"),
    Row("ranking", 49, "funding rates", where="nothing"),
    Row(
        "verdict",
        52,
        """
        verdict|verdicts
        bull|bear|bullish|bearish|bullrun
        should i|we|one|you
        would you buy|sell|hold|short|long|own
        worth buying|selling|holding|it|longing|shorting|getting|investing
        buy|buying|sell|selling|long|longing|short|shorting .. now|or|here|yet
        ape|aping|accumulate|dca|invest|investing|hold .. now|or|here|yet
        a buy|sell|hold|bet|pick
        smart|wise|sensible|dumb|stupid|crazy|reasonable to buy|sell|hold|get|pick|add
        foolish|silly|mistake|safe|okay|ok|worth to buy|sell|hold|get|pick|add
        smart|wise|sensible|dumb|stupid|crazy|reasonable to load|stack|grab|own|short|long
        foolish|silly|mistake|safe|okay|ok to load|stack|grab|own|short|long
        pick|load|stack|scoop|grab|stock up|some|more
        offload|unload|ditch|dump|trim|ape <thing>|my|it|some|into
        thumbs
        yay|yea|yes or nay|no
        good|bad|strong|decent|solid buy|sell|hold|short|long|investment|bet|pick|entry
        good|bad|right|best|great time|moment|point|entry|idea|price|level to|for
        is|are <thing>|it|this|that .. buy|sell|investment|overvalued|undervalued|safe|risky|long|short|worth
        buy|sell|long|short|hold|enter|exit|dump|fade <thing>|it|this|that|my|some|more
        long or short
        buy or sell
        signal|signals
        the|your|current|latest|whats call|rating|view|stance|take|opinion|conclusion|recommendation|bias|lean
        call|rating|view|opinion|recommendation|bias|conviction|take on|for|about
        recommend|recommendation|recommended|rating|grade
        ^ please? rate <thing>
        rules|rule|model|engine|system .. say|says|conclude|think|on|fired|fire
        rules|rule
        pros
        buying|selling|longing|shorting <thing>
        conclude|concludes|concluded
        thoughts|opinion|opinions|outlook|thesis|conviction
        what do you think
        what you think
        do you like
        evidence|arguments|argument|case for|against|behind|on
        evidence
        score|scores|scored|scoring
        entry|exit|upside|downside
        neutral
        """,
    ),
    Row("sentiment", 59, "sentiment|sentiments|mood|moods|vibe|vibes|stance", where="something"),
    Row("sentiment", 57, "sentiment|sentiments|mood|moods|vibe|vibes|stance"),
    Row(
        "sentiment",
        53,
        """
        word on|around the? street
        buzz|chatter|narrative|atmosphere
        fear|greed|euphoria|euphoric|capitulation|capitulating|capitulate|accumulation|distribution|exhaustion|fud|fomo
        feel|feels|feeling|feelings .. about|on|around|towards|for|toward
        people|everyone|crowd|folks|traders|investors .. say|saying|think|thinking
        market|ct|twitter|reddit|social|community|they .. say|saying|think|thinking
        people|everyone|crowd|folks|traders .. feel|feeling|talking|excited|scared
        investors|ct|twitter|reddit|community|they .. feel|feeling|talking|excited|scared
        news|headline|headlines|press|media|article|articles
        talk|talking|talked about
        being|is|was said
        panic|panicking|hyped|bullishness
        social|public opinion|mood|feeling
        distributed|accumulated|hated|loved|popular
        optimistic|pessimistic|excited|scared|fearful|greedy|hyped
        accumulating|distributing
        """,
    ),
    Row("funding", 55, "funding|fundings"),
    Row(
        "funding",
        54,
        """
        longs|shorts .. pay|pays|paying|paid|earn|receive|receiving|get|getting|collect
        pay|pays|paying|paid|receive|receives|receiving|earn|collect|collects .. longs|shorts|long|short
        who .. pays|pay|paying|paid|receives|receiving|earns
        is|are|do|does .. paying|paid|overpaying|pay
        longs or shorts
        side pays|pay|paying|paid|receives|receiving|earns|collects
        get|getting|got|gets paid .. on|for|short|shorts|long|longs
        perp|perps|perpetual|perpetuals rate|rates|apr|premium|cost
        rate .. pay|pays
        apr|apy
        hourly|8h|annualized|annualised rate|funding
        expensive .. be|go|stay|being long|short
        premium|contango|backwardation|basis
        """,
    ),
    Row("trend", 57, "trend|trends|trending|trended|uptrend|downtrend"),
    Row(
        "trend",
        46,
        """
        <rising>|<falling>
        is|are|be|been|go|goes|going|gone .. up|down|higher|lower
        turn|turned|turning|still|move|moving|headed|heading|points .. up|down|higher|lower
        <thing> up|down|higher|lower
        up|down $
        direction|momentum|technicals|technical|supertrend|sideways|chopping|choppy|ranging|consolidating
        hodl
        since when
        how long .. been
        turned|turning|flipped|reversed|reversing|reversal
        going|heading|moving|pointing|headed where|anywhere|sideways
        which way|direction
        up|hodl|down or up|hodl|down
        breaking|broke|broken out|down
        """,
    ),
    Row(
        "price",
        44,
        """
        price|prices|quote|quotes|pricing|mark|ticker|spot|quoted
        how much is|are|s|does|for|do|would
        how much <thing>
        cost|costs
        whats|what|where|wheres|were is|s|are? <thing> at|trading|now|rn|sitting|priced|worth|currently|today
        whats|where|wheres <thing> at|trading|now|rn|sitting|priced|worth|currently
        <thing> at $
        <thing> worth
        is|are worth
        trading at|for|now|right|rn|around|today
        trades|trade|sitting|selling|going at|for
        where is|are|s? .. trading|sitting
        wheres .. trading|sitting|at
        in|to usd|dollars|usdt|usdc $
        worth
        value of
        going|current|market rate|price
        changing|change hands
        where does|do <thing> trade
        how much .. <thing>
        px
        how expensive|cheap|pricey is|are
        what does|do|is a|an|one? <thing> go|goes|going|sell|selling|trade|fetch
        a|an|one|single AMOUNT? <thing> .. cost|costs|worth|go|goes
        price tag
        is|are|was <thing> above|below|over|under|at|past AMOUNT|#
        <thing> in? usd|usdt|dollars
        """,
    ),
    Row(
        "overview",
        42,
        """
        overview|rundown|snapshot|summary|summarize|summarise|brief
        briefing|recap|picture|breakdown|profile|report|lowdown
        tell me everything|all|more
        """,
        where="something",
    ),
    Row(
        "overview",
        47,
        """
        catch me up
        fill me in
        up to speed|date
        whats up with
        what is up with
        holding|held|hold up
        """,
        where="something",
    ),
    Row("verdict", 52, "how sure|confident|certain|strong|convinced\n        confidence", where="something"),
    Row("trend", 26, "weekly|daily\n        week|day timeframe|chart|candles"),
    Row("history", 45, "PERIOD", where="something"),
    Row(
        "overview",
        41,
        """
        how is|are|s|has|does|do|did <thing>|CATEGORY|the|that|those|these
        how .. <thing>|CATEGORY doing|looking|lookin|going|faring|holding
        hows|howz|howre <thing>|CATEGORY|the
        tell me about|more|something
        update|status|info|information|details|context|analysis on|of|for|about|at|into
        analyse|analyze|look|check|data|stats|state on|of|for|about|at|into
        <thing> update|status|info|information|details|context|analysis|check|data|stats|state|risk|risks
        risk|risks|risky
        analyse|analyze|describe|introduce|explain
        whats going|up|happening|new|happened
        what is|s going|up|happening|new
        anything|everything .. know|about|on
        look into|at
        what is|are|s a? <thing> $
        whats <thing> $
        who|what .. <thing> doing|up
        how healthy|good|bad|strong|weak
        whats the story|deal|situation
        assess|evaluate|diagnose|examine|inspect|gauge|sitrep|intel|alpha|deets|curious|wonder|wondering|interested
        lemme|let|show|give|gimme|tell .. <thing> $
        how|what .. seeing|shape|numbers|condition|form
        bags? of <thing> doing|looking
        """,
        where="something",
    ),
    Row(
        "overview",
        25,
        """
        how is|are|s it|they|that|this|he|she
        hows it|that|this
        how it|they doing|looking
        """,
    ),
    Row("trend", 26, "weekly|daily\n        week|day timeframe|chart|candles"),
    Row("history", 24, "PERIOD|yesterday"),
    Row("verdict", 22, "why\n        how come"),
)
