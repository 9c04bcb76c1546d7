"""The built console: small enough to start quickly, nothing from elsewhere, types that fit the API."""

import re
from pathlib import Path

import pytest

from deploy.node import CONSOLE
from docrail.api.console import BUILT
from docs.client_types import TYPES, generate

FIRST_LOAD_BYTES = 350_000
CHUNK_BYTES = 250_000
"""Most of any other chunk, compressed: the editor and the graph."""


@pytest.fixture(scope="module")
def page() -> str:
    index = BUILT / "index.html"
    assert index.exists(), "the console is not built: run `make console`"
    return index.read_text("utf-8")


def compressed(name: str) -> int:
    return (BUILT / "assets" / f"{name}.br").stat().st_size


def first_scripts(page: str) -> set[str]:
    """Return the scripts that the page names, and what those import at once."""
    found = set(re.findall(r'(?:src|href)="\./assets/([\w.-]+-[\w-]{8}\.js)"', page))
    waiting = set(found)
    while waiting:
        text = (BUILT / "assets" / waiting.pop()).read_text("utf-8")
        imported = set(re.findall(r'(?:from|import)\s*"\./([\w.-]+\.js)"', text))
        waiting |= imported - found
        found |= imported
    return found


def test_the_first_load_is_small(page: str) -> None:
    scripts = first_scripts(page)
    assert scripts
    assert sum(map(compressed, scripts)) <= FIRST_LOAD_BYTES


def test_no_chunk_is_large() -> None:
    sizes = {path.name: compressed(path.name) for path in (BUILT / "assets").glob("*-????????.js")}
    assert {name: size for name, size in sizes.items() if size > CHUNK_BYTES} == {}


def test_editor_and_graph_are_not_in_the_first_load(page: str) -> None:
    texts = "".join((BUILT / "assets" / name).read_text("utf-8") for name in first_scripts(page))
    assert [name for name in ("cm-gutters", "react-flow__renderer", "tight-tree") if name in texts] == []


def test_the_styles_load_files_of_this_server_only() -> None:
    for sheet in (BUILT / "assets").glob("*.css"):
        loaded = re.findall(r"url\(['\"]?([^)'\"]+)", sheet.read_text("utf-8"))
        assert [url for url in loaded if re.match(r"(\w+:)?//", url)] == [], sheet.name


def test_one_green_means_that_all_is_well() -> None:
    """Mantine has two, `green` and `teal`: side by side they look like two meanings."""
    sources = [path for path in (CONSOLE / "src").rglob("*") if path.suffix in (".ts", ".tsx", ".css")]
    assert any("teal" in path.read_text("utf-8") for path in sources)
    assert [path.name for path in sources if re.search(r"\bgreen\b", path.read_text("utf-8"))] == []


def test_the_clients_types_are_those_of_the_api() -> None:
    """`make console-types` writes them."""
    assert Path(TYPES).read_text("utf-8") == generate()
