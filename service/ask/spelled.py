"""Numbers in words: all that say more than one, in English and in what else a text might hide them in."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_UNITS: Final = "two three four five six seven eight nine"
_TEENS: Final = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS: Final = "twenty thirty forty fourty fifty sixty seventy eighty ninety ninty"
_POWERS: Final = "hundred thousand million billion trillion quadrillion lakh crore dozen myriad gazillion zillion"
_PART: Final = "|".join(f"{_UNITS} {_TEENS} {_TENS} {_POWERS}".split())
_NUMBER: Final = re.compile(rf"(?:one|and|a)?(?:{_PART})(?:(?:and|one|{_PART})*)(?:s|ish|th|ths|fold|some|x)?\Z")
_ORDINALS: Final = _set(
    "second third thirds fourth fourths fifth fifths sixth seventh eighth eighths ninth tenth tenths eleventh twelfth "
    "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth hundredth thousandth"
)
_MULTIPLES: Final = _set(
    "twice thrice double doubles doubled doubling triple triples tripled tripling treble trebled quadruple quadrupled "
    "quadruples quadrupling quintuple quintupled quintuples sextuple sextupled halve halves halved halving half "
    "quarter quarters twofold couple fortnight decade decades century centuries grand bucks mil mln bn "
    "tenner fiver bagger baggers quid"
)
_ELSEWHERE: Final = _set(
    "dos tres cuatro cinco siete ocho nueve diez veinte treinta cuarenta cincuenta cien ciento deux trois quatre cinq "
    "sept huit neuf vingt trente quarante cinquante zwei drei vier sechs sieben acht neun zehn elf hundert tausend "
    "zwanzig tre quattro cinque sei sette otto nove dieci cento dois quatro oito dez mille twee drie vijf zeven "
    "dva tri pyat desyat sto ikki ichi"
)
# Words of other tongues that are also plain English stay out ("once", "due", "six").
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_FOREIGN_LETTERS: Final = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")


def spelled_out(text: str) -> Iterator[tuple[int, int]]:
    """Find words that say a number above one, or that mix scripts so that nobody can say what they say.

    Yields:
        Where each begins and ends.
    """
    for at in _WORD.finditer(text):
        word = at.group().lower()
        if word in _ORDINALS or word in _MULTIPLES or word in _ELSEWHERE or _NUMBER.match(word) or _is_mixed(word):
            yield at.span()


def _is_mixed(word: str) -> bool:
    if word.isascii():
        return False
    names = [unicodedata.name(letter, "") for letter in word]
    latin = any(name.startswith("LATIN") for name in names)
    return latin and any(name.startswith(_FOREIGN_LETTERS) for name in names)
