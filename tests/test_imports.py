"""What import-linter cannot see: single files, the standard library, and what a module really loads."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOTS = {"worker", "api", "web"}
READ_SETTINGS = {"worker", "cli", "api", "embedded", "web", "tests", "bench"}
NOT_PURE = {"asyncio", "datetime", "logging", "os", "random", "threading", "time", "uuid"}
HEAVY = {"cv2", "lxml", "onnxruntime", "pikepdf", "pyarrow", "pypdfium2", "rapidocr"}


def modules() -> Iterator[Path]:
    packages = (path.parent for path in ROOT.glob("*/__init__.py"))
    yield from ROOT.glob("*.py")
    for package in packages:
        yield from package.rglob("*.py")


def imports(module: Path) -> set[str]:
    """Return the dotted names that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(name), level=0):
                found.add(name)
    return found


def tops(module: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(module)}


def place(module: Path) -> str:
    return module.relative_to(ROOT).with_suffix("").parts[0]


def test_the_roots_do_not_import_each_other() -> None:
    guilty = {
        str(module) for module in modules() if place(module) in ROOTS and (tops(module) & ROOTS) - {place(module)}
    }
    assert guilty == set()


def test_nothing_imports_a_root() -> None:
    assert {
        str(module)
        for module in modules()
        if place(module) not in {*ROOTS, "cli", "tests", "bench"} and tops(module) & ROOTS
    } == set()


def test_only_the_roots_read_settings() -> None:
    assert {str(module) for module in modules() if "settings" in tops(module)} <= {
        str(module) for module in modules() if place(module) in READ_SETTINGS
    }


def test_the_pure_core_has_no_clock_no_chance_and_no_system() -> None:
    assert {
        str(module): tops(module) & NOT_PURE for module in (ROOT / "dag").rglob("*.py") if tops(module) & NOT_PURE
    } == {}


def test_the_pure_core_needs_only_pydantic_and_for_expressions_jinja() -> None:
    for module in (ROOT / "dag").rglob("*.py"):
        allowed = {"dag", "pydantic", "pydantic_core"} | (
            {"jinja2"} if module.name in {"evaluation.py", "expressions.py", "language.py", "sandbox.py"} else set()
        )
        assert tops(module) - sys.stdlib_module_names <= allowed, module


def loaded_by(code: str) -> set[str]:
    shown = f"import sys\n{code}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", shown], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.split()}


@pytest.mark.parametrize(
    "code", ["import activities.registry", "import cli.main; cli.main.assemble()", "import operations.app"]
)
def test_what_only_needs_the_catalogue_loads_no_document_library(code: str) -> None:
    assert HEAVY & loaded_by(f"{code}\nfrom activities.registry import load_catalogue\nload_catalogue()") == set()
