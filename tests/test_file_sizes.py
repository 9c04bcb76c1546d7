"""Files and functions stay small enough to be read in one go."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.test_imports import ROOT, modules

MODULE_LINES, TEST_LINES, FUNCTION_LINES = 300, 500, 40
OWN_LIMITS = {"workflows/run.py": 200}
"""The shell around the scheduler: if it grows, a decision has leaked out of dag/."""


def limit(path: str) -> int:
    return OWN_LIMITS.get(path, TEST_LINES if path.startswith("tests/") else MODULE_LINES)


def sizes() -> Iterator[tuple[str, int]]:
    for module in modules():
        yield module.relative_to(ROOT).as_posix(), len(module.read_text().splitlines())


def functions(module: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield f"{module.relative_to(ROOT)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


def test_no_file_is_too_long() -> None:
    assert {path: lines for path, lines in sizes() if lines > limit(path)} == {}


def test_no_function_is_too_long() -> None:
    found = (function for module in modules() for function in functions(module))
    assert {name: lines for name, lines in found if lines > FUNCTION_LINES} == {}
