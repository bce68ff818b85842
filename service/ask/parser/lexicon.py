"""Words and phrases that mean something in a question. Data: to add a way to say something is to add it here.

Phrases are lower case, without apostrophes, words separated by single blanks; `|` separates phrases, `~` before a
phrase makes it optional in the plural (a final `s`). The longest phrase that begins at a word wins.
"""

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct

from service.ask.query import Measure

Kind = Literal[
    "measure",
    "state",
    "sign",
    "direction",
    "super",
    "compare",
    "neg",
    "and",
    "or",
    "set",
    "ask",
    "topic",
    "unsupported",
    "frame",
    "side",
    "filler",
    "aux",
    "except",
    "among",
    "holding",
    "joint",
]


class Word(Struct, frozen=True):
    """What a phrase means: its kind and value. `value` depends on the kind."""

    kind: Kind
    value: object


class Super(Struct, frozen=True):
    """A superlative: its direction, and the measure it implies (null: the one named beside it); `both`: the opposite as well."""

    direction: Literal["most", "least"]
    measure: str | None = None
    plural: bool = False
    both: bool = False


class State(Struct, frozen=True):
    """A state: the measure it is one of, how it compares, and its name."""

    measure: str
    op: Literal["eq", "ge", "le"]
    value: str
    frame: Literal["daily", "weekly"] | None = None


_MEASURES: Final[Mapping[str, str]] = {
    "price": "price|prices|priced|trading at|trade at|trades at|traded at|trading for|going for|quote|quoted|quoted at"
    "|spot|spot price|mark price|last price|current price|close|closed at|closing price|closes|worth|cost per coin"
    "|how much is one|how much for one|usd value|dollar value|price level|price of one|trading",
    "change": "change|changes|changed|return|returns|returned|performance|performances|performed|perform|performing"
    "|percentage change|percent change|price change|price changes|pct change|price move|price moves|moved|move|moves"
    "|gain|gains|movement|price movement|roi|price action|doing|fared|gone|went|price return|price returns|total return",
    "high": "high|highs|highest price|peak price|peak|highest close|highest point|top price|session high",
    "low": "low|lows|lowest price|bottom price|trough|lowest close|lowest point|session low",
    "drawdown": "drawdown|drawdowns|max drawdown|maximum drawdown|off its high|off the high|off its highs|below its high"
    "|below its peak|from its peak|from its high|off its peak|off the peak|from the peak|from peak|down from its high"
    "|off highs|peak to trough|below the high",
    "volatility": "volatility|realized volatility|realised volatility|realized vol|realised vol|historical volatility|vola"
    "|annualized volatility|annualised volatility|how volatile",
    "volume": "volume|volumes|turnover|trading volume|traded volume|24h volume|24 h volume|24 hour volume|daily volume"
    "|futures volume|perp volume|vol|24h vol|dollar volume|volume in the last 24 hours|liquidity",
    "open_interest": "open interest|oi|open interests",
    "market_cap": "market cap|market caps|mcap|mcaps|marketcap|marketcaps|market capitalization|market capitalisation"
    "|market value|capitalization|capitalisation|cap|mkt cap",
    "funding": "funding|funding rate|funding rates|fundings|funding apr|funding cost|funding costs|funding payments"
    "|annualized funding|annualised funding|perp funding|funding level|funding levels|current funding|apr",
    "carry": "carry|cost to hold|cost of holding|holding cost|holding costs|cost of carry|carrying cost|carry cost",
    "trend": "direction|heading|trend|trends|trend state|trend direction|trending",
    "streak": "streak|streaks|trend streak|trend age|days in trend|days in its trend|days in the trend",
    "regime": "regime|regimes|coin regime",
    "verdict": "verdict|verdicts|signal|call|rating|ratings",
    "score": "score|scores|verdict score|verdict scores",
    "confidence": "confidence|conviction|confidence level",
    "sentiment": "sentiment|mood|stance|vibe|vibes|sentiments|sentiment stance",
    "correlation": "correlation|correlations|correlated|correlate|correlates|corr|correlation coefficient|decoupled"
    "|btc correlation|bitcoin correlation|correlation to bitcoin|correlation to btc|correlation with btc"
    "|correlation with bitcoin|decorrelated|uncorrelated",
    "strength": "relative strength|strength|relative performance|outperformance",
    "rank": "market cap rank|mcap rank|rank by market cap|cap rank",
    "fear_greed": "fear and greed|fear and greed index|fear greed index|fear greed|greed index|fear index|fng|f and g"
    "|fear and greed reading|fear and greed score|fear and greed value",
    "breadth": "participation|advancers and decliners|advance decline|breadth|market breadth",
    "market_regime": "market regime|market regimes|overall regime|regime of the market",
}
"""Name of a measure to what people call it."""

