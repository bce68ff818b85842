"""One sentence in each language that is recognised and not spoken: that answers are in English."""

# ruff: noqa: RUF001 - a language is written in its own letters and marks

from collections.abc import Mapping
from typing import Final

ENGLISH: Final = "I answer in English only. Please ask again in English, for example: “funding on ETH”."

SENTENCES: Final[Mapping[str, str]] = {
    "es": "Por ahora solo respondo en inglés. Vuelve a preguntar en inglés, por ejemplo: “funding on ETH”.",
    "fr": "Pour l’instant, je ne réponds qu’en anglais. Reposez votre question en anglais, par exemple : "
    "« funding on ETH ».",
    "de": "Ich antworte vorerst nur auf Englisch. Bitte fragen Sie noch einmal auf Englisch, zum Beispiel: "
    "„funding on ETH“.",
    "pt": "Por enquanto só respondo em inglês. Pergunte de novo em inglês, por exemplo: “funding on ETH”.",
    "it": "Per ora rispondo solo in inglese. Ripeti la domanda in inglese, per esempio: «funding on ETH».",
    "nl": "Voorlopig antwoord ik alleen in het Engels. Stel je vraag opnieuw in het Engels, bijvoorbeeld: "
    "‘funding on ETH’.",
    "tr": "Şimdilik yalnızca İngilizce yanıt veriyorum. Lütfen sorunuzu İngilizce sorun, örneğin: “funding on ETH”.",
    "ru": "Пока я отвечаю только на английском. Задайте вопрос по-английски, например: «funding on ETH».",
    "uk": "Поки що я відповідаю лише англійською. Поставте запитання англійською, наприклад: «funding on ETH».",
    "pl": "Na razie odpowiadam tylko po angielsku. Zadaj pytanie po angielsku, na przykład: „funding on ETH”.",
    "zh": "目前我只能用英文回答。请改用英文提问，例如：“funding on ETH”。",
    "ja": "現在は英語でのみお答えしています。英語で改めてご質問ください。例：「funding on ETH」",
    "ko": "지금은 영어로만 답변합니다. 영어로 다시 질문해 주세요. 예: “funding on ETH”",
    "ar": "أجيب حاليًا بالإنجليزية فقط. يُرجى طرح سؤالك بالإنجليزية، مثلًا: «funding on ETH».",
    "hi": "फ़िलहाल मैं केवल अंग्रेज़ी में उत्तर देता हूँ। कृपया अपना प्रश्न अंग्रेज़ी में पूछें, जैसे: “funding on ETH”.",
    "vi": "Hiện tại tôi chỉ trả lời bằng tiếng Anh. Vui lòng hỏi lại bằng tiếng Anh, ví dụ: “funding on ETH”.",
    "id": "Untuk saat ini saya hanya menjawab dalam bahasa Inggris. Silakan tanyakan lagi dalam bahasa Inggris, "
    "misalnya: “funding on ETH”.",
}
"""By ISO 639-1. No numerals, not even 一: nothing in an answer may look like a figure that is none."""


def sentences(language: str) -> tuple[str, ...]:
    """What to say to who asks in a language: in theirs, where we have it, then in English."""
    own = SENTENCES.get(language)
    return (ENGLISH,) if own is None else (own, ENGLISH)
