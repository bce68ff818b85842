"""The small ways in which code can be wrong, each a change of one node of a module's syntax tree."""

import ast
import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

_COMPARED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_CALCULATED: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
_CALLED: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
_SQL: Final = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|ON CONFLICT|ORDER BY|AND|SET)\b")
_SQL_CHANGED: Final = {
    "<>": "=",
    "<=": "<",
    ">=": ">",
    "=": "<>",
    "<": "<=",
    ">": ">=",
    "+": "-",
    "-": "+",
    "AND": "OR",
    "OR": "AND",
    "IS NOT": "IS",
    "IS": "IS NOT",
    "NOT IN": "IN",
    "IN": "NOT IN",
    "DESC": "ASC",
    "max": "min",
    "min": "max",
    "sum": "max",
    "count": "max",
}
_SQL_TOKEN: Final = re.compile(
    r"<>|<=|>=|[=<>]|(?<= )[-+](?= )|\b(?:AND|OR|IS NOT|IS|NOT IN|IN|DESC|max|min|sum|count)\b"
    r"|(?<!SELECT )\b(?!(?<=LIMIT )1\b)\d+\b"  # whichever row `LIMIT 1` and `SELECT 1` say is read alone
)
_CHANGED_THEMSELVES: Final = (ast.Compare, ast.UnaryOp, ast.Constant)
_NO_EFFECT: Final = frozenset({"cast", "TypeVar", "getLogger"})


class Mutant(NamedTuple):
    """One small change.

    Attributes:
        path: The module.
        node: Which node of its tree, in the order of `ast.walk`.
        variant: Which of the changes of that node.
        line: Where it is.
        lines: The first and last line of the statement it is in; of a compound one, of what it asks.
        inside: The outermost function that it is in, and its first line; the constant's name where it is in none.
    """

    path: Path
    node: int
    variant: int
    line: int
    lines: tuple[int, int]
    inside: tuple[str, int]


class Made(NamedTuple):
    """A changed module, and the statement that was changed as it was and as it is."""

    tree: ast.Module
    before: str
    after: str


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    tree = ast.parse(path.read_text())
    nodes = list(ast.walk(tree))
    parents = {child: parent for parent in nodes for child in ast.iter_child_nodes(parent)}
    for index, node in enumerate(nodes):
        trail = _trail(node, parents)
        inside = _inside(trail)
        if inside is None or _is_not_run(trail):
            continue
        statement = next(each for each in trail if isinstance(each, ast.stmt))
        for variant, _ in enumerate(_changes(node, parents.get(node))):
            yield Mutant(path, index, variant, getattr(node, "lineno", statement.lineno), _lines(statement), inside)


def make(mutant: Mutant) -> Made:
    """Make a mutant out of its module's text."""
    tree = ast.parse(mutant.path.read_text())
    nodes = list(ast.walk(tree))
    node = nodes[mutant.node]
    parents = {child: parent for parent in nodes for child in ast.iter_child_nodes(parent)}
    statement = next(each for each in _trail(node, parents) if isinstance(each, ast.stmt))
    before = ast.unparse(statement)
    changed = ast.fix_missing_locations(ast.copy_location(_changes(node, parents[node])[mutant.variant], node))
    _put(parents[node], node, changed)
    return Made(tree, before, ast.unparse(changed if node is statement else statement))


