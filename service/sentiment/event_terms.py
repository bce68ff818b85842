"""Words for what happens to coins, and words of VADER that are silenced here."""

from collections.abc import Sequence
from typing import Final

from service.sentiment.term import Term

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

PLAINER: Final[Sequence[Term]] = (
    Term("shine/shines/outshine/outshines/impresses/stands out/thrive/thrives/thriving", 1.7, "better than its peers"),
    Term("buy/buys/bought/buying/buying spree/purchases/purchased/acquires/acquired/stockpiles", 1.2, "buyers"),
    Term("catches a bid/catch a bid/bid up/in demand/lucrative/sought after/hot demand", 1.6, "buyers"),
    Term("picks/selects/selected/chooses/chosen/taps/tapped/tie up/ties up with/turns to", 1.1, "chosen over others"),
    Term("charter/bank charter/greenlit/granted/wins nod/gets nod/nod/blessing", 1.5, "a door opens"),
    Term(
        "ends probe/closes probe/ends investigation/closes investigation/without action/no action", 2.4, "a threat gone"
    ),
    Term("new heights/heights/tops the chart/tops chart/number one/on fire/red hot/roars/roar", 1.7, "among the best"),
    Term(
        "doubling/tripling/quadruples/multiplies/soaring demand/explosive growth/parabolic", 1.7, "a figure that grew"
    ),
    Term("record/nears record/near record/nears all time high", 1.0, "as a rule of good things"),
    Term(
        "repaid/to be repaid/compensated/paid back/on time/ahead of schedule/restored/restarts", 1.5, "a promise kept"
    ),
    Term("scores/bags/nabs/nets/reaps/pockets gains/unlocks value", 1.2, "something was gained"),
    Term("relief/relieved/calm returns/stabilizes/stabilises/stabilised/stabilized", 1.4, "harm has ended"),
    Term("skid/skids/reversal/reverses course/gives up/gave up/gives back/gave back/surrenders", -1.8, "a rise undone"),
    Term("erode/erodes/eroded/eroding/evaporate/evaporates/evaporated/melts away/withers", -1.7, "less and less"),
    Term(
        "crater/craters/cratered/gutted/decimated/obliterated/hemorrhages/implodes/implosion",
        -2.5,
        "a very strong fall",
    ),
    Term("hijack/hijacked/hijacks/emptied/attacker/looting/plunder/plundered/ransom", -2.3, "theft"),
    Term("row/spat/clash/rift/infighting/frustrated/frustration/angry/anger/outrage", -1.3, "a quarrel"),
    Term(
        "mishap/malformed/disarray/broken/breaks down/malfunction/error/errors/failure/failures", -1.8, "carelessness"
    ),
    Term("outlawed/outlaws/outlaw/prohibits/prohibited/forbids/menace/illegal", -2.1, "a door shut"),
    Term("rumors/rumours/rumor/rumour/speculation of trouble/insider shorting", -1.1, "nobody knows, all fear"),
    Term("switch off/switches off/shutters/shuttered/closes/mothballs/winds down", -1.4, "an end"),
    Term("brutal/painful/ugly/dire/bleak/caught offside/offside/paper losses/sit on losses", -2.0, "harm said aloud"),
)
"""Words of the trade's plainer and louder press."""

SILENCED: Final[Sequence[Term]] = (
    Term("share/shares/security/securities/asset/assets/interest/value/trust", 0.0, "things, not praise"),
    Term("support/treasury/treasuries/grant/grants/rewards/reward/active/fresh", 0.0, "things, not praise"),
    Term("top/tops/reach/reaches/intellectual/alert/number/legal/well/like/please", 0.0, "a headline's plain words"),
    Term("block/blocks/difficulty/burn/burns/fork/cut/cuts/debt", 0.0, "machinery, not harm"),
    Term("gas/mining/miner/crypto/staking/resistance/halving/airdrop", 0.0, "nouns, whatever is said of them"),
    Term("extend/extends/low/lower/lowest/pay/argue/argues/debate/promote", 0.0, "depends on of what"),
    Term("dominance/agenda/conference/weighs/capped/dog/stress test", 0.0, "neither good nor bad here"),
    Term("energy/play/novel/fair/mature/free/care/credit/united/better/best", 0.0, "names and nouns here"),
    Term("war/death/kill/killer/no/true/fun/matter/gross/heroes/god", 0.0, "figures of speech here"),
    Term("greed/fear and greed", 0.0, "the name of an index"),
    Term("best day/best week/best month/best quarter", 2.2, "no day gained more"),
    Term("higher/highs", 1.2, "a price, as a rule"),
    Term("steady/steadies/holds steady/flat/unchanged/little changed", 0.0, "nothing happened"),
)
