"""How each stream is shown: `take` notes an event, `lines` draws all that is known, `tell` says one event in a line.

Decision: `lines` is given the rows there are and fills no more than those, the most telling first.
"""
