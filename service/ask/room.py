"""The room, opened."""

from collections.abc import Mapping, Sequence

from service.ask.acquaintances import Acquaintances
from service.ask.classify import Classifier
from service.ask.desk import AskDesk
from service.ask.draft import Draft
from service.ask.evidence import Evidence
from service.ask.generate import generate
from service.ask.grounding import check
from service.ask.listed import Classify, Listed
from service.ask.model import Model
from service.ask.plan import plan
from service.ask.reading.known import Known
from service.ask.reading.reader import Reader
from service.ask.rules import Paragraphs, Rules
from service.ask.tools import Rooms, open_toolbox
from service.ask.writing import closing
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import style_of
from service.market.symbols import Directory
from service.wire.ask import Archetype, Classification, Entities, Plan, Step


def open_ask(rooms: Rooms, model: Model | None = None) -> AskDesk:
    """Open the room.

    Args:
        rooms: Who is asked.
        model: Writes prose in place of the rules; null: nobody does.
    """

    def read(directory: Directory, assets: Mapping[str, str], categories: tuple[str, ...]) -> Classify:
        return Classifier(Reader(Known(directory, assets, categories), rooms.clock)).classify

    listed = Listed(read, rooms.market.coins, rooms.market.categories, rooms.rwa)
    recognise = Acquaintances(rooms.wallets, rooms.transcripts).recognise

    def plan_there(classification: Classification, now_ms: int) -> Plan:
        return plan(classification, now_ms, rooms.wallets.chain_id)

    rules = Rules(listed.classify, recognise, plan_there, generate, _standing, _check)
    return AskDesk(rooms.clock, open_toolbox(rooms), rules, model)


def _standing(classification: Classification, planned: Plan, steps: Sequence[Step], archetype: Archetype) -> Paragraphs:
    style, evidence = style_of(archetype), Evidence(steps, classification.entities)
    assignment, draft = Assignment(classification, planned, evidence, style), Draft(explains=style.explains)
    closing.caveats(assignment, draft)
    closing.sources(assignment, draft)
    return draft.paragraphs


def _check(text: str, steps: Sequence[Step], entities: Entities) -> Sequence[object]:
    return check(text, Evidence(steps, entities))
