"""Which language a question is written in, as far as that can be said of a few words. Pure."""

from collections.abc import Sequence
from typing import Final

from service.ask.parser.tokens import Token
from service.ask.parser.words import bag, is_plain

ENGLISH: Final = "en"
UNDETERMINED: Final = "und"

_SCRIPTS: Final = (
    ("ja", "\u3040", "\u30ff"),
    ("ko", "\uac00", "\ud7a3"),
    ("ko", "\u1100", "\u11ff"),
    ("zh", "\u4e00", "\u9fff"),
    ("zh", "\u3400", "\u4dbf"),
    ("ar", "\u0600", "\u06ff"),
    ("hi", "\u0900", "\u097f"),
    ("ru", "\u0400", "\u052f"),
    ("el", "\u0370", "\u03ff"),
    ("he", "\u0590", "\u05ff"),
    ("th", "\u0e00", "\u0e7f"),
)
"""Language → the first and the last of the characters that tell it; kana before the characters Japanese shares."""
_UKRAINIAN: Final = frozenset("\u0456\u0457\u0454\u0491")
_UKRAINIAN_WORDS: Final = bag("яка який яке чи варто зараз ціна купувати ринок що як скільки коштує сьогодні")
_OTHER_SCRIPT: Final = "\u0370"
_WHOLE: Final = 3

_WORDS: Final = {
    language: frozenset(words.split())
    for language, words in {
        "es": "el la los las un una de del que como cual cuanto cuanta cuantos es esta estan por para precio vale "
        "cuesta "
        "hoy ahora mercado moneda monedas comprar vender tendencia sube baja subiendo bajando hola gracias y "
        "en con sobre "
        "mejor peor hace semana dias ayer si debo deberia puedo donde cuando porque quiero dime financiacion "
        "sentimiento "
        "muy mas menos entre muestra dame alcista bajista tal esta al se va ser hay cotizacion cambio "
        "piensas opinas opinion conviene",
        "fr": "le la les un une des du de que quel quelle quels est sont prix combien vaut coute comment pourquoi "
        "aujourdhui "
        "maintenant marche acheter vendre tendance hausse baisse bonjour merci et ou en avec sur cest il je dois faut "
        "semaine jours hier puis quand veux dis donne moi plus moins mieux entre ce cette moment quoi dans pour pas "
        "sentiment financement cours cryptos actuel actuelle va ete avoir penses pensez avis parle parlez",
        "de": "der die das ein eine einen und oder ist sind was wie wo wann warum kostet kurs preis viel heute "
        "jetzt gerade markt "
        "kaufen verkaufen soll sollte ich mir mein stimmung hallo danke bitte von vom im auf fur mit uber "
        "zwischen besser "
        "woche tage gestern steht steigt fallt trend aktuell aktuelle aktueller zeig welche welcher welches "
        "den dem bei "
        "nach nicht kann wird werden hat haben vergleiche finanzierungsrate gibt es wert "
        "denkst haltst meinst lohnt sich",
        "pt": "o os as um uma de do da dos das que qual quanto quanta e esta estao por para preco vale custa hoje "
        "agora mercado "
        "moeda moedas comprar vender tendencia sobe desce subindo caindo ola obrigado obrigada em com sobre "
        "melhor pior "
        "semana dias ontem devo quando porque quero diga mostre alta baixa como ou no na nos nas sentimento taxa voce "
        "nao mais menos entre eu ser tem seu cotacao financiamento acha achas pensa vale fale",
        "it": "il lo la gli i un una di del della dei che quale quanto quanta e sta sono per prezzo vale costa oggi "
        "adesso ora "
        "mercato moneta monete comprare vendere tendenza sale scende ciao grazie in con su meglio peggio "
        "settimana giorni "
        "ieri devo quando perche voglio dimmi mostra come ce com nel nella sentimento finanziamento piu meno tra chi "
        "andamento quotazione rialzo ribasso va al posso dovrei cosa pensi pensa di dammi parlami sapere conviene",
        "nl": "de het een en of is zijn wat hoe waar wanneer waarom kost koers prijs veel vandaag nu markt kopen "
        "verkopen moet ik "
        "mij mijn stemming hallo dank bedankt van voor op met over tussen beter week dagen gisteren staat stijgt daalt "
        "geef welke welk bij naar niet kan wordt worden heeft hebben waard zou dit deze gaat doet er hoeveel je",
        "tr": "ne kadar nasil nedir neden niye bir ve veya mi mu fiyat fiyati bugun simdi piyasa piyasada almali "
        "satmali alayim "
        "satayim trend yukselis dusus merhaba tesekkurler icin ile hangi en iyi kotu hafta gun dun kac dolar var yok "
        "gore durumu olan eder su anda bu goster yukseliyor dusuyor duygu oran orani fonlama",
        "pl": "jaki jaka jakie jest sa ile kosztuje cena ceny kurs dzis dzisiaj teraz rynek rynku kupic sprzedac "
        "czy trend "
        "rosnie spada czesc dziekuje prosze i lub w na z o co jak gdzie kiedy dlaczego lepszy gorszy tydzien "
        "dni wczoraj "
        "powinienem pokaz ktory ktora ktore od do dla nie sie mozna nastroje nastroj obecnie aktualna warto",
        "vi": "gia la bao nhieu cua hom nay bay gio thi truong the nao mua ban co nen khong xu huong tang giam xin "
        "chao cam on "
        "va hay voi ve tot xau tuan ngay qua dang duoc mot nhung cac gi sao toi dong tien hien tai luc nay ra tam ly",
        "id": "berapa harga apa apakah bagaimana kenapa mengapa hari ini sekarang pasar beli jual naik turun tren "
        "halo terima kasih "
        "dan atau di ke dari untuk dengan yang mana lebih baik buruk minggu kemarin saya harus bisa kapan "
        "tolong tunjukkan "
        "kondisi sentimen nilai koin bulan tahun itu ada adalah akan sudah sedang pada tidak",
        "hi": "kya hai hain ka ki ke ko kitna kitne kitni kaisa kaise kyun aaj abhi bhav keemat kimat kharidna "
        "bechna mein se aur "
        "bhai batao chahiye namaste dhanyavad",
        "sv": "vad kostar ar priset pa idag och eller ska jag kopa salja marknaden hur gar det just nu mycket vilka "
        "hej tack",
        "da": "hvad koster er prisen pa i dag og eller skal jeg kobe saelge markedet hvordan gar det lige meget "
        "hvilke hej tak",
        "ro": "care este pretul acum cat costa piata cumpar vand astazi si sau cum merge buna multumesc ce tendinta",
        "cs": "jaka je cena kolik stoji dnes ted trh koupit prodat jak ahoj dekuji co nebo mam",
        "fi": "mika on hinta paljonko maksaa tanaan nyt markkina ostaa myyda miten hei kiitos mita onko pitaisiko",
        "hu": "mennyi ara mennyibe kerul ma most piac venni eladni hogyan szia koszonom mi az erdemes",
    }.items()
}  # fmt: skip
"""Language → words it is known by, without accents."""

