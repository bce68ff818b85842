"""Who calls, from where, and with what: configuration, kept credentials, and the library's client made of them.

Knows files and the environment that it is handed; nothing of commands or terminals.

Decisions:
- Folders are those of the XDG base directory specification, on every platform: one place to look for, and to delete.
- What is kept is written whole or not at all, into a new file that is renamed over the old one, readable by its owner
  alone; a folder that is made on the way there is its owner's alone.
- A credential belongs to the address it was got from, and is never sent to another. Its token is in the platform's
  keyring where there is one that works, else in `credentials.json`; that file always says where, so that no keyring has
  to be asked (which takes longer than a whole command) by those who have none.
- A configuration with a name in it that is not known is refused: a misspelt ceiling would be none.
"""
