"""To come."""

COMMANDS = ()
