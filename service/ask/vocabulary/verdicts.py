"""What a verdict is made of: rules, evidence, moods, and how verdicts turned out."""

from typing import Final

from service.ask.vocabulary.term import Term

TERMS: Final = (
    Term(
        key="verdict",
        title="verdict",
        short="A verdict is what published rules make of a coin's trends, funding, regimes and sentiment.",
        text="A verdict is what published rules make of what is known of a coin: its daily trend (up to 0.5 "
        "points, either way) and weekly trend (1), the market's and its own regime (0.5 each), the mean funding of 24 "
        "hours (0.75), its momentum (0.25) and sentiment (0.5). Their sum is the score: 2.5 or more is strong-bull, 1 "
        "or more bull, -1 or less bear, -2.5 or less strong-bear, anything between neutral. No model is asked, "
        "and anyone can recompute it.",
        synonyms=("verdict", "verdicts", "how a verdict is made", "signal verdict", "bull or bear", "strong-bull",
                  "strong bull", "strong-bear", "strong bear"),
        see=("score", "confidence", "insufficient-evidence", "track-record"),
    ),
    Term(
        key="score",
        title="score",
        short="The score of a verdict is the sum of what its rules contribute.",
        text="The score of a verdict is the sum of its rules' contributions, from -4 to 4. Positive is bullish.",
        synonyms=("score", "verdict score"),
        see=("verdict", "rule"),
    ),
    Term(
        key="rule",
        title="rule",
        short="A rule looks at a single input of a verdict and adds its contribution to the score.",
        text="A rule of a verdict looks at one input, holds it against a threshold and contributes to the score. "
        "Each is shown with its value, its threshold, its contribution, its sentence of evidence and where it "
        "would flip.",
        synonyms=("rule", "rules", "ruleset", "contribution", "evidence", "threshold"),
        see=("score", "flips-at"),
    ),
    Term(
        key="flips-at",
        title="flips at",
        short="The flip of a rule is the nearest value of its input at which its contribution would change.",
        text="`flips_at` is the nearest value of a rule's input at which its contribution would be another, all "
        "else equal; null where the input is not known.",
        synonyms=("flips_at", "flips at", "flip", "flips"),
        see=("rule",),
    ),
    Term(
        key="confidence",
        title="confidence",
        short="The confidence of a verdict says how much of its evidence is known and how far that agrees.",
        text="The confidence of a verdict is high, medium or low. It follows from coverage, the share of the "
        "rules' weight whose inputs are known (stale ones count half), and agreement, how much of what the groups of "
        "evidence (trend, positioning, mood) say points one way: 0.75 or more is high, 0.5 or more medium. It is a "
        "level lower where a source is missing or stale. It is no probability.",
        synonyms=("confidence", "coverage", "agreement", "how sure"),
        see=("verdict",),
    ),
    Term(
        key="insufficient-evidence",
        title="insufficient evidence",
        short="Insufficient evidence means that too little is known of a coin for a verdict, which then costs "
        "nothing.",
        text="A verdict is `insufficient-evidence` where the price is not known, neither trend is, or less than "
        "half of the rules' weight has a known input. Such an answer costs nothing.",
        synonyms=("insufficient-evidence", "insufficient evidence", "abstention"),
        see=("verdict", "confidence"),
    ),
    Term(
        key="verdict-id",
        title="verdict id",
        short="The id of a verdict is a hash of its inputs, its rules and its output, so that anyone can check "
        "it.",
        text="`verdict_id` is SHA-256 over the canonical JSON (RFC 8785) of a verdict's inputs, its rules' tables "
        "and its output. `verdict verify` recomputes it offline.",
        synonyms=("verdict_id", "verdict id", "verdict hash"),
        see=("ledger", "verdict"),
    ),
    Term(
        key="ledger",
        title="ledger",
        short="The ledger is the chain of hashes in which every verdict stands before its outcome can be known.",
        text="Every verdict is written into a ledger before anybody can know its outcome: a chain in which each "
        "entry holds the hash of the one before, so that the past cannot be rewritten unnoticed by who kept a "
        "head.",
        synonyms=("ledger", "verdict ledger", "hash chain"),
        see=("track-record", "verdict-id"),
    ),
    Term(
        key="track-record",
        title="track record",
        short="The track record says how past verdicts of the same class turned out.",
        text="The track record says how past daily verdicts of the same class turned out 1, 3 and 7 days later, "
        "of all coins and of this coin: how many outcomes there are, how often the verdict was right (hit rate), "
        "how often the same came true of any verdict's coin (base rate). Coins move together, so days are what "
        "counts: under 60 days no figures are told. The live record counts verdicts as they were given, the backtested "
        "one those that the same rules would have given on past days.",
        synonyms=("track record", "track-record", "track_record", "hit rate", "base rate", "accuracy", "hit-rate"),
        see=("brier", "ledger"),
    ),
    Term(
        key="brier",
        title="Brier score",
        short="The Brier score is the mean squared distance between what was claimed and what came, and lower is "
        "better.",
        text="The Brier score is the mean squared difference between the claimed probability and what happened (1 "
        "or 0): 0 is perfect, 0.25 is what a coin toss gets. A probability is published only where its Brier score was "
        "better than the base rate's on days that were not used to fit it.",
        synonyms=("brier", "brier score"),
        see=("track-record",),
    ),
    Term(
        key="sentiment",
        title="sentiment",
        short="Sentiment is how news and the crowd lean beside what the price does.",
        text="Sentiment is told as a stance: accumulation, distribution, euphoria, capitulation, exhaustion or "
        "neutral, by published rules over news of seven days, funding, the Fear & Greed index, and what price and "
        "volume do.",
        synonyms=("sentiment", "mood", "stance", "stances", "sentiment stance"),
        see=("accumulation", "distribution", "euphoria", "capitulation", "exhaustion"),
    ),
    Term(
        key="accumulation",
        title="accumulation",
        short="Accumulation is the stance in which the crowd is afraid or calm while the price holds or quietly "
        "rises.",
        text="Accumulation is a stance: the crowd is afraid and the price holds, or volume is high and the price "
        "rises quietly while nobody is excited.",
        synonyms=("accumulation", "accumulating"),
        see=("sentiment", "distribution"),
    ),
    Term(
        key="distribution",
        title="distribution",
        short="Distribution is the stance in which the crowd is eager or calm while the price does not follow.",
        text="Distribution is a stance: the crowd is eager and the price does not follow, or volume is high and "
        "the price falls quietly while nobody is alarmed.",
        synonyms=("distribution", "distributing"),
        see=("sentiment", "accumulation"),
    ),
    Term(
        key="euphoria",
        title="euphoria",
        short="Euphoria is the stance of a steep rise with an eager crowd.",
        text="Euphoria is a stance: a steep rise (more than 15 % in seven days or 8 % in 24 hours) with an eager "
        "crowd.",
        synonyms=("euphoria", "euphoric"),
        see=("sentiment", "capitulation"),
    ),
    Term(
        key="capitulation",
        title="capitulation",
        short="Capitulation is the stance of a steep fall with a frightened crowd.",
        text="Capitulation is a stance: a steep fall (more than 15 % in seven days or 8 % in 24 hours) with a "
        "frightened crowd.",
        synonyms=("capitulation", "capitulating"),
        see=("sentiment", "euphoria"),
    ),
    Term(
        key="exhaustion",
        title="exhaustion",
        short="Exhaustion is the stance in which a steep move has begun to turn.",
        text="Exhaustion is a stance: a rise or fall of 15 % or more in seven days that has turned in the last 24 "
        "hours, or from which the news have turned away.",
        synonyms=("exhaustion", "exhausted"),
        see=("sentiment",),
    ),
    Term(
        key="fear-greed",
        title="Fear & Greed index",
        short="The Fear & Greed index is a daily figure of the market's mood, from fear at the bottom to greed at "
        "the top.",
        text="The Fear & Greed index (alternative.me) is a daily figure from 0 (extreme fear) to 100 (extreme "
        "greed). Here 75 or more and 25 or less count as a point of the crowd.",
        synonyms=("fear and greed", "fear & greed", "fear greed", "fear and greed index"),
        see=("sentiment",),
    ),
)  # fmt: skip
