"""What import-linter cannot see: the standard library, what a module really loads, and how rooms are named."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docrail.worker import PASSED_THROUGH

ROOT = Path(__file__).parent.parent
ROOMS = {link.stem for link in (ROOT / "docrail").iterdir() if link.is_symlink()}
NOT_PURE = {"asyncio", "datetime", "logging", "os", "random", "threading", "time", "uuid"}
HEAVY = {"cv2", "lxml", "onnxruntime", "pikepdf", "pyarrow", "pypdfium2", "rapidocr"}
LEFTOVERS = {"utils", "helpers", "common", "core", "misc", "asking", "telling", "moving", "doubts", "silence"}


def modules() -> Iterator[Path]:
    for room in ROOMS:
        if (ROOT / room).is_dir():
            yield from (ROOT / room).rglob("*.py")
    yield from (path for path in (ROOT / "docrail").glob("*.py") if not path.is_symlink())
    yield from ROOT.glob("*.py")


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


def test_a_room_is_imported_as_part_of_docrail() -> None:
    """Installed, the rooms lie in the package: `import dag` works in a checkout only, and loads a second copy."""
    everything = [*modules(), *(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").glob("*.py")]
    assert {str(module.relative_to(ROOT)): tops(module) & ROOMS for module in everything if tops(module) & ROOMS} == {}


def test_every_folder_says_what_it_decides_or_does() -> None:
    folders = {module.parent for module in modules()} - {ROOT}
    silent = {
        str(folder.relative_to(ROOT))
        for folder in folders
        if not (folder / "__init__.py").exists()
        or not ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    }
    assert silent == set()


def test_no_file_or_folder_is_named_for_leftovers() -> None:
    assert {str(path) for path in modules() if {path.stem, path.parent.name} & LEFTOVERS} == set()


def test_the_pure_core_has_no_clock_no_chance_and_no_system() -> None:
    assert {
        str(module): tops(module) & NOT_PURE for module in (ROOT / "dag").rglob("*.py") if tops(module) & NOT_PURE
    } == {}


def test_the_pure_core_needs_only_pydantic_and_for_expressions_jinja() -> None:
    for module in (ROOT / "dag").rglob("*.py"):
        allowed = {"docrail", "pydantic", "pydantic_core"}
        allowed |= {"jinja2"} if module.parent.name == "expressions" else set()
        allowed |= {"yaml"} if module.parent.name == "source" else set()
        assert tops(module) - sys.stdlib_module_names <= allowed, module


def test_the_sandbox_passes_through_all_workflow_code_but_the_workflows() -> None:
    """A module that is imported anew for each run has classes of its own: `match` then fails without an error."""
    files = [path for path in (ROOT / "workflows").glob("*.py") if path.stem != "__init__"]
    plain = {f"docrail.workflows.{path.stem}" for path in files if "@workflow.defn" not in path.read_text()}
    passed = {name for name in PASSED_THROUGH if name.startswith("docrail")}
    assert passed == {*plain, "docrail.dag", "docrail.workflows.contract"}


def loaded_by(code: str) -> set[str]:
    shown = f"import sys\n{code}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", shown], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.split()} | set(run.stdout.split())


@pytest.mark.parametrize("code", ["import docrail.activities.registry", "import docrail.services.app"])
def test_loading_the_catalogue_loads_no_document_library(code: str) -> None:
    assert (
        HEAVY & loaded_by(f"{code}\nfrom docrail.activities.registry import load_catalogue\nload_catalogue()") == set()
    )


def test_no_patch_by_name_is_silent_when_its_target_moves() -> None:
    """`setattr` of a MonkeyPatch raises if there is no such name; these do not."""
    silent = re.compile(r"setattr\([^\n]*raising=False|(vars\([\w.]+\)|\w+\.__dict__|globals\(\))\[[^\n\]]*\] = ")
    found = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py") if silent.search(path.read_text())
    }
    assert found == set()
