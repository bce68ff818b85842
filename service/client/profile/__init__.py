"""The caller: configuration, stored credentials, and the SDK client built from them.

Reads files and the environment that it is given; knows nothing of commands or terminals.

Decisions:
- Folders follow the XDG base directory specification on every platform.
- Files are written atomically (new file, then rename), readable by their owner alone; new folders likewise.
- A credential belongs to the service URL it came from and is never sent to another. Its token is in the platform's
  keyring if one works, else in `credentials.json`. That file always says which, because asking a keyring takes longer
  than a whole command.
- A configuration with an unknown name is refused: a misspelt ceiling would otherwise be no ceiling.
"""
