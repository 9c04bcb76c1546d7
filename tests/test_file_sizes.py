"""Functions stay small enough to read in one go, and a long file says why it is one."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.test_layout import ROOT, modules

MODULE_LINES, FUNCTION_LINES = 400, 40
REASON = "one file because"
"""A longer module's docstring says `In one file because ...`: a file ends where an idea ends."""


def lengths(module: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield f"{module.relative_to(ROOT)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


def test_a_long_file_says_why() -> None:
    product = [module for module in modules() if not module.is_relative_to(ROOT / "tests")]
    long = [module for module in product if len(module.read_text().splitlines()) > MODULE_LINES]
    unexplained = [module for module in long if REASON not in (ast.get_docstring(ast.parse(module.read_text())) or "")]
    assert [module.relative_to(ROOT).as_posix() for module in unexplained] == []


def test_no_function_is_too_long() -> None:
    found = (function for module in modules() for function in lengths(module))
    assert {name: lines for name, lines in found if lines > FUNCTION_LINES} == {}
