"""Which language a question is in."""

import pytest

from tests.ask.lexical.reading import recognise

# ruff: noqa: RUF001 - letters of other alphabets are what is tested
FOREIGN = """
es: precio de bitcoin | hola | cuanto vale eth | cómo está el mercado | qué es el funding | debería comprar solana
fr: prix du bitcoin | bonjour | combien vaut eth | le marché est-il haussier ? | dois-je acheter eth
de: preis von bitcoin | hallo | wie viel kostet eth | wie steht der markt | was ist funding | btc kurs
pt: preço do bitcoin | olá | como está o mercado | devo comprar solana | quais moedas estão subindo
it: prezzo di bitcoin | ciao | come va il mercato | dovrei comprare sol | qual è la tendenza di sol | cosa pensi di eth
nl: prijs van bitcoin | wat kost eth | hoe staat de markt ervoor | hoeveel is btc waard
tr: bitcoin fiyatı | eth ne kadar | piyasa nasıl | solana almalı mıyım | merhaba
pl: cena bitcoina | ile kosztuje eth | jaki jest trend solany | czy kupić solana | cześć
vi: giá bitcoin | eth bao nhiêu | thị trường thế nào | có nên mua solana không
id: harga bitcoin | bagaimana pasar hari ini | apakah saya harus beli solana
hi: बिटकॉइन की कीमत | btc ka price kya hai | solana kharidna chahiye kya
ru: цена биткоина | сколько стоит eth | привет
uk: ціна біткоїна | скільки коштує eth | що з ринком
zh: 比特币价格 | BTC价格 | eth 现在多少钱
ja: ビットコインの価格 | BTCはいくら
ko: 비트코인 가격 | BTC 얼마
ar: سعر البيتكوين | كم سعر eth
he: מחיר ביטקוין
el: τιμή bitcoin
th: ราคาบิตคอยน์
sv: vad kostar bitcoin
da: hvad koster bitcoin
ro: care este pretul bitcoin acum
cs: jaka je cena bitcoinu
fi: mika on bitcoinin hinta
hu: mennyi a bitcoin ara most
und: gwerthfawr iawn yw glorptan
"""

ENGLISH = """
btc|BTC 24h?|hi|thx|yo|lol|gm|wen lambo|sol pls|is doge a buy|btc tho|me|eth/btc|123|???|🚀🚀|what is 比特币
blorp glorp|was btc up|btc en eth|solana o ethereum|on es|the dax|what does hola mean|pengu vs wif lfg|bruh
how r u|u there
idk man|ape in sol?|hola, what is the price of btc|fundng on etherum|café price
α of btc|β|ё|a|elon musk doge
"""


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (language, text.strip())
        for language, _, texts in (line.partition(":") for line in FOREIGN.strip().split("\n"))
        for text in texts.split(" | ")
    ],
)
def test_a_question_in_another_language_is_told_by_its_words_or_letters(language: str, text: str) -> None:
    assert recognise(text).language == language


@pytest.mark.parametrize("text", ENGLISH.strip().replace("\n", "|").split("|"))
def test_english_is_english_however_it_is_written_and_so_are_names_alone(text: str) -> None:
    assert recognise(text).language == "en"


def test_in_another_language_nothing_is_taken_for_an_unknown_coin() -> None:
    assert not recognise("wie viel kostet blorp").names
