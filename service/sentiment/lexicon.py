"""Our crypto lexicon: what a word or phrase says of a market, how strongly, and why VADER alone gets it wrong.

Weights are on VADER's own scale, -4 to 4 (its raters gave "good" 1.9, "horrible" -2.5). Variants of one term stand
beside each other, parted by `/`. A blank in a phrase also stands for a hyphen. Words absent from VADER's lexicon are
silent there: it was made of the words of tweets and film reviews, not of markets.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple


class Term(NamedTuple):
    """One term with its variants, its weight (0 silences a word of VADER's), and the reason for it."""

    variants: str
    weight: float
    why: str


PRICES_UP: Final[Sequence[Term]] = (
    Term("rise/rises/rose/risen/rising", 1.6, "a higher price; VADER knows none of these"),
    Term("gain/gains/gained/gaining", 1.8, "a higher price; one weight for all forms"),
    Term("climb/climbs/climbed/climbing", 1.7, "a higher price"),
    Term("advance/advances/advanced/advancing", 1.5, "a higher price"),
    Term("jump/jumps/jumped/jumping", 2.0, "a sudden rise"),
    Term("pop/pops/popped", 1.6, "a sudden, smaller rise"),
    Term("surge/surges/surged/surging", 2.4, "a strong rise"),
    Term("soar/soars/soared/soaring", 2.6, "a strong rise"),
    Term("skyrocket/skyrockets/skyrocketed", 2.8, "a very strong rise"),
    Term("rally/rallies/rallied/rallying", 2.2, "a lasting rise"),
    Term("rip/rips/ripped/ripping", 1.8, "traders' word for a fast rise"),
    Term("rebound/rebounds/rebounded", 1.9, "a rise after a fall"),
    Term("bounce/bounces/bounced", 1.5, "a rise after a fall"),
    Term("recover/recovers/recovered/recovering/recovery", 1.8, "what was lost comes back"),
    Term("reclaim/reclaims/reclaimed/retakes", 1.8, "back above a level that mattered"),
    Term("outperform/outperforms/outperformed/outpaces/outpacing", 1.8, "better than its peers"),
    Term("breakout/break out/breaks out/broke out", 2.0, "past the range that held it"),
    Term("top the gainers/tops the gainers/lead gains/leads gains", 2.0, "first among those that rise"),
    Term("moon/moons/mooning", 2.0, "traders' word for a very strong rise"),
    Term("pump/pumps/pumped", 1.2, "a rise, with a doubt about its cause"),
    Term("short squeeze/shorts squeezed/sellers squeezed/squeezes shorts", 2.0, "those who bet on a fall must buy"),
    Term("shorts liquidated/shorts wiped out/short liquidations", 1.6, "the forced buying of a rise"),
    Term("new high/fresh high/yearly high/month high/year high", 2.2, "the best price for long"),
    Term("highest since/highest level/highest in", 1.8, "the best for long"),
    Term("ath/all time high/record high/fresh record/new record/old record", 2.4, "the best ever; VADER: silent"),
    Term("hits record/hit record/hits a record/hit a record/sets a record/sets record/a record", 1.8, "the best ever"),
    Term("record profit/record deposits/record inflows/record volume/volume record", 2.2, "the best ever"),
    Term("bull/bulls/bullish", 2.0, "expects a rise; absent from VADER"),
    Term("bull run/bull market", 2.2, "a lasting rise"),
    Term("risk on/risk appetite", 1.3, "money moves into what may lose"),
)

PRICES_DOWN: Final[Sequence[Term]] = (
    Term("fall/falls/fell/fallen/falling", -1.7, "a lower price; VADER knows none of these"),
    Term("drop/drops/dropped/dropping", -1.7, "a lower price; one weight for all forms"),
    Term("decline/declines/declined/declining", -1.6, "a lower price"),
    Term("slide/slides/slid/sliding", -1.9, "a lower price"),
    Term("slip/slips/slipped/slipping", -1.5, "a slightly lower price"),
    Term("dip/dips/dipped", -1.2, "a slightly lower price"),
    Term("sink/sinks/sank/sunk/sinking", -2.1, "a strong fall"),
    Term("shed/sheds/shedding", -1.6, "a fall, in headlines"),
    Term("slump/slumps/slumped/slumping", -2.2, "a strong fall"),
    Term("tumble/tumbles/tumbled/tumbling", -2.3, "a strong fall"),
    Term("dive/dives/dived/nosedives", -2.3, "a strong fall"),
    Term("plunge/plunges/plunged/plunging", -2.6, "a very strong fall"),
    Term("plummet/plummets/plummeted", -2.6, "a very strong fall"),
    Term("crash/crashes/crashed/crashing", -2.8, "a very strong fall; VADER: -1.7"),
    Term("collapse/collapses/collapsed/collapsing", -2.7, "an end rather than a fall"),
    Term("wipes out/wipe out/wiped out/wipeout", -2.2, "value or positions are gone"),
    Term("bleed/bleeds/bleeding", -2.0, "a steady loss"),
    Term("weaken/weakens/weakness/weakest", -1.6, "lower, or about to be"),
    Term("weigh/weighs/weighed/weighing on", -1.3, "pushes a price down"),
    Term("lose ground/losing streak/extend losses/extends losses/extended losses", -2.0, "a fall goes on"),
    Term("gives it all back/gave back gains/erases gains/erase gains", -1.8, "a rise undone"),
    Term("sell off/selloff/sells off/selling/sell pressure/selling pressure", -1.6, "more sellers than buyers"),
    Term("dump/dumps/dumped/dumping", -2.2, "sold in haste or on others"),
    Term("new low/record low/yearly low/year low/lower levels", -2.2, "the worst price for long"),
    Term("lowest since/lowest level/half of its value", -1.8, "the worst for long"),
    Term("worst day/worst week/worst month/worst quarter", -2.4, "no day lost more"),
    Term("rejected at", -1.6, "a level turned the price back"),
    Term("death cross", -1.8, "a falling average; VADER hears a death"),
    Term("bear/bears/bearish", -1.9, "expects a fall; absent from VADER"),
    Term("bear market/crypto winter", -2.3, "a lasting fall"),
    Term("capitulate/capitulates/capitulation", -2.2, "the last holders give up"),
    Term("liquidated/liquidating/liquidations/liquidation", -1.7, "positions closed by force"),
    Term("longs liquidated/longs wiped out/longs are wiped out/long liquidations", -2.2, "forced selling"),
    Term("rush for the exit/flee/flees/fleeing/exodus", -2.0, "holders leave"),
    Term("panic/panics", -2.4, "selling without regard to price"),
    Term("risk off", -1.4, "money leaves what may lose"),
    Term("flop/flops/fizzle/fizzles/fizzled", -1.8, "less than was hoped"),
    Term("unwind/unwinds/unwinding", -1.3, "positions are being closed"),
)

FLOWS: Final[Sequence[Term]] = (
    Term("inflow/inflows", 1.8, "money comes in"),
    Term("outflow/outflows/redemptions", -1.8, "money goes out"),
    Term("accumulate/accumulates/accumulation/accumulated", 1.5, "patient buying"),
    Term("buyback/buybacks/buy back", 1.4, "revenue buys the token"),
    Term("keep buying/resume buying/adds bitcoin/buyers return/pile in/piles in/flock to", 1.5, "buyers"),
    Term("adoption/adopts/adopt", 1.6, "more use"),
    Term("unlock looms/unlock weighs/large unlock/unlocks weigh/insiders' unlock", -1.6, "supply that may be sold"),
    Term("dries up/dry up/buyers vanish/liquidity thins/thin liquidity", -1.9, "nobody is left to buy"),
    Term("prints/issuance/max pain", 0.0, "a figure or a fact, not a judgement"),
)

LAW: Final[Sequence[Term]] = (
    Term("etf approval/wins approval/approval/approved/approves/approve", 2.1, "a door opens"),
    Term("green light/greenlights/gets the green light/cleared to/clears path/clears the path", 1.9, "a door opens"),
    Term("clears the senate/clears the house/passes the senate/passes the house", 2.0, "law that lets the trade go on"),
    Term("lifts ban/lifts the ban/drops its ban/drops ban/ends ban/ban lifted", 2.2, "a ban undone; VADER hears a ban"),
    Term("drops its probe/drops probe/drops the case/drops case/drops lawsuit", 2.2, "a threat gone"),
    Term("dismisses the case/dismisses case/dismisses lawsuit/case dismissed", 2.2, "a threat gone"),
    Term("sides with/wins case/wins lawsuit/legal victory", 1.8, "a threat gone"),
    Term("settlement", 0.4, "an end to a dispute, or plain payment"),
    Term("sec sues/sues/sue/sued/lawsuit/lawsuits", -2.2, "a threat; VADER does not know the verb"),
    Term("charged/charges/charge/indicted/indicts", -2.0, "a threat"),
    Term("probe/probes/investigation/subpoena/subpoenas", -1.7, "a threat"),
    Term("crackdown/cracks down", -2.2, "a threat"),
    Term("ban/bans/banned", -2.4, "a door shut"),
    Term("enforcement notice/enforcement action/wells notice", -2.0, "a threat"),
    Term("appeals ruling/appeals the ruling", -1.2, "a threat comes back"),
    Term("delays decision/delays ruling/postpones decision", -1.4, "a door stays shut"),
    Term("rejects/reject/rejected/rejection", -1.8, "a door shut"),
    Term("sentenced/convicted/arrest/arrested/jailed", -2.0, "someone in charge is taken away"),
    Term("unregistered", -1.4, "the charge itself"),
    Term("orders/ordered to stop/to stop", -0.8, "an authority interferes"),
    Term("seizes/seized", -0.6, "taken, and perhaps sold"),
)

HARM: Final[Sequence[Term]] = (
    Term("hack/hacks/hacked/hacker/hackers", -2.6, "theft; VADER knows one form"),
    Term("exploit/exploits/exploited/exploiter", -2.6, "theft; VADER: -0.4, a feat"),
    Term("drain/drains/drained/drainer", -2.4, "theft"),
    Term("rug pull/rug pulls/rug pulled/rugged", -3.2, "theft by the makers"),
    Term("flash loan attack/51% attack/governance attack/supply chain attack", -2.6, "theft"),
    Term("phishing/scam/scams/ponzi/fake", -2.4, "theft by deceit"),
    Term("vanish/vanishes/vanished/disappears", -1.8, "gone with the money"),
    Term("vulnerability/security flaw/flaw/bug/glitch", -1.9, "harm that may come"),
    Term("outage/outages/goes down/went down/offline/halt/halts/halted", -2.0, "nobody can trade or leave"),
    Term("freezes withdrawals/suspends withdrawals/withdrawals suspended/pauses withdrawals", -3.0, "locked in"),
    Term("pauses markets/freeze funds/freezes funds/frozen", -1.8, "locked in"),
    Term("depeg/depegs/depegged/loses its peg/loses peg/from its peg/off its peg", -2.6, "a promise of value broken"),
    Term("insolvency/insolvent/bankruptcy/bankrupt", -2.8, "cannot pay"),
    Term("bad debt", -2.2, "cannot be paid"),
    Term("delist/delists/delisted/delisting/delistings", -2.0, "fewer places to sell"),
    Term("slashed after/slashing", -1.8, "stakes taken as a penalty"),
    Term("cuts staff/layoffs/lays off/of its staff/developers leave/founder leaves/loses founder", -1.8, "loss"),
    Term("reorganisation/reorganization/reorg", -1.8, "settled transactions undone"),
    Term("misconfiguration/cannot account for/wrongful", -1.8, "carelessness"),
    Term("scandal/marred", -2.2, "trust lost"),
    Term("warn/warns/warned/warning", -1.5, "somebody expects harm; VADER: -0.4"),
    Term("shuts/shuts down/shut down/closes down", -1.6, "an end"),
    Term("collapse of talks/talks collapse", -1.6, "no agreement"),
)

GROWTH: Final[Sequence[Term]] = (
    Term("upgrade goes live/goes live/successful upgrade/without a hitch", 1.6, "a promise kept"),
    Term("double/doubles/doubled/tenfold/triples/tripled", 1.7, "a figure that grew"),
    Term("twice as fast/outage free/without an outage", 1.8, "better than before"),
    Term("grow/grows/grew/growing/expand/expands/expanding", 1.4, "more use"),
    Term("booms/boom/booming", 1.7, "more use"),
    Term("partner/partners/partnership/teams up", 1.3, "more use"),
    Term("picked for/picks the chain/wins deal/lands/signs", 1.3, "chosen over others"),
    Term("beats forecasts/beats/beat estimates", 1.7, "more than was expected"),
    Term("raises funding/raises $/funding round", 1.3, "others pay to be part of it"),
    Term("fully recovered/made whole/fully restored/repays/repaid", 2.2, "harm undone"),
    Term("passes audit/reserves cover/cover all", 1.8, "a promise checked"),
    Term("passes/passed", 1.0, "a vote or a mark behind it"),
    Term("exchange listing/surprise listing", 1.4, "more places to buy"),
    Term("rate cut/rate cuts/cuts rates", 1.1, "cheaper money; VADER hears a cut"),
    Term("wins/win/won", 2.0, "VADER overrates a word that headlines use for small things"),
    Term("vote of confidence/overwhelming support/bipartisan support/landslide", 2.0, "many agree"),
    Term("in control/in full", 0.9, "nothing is open"),
    Term("unveil/unveils/launches/launch", 0.6, "something new"),
    Term("resume/resumes", 0.5, "goes on again"),
    Term("good news", 2.0, "said in so many words"),
)

MORE_UP: Final[Sequence[Term]] = (
    Term("lift/lifts/lifted/boost/boosts/boosted/fuel/fuels/fueled/propel/propels", 1.5, "pushes a price up"),
    Term("spark/sparks/sparked/ignites/reignites", 1.0, "sets something off; what, the other words say"),
    Term("swell/swells/swelled/tops forecasts/topped forecasts", 1.4, "more than before"),
    Term("tops $/crosses $/hits $", 1.4, "a round figure passed"),
    Term("overtake/overtakes/overtook/surpass/surpasses/surpassed/eclipses/dethrones/flips", 1.7, "past a rival"),
    Term("capture/captures/captured/dominate/dominates", 1.3, "a larger share"),
    Term("milestone/landmark/breakthrough/historic", 1.6, "a mark passed"),
    Term("peak/month peak/multi year peak", 1.3, "the highest"),
    Term("crosses/crossed", 0.9, "past a figure, which headlines tell when it is a high one"),
    Term("leads/leading higher/lead higher/leads majors", 0.9, "before its peers"),
    Term(
        "stronger/strength/strengthen/strengthens/robust/solid/resilient/resilience/upbeat/buoyant",
        1.6,
        "in good health",
    ),
    Term(
        "heats up/picks up/gathers pace/gathers steam/gains traction/momentum builds/accelerate/accelerates",
        1.5,
        "more",
    ),
    Term("demand/strong demand", 0.8, "buyers; VADER hears an order"),
    Term("renewed interest/appetite/interest grows/growing interest", 1.3, "buyers"),
    Term(
        "finds buyers/buy the dip/dip buyers/buyers step in/bargain hunters/snaps up/snap up/scoops up", 1.6, "buyers"
    ),
    Term("bulls cheer/cheer/cheers/hails/welcomes/welcome", 1.5, "those concerned are glad"),
    Term(
        "shakes off/shrugs off/defies/withstands/bounces back/turns green/back in the green",
        1.7,
        "harm that does no harm",
    ),
    Term("snaps losing streak/ends losing streak/winning streak/win streak", 1.9, "falls come to an end"),
    Term("good tidings/brighter/bright/promising/optimistic/optimism/confident/confidence", 1.6, "hope"),
    Term("paving the way/paves the way/paves way/opens the door/opens door/opens crypto trading", 1.6, "a door opens"),
    Term("secures license/secures licence/wins license/wins licence/license/licence/licensed", 1.5, "a door opens"),
    Term("signs into law/into law/signed into law/legalizes/legalises/enshrines", 1.5, "a door opens"),
    Term("strike deal/strikes deal/reach deal/reaches deal/deal reached/ending months of deadlock", 1.7, "agreement"),
    Term("eases rules/relaxes/loosens/exempts/exempt/pardons/pardon/acquitted/cleared of", 1.8, "a threat gone"),
    Term("embraces/embrace/endorses/endorse/backs/backing/integrates/adds support/joins/onboards", 1.2, "more use"),
    Term("attracts/attract/draws/lures/oversubscribed/sells out/sold out/amasses/discloses stake", 1.4, "buyers"),
    Term(
        "upgraded to buy/raises target/raises price target/price target raised/raises forecast/undervalued",
        1.6,
        "praise",
    ),
    Term("return stolen/returns stolen/recovered funds/refunds/refund/compensates/reimburses/reimburse", 1.8, "undone"),
    Term("white hat/white hats/white hat hackers", 1.6, "hackers who help"),
    Term("profitability/profitable/dividend/surplus/turns a profit/turns profit", 1.6, "earnings"),
    Term("debut/debuts", 0.7, "something new"),
    Term("inks/secures/secured/secure/clinches", 1.4, "a deal closed"),
    Term("opens to all/expands access/rolls out/roll out/rollout", 0.8, "more use"),
    Term("altcoin season/alt season/green candle/golden cross", 1.6, "a rise on the way"),
    Term("faster/cheaper/scales/scaling milestone", 1.3, "better than before"),
)

MORE_DOWN: Final[Sequence[Term]] = (
    Term(
        "retreat/retreats/retreated/pullback/pulls back/pull back/correction/retrace/retraces/eases lower",
        -1.5,
        "a fall",
    ),
    Term(
        "stumble/stumbles/stumbled/falter/falters/faltered/struggle/struggles/struggled/struggling",
        -1.7,
        "falls behind",
    ),
    Term(
        "stall/stalls/stalled/lag/lags/lagged/wane/wanes/waning/sluggish/muted/subdued/lackluster",
        -1.4,
        "no strength left",
    ),
    Term("slow/slows/slowed/slowing/slowdown/cools/cooling/cooled", -1.2, "less than before"),
    Term("underperform/underperforms/underperformed/trails", -1.7, "worse than its peers"),
    Term(
        "rout/bloodbath/carnage/meltdown/freefall/free fall/tailspin/nosedive/turmoil/chaos",
        -2.6,
        "a fall without a floor",
    ),
    Term("turns red/in the red/sea of red/deep red/red candle", -1.8, "falling"),
    Term(
        "breaks below/break below/broke below/falls below/drops below/drops under/dips under/dips below",
        -2.0,
        "a floor gone",
    ),
    Term("heaviest loss/biggest loss/losses/loss/loses/lose/lost/lose money/lost money", -1.8, "gone"),
    Term(
        "suffer/suffers/suffered/hurt/hurts/hit by/hit with/hammered/battered/slammed/pummeled/beaten down",
        -2.0,
        "harm",
    ),
    Term("squeezed/squeeze margins/thinner margins/thinning/shrinks/shrink/shrinking/dwindles/dwindling", -1.5, "less"),
    Term("bears take charge/bears in control/bears eye/take charge", -1.5, "sellers"),
    Term(
        "snap inflow streak/snaps inflow streak/snap winning streak/snaps winning streak/ends winning streak",
        -1.9,
        "over",
    ),
    Term("withdrawal/withdrawals/withdraw/leave/leaves/leaving/exits/exit", -1.2, "money or people go"),
    Term("flight from/flight to safety/triggering flight/run on", -2.0, "holders leave"),
    Term(
        "take profits/takes profits/profit taking/cashed out/cash out/cashes out/trim exposure/cut exposure",
        -1.3,
        "sellers",
    ),
    Term("offload/offloads/offloaded/unloads/sell/sells/sold/sales", -1.0, "sellers"),
    Term("rattle/rattles/rattled/spook/spooks/spooked/jitters/jittery/nerves/nervous/wary/cautious", -1.6, "fear"),
    Term("fear/fears/worries/worry/concern/concerns/doubt/doubts/uncertainty/angst/anxiety", -1.5, "fear"),
    Term(
        "raises questions/questions remain/in doubt/under scrutiny/scrutiny/under fire/red flags/red flag",
        -1.6,
        "doubt",
    ),
    Term(
        "headwinds/woes/overhang/drag/drags/pressure/pressured/strain/strained/fallout/contagion",
        -1.6,
        "harm under way",
    ),
    Term(
        "disappoint/disappoints/disappointing/misses/missed/miss estimates/underwhelms/dismal/gloomy/grim", -1.8, "less"
    ),
    Term("downgrade/downgrades/downgraded/slashes price targets/cuts target/cuts forecast/overvalued", -1.8, "blame"),
    Term(
        "threat/threatens/threaten/blow/setback/risk/risks/danger/dangerous/peril/quantum threat",
        -1.6,
        "harm that may come",
    ),
    Term("class action/litigation/legal battle/faces lawsuit/faces charges/complaint/countersues", -1.9, "a threat"),
    Term("fine/fined/fines/penalty/penalties/to pay penalty/cease and desist", -1.6, "a penalty; VADER hears `well`"),
    Term("guilty/pleads guilty/prison/jail/extradited/extradition/fugitive", -2.2, "someone in charge is taken away"),
    Term(
        "sanction/sanctions/sanctioned/blacklist/blacklists/blacklisted/revokes license/revoked/barred",
        -2.0,
        "a door shut",
    ),
    Term("money laundering/laundering/laundered/illicit/fraud/fraudulent/wash trading/insider trading", -2.3, "crime"),
    Term("manipulation/manipulated/misleading/deceptive/misled/bogus/impersonating/impersonators", -2.0, "deceit"),
    Term(
        "heist/theft/thefts/stolen/steals/stole/robbery/robbed/kidnap/kidnapped/siphoned/looted/scammers", -2.5, "theft"
    ),
    Term(
        "breach/breached/breaches/leak/leaked/compromised/malware/ransomware/backdoor/attackers",
        -2.1,
        "theft that may come",
    ),
    Term("quits/resigns/resigned/steps down/ousted/fired/dismissed as/departs/departure", -1.3, "people leave"),
    Term(
        "scraps/scrapped/cancels/canceled/cancelled/shelves/shelved/abandons/abandoned/pulls out/pulled",
        -1.7,
        "given up",
    ),
    Term("postpones/postponed/delays/delayed/delay/deadlock/gridlock/impasse/stalemate", -1.2, "a door stays shut"),
    Term(
        "backlash/criticism/criticizes/slams/blasts/accuses/accused/alleges/alleging/dispute/disputes/feud",
        -1.5,
        "a quarrel",
    ),
    Term(
        "underwater/margin call/margin calls/forced selling/cascade/cascades/default/defaults/defaulted",
        -2.0,
        "cannot hold",
    ),
    Term(
        "recession/stagflation/tariffs/tariff/rate hike/rate hikes/hikes rates/hawkish",
        -1.2,
        "dearer money, fewer buyers",
    ),
    Term(
        "steps up audits/tightens/tightening rules/clamps down/clampdown/restricts/restrictions/curbs",
        -1.5,
        "a door closes",
    ),
    Term("shortfall/deficit/hole in/missing funds/unbacked/undercollateralized/insufficient", -2.0, "not all is there"),
    Term("stuck/trapped/stranded/locked out/congestion/congested/degraded", -1.6, "cannot move"),
    Term("dead cat bounce/bull trap/bubble/overheated/froth/frothy/overbought", -1.3, "a rise not trusted"),
    Term("plagued/troubled/embattled/ailing/doomed/death spiral/spiral", -2.0, "in bad health"),
)

SILENCED: Final[Sequence[Term]] = (
    Term("share/shares/security/securities/asset/assets/interest/value/trust", 0.0, "things, not praise"),
    Term("support/treasury/treasuries/grant/grants/rewards/reward/active/fresh", 0.0, "things, not praise"),
    Term("top/tops/reach/reaches/intellectual/alert/number/legal/well/like/please", 0.0, "a headline's plain words"),
    Term("block/blocks/difficulty/burn/burns/fork/cut/cuts/debt", 0.0, "machinery, not harm"),
    Term("gas/mining/miner/crypto/staking/resistance/halving/airdrop", 0.0, "nouns, whatever is said of them"),
    Term("extend/extends/low/lower/lowest/pay/argue/argues/debate/promote", 0.0, "depends on of what"),
    Term("energy/play/novel/fair/mature/free/care/credit/united/better/best", 0.0, "names and nouns here"),
    Term("war/death/kill/killer/no/true/fun/matter/gross/heroes/god", 0.0, "figures of speech here"),
    Term("greed/fear and greed", 0.0, "the name of an index"),
    Term("best day/best week/best month/best quarter", 2.2, "no day gained more"),
    Term("higher/highs", 1.2, "a price, as a rule"),
    Term("steady/steadies/holds steady/flat/unchanged/little changed", 0.0, "nothing happened"),
)

TERMS: Final[Sequence[Term]] = (
    *MORE_UP,
    *MORE_DOWN,
    *PRICES_UP,
    *PRICES_DOWN,
    *FLOWS,
    *LAW,
    *HARM,
    *GROWTH,
    *SILENCED,
)
"""Everything; a later term overrides an earlier one and VADER's own."""

RELIEF: Final = 1.9
"""Of something bad that gets less: fees fall, fears fade, inflation is cut."""

SETBACK: Final = -1.8
"""Of something good that gets less, or something bad that gets more: hopes fade, fees spike."""
