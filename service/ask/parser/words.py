"""Plain English words: what a coin's name may be besides, and what no typo of a coin's name is.

The 2,048 words of BIP-39's English list (MIT), and what people say when they ask about markets.
"""

from typing import Final


def bag(words: str) -> frozenset[str]:
    """The words of a text, for tables of them."""
    return frozenset(words.split())


PLAIN: Final = bag(
    """
    a abandon ability able abnormal about above absent absorb abstract absurd abuse accept access accident account
    accountant accumulate accumulated accumulating accumulation accuracies accuracy accurate accuse achieve acid
    acoustic acquire across act action active activity actor actress actual actually ad adapt add addict address
    adjust admin admit adult advance advice adx aerobic afaik affair afford afraid after afternoon again against age
    aged agent ago agree ahead ai aim aint air airdrop airdrops airline airport aisle alarm album alcohol alert
    algebra alien alive all allegedly alley allow allowance allowances almost alone along alongside alot alpha already
    alright also alt altcoin altcoins alter alternative although alts always am amateur amazing america american among
    amount amused an analyse analysis analyst analyze anchor ancient and anger angle angry animal ankle announce
    annual annualised annualized anomalies anomaly anon another answer answers antenna antique anxiety any anybody
    anymore anyone anything anyway anywhere apart ape apes api aping apology app apparently appear appearance
    appearances appetite apple appreciate appreciated approach approve approx apr april apy arch arctic are area aren
    arena arent argue argument arguments arm armed armor army around arrange array arrest arrive arrow art artefact
    article articles artist artwork as asap ask asked asking aspect assault assert asserts asset assets assigned
    assist assistant assume asthma astrology at ath athlete atl atmosphere atom atr attack attempt attend attention
    attitude attorney attract auction audit aug august aum aunt authenticated author auto autobuy autotrade autumn
    available average averse aversion avocado avoid awake aware away awesome awful awkward axis baby bachelor back
    backpack backtest backtested backtesting backtests backwardation bacon bad badge badly bag bags bake balance
    balcony ball bamboo ban banana bands bank banner bar barely bargain barrel base baseball based basic basically
    basis basket basketball battery batting battle bc be beach bean bear bearish bears beat beaten beating beats
    beauty because become bedroom beef been before begin beginner behalf behave behaving behavior behaviour behind
    being believe belongs below belt bench benefit beside best bet beta betray better between beyond bias bicycle bid
    big bigger biggest bike billion billions bind biology bird birth birthday bit bitcoiner bitter black blade blame
    blanket blast bleak bleed bleeding bless blew blind block blockchain blog blood blossom blouse blow blue blur
    blush board boat body boil boj bollinger bomb bond bone bonus book books boom boost border bored boring borrow
    boss bot both bots bottom bottomed bottoms bought bounce bound bounds bowl box boy boyfriend boys bracket brain
    brand brass brave bread breadth break breakdown breakfast breakout breakouts breeze brick bridge brief brier
    bright brilliant bring brisk bro broad broadcast broader broadly broccoli broke broken bronze broom bros brother
    brown brush btw bubble bucks buddy budget buffalo build built bulb bulk bull bullet bullish bullrun bulls bunch
    bundle bunker burden burger burn burns burnt burst bus business busy but butter button buy buyer buyers buying
    buzz by bye bypass cabbage cabin cable cactus cage cake calculate calculus call called calls calm calmar came
    camera camp can canal cancel candle candles candlestick candy cannon cannot canoe cant canvas canyon cap
    capabilities capable capacity capital capitulate capitulating capitulation captain car carbon card care cargo
    carpet carry cart case cash casino castle casual cat catalog catch categories category cats cattle caught cause
    caused causes causing caution cave ceiling celebrities celebrity celery cement census cent cents century cereal
    certain certainty cex cftc chain chair chalk challenge champion chance chances change changed changes changing
    chaos chapter character charge chart charts chase chat chatgpt cheap cheaper cheapest cheat cheated check cheers
    cheese chef chemistry cherry chest chicken chief child children chill chimney china chinese chips choice choose
    chopping choppy christmas chronic chuckle chunk churn cigar cinema cinnamon circle circulating citizen city civil
    claim clap clarify class classes classified classify classmate claude claw clay clean clear clerk clever click
    client cliff climb clinic clip clock clog close closed closes cloth cloud clown club clump cluster clutch coach
    coast coat coconut code coefficient coffee coil coin coinage coins cold collapse collapsed collapses collapsing
    colleague collect college color colour column combine come comes comfort comic coming command commands commodities
    commodity common communities community commute company compare compared compares comparing comparison compile
    complain complete compose compute concept concern concerned concert conclude concluded concludes conclusion
    condition conditions conduct confidence confident confirm confused congress connect cons consider consolidating
    constraints construct constructed constructs contact contango content context continue contract contrarian
    contrary control conversation conversion convert converted conviction convince cook cooked cooking cool copper
    copy copytrade coral core corn corr correct correction correlate correlated correlates correlating correlation
    correlations cost costs cotton couch could couldnt count country county couple course court cousin cover coverage
    covert coyote coz cpi crack cradle craft cram crane crash crashed crashes crashing crater crawl crazy cream create
    created credentials credit creek creepy crew cricket crime crisp critic crop cross crossed crosses crossing
    crossings crossover crossovers crouch crowd crowded crucial cruel cruise crumble crunch crush cry crypto
    cryptocurrencies cryptocurrency cryptos crystal csv cube culture cup cupboard curious currencies currency current
    currently curtain curve cushion custom cut cute cuts cuz cycle da dad daily damage damn damp dance danger
    dangerous dao daring dash data database date dates daughter dawn day days dca ddos dead deadline deal dear death
    debate debris debug dec decade december decent decide decision declare decline decorate decouple decoupled
    decoupling decrease deduct deductible deep deer defense defi define definition deflationary defy degen degens
    degree delay delete delisted deliver delta demand demise denial dentist deny depart depend dependence dependent
    deploy deposit depth deputy derivative derivatives derive describe desert design desk despair dessert destroy
    detail detailed details detect determine determined develop developer device devote dex dexes dexs diagram dial
    diamond diary dice did didnt diesel diet diff differ difference different differently difficulty digital dignity
    dilemma dinner dinosaur dip dipped dipping dips direct direction director dirt dis disagree disaster discount
    discover discuss discussion discussions disease dish dismiss disorder display disregard distance distributed
    distributing distribution divergence diverging divert divide divorce dizzy do docs doctor document documentation
    does doesn doesnt dog dogs doing doll dollar dollars dolphin domain dominance donate done donkey donor dont doomed
    door dose double doubt dove dovish down downside downstairs downtrend downtrends downward draft dragon drama
    drastic draw drawdown dream dress drift drill drink drip drive drop dropped dropping drops drum drunk dry duck
    dude due dull dumb dump dumped dumping dumps dune during dust dutch duty dwarf dying dynamic dyor each eager eagle
    earlier early earn earning earnings earth easily east easy eating ecb echo ecology economic economy ecosystem edge
    edit editor educate effect effort egg eh eight eighth either elbow elder election electric elegant element
    elephant elevator eli5 eligibility eligible elite elon else ema email embark embarrassed embody embrace emerge
    emotion employ empower empty enable enact end ended endless endorse endpoint endpoints ends enemy energy enforce
    engage engine english enhance enjoy enlist enormous enough enrich enroll ensure enter entire entitlement entry
    enumerate envelope environment episode equal equation equip equities equity equivalent era erase erode erosion
    error erupt escape essay essence estate estimate etc eternal etf etfs ethics euphoria euphoric europa europe
    european even event events ever every everybody everyone everything everywhere evidence evil evoke evolve exact
    exactly exam example exceed exceeded excellent except excess exchange exchanges excite exclude excluding excuse
    execute exercise exhaust exhaustion exhaustive exhibit exile exist exit exotic expand expect expected expense
    expensive experience expert expire explain explained explains explode exploit expose exposure express expression
    extend extensive extra extrapolate extreme extremely eye eyebrow fabric face fact factor facts faculty fade
    fahrenheit fail failed faint fair faith fake fall fallen falling falls false fam fame family famous fan fancy
    fantasy far fare farewell farm farthest fashion fast faster fat fatal father fatigue fault fav favor favorite
    favour favourite fear feature feb february fed federal fee feed feel feeling fees feet fell female fence festival
    fetch fever few fiat fib fiber fibonacci fiction field figure figures file fill film filter final find fine finger
    finish fire firm first fiscal fish fit fitness five fix flag flame flash flat flavor flee flight flip flipped
    flipping flips float flock floor flow flower flu fluid flush fly foam focus fog foil fold folks follow following
    follows fomc fomo food foolish foot football for force forecast forecasts foreign forest forex forget forgot
    forgotten fork forks form formula forth fortune forum forward fossil foster found four fox fraction fragile frame
    france frankly freak free freedom freeze fren french frens frequent fresh fri friday friend friends fringe frog
    from front frost froth frothy frown frozen fruit frustrated fucking fud fuel full fully fun function functionality
    fund fundamental fundamentals funding funds funny furnace furniture further fury future futures fx fyi gadget gain
    gained gainer gainers gaining gains galaxy gallery gamble game gap garage garbage garden garlic garment gas gasp
    gate gather gauge gave gaze gdp gem gems gender general generally generate generated genius genre gentle genuine
    geometry german germany gesture get gets getting ghost giant gift giggle ginger giraffe girl girlfriend gist give
    given gives giving glad glance glare glass glide glimpse globe gloom glory glossary glove glow glue gm gn go goat
    god goddess goes going gold golden gone gonna good goodbye goodnight goose gorilla gospel gossip got gotcha gotta
    govern governance gown gpt grab grace grade graded grain grammar grand grandma grandpa grant grape graph grass
    gravity great greed greedy green greetings grew grid grief grit grocery gross ground group grow growing growth
    grunt guard guess guest guests guide guidelines guilt guitar gun guys gym habit hack hacking had hadnt haha haiku
    hair half halving halvings hammer hamster hand hands hangs happen happened happening happens happy harbor hard
    hardly hardware harsh harvest has hash hashrate hasnt hat hate have havent having hawk hawkish hazard he head
    headache headline headlines health healthy heard heart heat heatmap heaven heavy hedge hedgehog height held hell
    hello helmet help helpful hen her here heres hero hey hi hidden high higher highest highlights highs hike hikes
    hill him himself hint hip hire his historic historical historically history hit hitrate hits hm hmm hobby hockey
    hodl hodlers hodling hold holder holders holding holdings holds hole holiday hollow home homework homie honest
    honestly honey hood hope hopefully hoping horn horoscope horrible horror horse hospital host hot hotel hottest
    hour hourly hours house hover how howdy however hows html http https hub huge human humble humor hundred hungry
    hunt hurdle hurry hurt husband hybrid hype hyped hyping hypothetical i ice ichimoku ico icon id idea ideally ideas
    identify idiot idk idle ido ids if ignore ill illegal illness im image imagine imitate immediate immense immune
    imo impact impersonate important impose impossible impressive improve impulse in inch include included including
    income increase increased increasing independent independently index indexes india indicate indicator indicators
    indices indoor industry infant infinite infinitely inflation inflationary inflict inflow inflows influencer
    influencers info inform information inhale inherit inheritance initial inject injury inmate inner innocent input
    inquiry insane insect inside insight insights inspire install instant instead institutions instruction
    instructions instrument instruments insurance intact integral interest interesting internal internals interpret
    interval interview interviewed interviews into introduce invalidate invalidates invented invest invested investing
    investment investments investor investors invite invoices involve ipo iron irony irs is island isnt isolate issue
    it italian item items its itself ive ivory jacket jaguar jailbreak jailbroken jan january japan japanese jar
    jargon java javascript jazz jealous jeans jelly jerk jewel job join joke jokes joking journal journey joy json
    judge juice jul july jump jumped jumping jumps jun june jungle junior junk just kangaroo keen keep keeps kept
    ketchup key keyboard keynote keys kick kid kidding kiddo kidney killed kilos kind kinda king kingdom kiss kit
    kitchen kite kitten kiwi knee knew knife knock know knowing known knows korea l1 l2 lab label labor lack ladder
    lady lag laggard laggards lagging lake lambo lamp landed landlord language laptop large larger largest lasagna
    last lately later latest latin laugh launch launched launder laundering laundry lava law lawn lawsuit lawyer layer
    lazy lead leader leaderboard leaders leading leads leaf league leak leaking lean leaning learn lease least leave
    lecture left leg legal legend legit leisure lemon lend lending length lens leopard less lesser lesson let lets
    letter level levels leverage leveraged lfg liar liberty library license lie lied lies life lifetime lift light
    like liked likelihood likely limb limerick limit line link lion lips liquid liquidate liquidated liquidation
    liquidations liquidity list listed listen listening listing listings lists literally little live lizard ll llm
    lmao load loan lobster local lock lockstep logged logic logs lol london lonely long longer longest longing longs
    look looked lookin looking looks loop loose lose loser losers loses losing loss losses lost lot lots lottery loud
    lounge love low lowdown lower lowest lows loyal luck lucky luggage lumber lunar lunch luxury lyrics macd machine
    macro mad made magic magnet maid mail main mainly mainnet maintain major majority make makes making malware mammal
    man manage mandate mango manifest manipulated manipulation mansion manual many map maple mar marble march margin
    marine mark market marketcap markets marriage married mask mass massive master match material mates math matrix
    matter matters maxi maximum maxis may maybe mayor maze mcap me meadow meal mean meaning means meant measure meat
    mechanic medal media medical medicine medium meet meeting melody melt member membership meme memecoin memecoins
    memes memory mental mention menu mercy merge merit merry mesh message messages messed messing metal metals meter
    method metric metrics mid middle midnight might mild mildly miles milk million millions mimic min mind mine miner
    miners minimal minimum mining minister minor mint minus minute minutes miracle mirror misery miss missed missing
    mistake mix mixed mixture mobile mode model models moderate modify modules mom moment momentum mon monday money
    monitor monkey monster month monthly months mood moon mooned mooning moonshot moonshots moral more morning
    mortgage mortgages mosquito most mostly mother motion motor mountain mouse mouth move moved movement movements
    mover movers moves movie movies moving much muffin mule multiple multiply mum murder muscle museum mushroom music
    must mutual my myself mystery myth naive naked name named names napkin narrative narratives narrow nasty nation
    naturally nature near nearest nearly neat neck need needed needs negative negatively neglect neighbor neighbour
    neither nephew nerve nervous nest net netflow network neutral never new newbie newer newest news newspaper next
    nft nfts ngmi nice night nine no noble nobody node nodes noise nominee none nonsense noob noodle nope nor normal
    normally north nos nose not notable note nothing notice notification notifications notify notional nov novel
    november now nowadays nuclear number numbers nurse nut nvm oak obey object oblige obscure observe obtain obv
    obvious obviously occasion occur ocean oct october odd odds odor of off offchain offer office officially often oh
    oil ok okay old older oldest olive olympic omg omit on once onchain one ones onion online only onto open openai
    opened opening opera operate opinion opinions oppose opposed opposite optimistic option options or orange orbit
    orchard order orders ordinary organ organic orient origin original orphan ostrich other others otherwise ought our
    ours ourselves out outcome outcomes outdoor outer outfit outflow outflows outlier outliers outlook outnumber
    outnumbered outnumbering outperform outperformed outperformer outperformers outperforming outperforms output
    outside oval oven over overall overbought overextended overheated overheating overnight overpaying override
    oversold overtake overtaken overtook overvalued overview owe owed owes own owner owning oxygen oyster ozone pace
    pack package pact paddle page paid pain paint painted pair pairs palace palm panda panel panic panicking panther
    paper paperhands parade parent paris park parliament parrot part participation particular partner parts party pass
    passport password past pasta patch patents path patience patient patrol pattern pause pave pay payer payers paying
    payment payments pays pce peace peak peanut pear peasant pelican pen penalty pencil pending pennies penny pension
    people pepper per percent percentage perfect perform performance performed performer performers performing
    performs perhaps period permission permit perp perpetual perpetuals perps person persona personal pessimistic pet
    phase phish phishing phone photo phrase physical physics piano pick picks picnic picture piece pig pigeon pill
    pilot ping pink pioneer pipe pistol pitch pity pizza place plain plan plane planet plans plastic plate platform
    play please pleasure pledge pls pluck plug plunge plus plz pnl pocket podcast podcasts poem poems poet point
    points polar pole police policies political politics pond pony pool poor pop pope popular population portfolio
    portion position positional positioned positioning positions positive positively possible possibly post potato
    potential pottery pounds poverty powder powell power ppi ppl practice praise pray precise predict predicted
    predicting prediction predictions prefer pregnant premier premium prepare present president press pressure pretend
    pretty prev prevent previous previously price priced priceless pricelist prices pricey pricier priciest pricing
    pride primary prime print prior priority prison private prize probability probable probably problem process
    produce product production profile profit profitable profits program project projection projections projects
    promise promote prompt proof proper property prophecy prophesy proportion proposal pros prosper protect proud
    prove proven provide proxy public published pudding pull pullback pulled pulp pulse pump pumped pumping pumpkin
    pumps punch punt pupil puppy purchase purity purpose purse push put puts puzzle pyramid python quality quant
    quantum quarter quarterly queen queries query question questions quick quickly quid quiet quit quite quiz quota
    quote quotes rabbit raccoon race rack radar radio rail rain rainbow raise raised raising rallied rallies rally
    rallying ramp ranch random range ranging rank ranked ranking rankings ranks ransomware rapid rapidly rare rate
    rated rates rather ratings ratio rationale raven raw razor reach reached reaching reaction read reading ready real
    realise realised realistic realistically realize really realm reason reasoning reasons rebalance rebel rebound
    rebuild recall recap receive received receives recent recently recession recipe recipes recommend recommendation
    recommended record recover recovered recovering recovery recycle red reduce refactor refill refills reflect reform
    refund refuse regarding regex regime regimes region regret regular reject rekt relation relative relatively relax
    release relevant reliability reliable relief religion relisted rely remain remaining remember remind remove render
    renew rent reopen rep repair repeat replace replied report reports request requests require required rescue
    research resemble reserves reset resets resist resistance resource respect respond response rest restaurant
    restrictions result results resume retire retreat return returns reunion reveal reversal reverse reversed
    reversing review reward rhythm rib ribbon rice rich riddle ride ridge ridiculous rifle right rigid ring riot rip
    ripped ripping ripple rise risen rises rising risk riskier riskiest riskoff riskon risks risky ritual rival river
    rn road roast robot robust rock rocket roe roi role roleplay roll romance roof rookie room root rose rotate
    rotation rough round route royal rsi rubber rude rug rugged ruin ruined rule rules run rundown running runs runway
    rural russia russian rust rwas sad saddle sadness safe safer safest safety said sail salad salary sale salmon
    salon salt salute same sample sand sank sat satisfy satoshi saturday sauce sausage save savings saw say saying
    saylor says scale scam scan scanner scare scary scatter scenario scene scheme school science scissors scoop score
    scorecard scores scorpion scout scrap scream screen script scrub sdk sea search season seat sec second seconds
    secret section sectional sector sectors secure security see seed seeing seek seem seems seen segment select self
    sell seller sellers selling selloff seminar send senior sense sensible sent sentence sentient sentiment sep
    separate sept september ser series serious seriously service serving session set sets settle setup seven several
    shadow shaft shaking shall shallow shape share shares sharp sharpe she shed sheet shell sheriff shield shift
    shifted shine shiny ship shit shitcoin shitcoins shiver shock shoe shoot shop short shorted shorter shortest
    shorting shorts shot should shoulder shouldn shouldnt shout shouting shove show showed showing shown shows shrimp
    shrug shuffle shut shy sibling sick side sides sideways siege sight sign signal signals significant significantly
    silent silk silly silver similar simple simply since sing single sink sinking sinks sir siren sis sister sit site
    situate situation six size skate sketch ski skill skin skip skirt skull sky skyrocket skyrocketed skyrocketing sl
    slab slam slashing sleep sleepy slender slept slice slid slide slight slim slipped slipping slips slogan slot slow
    slowly slump slumped slush sma small smaller smallest smart smash smell smile smoke smooth snack snake snap
    snapshot sniff snippet snow so soap soar soared soaring soars sober soccer social sock soda soft solar sold
    soldier solid solution solve some somebody somehow someone something sometimes somewhat somewhere song songs
    sonnet soon sooner sorry sort sorted sortino soul sound sounds soup source sources south space spanish spare
    spatial spawn speak speaking special specific speculative speech speed spell spend spent sphere spice spider spike
    spiked spiking spin spirit split spoil spoke spoken sponsor spoon sport sports spot spray spread spring spy sql
    square squeeze squirrel stable stablecoin stablecoins stack stacking stadium staff stage stairs stake staking
    stamp stance stand standard standing stands star stars start started starting starts starve stat state states
    statistics stats status stay staying steak stealing steel steep steepest stem step steps stereo stick still sting
    stochastic stock stocks stolen stomach stone stonks stool stop stoploss stopped stops store storm story stove
    straight strange strategies strategy street strength stressed strike strings strong stronger strongest structure
    struggle stuck student stuff stumble stupid style subject submit subscribed subscriber subscription subway success
    such suck sucks sudden suddenly sue suffer sugar suggest suggestion suggestions suit sum summarise summarize
    summary summer sun sunday sunk sunny sunset sup super supertrend supply support supports suppose supposed supreme
    sure surely surface surge surged surging surpass surprise surround survey survive suspect sustain swallow swamp
    swap swarm swear sweet sweetheart swift swim swing switch sword symbol symbols symptom sync synonym syrup system
    table tackle tag tail take taken takeprofit takes taking tale talent talk talking talks tallest tandem tank tanked
    tanking tape target targets tarot task taste tattoo taught tax taxes taxi teach team tears tech technical
    technically technology teenage tell telling tells temper temperature tempted ten tenant tend tends tennis tent
    term terminology terms terrible test tested text than thank thanks thanku that thats the their them theme
    themselves then theory therapy there therefore thereof theres these thesis they theyre thin thing things think
    thinking thinks third thirsty this thnx tho those though thought thoughts thousand thousands thread three
    threshold thresholds thrive throat through throw thrown thru thu thumb thunder thursday thus thx ticker tickers
    ticket tide tie tied tier tiers tiger tight till tilt timber time timeframe timeframes times timeseries tiny tip
    tire tired tissue title to toast tobacco today todays toddler toe together toilet token tokenomics tokens tokyo
    told tomato tomorrow ton tone tongue tonight tons too took tool tools tooth top topic topics topple tops torch
    torn tornado tortoise toss total totally touch tough tourist toward towards tower town toy tp trace track tracked
    tracking trade traded trader traders trades trading traditional traffic tragic trailing train transaction
    transactions transcribed transcript transcripts transfer translate translation trap traps trash travel tray
    treasure treasury treat tree trend trended trending trendline trends trendy trial tribe trick tricky tried trigger
    trillion trim trip triple trophy trouble truck true truly trumpet truncate trust trustworthy truth try trying tube
    tue tuesday tuition tumble tuna tunnel turkey turn turned turning turns turtle tutorial tvl tweet twelve twenty
    twice twin twist twitter two ty type types typescript typical typically tyre tysm u u2 ugly uh ultimate um
    umbrella unable unaware unbelievable uncertain uncertainty unchained uncle unclear uncorrelated uncover under
    underperform underperformed underperforming underperforms understand understood undervalued undo uneasy unfair
    unfold unhappy unhealthy uniform unique unit units universe unknown unless unlike unlikely unlock unlocks unlucky
    unstake until unusual unveil up upcoming update updated updates upgrade upgrades uphold upon upper upset upside
    uptrend uptrends upward upwards ur urban urge url us usage usd usdc usdt use used useful useless user users uses
    using usual usually utility vacant vacation vaccine vacuum vague valentine valid validate validator validators
    valley valuable valuation value valued values valve van vanish vapor variable various vast vault vector vectors
    vehicle velvet vendor venture venue verb verbatim verdict verdicts verify version versus very vessel vesting
    veteran via viable vibe vibes vibrant vicious victory video view views village vintage violin virtual virus visa
    visit visual vital vitalik vitamins vivid vocal voice void vol volatile volatility volcano volume volumes vote
    voting voyage vs vwap wage wagmi wagon wait waiting wake walk walkforward wall wallet wallets walnut wanna want
    wanted wants war warfare warm warn warning warnings warrior was wash wasnt wasp waste wat watch watching watchlist
    water wave way ways we weak weaker weakest weakness wealth wealthy weapon wear weasel weather web web3 website wed
    wedding wednesday weeds week weekday weekdays weekend weekly weeks weigh weight weird welcome well wen went were
    werent west wet whale whales what whatever whats whatsup wheat wheel when whenever where whereas wherever whether
    which while whip whisper who whoever whole whom whos whose why whys wick wide width wife wild will win window wine
    wing wink winner winners winning winrate wins winter wire wisdom wise wish with withdraw within without witness
    wolf wom woman won wonder wonderful wondering wont wood wool word words work worked working workout works world
    worried worry worse worst worth worthless worthwhile would wouldnt wound wow wrap wreck wrestle wrist write
    writing written wrong wrote wtf wut ya yall yard yay yea yeah year yearly years yelling yellow yep yes yesterday
    yet yield yo you youd youll young your youre yours yourself youth youtube youtuber youtubers youve yup zebra zero
    zodiac zone zoo
    """
)

_ENDINGS: Final = (
    ("ies", "y"), ("ied", "y"), ("ier", "y"), ("iest", "y"), ("ily", "y"), ("ing", ""), ("ing", "e"), ("ed", ""),
    ("ed", "e"), ("es", ""), ("es", "e"), ("est", ""), ("est", "e"), ("er", ""), ("er", "e"), ("ers", ""), ("ers", "e"),
    ("ly", ""), ("s", ""), ("ness", ""), ("ment", ""), ("able", ""), ("ful", ""), ("less", ""), ("ation", "e"),
)  # fmt: skip
_SHORTEST_STEM: Final = 3


def is_plain(word: str) -> bool:
    """Whether a lower-case word is an English one, or a known one with an English ending."""
    return word in PLAIN or any(
        word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM and _has(word[: -len(ending)] + instead)
        for ending, instead in _ENDINGS
    )


def _has(stem: str) -> bool:
    """Whether a stem is a word, also where its last letter was doubled ("ripp" of "ripped")."""
    return stem in PLAIN or (stem[-1] == stem[-2] and stem[:-1] in PLAIN)
