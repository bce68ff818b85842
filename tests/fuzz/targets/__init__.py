"""What is searched, by the room that reads it; each module has its `TARGETS`, and what they watch is in `watched`."""