_STATES: Final[tuple[tuple[str, State], ...]] = (
    ("uptrend|uptrends|up trend|uptrending|trending up|trending higher|trend is up|trend up|trends up|trending upward"
     "|trending upwards|rising trend|trend of up", State("trend", "eq", "UP")),
    ("downtrend|downtrends|down trend|downtrending|trending down|trending lower|trend is down|trend down|trends down"
     "|trending downward|trending downwards|falling trend", State("trend", "eq", "DOWN")),
    ("hodl|sideways|ranging|range bound|rangebound|trendless|without a trend|no trend|no clear trend|flat trend"
     "|chopping sideways", State("trend", "eq", "HODL")),
    ("weekly up|weekly uptrend|weekly uptrends", State("trend", "eq", "UP", "weekly")),
    ("weekly down|weekly downtrend|weekly downtrends", State("trend", "eq", "DOWN", "weekly")),
    ("daily uptrend|daily uptrends", State("trend", "eq", "UP", "daily")),
    ("daily downtrend|daily downtrends", State("trend", "eq", "DOWN", "daily")),
    ("strong bull|strong bulls|strongly bullish|very bullish|strong buy|strong buys|strong bullish",
     State("verdict", "eq", "strong-bull")),
    ("strong bear|strong bears|strongly bearish|very bearish|strong sell|strong sells|strong bearish",
     State("verdict", "eq", "strong-bear")),
    ("bullish|bull verdict|bullish verdict", State("verdict", "ge", "bull")),
    ("bull|bulls|a bull", State("verdict", "ge", "bull")),
    ("bearish|bear verdict|bearish verdict", State("verdict", "le", "bear")),
    ("bear|bears|a bear", State("verdict", "le", "bear")),
    ("neutral", State("verdict", "eq", "neutral")),
    ("risk on", State("regime", "eq", "risk-on")),
    ("risk off", State("regime", "eq", "risk-off")),
    ("high confidence|highly confident|confidence high|high conviction", State("confidence", "eq", "high")),
    ("medium confidence", State("confidence", "eq", "medium")),
    ("low confidence|low conviction", State("confidence", "eq", "low")),
    ("euphoria|euphoric", State("sentiment", "eq", "euphoria")),
    ("accumulation|being accumulated|accumulating", State("sentiment", "eq", "accumulation")),
    ("distribution|being distributed|distributing", State("sentiment", "eq", "distribution")),
    ("exhaustion|exhausted", State("sentiment", "eq", "exhaustion")),
    ("capitulation|capitulating", State("sentiment", "eq", "capitulation")),
)  # fmt: skip

_SIGNS: Final = {
    1: "positive|above zero|greater than zero|over zero|higher than zero|in the positive",
    -1: "negative|below zero|less than zero|under zero|lower than zero|in the negative|sub zero",
    0: "",
}

