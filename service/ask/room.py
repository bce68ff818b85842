"""The room, opened."""

from service.ask import provisional
from service.ask.desk import AskDesk
from service.ask.listed import Listed
from service.ask.model import Model
from service.ask.rules import Rules
from service.ask.tools import Rooms, open_toolbox


def open_ask(rooms: Rooms, model: Model | None = None) -> AskDesk:
    """Open the room.

    Args:
        rooms: Who is asked.
        model: Writes prose in place of the rules; null: nobody does.
    """
    listed = Listed(provisional.make, rooms.market.coins, rooms.market.categories, rooms.rwa)
    rules = Rules(listed.classify, provisional.plan, provisional.write, provisional.check)
    return AskDesk(rooms.clock, open_toolbox(rooms), rules, model)
