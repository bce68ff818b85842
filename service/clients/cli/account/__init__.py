"""Commands about the person at the keyboard: their choices, who they are to the service, their keys, the way there."""