_DIRECTIONS: Final = {
    1: "pump|pumps|rally|rallies|moon|mooned|mooning|rip|ripped|spike|spiked|surge|up|green|gained|gaining|rose|rising|risen|rise|in the green|pumped|pumping|rallied|rallying|climbed"
    "|climbing|in profit|made money|increased|advanced|gain|gains|jumped|went up|gone up|going up|in plus|surged|appreciated",
    -1: "dump|dumps|crash|crashes|tank|slump|plunge|plunged|sink|slide|dip|down|red|lost|losing|fell|falling|fallen|fall|in the red|dumped|dumping|dropped|dropping|drop|declined|declining"
    "|decreased|slid|sliding|slumped|sank|lose|went down|gone down|going down|in minus|crashed|tanked|bled|bleeding"
    "|dipped|retreated|cratered|sold off|depreciated",
}

_SUPERS: Final[tuple[tuple[str, Super], ...]] = (
    ("top|most|highest|biggest|largest|greatest|strongest|best|max|maximum|leading|hottest|number one|first by",
     Super("most")),
    ("bottom|least|lowest|smallest|worst|weakest|fewest|min|minimum|tiniest|coldest", Super("least")),
    ("gainers|top gainers|best performers|winners|outperformers|top performers|biggest winners|biggest gainers"
     "|leaders|best returns", Super("most", "change", plural=True)),
    ("movers|biggest movers|top movers|big movers", Super("most", "change", plural=True, both=True)),
    ("gainer|top gainer|best performer|winner|biggest winner|biggest gainer|top performer|leader|best performing|top performing",
     Super("most", "change")),
    ("losers|top losers|worst performers|biggest losers|laggards|underperformers|biggest laggards",
     Super("least", "change", plural=True)),
    ("loser|top loser|worst performer|biggest loser|laggard|underperformer|biggest laggard|worst performing", Super("least", "change")),
    ("rise the most|gain the most|go up the most|climb the most|pump the most|pump hardest|rally the most|pumped the most|pumping the most|pumped hardest|pumping hardest|gained the most|rose the most|up the most"
     "|gained most|rose most|climbed the most|rallied the most|rallied hardest|done best|did best|performed best"
     "|doing best|performing best|up most|performed the best|did the best|done the best|biggest pump|biggest pumps"
     "|biggest move up|run the most|ran the most|ripped the most|ripped hardest|mooned the most|went up the most"
     "|has gained the most|moved up the most|outperforming the most|rising the most|gaining the most|strongest gain",
     Super("most", "change")),
    ("drop the most|fall the most|lose the most|go down the most|decline the most|dump the most|crash the most|drop hardest|fall hardest|dumped the most|dumping the most|dumped hardest|dumping hardest|lost the most|fell the most|down the most"
     "|fallen the most|dropped the most|lost most|fell most|fell hardest|got wrecked the most|done worst|did worst"
     "|performed worst|doing worst|performing worst|down most|performed the worst|did the worst|done the worst|crashed the most"
     "|declined the most|hit hardest|bled the most|bled hardest|tanked the most|tanked hardest|biggest dump|biggest drop"
     "|biggest decline|biggest loss|fell furthest|dropped hardest|falling the most|losing the most|went down the most",
     Super("least", "change")),
    ("cheapest|lowest priced", Super("least", "price")),
    ("most expensive|priciest|highest priced|most valuable coin by price", Super("most", "price")),
    ("most volatile|most volatility", Super("most", "volatility")),
    ("least volatile|calmest|most stable|quietest", Super("least", "volatility")),
    ("most liquid|most traded|busiest|most actively traded|most active", Super("most", "volume")),
    ("least liquid|least traded|most illiquid|thinnest", Super("least", "volume")),
    ("most bullish|most bull|strongest verdict|strongest verdicts|best verdict|best verdicts|highest verdict"
     "|highest rated|best rated|best score|strongest buy|strongest signal|strongest signals|top rated",
     Super("most", "score")),
    ("most bearish|most bear|weakest verdict|weakest verdicts|worst verdict|worst verdicts|lowest rated|worst rated",
     Super("least", "score")),
    ("dont move with bitcoin|dont follow bitcoin|do not move with bitcoin|do not follow bitcoin|independent of bitcoin|dont track bitcoin|not tied to bitcoin|dont follow btc|dont move with btc",
     Super("least", "correlation", plural=True)),
    ("most correlated|closest to btc|most btc like", Super("most", "correlation")),
    ("least correlated|most uncorrelated|most decoupled|most independent", Super("least", "correlation")),
    ("most valuable|biggest by cap|largest by cap", Super("most", "market_cap")),
    ("longest running trend|longest trend|longest streak|longest uptrend streak|longest lasting trend", Super("most", "streak")),
    ("shortest streak|freshest trend|youngest trend|newest trend", Super("least", "streak")),
    ("longest", Super("most")),
    ("shortest", Super("least")),
    ("most expensive to long|costliest to long|most expensive longs|most crowded longs|most crowded long"
     "|most overheated|best to short for carry|pays shorts the most|pays shorts most|highest paying for shorts",
     Super("most", "funding")),
    ("most expensive to short|most crowded shorts|most crowded short|cheapest to long|pays longs the most"
     "|pays longs most|cheapest to hold long", Super("least", "funding")),
    ("highest|higher|larger|bigger|greater|stronger|better|more", Super("most")),
    ("lower|smaller|weaker|worse|fewer|less", Super("least")),
    ("cheaper", Super("least", "price")),
    ("more expensive|pricier", Super("most", "price")),
    ("more volatile|riskier", Super("most", "volatility")),
    ("less volatile|safer|calmer", Super("least", "volatility")),
    ("more liquid", Super("most", "volume")),
    ("more bullish", Super("most", "score")),
    ("more bearish", Super("least", "score")),
    ("outperforming|outperformed|outperforms|outperform|did better|doing better|performed better|performing better",
     Super("most", "change")),
    ("underperforming|underperformed|underperforms|underperform|did worse|doing worse|performed worse", Super("least", "change")),
)  # fmt: skip

