"""What a word means here."""

from service.ask.draft import Draft, listed
from service.ask.figures import quote
from service.ask.writing.assignment import Assignment


def write(assignment: Assignment, draft: Draft) -> None:
    """Quote the glossary."""
    for found in assignment.evidence.all("glossary"):
        draft.say(quote(found, "/text"))
        if found.size("/see") and not assignment.style.terse:
            others = listed([quote(found, f"/see/{index}") for index in range(found.size("/see"))])
            draft.say("See also: ", others, ".")
