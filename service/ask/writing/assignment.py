"""What a writer is given."""

from msgspec import Struct

from service.ask.evidence import Evidence
from service.ask.writing.styles import Style
from service.wire.ask import Classification, Entities, Plan


class Assignment(Struct, frozen=True):
    """A question as it was understood, what was found for it, and for whom the answer is written."""

    classification: Classification
    plan: Plan
    evidence: Evidence
    style: Style

    @property
    def entities(self) -> Entities:
        """What the question names."""
        return self.classification.entities