_COMPARATORS: Final = {
    "gt": "above|over|more than|greater than|higher than|bigger than|larger than|exceeds|exceeding|exceed|exceeded|beyond"
    "|north of|in excess of|better than|stronger than|gt|topped|surpass|surpassed|broke above|upwards of",
    "ge": "at least|no less than|not less than|minimum of|gte|not below|from at least|no lower than|not under",
    "lt": "below|under|less than|lower than|smaller than|beneath|south of|fewer than|worse than|weaker than|lt|short of"
    "|cheaper than|sub|not even|dropped below|fell below",
    "le": "at most|no more than|not more than|up to|maximum of|lte|no higher than|not above|not over|max of",
    "eq": "equal to|equals|exactly|equal",
    "between": "between|from between|ranging from|in the range of",
}

_ASKS: Final = {
    "count": "how many|number of|count of|count|how many of|total number of|the count of|amount of coins",
    "share": "what share|what share of|what percentage|what percentage of|what percent|what percent of|what fraction"
    "|what fraction of|what proportion|what proportion of|percentage of|share of|fraction of|proportion of|what part of"
    "|which share|which percentage|what pct|what pct of|how much of|pct of|percent of",
    "any": "any|is any|are any|is there any|are there any|is there a|is there an|does any|do any|anything|is anything"
    "|has any|have any|is there anything|any of|at least one|anyone|is there|are there",
    "all": "every|each of|all of|are all|is every|is everything|everything|does every|do all|all the",
    "none": "none of|none|no coin|no coins|nothing",
    "list": "list|which|show|show me|give me|name|what coins|which coins|find|find me|filter|screen|screen for|scan|scan for"
    "|which ones|which one|tell me which|return|fetch|get|get me|what are|pull|pull up|output|print|provide|report"
    "|display|retrieve|enumerate|look up|lookup|which of|what tokens|which tokens|who|what|whats|what is|what was|what were"
    "|hows|how is|how are|how was|how were|how has|how have|how did|how does|how do|tell me|let me know|how much|how much is"
    "|how high is|how high|how low|how low is|how big is|how big|how large is|how far|how strong is|how strong|how hot is",
    "when": "when|what day|which day|what date|which date|on what day|on which day|on which date|on what date|at what time"
    "|what time|when exactly|when was the last time|when was",
    "since": "since when|how long has|how long have|for how long|how long|how long is|how many days has|how many days in a row"
    "|how old is|how many days",
    "why": "why|whats driving|what is driving|what drove|whats behind|what is behind|what caused|what made|reason for"
    "|reasons for|reason|explain why|how come|whats causing|what is causing|what happened to|whats happening with"
    "|what happened with|whats going on with|what explains|what happened|whats up with|what moved|whats moving",
    "compare": "compare|comparison|comparing|versus|vs|v|side by side|head to head|stack up|stacks up|how do|compared to"
    "|compared with|against each other|difference between|compare with",
    "define": "what does|what do you mean by|define|definition|definition of|meaning of|explain|explain what|what is meant by"
    "|meaning|mean|means|explain to me",
    "convert": "convert|converted|conversion|exchange|swap|how many|how much|in dollars|in usd|to usd|into usd|into dollars"
    "|to dollars|in terms of",
    "ratio": "ratio|ratio of|divided by|relative to|in terms of|priced in|denominated in",
    "mean": "average|mean|avg|on average",
    "median": "median|typical",
    "sum": "total|combined|sum|aggregate|sum of|altogether|in total",
    "rank": "rank|ranked|ranking|rankings|sort|sorted|order|ordered|rank by|ranked by|sort by|sorted by|leaderboard",
    "position": "where does|what rank|which rank|what place|what position|rank of|position of|where is",
    "record": "how often have|how often has|how often do|how often are|how often were|been right|turned out right|turned out correct|been correct|come true|calls been|calls right|trust your|any evidence|hit ratio|hit ratio of|brier score|brier|been any good|how often have your|your calls|past calls|track record|hit rate|win rate|accuracy|accurate|how accurate|how reliable|reliability|how often right"
    "|how often were|track records|how good are|record of|how right|success rate|have been right|were right|past verdicts",
    "buy": "should i buy|what should i buy|what to buy|worth buying|good buy|buy|what should i long|should i long|what to long"
    "|good long|best long|long candidates|long ideas|best longs|good longs|what do i buy|buy candidates|buying candidates",
    "short": "should i short|what should i short|what to short|good short|best short|short candidates|short ideas"
    "|best shorts|good shorts|should i sell|what should i sell|worth shorting|what to sell",
    "overview": "overview|rundown|summary|summarize|summarise|snapshot|everything on|full picture|state of|status|update"
    "|update on|briefing|brief|recap|report on|tell me about|how is it|whats the story|the story|info on|info about"
    "|information on|information about|details on|detail on|thoughts on|take on|outlook on|look at|analysis|analyze|analyse",
}

