"""`ask` and `watch`, which are written by hand, say what the offers say."""

from typing import get_args

from service.cli import ask_command as ask
from service.cli.watch import command as watch_command
from service.cli.watch.views import VIEWS
from service.client import stream as stream_client
from service.wire.ask import Archetype
from service.wire.offers import QUESTION, WATCH
from service.wire.streams import STREAMS, Ending


def test_a_question_is_sent_where_the_offer_is_and_costs_what_it_costs() -> None:
    assert (QUESTION.path, QUESTION.price_usdc) == (ask.PATH, ask.PRICE)
    assert get_args(Archetype) == ask.ARCHETYPES


def test_every_stream_can_be_watched_has_a_view_and_every_ending_its_exit_code() -> None:
    assert WATCH.path == stream_client.PATH + "{stream}"
    assert tuple(VIEWS) == STREAMS
    assert set(watch_command.ENDINGS) == set(get_args(Ending))
