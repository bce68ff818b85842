"""Which passages of an episode are worth a listener's time. Pure; the rules are published here.

**Passages** are one to three sentences in a row that one speaker says, of 40 to 400 characters, about something known:
at least one tag, and one in their first sentence. Greetings, sponsors and housekeeping (`_CHATTER`) are none.

**Weight**: 2 for each coin up to three, 1.5 for each sector up to two, 1 for each macro topic up to three; twice how
clearly it leans (the absolute score); 0.5 for a figure, 0.5 for a reason, 0.5 for a coin together with a
macro topic; less 1 if it ends in a question, less 1.5 for each sentence after the first that carries no tag.

**Choice**: the heaviest first, of equal ones the earliest; none that shares a sentence with one chosen, or says the
same again; at most twelve an episode.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from service.sentiment.scoring import CLEAR, LexiconScorer
from service.transcripts.sentences import Sentence
from service.transcripts.tagging import Tagger, Tags
from service.wire.transcripts import Outlook

MOST: Final = 12
SHORTEST: Final = 40
LONGEST: Final = 400
MOST_SENTENCES: Final = 3

_CHATTER: Final = re.compile(
    r"\b(?:welcome (?:back )?to|thanks for (?:having|coming|listening|watching|tuning)|brought to you by|"
    r"sponsor(?:s|ed)?|(?:promo|discount|use) code|sign up (?:at|today|now)|subscribe|show notes|"
    r"not (?:financial|investment) advice|my name is|leave (?:us )?a (?:review|comment)|like button|"
    r"check out (?:our|my|the link)|smash that|link in the (?:description|notes))\b",
    re.IGNORECASE,
)
_FIGURE: Final = re.compile(r"\d|\b(?:percent|million|billion|trillion|basis points)\b", re.IGNORECASE)
_BECAUSE: Final = re.compile(r"\b(?:because|which means|that's why|therefore|as a result|so that)\b", re.IGNORECASE)
_LETTERS: Final = re.compile(r"[\W_]+")


class Passage(Struct, frozen=True):
    """A passage, in the words that were spoken.

    Attributes:
        start_ms: Where in the episode its first sentence begins.
        speaker: Who says it, if that is known.
        quote: Plain text, not escaped.
        tags: What it is about.
        score: How it sounds, -1 to 1.
        weight: What it was ranked by.
    """

    start_ms: int
    speaker: str | None
    quote: str
    tags: Tags
    score: float
    weight: float


def choose(sentences: Sequence[Sentence], tagger: Tagger, scorer: LexiconScorer) -> list[Passage]:
    """Choose the passages of an episode, best first."""
    tagged = [tagger.tag(sentence.text) for sentence in sentences]
    found = [
        (_passage(sentences[begins:ends], tagged[begins:ends], tagger, scorer), range(begins, ends))
        for begins, ends in _windows(sentences, tagged)
    ]
    found.sort(key=lambda one: (-one[0].weight, one[1].start, one[1].stop))
    chosen: list[Passage] = []
    taken: set[int] = set()
    quoted: set[str] = set()
    for passage, at in found:
        said = _LETTERS.sub("", passage.quote).lower()
        if taken.isdisjoint(at) and said not in quoted:
            chosen.append(passage)
            taken.update(at)
            quoted.add(said)
        if len(chosen) == MOST:
            break
    return chosen


def outlook(score: float) -> Outlook:
    """How a score sounds: beyond 0.2 to either side it is clear."""
    if abs(score) <= CLEAR:
        return "neutral"
    return "bullish" if score > 0 else "bearish"


def _windows(sentences: Sequence[Sentence], tagged: Sequence[Tags]) -> Iterator[tuple[int, int]]:
    """Runs of sentences that may be a passage: first and one past the last."""
    for begins, tags in enumerate(tagged):
        if not tags.count:
            continue
        length = -1
        for ends in range(begins + 1, min(begins + MOST_SENTENCES, len(sentences)) + 1):
            sentence = sentences[ends - 1]
            length += 1 + len(sentence.text)
            if sentence.speaker != sentences[begins].speaker or length > LONGEST or _CHATTER.search(sentence.text):
                break
            if length >= SHORTEST:
                yield begins, ends


def _passage(sentences: Sequence[Sentence], tagged: Sequence[Tags], tagger: Tagger, scorer: LexiconScorer) -> Passage:
    quote = " ".join(sentence.text for sentence in sentences)
    tags = tagger.tag(quote)
    score = scorer.score(quote, tags.names)
    weight = _weight(quote, tags, score) - 1.5 * _idle(tagged[1:])
    return Passage(sentences[0].start_ms, sentences[0].speaker, quote, tags, score, round(weight, 4))


def _weight(quote: str, tags: Tags, score: float) -> float:
    about = 2.0 * min(len(tags.coins), 3) + 1.5 * min(len(tags.sectors), 2) + 1.0 * min(len(tags.macro), 3)
    says = 2.0 * abs(score) + 0.5 * bool(_FIGURE.search(quote)) + 0.5 * bool(_BECAUSE.search(quote))
    return about + says + 0.5 * bool(tags.coins and tags.macro) - 1.0 * quote.endswith("?")


def _idle(tagged: Iterable[Tags]) -> int:
    """How many sentences carry nothing."""
    return sum(not tags.count for tags in tagged)