_TOPICS: Final = {
    "alerts": "hot funding|funding going crazy|funding alarm|funding alarms|extreme funding|funding extremes|unusual funding|abnormal funding|weird funding|funding alerts|funding alert|alerts|alert|funding warnings|hot funding alerts|alert history|alerts fired",
    "crossings": "start trending up than down|up cross over down|overtaken the downs|overtook downs|outnumbered|outnumber|overtaken|crossings|crossing|breadth crossing|breadth crossings|market crossing|market crossings|breadth cross"
    "|trend crossing|crossed over",
    "transcripts": "transcript|transcripts|transcript highlights|highlights|podcast|podcasts|said about|say about|saying about|talk about|talking about|talked about|mentioned"
    "|mention|mentions|quotes|quote from|episode|episodes|interview|interviews|speakers|speaker|discussed|heard|said"
    "|hosts|guests|commentary|on air",
    "shows": "shows|which shows|what shows|which podcasts|what podcasts|feeds|podcast sources|shows do you follow",
    "wallets": "wallets|wallet|whales|whale|watchlist|watched wallets|wallet activity|transfers|transfer|on chain transfers"
    "|moved on chain|token transfers|transferred|whale moves|whale movements|onchain|on chain",
    "categories": "categories|sectors|list categories|category list|narratives|what categories|which categories|category",
    "coins": "what coins do you|which coins do you|coins do you cover|coins do you have|coins are covered|coins you cover"
    "|coins are supported|supported coins|coins do you support|coins do you track|coins do you know|list of coins",
    "assets": "stocks|commodities|metals|equities|indices|indexes|currencies|forex|fx|etfs|real world assets|rwa|rwas"
    "|real world asset|precious metals|energy|etf|stock|commodity|metal|index|currency",
    "walkforward": "walk forward|walkforward|backtest|backtests|backtested|strategies|strategy|walk forward results"
    "|backtest results|walk forward test|out of sample",
    "regime_trades": "regime trades|regime trade|regime history|regime positions|regime position|active positions"
    "|open positions|positions|regime signals|regime trade record|regime trade history",
    "news": "news|headlines|headline|news sentiment|news items|in the news",
    "quality": "signal quality",
    "account": "my account|my quota|my plan|my tier|questions left|questions do i have|quota|my usage|how many questions"
    "|calls left|requests left|remaining questions|free questions|questions remain|what tier am i|my subscription",
    "pricing": "what does it cost|pricing|how much does a call cost|cost per call|price per call|how much per call"
    "|cost of a question|price of a question|what do you charge|how much do you charge|x402|how much does a question cost"
    "|cost per question|how do i pay|cost of a call",
    "manifest": "what routes|which routes|endpoints|which endpoints|what endpoints|api routes",
}

