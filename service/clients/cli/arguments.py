"""Reads what is typed after a command's words, as the table says.

What is accepted and refused is what `argparse` would, which takes as long to load as all else that a command does:
options anywhere, `--count 5` or `--count=5`, the last of two counts, no abbreviations, nothing but places after `--`.
"""

from __future__ import annotations

from service.clients.cli.tree import is_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator, Sequence
    from typing import NoReturn

    from service.clients.cli.command import Argument, Command


class Given:
    """What was typed, by name: `arguments.max_price` of `--max-price`; `arguments.command` is the command."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.run = command.run
        for argument in command.arguments:
            setattr(self, argument.key, _at_first(argument))


def read(command: Command, typed: Sequence[str]) -> Namespace:
    """Read the rest of a command line.

    Args:
        command: Whose it is.
        typed: What comes after the command's words.

    Returns:
        A value for each argument: as typed, read, or its default; `run` is what runs the command.

    Raises:
        UsageError: If it cannot be understood.
    """
    given = Given(command)
    named = {argument.name: argument for argument in command.arguments if argument.named}
    seen: list[Argument] = []
    placed: list[str] = []
    waiting = iter(typed)
    for text in waiting:
        if text == "--":
            placed.extend(waiting)
        elif not _is_name(text):
            placed.append(text)
        else:
            name, equals, value = text.partition("=")
            argument = named.get(name)
            if argument is None:
                _refuse(command, f"unrecognized arguments: {text}{_meant(name, named)}")
            _apart(command, argument, seen)
            if argument.kind == "flag":
                _set_flag(command, given, argument, equals, value)
            else:
                setattr(given, argument.key, _value(command, argument, value if equals else _next(waiting)))
            seen.append(argument)
    _place(command, given, placed)
    _require(command, seen)
    return given  # type: ignore[return-value] # one is read like the other, and importing argparse for it takes 6 ms


def _at_first(argument: Argument) -> object:
    if argument.many:
        return []
    return False if argument.kind == "flag" else argument.default


def _is_name(text: str) -> bool:
    """Whether it is meant as the name of an option: `-5` is a number, `-5 % today?` a sentence, `-` standard input."""
    if len(text) < 2 or text[0] != "-" or " " in text.partition("=")[0]:  # noqa: PLR2004 - a dash and something
        return False
    digits = text[1:].replace(".", "", 1)
    return not (digits.isascii() and digits.isdigit() and not text.endswith("."))


def _next(waiting: Iterator[str]) -> str | None:
    text = next(waiting, None)
    return None if text is None or _is_name(text) or text == "--" else text


def _set_flag(command: Command, given: Given, argument: Argument, equals: str, value: str) -> None:
    if equals:
        _refuse(command, f"argument {argument.name}: ignored explicit argument {value!r}")
    setattr(given, argument.key, True)
    if argument.run:
        given.run = argument.run


def _value(command: Command, argument: Argument, text: str | None) -> object:
    name = argument.name if argument.named else argument.shown
    if text is None:
        _refuse(command, f"argument {name}: expected one argument")
    if not is_file(argument) and not _is_text(text):
        _refuse(command, f"argument {name}: holds bytes that are no UTF-8")
    if argument.choices and text not in argument.choices:
        _refuse(command, f"argument {name}: invalid choice: {text!r} (choose from {', '.join(argument.choices)})")
    if argument.kind == "number":
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            _refuse(command, f"argument {name}: takes a whole number, not {text!r}")
        return int(text)
    if argument.read:
        from service.clients.cli.loading import load  # noqa: PLC0415 - few arguments are read by a function

        try:
            return load(argument.read)(text)
        except ValueError as error:
            _refuse(command, f"argument {name}: {error}")
    return text


def _is_text(text: str) -> bool:
    """Whether it can be sent: bytes of the command line that are none of its encoding have become halves of pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _apart(command: Command, argument: Argument, seen: Iterable[Argument]) -> None:
    for other in seen:
        if argument.apart and other.apart == argument.apart and other is not argument:
            _refuse(command, f"argument {argument.name}: not allowed with argument {other.name}")


def _place(command: Command, given: Given, texts: list[str]) -> None:
    missing = []
    for argument in command.arguments:
        if argument.named:
            continue
        if argument.many:
            setattr(given, argument.key, [_value(command, argument, text) for text in texts])
            texts = []
        elif texts:
            setattr(given, argument.key, _value(command, argument, texts.pop(0)))
        elif not argument.optional:
            missing.append(argument.shown)
    if texts:
        _refuse(command, f"unrecognized arguments: {' '.join(texts)}")
    if missing:
        _refuse(command, f"the following arguments are required: {', '.join(missing)}")


def _require(command: Command, seen: Sequence[Argument]) -> None:
    wanted = [argument for argument in command.arguments if argument.required and argument not in seen]
    alone = [argument.name for argument in wanted if not argument.apart]
    if alone:
        _refuse(command, f"the following arguments are required: {', '.join(alone)}")
    groups = {argument.apart for argument in seen}
    group = [argument.name for argument in wanted if argument.apart not in groups]
    if group:
        _refuse(command, f"one of the arguments {' '.join(group)} is required")


def _meant(typed: str, names: Iterable[str]) -> str:
    from service.clients.cli.usage import meant  # noqa: PLC0415 - for a mistake only

    return meant(typed, names)


def _refuse(command: Command, message: str) -> NoReturn:
    from service.clients.cli.usage import UsageError  # noqa: PLC0415 - for a mistake only

    raise UsageError(message, f"verdict {command.words}")
