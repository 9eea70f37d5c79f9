"""Makes small changes at random in the files named and prints those that the tests beside the file do not see.

The planted bugs are those that somebody thought of; these are not. What survives is for a person to judge: it may say
the same as before, be an allowance for rounding that another one covers, or be a line that no test reads.
"""

import argparse
import ast
import os
import random
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutant import PACKAGE, ROOT, Mutant
from tests.mutants.run import Outcome, failing_without, say, tried

_COMPARED: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_COMPUTED: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
_OPPOSITES = (("min", "max"), ("minimum", "maximum"), ("floor", "ceil"), ("any", "all"), ("sf", "cdf"), ("isf", "ppf"))
_NAMES = {one: other for pair in _OPPOSITES for one, other in (pair, pair[::-1])}
_SAID = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Change:
    """In line `line` the expression `old` becomes `new`; `source` is the whole file afterwards."""

    line: int
    old: str
    new: str
    source: str


def changes(source: str) -> list[Change]:
    """Every small change that is known here of the code in a file, its types and messages excepted."""
    tree = ast.parse(source)
    quiet = {id(part) for node in ast.walk(tree) for spoken in _not_computed(node) for part in ast.walk(spoken)}
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    data, found = source.encode(), {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or id(node) in quiet:
            continue
        begin = lines[node.lineno - 1] + node.col_offset
        end = lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        for new in _instead(node):
            text = f"({new})"
            after = (data[:begin] + text.encode() + data[end:]).decode()
            found[after] = Change(node.lineno, data[begin:end].decode(), text, after)
    return list(found.values())


def _not_computed(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node in which nothing is computed: types, decorators, messages."""
    if isinstance(node, _SAID):
        yield node
    elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
        yield node.annotation
    elif isinstance(node, ast.FunctionDef):
        yield from node.decorator_list
        if node.returns is not None:
            yield node.returns


def _instead(node: ast.expr) -> Iterator[str]:
    """What may stand in the place of an expression."""
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in _COMPARED:
            yield f"{ast.unparse(left)} {_COMPARED[type(operator)]} {ast.unparse(right)}"
        case ast.BinOp(left, operator, right) if type(operator) in _COMPUTED:
            yield f"({ast.unparse(left)}) {_COMPUTED[type(operator)]} ({ast.unparse(right)})"
            yield ast.unparse(left)
        case ast.BoolOp(operator, values):
            yield (" or " if isinstance(operator, ast.And) else " and ").join(f"({ast.unparse(v)})" for v in values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield ast.unparse(operand)
        case ast.IfExp(_, body, orelse):
            yield from (ast.unparse(body), ast.unparse(orelse))
        case ast.Name(name, ast.Load()) if name in _NAMES:
            yield _NAMES[name]
        case ast.Attribute(value, name) if name in _NAMES:
            yield f"{ast.unparse(value)}.{_NAMES[name]}"
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            yield from (repr(value + 1), repr(value - 1)) if isinstance(value, int) else (repr(0.9 * value + 0.01),)


def planted(file: str, change: Change) -> Mutant:
    """The change as a bug that the file's twin must see."""
    path = Path(file)
    name = f"{file}:{change.line}: {change.old} -> {change.new}"
    twin = (path.parent / f"test_{path.name}").as_posix()
    return Mutant(name, file, (PACKAGE / file).read_text(), change.source, "Made at random.", (twin,))


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweep the files named; 0 if nothing survives."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants.sweep",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: python -m tests.mutants.sweep bounds/leader.py geometry/box.py --each 20 --seed 1",
    )
    parser.add_argument("files", nargs="+", help="files below src/doublebubble that have a test file of their own")
    parser.add_argument("--each", type=int, default=10, help="changes for each file (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="which changes are chosen (default: 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    asked = parser.parse_args(arguments)
    chosen = list[Mutant]()
    for file in asked.files:
        path = Path(file)
        if not (PACKAGE / file).is_file() or not (ROOT / "tests" / path.parent / f"test_{path.name}").is_file():
            parser.error(f"{file}: expected a file below src/doublebubble with a test file of its own")
        known = changes((PACKAGE / file).read_text())
        picked = random.Random(asked.seed).sample(known, min(asked.each, len(known)))
        chosen += [planted(file, change) for change in sorted(picked, key=lambda change: change.line)]
    if failing := failing_without(chosen, asked.jobs):
        say("these tests fail without any change, so they can show nothing:", *failing)
        return 2
    survived = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        for finding in pool.map(tried, chosen):
            if finding.outcome is Outcome.SURVIVED:
                survived += 1
                say(f"survives  {finding.mutant.name}")
    say(f"{len(chosen) - survived} of {len(chosen)} seen by the tests beside the file")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
