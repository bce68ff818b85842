"""Inputs that nobody wrote, thrown at everything that reads what strangers send. `make fuzz` runs it.

Decided here:
- A target is what a room does with a stranger's bytes, from the bytes to the structs that the rest of it works with.
  What its docstring says it raises is an answer; anything else, and what no store or JSON could hold, is a finding.
- libFuzzer (atheris) looks for new branches of the service's own code. JSON is changed as JSON most of the time, for
  bytes changed at random are not JSON any more, and none of our code sees them.
- An input may take a second of a processor: on the event loop, that is everybody's second. (In threads it is ours.)
- What was found is kept in `found/<target>/` and is thrown by `make test` too, together with what targets begin with.
"""