def _put(parent: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for field, value in ast.iter_fields(parent):
        if value is old:
            setattr(parent, field, new)
        elif isinstance(value, list):
            setattr(parent, field, [new if each is old else each for each in value])


def _trail(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> list[ast.AST]:
    trail = [node]
    while trail[-1] in parents:
        trail.append(parents[trail[-1]])
    return trail


def _inside(trail: list[ast.AST]) -> tuple[str, int] | None:
    """The outermost function, or the constant; none for what is neither, such as the fields of a class."""
    named = [each for each in trail if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    functions = [each for each in named if not isinstance(each, ast.ClassDef)]
    if functions:
        outer = functions[-1]
        above = named[named.index(outer) + 1 :]
        first = min([outer.lineno, *(each.lineno for each in outer.decorator_list)])
        return ".".join(each.name for each in [*reversed(above), outer]), first
    if not named and len(trail) > 1 and isinstance(top := trail[-2], ast.Assign | ast.AnnAssign):
        target = top.targets[0] if isinstance(top, ast.Assign) else top.target
        return (target.id, 0) if isinstance(target, ast.Name) else None
    return None


def _is_not_run(trail: list[ast.AST]) -> bool:
    """Whether it is an annotation, a decorator, a default, or an argument that changes nothing."""
    for child, parent in pairwise(trail):
        if isinstance(parent, ast.AnnAssign) and child is parent.annotation:
            return True
        if isinstance(parent, ast.arguments | ast.arg) or (isinstance(parent, ast.keyword) and parent.arg == "strict"):
            return True  # `strict` of zip says what is so already
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and child in {
            *parent.decorator_list,
            parent.returns,
        }:
            return True
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in _NO_EFFECT:
            return True
        if isinstance(parent, ast.Subscript) and _is_type(parent.value):
            return True
    return False


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in {"Literal", "Final", "Callable", "Decoder"}


def _lines(statement: ast.stmt) -> tuple[int, int]:
    last = statement.end_lineno or statement.lineno
    body = getattr(statement, "body", None)
    return statement.lineno, max(statement.lineno, body[0].lineno - 1) if body else last


def _changes(node: ast.AST, parent: ast.AST | None) -> list[ast.AST]:
    """What a node can be changed into, each time the same in the same order."""
    found: list[ast.AST] = []
    match node:
        case ast.Compare():
            found = [_with_operator(node, at) for at in range(len(node.ops))]
        case ast.BoolOp():
            found = [ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)]
        case ast.UnaryOp(op=ast.Not()):
            found = [node.operand]
        case ast.BinOp() if type(node.op) in _CALCULATED and not _is_union(node):
            found = [ast.BinOp(node.left, _CALCULATED[type(node.op)](), node.right)]
        case ast.Constant():
            found = [] if _is_prose(node, parent) else _constants(node.value)
        case ast.Call():
            found = [*_calls(node)]
        case ast.IfExp() | ast.If() | ast.While() if not isinstance(node.test, _CHANGED_THEMSELVES):
            found = [_with_test(node)]
        case ast.comprehension():
            found = [_without_filter(node, at) for at in range(len(node.ifs))]
        case _ if isinstance(node, ast.stmt):
            found = [*_statements(node, parent)]
    return found


def _is_prose(node: ast.Constant, parent: ast.AST | None) -> bool:
    """Whether it is a docstring, or more than one word that no statement of SQL is made of."""
    parts = parent.values if isinstance(parent, ast.JoinedStr) else [node]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    told = any(" " in text for text in texts) and not any(map(_SQL.search, texts))
    return told or isinstance(parent, ast.Expr)


def _is_union(node: ast.BinOp) -> bool:
    """Whether it is one of types, as `isinstance` takes them."""
    return isinstance(node.op, ast.BitOr) and any(map(_is_class, (node.left, node.right)))


def _is_class(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and (node.id[:1].isupper() or node.id in {"int", "str", "bytes", "float"})


def _with_operator(node: ast.Compare, at: int) -> ast.Compare:
    operators = [_COMPARED[type(each)]() if index == at else each for index, each in enumerate(node.ops)]
    return ast.Compare(node.left, operators, node.comparators)


def _with_test(node: ast.IfExp | ast.If | ast.While) -> ast.AST:
    changed = deepcopy(node)
    changed.test = ast.copy_location(ast.UnaryOp(ast.Not(), changed.test), node.test)
    return changed


def _without_filter(node: ast.comprehension, at: int) -> ast.comprehension:
    kept = [each for index, each in enumerate(node.ifs) if index != at]
    return ast.comprehension(node.target, node.iter, kept, node.is_async)


def _constants(value: object) -> list[ast.AST]:
    match value:
        case bool():
            return [ast.Constant(not value)]
        case int() | float():
            return [ast.Constant(value + 1)]
        case str() if _SQL.search(value):
            return [ast.Constant(changed) for changed in _statements_of_sql(value)]
        case str():
            return [ast.Constant(f"XX{value}XX")]
        case bytes():
            return [ast.Constant(b"XX" + value + b"XX")]
    return []


def _statements_of_sql(text: str) -> Iterator[str]:
    for token in _SQL_TOKEN.finditer(text):
        word = token[0]
        changed = str(int(word) + 1) if word.isdigit() else _SQL_CHANGED[word]
        yield text[: token.start()] + changed + text[token.end() :]


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    if isinstance(node.func, ast.Name) and node.func.id in _CALLED:
        func = ast.copy_location(ast.Name(_CALLED[node.func.id], ast.Load()), node.func)
        yield ast.Call(func, node.args, node.keywords)
    for keyword in node.keywords:
        if keyword.arg and keyword.arg != "strict":
            yield ast.Call(node.func, node.args, [each for each in node.keywords if each is not keyword])


def _statements(node: ast.stmt, parent: ast.AST | None) -> Iterator[ast.AST]:
    match node:
        case ast.Return(value=ast.expr()) if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
