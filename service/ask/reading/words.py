"""Plain English words: what a coin's name may be besides, and what no typo of a coin's name is.

The 2,048 words of BIP-39's English list (MIT), and what people say when they ask about markets.
"""

from typing import Final


def bag(words: str) -> frozenset[str]:
    """The words of a text, for tables of them."""
    return frozenset(words.split())


PLAIN: Final = bag(
    """
    a abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve
    acid acoustic acquire across act action actor actress actual actually ad adapt add addict address adjust admin
    admit adult advance advice adx aerobic afaik affair afford afraid after again against age agent ago agree
    ahead ai aim aint air airdrop airdrops airport aisle alarm album alcohol alert alien all alley allow almost
    alone along alot alpha already also alt altcoin altcoins alter although alts always am amateur amazing america
    american among amount amused an analysis analyst anchor ancient and anger angle angry animal ankle announce
    annual annualised annualized anon another answer answers antenna antique anxiety any anybody anymore anyone
    anything anyway apart ape apes api aping apology app apparently appear apple approve apr april apy arch arctic
    are area aren arena arent argue arm armed armor army around arrange arrest arrive arrow art artefact artist
    artwork as asap ask asked asking aspect assault asset assets assist assistant assume asthma at ath athlete atl
    atom atr attack attend attitude attract auction audit aug august aum aunt author auto autumn average avocado
    avoid awake aware away awesome awful awkward axis baby bachelor back backtest backtested backtesting backtests
    backwardation bacon bad badge badly bag bags bake balance balcony ball bamboo ban banana bank banner bar
    barely bargain barrel base based basic basis basket basketball battle bc be beach bean bear bearish bears
    beauty because become beef been before begin beginner behave behaving behavior behaviour behind being believe
    below belt bench benefit best bet betray better between beyond bicycle bid big bigger biggest bike billion
    billions bind biology bird birth bit bitcoiner bitter black blade blame blanket blast bleak bleed bleeding
    bless blind block blockchain blood blossom blouse blow blue blur blush board boat body boil boj bollinger bomb
    bone bonus book books boom boost border boring borrow boss bot both bots bottom bottomed bottoms bought bounce
    box boy boys bracket brain brand brass brave bread breadth break breakdown breakout breakouts breeze brick
    bridge brief bright bring brisk bro broccoli broke broken bronze broom bros brother brown brush btw bubble
    buddy budget buffalo build bulb bulk bull bullet bullish bulls bunch bundle bunker burden burger burn burns
    burst bus business busy but butter buy buyer buyers buying buzz by bye bypass cabbage cabin cable cactus cage
    cake calculate call called calls calm camera camp can canal cancel candle candles candlestick candy cannon
    cannot canoe cant canvas canyon cap capable capital capitulation captain car carbon card care cargo carpet
    carry cart case cash casino castle casual cat catalog catch categories category cats cattle caught cause
    caused causes causing caution cave ceiling celery cement census cent cents century cereal certain cex cftc
    chair chalk champion chance chances change changed changes changing chaos chapter charge chart charts chase
    chat chatgpt cheap cheaper cheapest check cheers cheese chef cherry chest chicken chief child chill chimney
    china chinese choice choose chronic chuckle chunk churn cigar cinnamon circle circulating citizen city civil
    claim clap clarify claude claw clay clean clear clerk clever click client cliff climb clinic clip clock clog
    close closed closes cloth cloud clown club clump cluster clutch coach coast coconut code coffee coil coin
    coins cold collect color column combine come comes comfort comic coming command commands commodities commodity
    common company compare compared compares comparing comparison compile complete compute concern concerned
    concert conduct confidence confident confirm congress connect consider consolidating contract contrarian
    control convert converted convince cook cooked cooking cool copper copy coral core corn correct correction
    correlate correlated correlates correlating correlation correlations cost costs cotton couch could couldnt
    count country couple course cousin cover coyote coz cpi crack cradle craft cram crane crash crashed crashes
    crashing crater crawl crazy cream credit creek crew cricket crime crisp critic crop cross crossed crosses
    crossing crossings crouch crowd crowded crucial cruel cruise crumble crunch crush cry crypto cryptocurrencies
    cryptocurrency cryptos crystal csv cube culture cup cupboard curious currencies currency current currently
    curtain curve cushion custom cut cute cuts cuz cycle da dad daily damage damn damp dance danger dangerous dao
    daring dash data date dates daughter dawn day days dca dead deal dear death debate debris dec decade december
    decent decide decline decorate decouple decoupled decoupling decrease deep deer defense defi define definition
    deflationary defy degen degens degree delay deliver delta demand demise denial dentist deny depart depend
    deploy deposit depth deputy derivatives derive describe desert design desk despair destroy detail detailed
    details detect develop developer device devote dex dexes dexs diagram dial diamond diary dice did didnt diesel
    diet diff differ difference different differently difficulty digital dignity dilemma dinner dinosaur dip
    dipped dipping dips direct direction dirt dis disagree discount discover discuss disease dish dismiss disorder
    display distance distribution divergence diverging divert divide divorce dizzy do doctor document does doesnt
    dog dogs doing doll dollar dollars dolphin domain dominance donate done donkey donor dont doomed door dose
    double doubt dove dovish down downside downtrend downtrends downward draft dragon drama drastic draw drawdown
    dream dress drift drill drink drip drive drop dropped dropping drops drum dry duck dude due dull dumb dump
    dumped dumping dumps dune during dust dutch duty dwarf dynamic dyor each eager eagle earlier early earn
    earning earnings earth easily east easy ecb echo ecology economy ecosystem edge edit educate effect effort egg
    eh eight either elbow elder election electric elegant element elephant elevator elite else ema email embark
    embody embrace emerge emotion employ empower empty enable enact end ended endless endorse ends enemy energy
    enforce engage engine english enhance enjoy enlist enough enrich enroll ensure enter entire entry envelope
    episode equal equation equip equities equity era erase erode erosion error erupt escape essay essence estate
    etc eternal etf etfs ethics euphoria euphoric europe european even event events ever every everybody everyone
    everything evidence evil evoke evolve exact exactly example except excess exchange exchanges excite exclude
    excluding excuse execute exercise exhaust exhaustion exhibit exile exist exit exotic expand expect expected
    expensive expire explain explained explains expose exposure express extend extra extreme extremely eye eyebrow
    fabric face fact facts faculty fade fail failed faint fair faith fake fall fallen falling falls false fame
    family famous fan fancy fantasy far farm farthest fashion fast faster fat fatal father fatigue fault fav favor
    favorite favourite fear feature feb february fed federal fee feed feel feeling fees fell female fence festival
    fetch fever few fiat fib fiber fibonacci fiction field figure figures file film filter final find fine finger
    finish fire firm first fiscal fish fit fitness five fix flag flame flash flat flavor flee flight flip flipped
    flipping flips float flock floor flow flower fluid flush fly foam focus fog foil fold folks follow following
    follows fomc fomo food foot football for force forecast forecasts foreign forest forex forget fork forks form
    formula forth fortune forum forward fossil foster found four fox fragile frame france free fren french frens
    frequent fresh fri friday friend friends fringe frog from front frost frown frozen fruit fud fuel full fun
    function fund fundamental fundamentals funding funds funny furnace further fury future futures fx fyi gadget
    gain gained gainer gainers gaining gains galaxy gallery gamble game gap garage garbage garden garlic garment
    gas gasp gate gather gauge gave gaze gdp gem gems general generally genius genre gentle genuine german germany
    gesture get gets getting ghost giant gift giggle ginger giraffe girl give given gives giving glad glance glare
    glass glide glimpse globe gloom glory glossary glove glow glue gm gn go goat god goddess goes going gold
    golden gone gonna good goose gorilla gospel gossip got gotta govern governance gown gpt grab grace grain grant
    grape graph grass gravity great greed greedy green grew grid grief grit grocery ground group grow growing
    growth grunt guard guess guide guilt guitar gun guys gym habit had hadnt haha haiku hair half halving halvings
    hammer hamster hand hands happen happened happening happens happy harbor hard hardly harsh harvest has hash
    hashrate hasnt hat hate have havent having hawk hawkish hazard he head headline headlines health healthy heard
    heart heat heavy hedge hedgehog height held hell hello helmet help helpful hen her here heres hero hey hi
    hidden high higher highest highs hike hikes hill him hint hip hire his historical historically history hit
    hits hm hmm hobby hockey hodl hodlers hodling hold holder holders holding holdings holds hole holiday hollow
    home homework honey hood hope hoping horn horror horse hospital host hot hotel hottest hour hourly hours house
    hover how howdy however hows html http https hub huge human humble humor hundred hungry hunt hurdle hurry hurt
    husband hybrid hype hyped hyping hypothetical i ice ichimoku ico icon id idea ideas identify idk idle ido ids
    if ignore ill illegal illness im image imagine imitate immediate immense immune imo impact important impose
    improve impulse in inch include included including income increase increased increasing index indexes india
    indicate indicator indicators indices indoor industry infant inflation inflationary inflict inflow inflows
    info inform information inhale inherit initial inject injury inmate inner innocent input inquiry insane insect
    inside insight insights inspire install instead instruction instructions instrument instruments intact
    interest interesting into invest invested investing investment investments investor investors invite involve
    ipo iron irs is island isnt isolate issue it italian item items its itself ive ivory jacket jaguar jailbreak
    jan january japan japanese jar java javascript jazz jealous jeans jelly jewel job join joke jokes joking
    journey joy json judge juice jul july jump jumped jumping jumps jun june jungle junior junk just kangaroo keen
    keep keeps kept ketchup key keys kick kid kidding kidney kind kinda king kingdom kiss kit kitchen kite kitten
    kiwi knee knew knife knock know knowing known knows korea l1 l2 lab label labor lack ladder lady lag laggard
    laggards lagging lake lambo lamp language laptop large larger largest last lately later latest latin laugh
    launch launched laundry lava law lawn lawsuit lawyer layer lazy lead leader leaders leading leads leaf learn
    least leave lecture left leg legal legend legit leisure lemon lend lending length lens leopard less lesser
    lesson let lets letter level levels leverage leveraged lfg liar liberty library license lie lies life lift
    light like liked likely limb limit line link lion liquid liquidated liquidation liquidations liquidity list
    listed listing listings lists literally little live lizard ll llm lmao load loan lobster local lock logic lol
    london lonely long longer longest longing longs look looked looking looks loop lose loser losers loses losing
    loss losses lost lot lots lottery loud lounge love low lower lowest lows loyal luck lucky luggage lumber lunar
    lunch luxury lyrics macd machine macro mad made magic magnet maid mail main mainly mainnet major make makes
    making mammal man manage mandate mango manipulated manipulation mansion manual many map maple mar marble march
    margin marine mark market markets marriage mask mass massive master match material math matrix matter matters
    maxi maximum maxis may maybe maze me meadow mean meaning means meant measure meat mechanic medal media medical
    medicine medium melody melt member meme memecoin memecoins memes memory mention menu mercy merge merit merry
    mesh message messages metal metals meter method metric metrics mid middle midnight might milk million millions
    mimic min mind mine miner miners minimum mining minor mint minus minute minutes miracle mirror misery miss
    missed missing mistake mix mixed mixture mobile model models moderate modify mom moment momentum mon monday
    money monitor monkey monster month monthly months mood moon mooned mooning moonshot moonshots moral more
    morning mosquito most mostly mother motion motor mountain mouse move moved movement movements mover movers
    moves movie movies moving much muffin mule multiple multiply muscle museum mushroom music must mutual my
    myself mystery myth naive name named names napkin narrative narratives narrow nasty nation nature near nearest
    nearly neck need needed needs negative negatively neglect neither nephew nerve nest net network neutral never
    new newbie newer newest news next nft nfts ngmi nice night nine no noble nobody node nodes noise nominee none
    nonsense noob noodle nope nor normal normally north nos nose not notable note nothing notice notional nov
    novel november now nowadays nuclear number numbers nurse nut nvm oak obey object oblige obscure observe obtain
    obv obvious obviously occur ocean oct october odor of off offchain offer office often oh oil ok okay old older
    oldest olive olympic omg omit on once onchain one ones onion online only onto open openai opened opening opera
    opinion opinions oppose opposed opposite option options or orange orbit orchard order orders ordinary organ
    orient origin original orphan ostrich other others otherwise ought our ours out outcome outcomes outdoor outer
    outflow outflows outlook outperform outperformed outperformer outperformers outperforming outperforms output
    outside oval oven over overall overbought overheated overnight override oversold overvalued overview own owner
    owning oxygen oyster ozone pack pact paddle page paid pain pair pairs palace palm panda panel panic panther
    paper paperhands parade parent paris park parrot part particular parts party pass passport password past pasta
    patch path patient patrol pattern pause pave pay payer payers paying payment payments pays pce peace peak
    peanut pear peasant pelican pen penalty pencil people pepper per percent percentage perfect perform
    performance performed performer performers performing performs perhaps period permit perp perpetual perpetuals
    perps person persona personal pet phase phone photo phrase physical piano pick picks picnic picture piece pig
    pigeon pill pilot pink pioneer pipe pistol pitch pizza place plan planet plans plastic plate platform play
    please pledge pls pluck plug plunge plus plz pnl podcast podcasts poem poems poet point points polar pole
    police political pond pony pool poor pop popular population portfolio portion position positioned positioning
    positions positive positively possible possibly post potato potential pottery poverty powder powell power ppi
    ppl practice praise precise predict predicted predicting prediction predictions prefer premium prepare present
    president pressure pretend pretty prev prevent previous previously price priced priceless prices pricier
    priciest pricing pride primary print priority prison private prize probability probable probably problem
    process produce product profit profitable profits program project projects promise promote prompt proof proper
    property proposal prosper protect proud prove proven provide public pudding pull pullback pulled pulp pulse
    pump pumped pumping pumpkin pumps punch punt pupil puppy purchase purity purpose purse push put puts puzzle
    pyramid python quality quant quantum quarter quarterly question questions quick quickly quiet quit quite quiz
    quota quote quotes rabbit raccoon race rack radar radio rail rain raise raised raising rallied rallies rally
    rallying ramp ranch random range ranging rank ranked ranking rankings ranks rapid rapidly rare rate rated
    rates rather ratio raven raw razor reach reached reaching read reading ready real realistic really reason
    reasoning reasons rebel rebound rebuild recall receive received receives recent recently recession recipe
    recipes recommend recommendation recommended record recover recovered recovering recovery recycle red reduce
    reflect reform refuse regarding regex regime regimes region regret regular reject rekt relation relative
    relatively relax release relevant reliable relief rely remain remaining remember remind remove render renew
    rent reopen rep repair repeat replace report reports require required rescue research resemble resist
    resistance resource respect response rest restaurant result results retire retreat return returns reunion
    reveal reversal reverse reversed reversing review reward rhythm rib ribbon rice rich riddle ride ridge rifle
    right rigid ring riot rip ripped ripping ripple rise risen rises rising risk riskier riskiest risks risky
    ritual rival river rn road roast robot robust rocket roe roi role roleplay roll romance roof rookie room root
    rose rotate rotation rough round route royal rsi rubber rude rug rugged rule rules run running runs runway
    rural russia russian sad saddle sadness safe safer safest said sail salad sale salmon salon salt salute same
    sample sand sat satisfy satoshi saturday sauce sausage save saw say saying says scale scam scan scanner scare
    scary scatter scenario scene scheme school science scissors score scores scorpion scout scrap screen script
    scrub sdk sea search season seat sec second seconds secret section sector sectors security see seed seeing
    seek seem seems seen segment select self sell seller sellers selling selloff seminar send senior sense sent
    sentence sentiment sep separate sept september ser series serious seriously service session set sets settle
    setup seven several shadow shaft shall shallow shape share shares sharp sharpe she shed sheet shell sheriff
    shield shift shifted shine ship shit shitcoin shitcoins shiver shock shoe shoot shop short shorted shorter
    shortest shorting shorts shot should shoulder shouldnt shove show showed showing shown shows shrimp shrug
    shuffle shy sibling sick side sides sideways siege sight sign signal signals significant significantly silent
    silk silly silver similar simple simply since sing single sir siren sister sit situate situation six size
    skate sketch ski skill skin skip skirt skull sky sl slab slam slashing sleep slender slice slide slight slim
    slogan slot slow slowly slush sma small smaller smallest smart smash smile smoke smooth snack snake snap sniff
    snow so soap soccer social sock soda soft solar sold soldier solid solution solve some somebody someone
    something sometimes somewhat somewhere song songs soon sooner sorry sort sorted soul sound sounds soup source
    sources south space spanish spare spatial spawn speak speaking special specific speculative speed spell spend
    sphere spice spider spike spiked spiking spin spirit split spoil sponsor spoon sport sports spot spray spread
    spring spy sql square squeeze squirrel stable stablecoin stablecoins stack stacking stadium staff stage stairs
    stake staking stamp stance stand standing stands star stars start started starting starts stat state states
    statistics stats status stay staying steak steel stem step steps stereo stick still sting stochastic stock
    stocks stomach stone stool stop stoploss stopped stops store story stove straight strange strategies strategy
    street strength strike strong stronger strongest structure struggle student stuff stumble stupid style subject
    submit subscription subway success such suck sucks sudden suddenly sue suffer sugar suggest suggestion
    suggestions suit sum summarise summarize summary summer sun sunday sunny sunset sup super supertrend supply
    support supports suppose supposed supreme sure surely surface surge surged surging surprise surround survey
    suspect sustain swallow swamp swap swarm swear sweet swift swim swing switch sword symbol symbols symptom
    syrup system table tackle tag tail take taken takeprofit takes taking talent talk talking talks tank tanked
    tanking tape target targets task taste tattoo tax taxes taxi teach team tech technical technically technology
    tell telling tells temperature ten tenant tend tends tennis tent term terms terrible test tested text
    than thank thanks thanku that thats the their them theme themselves then theory there therefore thereof theres
    these they theyre thing things think thinking thinks third this thnx tho those though thought thoughts
    thousand thousands three threshold thresholds thrive through throw thru thu thumb thunder thursday thus thx
    ticker tickers ticket tide tie tier tiers tiger tight till tilt timber time timeframe timeframes times tiny
    tip tired tissue title to toast tobacco today todays toddler toe together toilet token tokenomics tokens tokyo
    told tomato tomorrow ton tone tongue tonight tons too took tool tools tooth top topic topics topple tops torch
    tornado tortoise toss total totally touch tough tourist toward towards tower town toy tp track tracked
    tracking trade traded trader traders trades trading traffic tragic train transfer translate translation trap
    traps trash travel tray treasury treat tree trend trended trending trendline trends trendy trial tribe trick
    tricky tried trigger trillion trim trip trophy trouble truck true truly trumpet trust truth try trying tube
    tue tuesday tuition tumble tuna tunnel turkey turn turned turning turns turtle tvl tweet twelve twenty twice
    twin twist two ty type types typical typically tysm u u2 ugly uh ultimate um umbrella unable unaware
    unbelievable uncertain uncertainty uncle uncorrelated uncover under underperform underperformed
    underperforming underperforms understand undervalued undo unfair unfold unhappy uniform unique unit units
    universe unknown unless unlike unlikely unlock unlocks until unusual unveil up upcoming update updated updates
    upgrade upgrades uphold upon upper upset upside uptrend uptrends upward upwards ur urban urge url us usage usd
    usdc usdt use used useful useless user users uses using usual usually utility vacant vacation vacuum vague
    valid validate validator validators valley valuable valuation value valued values valve van vanish vapor
    variable various vast vault vehicle velvet vendor venture venue verb verdict verdicts verify version versus
    very vessel vesting veteran via viable vibe vibes vibrant vicious victory video view views village vintage
    violin virtual virus visa visit visual vital vivid vocal voice void vol volatile volatility volcano volume
    volumes vote voting voyage vs vwap wage wagmi wagon wait waiting wake walk walkforward wall wallet wallets
    walnut wanna want wanted wants war warfare warm warning warnings warrior was wash wasnt wasp waste wat watch
    watching watchlist water wave way ways we weak weaker weakest weakness wealth weapon wear weasel weather web
    web3 website wed wedding wednesday week weekend weekly weeks weigh weird welcome well wen went were werent
    west wet whale whales what whatever whats whatsup wheat wheel when whenever where whereas whether which while
    whip whisper who whoever whole whom whos whose why whys wick wide width wife wild will win window wine wing
    wink winner winners winning wins winter wire wisdom wise wish with within without witness wolf wom woman won
    wonder wonderful wondering wont wood wool word words work worked working works world worried worry worse worst
    worth worthless would wouldnt wow wrap wreck wrestle wrist write writing written wrong wtf wut ya yall yard
    yay yea yeah year yearly years yellow yep yes yesterday yet yield yo you youd youll young your youre yours
    yourself youth youve yup zebra zero zone zoo
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