_MARKS: Final = {
    "es": frozenset("\u00f1\u00bf\u00a1"),
    "fr": frozenset("\u0153\u00e7\u00ea\u00fb\u00ee\u00eb"),
    "de": frozenset("\u00df\u00e4"),
    "pt": frozenset("\u00e3\u00f5"),
    "it": frozenset("\u00ec\u00f2"),
    "tr": frozenset("\u011f\u015f\u0131\u0130"),
    "pl": frozenset("\u0142\u0105\u0119\u017c\u015b\u0107\u0144\u017a"),
    "vi": frozenset(
        "\u0111\u01a1\u01b0\u1ea1\u1ea3\u1ea5\u1ea7\u1eaf\u1ebf\u1ec1\u1ec3\u1ecb\u1ed1\u1ed9\u1edd\u1ee3\u1ee7\u1eef\u1eb7"
    ),
}
"""Language → characters that hardly another of these has."""
_MOST_WORDS: Final = 400
_UNKNOWN: Final = 3
"""Words of no known language from which on a text with hardly an English one is of another."""
_SPOKEN: Final = 2
"""English words from which on a text is English that has letters of another script in it."""
_SHORT: Final = 2
_LOANS: Final = bag(
    """
    airdrop bear bull coin coins crypto defi dump funding hype long meme memes pump short staking token tokens
    trading trend
    """
)
"""English words that traders use in every language."""
FOREIGN: Final = frozenset().union(*_WORDS.values())
"""Every word that another language is known by."""


def language_of(tokens: Sequence[Token], named: set[int], mended: Sequence[str], text: str) -> str:
    """The language of a text.

    Args:
        tokens: Its words.
        named: Those that are names, which every language writes alike.
        mended: Its words, mended.
        text: The text itself.

    Returns:
        ISO 639-1, `und` where it is none that is known; a text of names and numbers alone is English.
    """
    free = [at for at in range(min(len(tokens), _MOST_WORDS)) if at not in named and not tokens[at].is_number]
    plain = [at for at in free if is_plain(tokens[at].word) or mended[at] != tokens[at].word]
    other = _script(tokens, free)
    if other is not None:
        return other if len(plain) < _SPOKEN else ENGLISH
    spoken = set(plain)
    strange = [tokens[at].word for at in free if at not in spoken]
    written = [tokens[at].text.lower() for at in free if at not in spoken]
    scores = {language: _score(language, strange, words, text) for language, words in _WORDS.items()}
    best = max(scores, key=lambda language: scores[language])
    marks = _MARKS.get(best, frozenset())
    told = [
        word for word, seen in zip(strange, written, strict=True) if word in _WORDS[best] or not marks.isdisjoint(seen)
    ]
    own = sum(tokens[at].word not in FOREIGN and tokens[at].word not in _LOANS for at in plain)
    if len(told) > own and (len(told) > 1 or len(told[0]) > _SHORT):
        return best
    odd = sum(word.isalpha() and len(word) > 1 for word in strange)
    return UNDETERMINED if odd >= _UNKNOWN and odd > 2 * len(plain) else ENGLISH


def _score(language: str, strange: Sequence[str], words: frozenset[str], text: str) -> int:
    """How many words and characters speak for a language."""
    return 2 * sum(word in words for word in strange) + len(_MARKS.get(language, frozenset()) & set(text.lower()))


def _script(tokens: Sequence[Token], free: Sequence[int]) -> str | None:
    """The language that the letters tell, where they are no Latin ones."""
    letters = "".join(tokens[at].text for at in free if tokens[at].text >= "\u0300" or not tokens[at].text.isascii())
    letters = "".join(letter for letter in letters if letter >= _OTHER_SCRIPT and not "\u1e00" <= letter <= "\u2fff")
    if not letters:
        return None
    for language, first, last in _SCRIPTS:
        count = sum(first <= letter <= last for letter in letters)
        if count >= (1 if first >= "\u3040" else _WHOLE):
            return _cyrillic(letters, tokens) if language == "ru" else language
    return None


def _cyrillic(letters: str, tokens: Sequence[Token]) -> str:
    words = {token.text.lower() for token in tokens}
    return "uk" if _UKRAINIAN & set(letters.lower()) or _UKRAINIAN_WORDS & words else "ru"