_UNSUPPORTED: Final = (
    "rsi|macd|moving average|moving averages|ema|sma|bollinger|bollinger bands|fibonacci|support|resistance|support level"
    "|resistance level|tvl|total value locked|staking yield|staking yields|staking|staking rewards|apy|liquidations"
    "|liquidation|liquidated|long short ratio|etf flows|etf inflows|inflows|outflows|gas fee|gas fees|gas price|order book"
    "|orderbook|bid|ask price|bid ask|spread|bid ask spread|supply|circulating supply|max supply|total supply|fdv"
    "|fully diluted|dominance|btc dominance|bitcoin dominance|holders|number of holders|hash rate|hashrate|implied volatility"
    "|implied vol|options|option|open contracts|put call ratio|developer activity|github|commits|active addresses"
    "|unlock|unlocks|token unlocks|vesting|airdrop|airdrops|twitter|tweets|reddit|telegram|google trends|sharpe|beta|alpha"
    "|vwap|atr|stochastic|ichimoku|candlestick|candle pattern|chart pattern|head and shoulders|golden cross|death cross"
    "|dividend|dividends|pe ratio|earnings|inflation rate|interest rate|interest rates|cpi|minute|minutes|tax|taxes"
    "|roadmap|team|founder|ceo|whitepaper|consensus|tps|transactions per second|nft floor|floor price|yield|yields"
    "|basis|spot premium|premium|slippage|depth|market depth|leverage|margin|var|value at risk|skew|kurtosis|sortino"
)

