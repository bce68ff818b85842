"""What an operator may say of a model that writes prose, and what is refused."""

import pytest

from service.settings import Secret, Settings, SettingsError
from tests.test_settings import read

MODEL = {"llm_url": "http://127.0.0.1:11434/v1", "llm_model": "small"}


@pytest.mark.promise("question.model")
def test_no_model_is_asked_unless_the_operator_names_one() -> None:
    settings = Settings.from_environ({})
    assert (settings.llm_url, settings.llm_model, settings.llm_key, settings.ask_default) == (None, None, None, "text")


def test_a_model_is_taken_with_its_key_its_deadline_and_its_budget() -> None:
    settings = read(
        **MODEL, llm_key="k", llm_seconds="5", llm_tokens="300", llm_daily_tokens="9000", ask_default="json"
    )
    assert (settings.llm_url, settings.llm_model, settings.llm_key) == (*MODEL.values(), Secret("k"))
    assert (settings.llm_seconds, settings.llm_tokens, settings.llm_daily_tokens) == (5, 300, 9_000)
    assert settings.ask_default == "json"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"llm_url": "http://127.0.0.1/v1"}, "VERDICT_LLM_URL and VERDICT_LLM_MODEL go together"),
        ({"llm_model": "small"}, "VERDICT_LLM_URL and VERDICT_LLM_MODEL go together"),
        ({**MODEL, "llm_url": "127.0.0.1:11434"}, "VERDICT_LLM_URL takes a scheme and a host"),
        ({**MODEL, "llm_key": "a\nb"}, "VERDICT_LLM_KEY takes printable characters"),
        ({**MODEL, "llm_seconds": "0"}, "VERDICT_LLM_SECONDS takes 1 to 120, not 0"),
        ({**MODEL, "llm_tokens": "1"}, "VERDICT_LLM_TOKENS takes 50 to 8000, not 1"),
        ({**MODEL, "llm_daily_tokens": "0"}, "VERDICT_LLM_DAILY_TOKENS takes 1 to"),
        ({"ask_default": "xml"}, "VERDICT_ASK_DEFAULT takes text or json, not 'xml'"),
    ],
)
def test_what_cannot_work_is_refused_with_the_name_of_the_variable(given: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read(**given)