_FILLERS: Final = (
    "not sure|not sure about|im not sure|do you support|you support|in short|for me|a|an|the|please|pls|plz|kindly|hey|hi|hello|yo|ok|okay|so|well|now|right now|currently|at the moment|at present|atm|rn"
    "|presently|as of now|as we speak|at this moment|this moment|today please|just|really|actually|basically|exactly|roughly"
    "|about|around|approximately|approx|me|my|i|im|id|ive|you|your|u|ur|we|us|our|they|them|their|it|its|itself|that|this|these|those"
    "|there|here|of|for|on|in|at|to|by|with|from|as|into|per|do|does|did|is|are|was|were|be|been|being|am|has|have|had|having"
    "|can|could|would|should|may|might|want|wanna|like|need|know|wondering|wonder|curious|tell|see|say|think|look|looking"
    "|looks|going|get|got|getting|let|lets|help|quick|quickly|question|thanks|thank|thx|ty|cheers|mate|bro|man|dude|sir|fam|guys|folks"
    "|some|stuff|thing|things|kind|sort|sorta|kinda|maybe|perhaps|also|too|then|still|yet|already|even|ever|ones|one"
    "|coin|token|crypto|asset|assets|data|info|information|number|numbers|figure|figures|value|values|level|levels|current|latest"
    "|live|present|real|recent|recorded|according|based|using|use|including|include|along|together|each|both|all|own|overall"
    "|whole|entire|same|other|others|another|more detail|detail|details|much|many|how|what|whats|which|who|where|s|t|re|ll"
    "|if|when|while|because|since|than|very|quite|pretty|super|definitely|literally|honestly|seriously|simply|only|myself"
    "|past|yes|no worries|and|plus|respectively|only the|answer|reply|respond|response|sentence|word|words|short answer|in short"
    "|briefly|brief answer|tldr|eli5|in one line|in a sentence|be brief|be concise|concise|format|formatted|json|csv|table|markdown"
    "|bullet|bullets|bullet points|symbol|ticker|tickers|symbols|name|names|dollars|usd|us dollars|in usd|in dollars|bucks|as well"
    "|check|checking|seems|seem|appear|appears|stand|stands|standing|sit|sits|sitting|at all|anyway|again|once|once more"
    "|people|anyone|someone|everyone|everybody|traders|trader|investors|investor|portfolio manager|desk|client|report|boss|friend"
    "|your data|you have|in your data|on your service|on here|on verdict|you cover|you track|you know|covered|tracked|available"
    "|perp|perps|perpetual|perpetuals|futures|contract|contracts|pair|usdt|usdc|usd pair|market price|hyperliquid|exchange|venue"
    "|fields|field|args|arguments|tool|tools|parameters|params|schema|object|key|keys|task|step|query|api|function|endpoint|string|null|true|false|enter|entered|entering|pay|paid|earn|earned|teh|wat|wats|lasted|last|come|came|comes|make|made|makes|put|take|taken|give|given|show|list|find|print|output|run|running|go|goes|call|calling"
    "|hold|holding|holds|held|trade|trades|traded|buying|selling|stay|stayed|remain|remained|happen|happening"
)

_NEGATIONS: Final = "not|isnt|arent|wasnt|werent|aint|dont|doesnt|didnt|hasnt|havent|no|never|without|nor|neither|non|cannot|cant|wont"
_EXCEPTS: Final = (
    "except|except for|excluding|exclude|excludes|besides|other than|apart from|aside from|but not|leaving out|leave out"
    "|ignoring|ignore|minus|ex|skip|omit|not counting|not including|everything but|all but|anything but|leaving aside"
)
_SETS: Final = {
    "all": "coins|tokens|cryptos|cryptocurrencies|all coins|all tokens|every coin|everything|the board|all assets|universe"
    "|the universe|names|perps|markets|tickers|whole market|entire market|pairs|projects|majors and alts|each coin|any coin"
    "|any coins|coins or tokens|a coin|a token|all 80|the lot|contracts|constituents|members|listed coins|coin list|symbols",
    "alts": "alts|altcoins|alt coins|altcoin|alt|coins other than bitcoin",
    "market": "big picture|crypto doing|crypto in general|crypto today|crypto now|crypto right now|market|the market|crypto market|overall market|market wide|marketwide|the crypto market|crypto as a whole"
    "|cryptos overall|broad market|market overall|things overall|the space",
}
_FRAMES: Final = {
    "daily": "daily|day trend|on the daily|daily chart|daily timeframe|1d chart|daily time frame|d1",
    "weekly": "weekly|week trend|on the weekly|weekly chart|weekly timeframe|weekly time frame|w1|1w chart",
    "hourly": "hourly",
    "monthly": "monthly",
}
_SIDES: Final = {"long": "long|longs|going long|longing|a long|long position|to long", "short": "short|shorts|going short|shorting|a short|short position|to short"}
_HOLDING: Final = (
    "i have|i hold|i own|i bought|holding|my bag|my bags|my portfolio|portfolio|portfolio of|bag of|i got|ive got|we hold|we own"
    "|i am holding|im holding|holdings|my holdings|position of|positions of|a portfolio of|stack of|if i had|if i hold|if i have"
    "|if i own|bought|invested|put into|had i bought|if i bought|if i had bought|if id bought|if i put|if i invested|i put|i invested"
    "|had i invested|got in|got in at|entered|entry|entry at|entered at|entry price|average entry|cost basis|avg entry|bought at"
    "|opened|opened at|shorted|shorted at|longed|longed at|my entry|aped|aped in|went long|went short|sold"
)
_PROFIT: Final = "profit|pnl|p and l|loss|profits|gain or loss|profit or loss|how am i doing|break even|unrealized|unrealised|made or lost|return on my|pl"

Lexicon = Mapping[str, tuple[Word, ...]]


def _entries() -> Iterator[tuple[str, Word]]:
    for name, phrases in _MEASURES.items():
        yield phrases, Word("measure", Measure(name))
    for phrases, state in _STATES:
        yield phrases, Word("state", state)
    for sign, phrases in _SIGNS.items():
        yield phrases, Word("sign", sign)
    for sign, phrases in _DIRECTIONS.items():
        yield phrases, Word("direction", sign)
    for phrases, superlative in _SUPERS:
        yield phrases, Word("super", superlative)
    for op, phrases in _COMPARATORS.items():
        yield phrases, Word("compare", op)
    for ask, phrases in _ASKS.items():
        yield phrases, Word("ask", ask)
    for topic, phrases in _TOPICS.items():
        yield phrases, Word("topic", topic)
    for name, phrases in _SETS.items():
        yield phrases, Word("set", name)
    for frame, phrases in _FRAMES.items():
        yield phrases, Word("frame", frame)
    for side, phrases in _SIDES.items():
        yield phrases, Word("side", side)
    yield _UNSUPPORTED, Word("unsupported", None)
    yield _NEGATIONS, Word("neg", None)
    yield _EXCEPTS, Word("except", None)
    yield _HOLDING, Word("holding", None)
    yield _PROFIT, Word("holding", "profit")
    yield "and|plus|as well as|along with|together with|but|while|yet|also|then|with", Word("and", None)
    yield "or|and or", Word("or", None)
    yield "among|amongst|out of|of the|within|inside|in the", Word("among", None)
    yield _FILLERS, Word("filler", None)


def _build() -> Lexicon:
    table: dict[str, list[Word]] = {}
    for phrases, word in _entries():
        for phrase in filter(None, phrases.split("|")):
            table.setdefault(phrase, []).append(word)
    return {phrase: tuple(words) for phrase, words in table.items()}


LEXICON: Final[Lexicon] = _build()
"""Phrase to its meanings, those listed first first. Which one holds, the grammar decides by what stands beside it."""

LONGEST: Final = max(phrase.count(" ") + 1 for phrase in LEXICON)
"""Words of the longest phrase."""

VOCABULARY: Final = frozenset(word for phrase in LEXICON for word in phrase.split())
"""Every word of every phrase: a typo of one of these is mended."""
