"""The pages keep their word: commands print what is shown, definitions are valid, links lead somewhere."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from docrail.activities.registry import load_catalogue
from docrail.dag.language.picture import mermaid
from docrail.dag.language.source.source import read_source
from docrail.dag.validation.routing import validate_routing
from docrail.dag.validation.validate import check_definition
from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.handlers import Catalogue
from docrail.settings import NO_SETTINGS, Settings, file_values
from tests.docs_runner import ROOT, Block, Reader, blocks_of, exchanges_of, fits, settings_of
from tests.stack import eventually

pytestmark = pytest.mark.server

README = ROOT / "README.md"
PAGES = (README, *sorted((ROOT / "docs").rglob("*.md")))
NEW_HANDLER = ROOT / "docs" / "howto" / "add-a-handler.md"
ROOMS = sorted(link.name for link in (ROOT / "docrail").iterdir() if link.is_symlink() and link.is_dir())
CHECKED = {"console", "ini", "mermaid", "python", "sh", "sql", "toml", "yaml"}
"""Languages whose snippets a test below runs or checks."""

Running = tuple[Stack, list[str]]


def blocks(*languages: str) -> list[Block]:
    return [block for page in PAGES for block in blocks_of(page) if block.language in languages]


def commands_of(page: Path) -> set[str]:
    shells = [block for block in blocks_of(page) if block.language in ("console", "sh")]
    return {exchange.command for block in shells for exchange in exchanges_of(block)}


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    """Yield a stack, and the output of its start."""
    started: list[str] = []
    options = StackOptions(tmp_path_factory.mktemp("docs"), api_port=0, temporal_port=0, ui_port=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOGNAME", "ann")  # the person at the machine of the pages
        async with run_stack(options, started.append) as stack, httpx.AsyncClient(base_url=stack.api_url) as http:

            async def is_listed() -> bool:
                return bool((await http.get("/v1/workers")).json()["workers"])

            await eventually(is_listed, "the first heartbeat of the worker")
            yield stack, list(started)


@pytest.fixture
def reader(running: Running, tmp_path: Path) -> Reader:
    return Reader(tmp_path, *running)


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    """Give the catalogue with the handlers of the how-to."""
    folder = tmp_path / "handlers"
    folder.mkdir()
    for block in blocks_of(NEW_HANDLER):
        if block.language == "python":
            (tmp_path / block.file).write_text(block.text)
    return load_catalogue((str(folder),))


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted({block.page for block in blocks("console", "sh")}), ids=lambda page: page.stem)
async def test_the_commands_of_a_page_do_what_it_shows(reader: Reader, page: Path) -> None:
    for block in blocks_of(page):
        await reader.follow(block)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("-s URL/healthz", '{"status":"ok"}'),
        ("-s -F file=@samples/broken.pdf -F key=curl URL/v1/documents", '{"document_id":"doc_...}'),
        (
            "-s -X POST -H 'Content-Type: application/json' -d '{\"x\": 1}' URL/v1/runs/a.b/abort",
            '{...:"x: is not known...}',
        ),
        ("-s -X POST URL/v1/runs/a.b/pause", "{...there is no run...}"),
    ],
)
async def test_without_curl_a_substitute_answers(reader: Reader, request_: str, answer: str) -> None:
    asked = request_.replace("URL", "http://127.0.0.1:8000")
    await reader.follow(Block(README, 0, "console", "", f"$ bin/curl {asked}\n{answer}\n"))


@pytest.mark.parametrize(
    ("shown", "printed"),
    [("a  b", "a b"), ("a ... c", "a b c"), ("...\nb", "a\na\nb"), ("a\n...", "a"), ("─── x", "─────── x")],
)
def test_dots_stand_for_anything_and_columns_may_move(shown: str, printed: str) -> None:
    assert fits(shown, printed)


@pytest.mark.parametrize(("shown", "printed"), [("a", "a b"), ("a ... c", "a b"), ("a", "a\nb"), ("a...", "a\nb")])
def test_missing_output_is_a_difference(shown: str, printed: str) -> None:
    assert not fits(shown, printed)


def test_every_snippet_is_of_a_kind_that_is_checked() -> None:
    snippets = [block for page in PAGES for block in blocks_of(page)]
    assert len(snippets) > 20
    assert [str(block) for block in snippets if block.language not in CHECKED] == []


def is_routing(block: Block) -> bool:
    return block.file == "routing.yaml"


@pytest.mark.parametrize("block", [block for block in blocks("yaml") if is_routing(block)], ids=str)
def test_routing_rules_are_valid(block: Block) -> None:
    source = read_source(block.text)
    assert validate_routing(source.value, source.places, {})[1] == []


@pytest.mark.parametrize("block", [block for block in blocks("yaml") if not is_routing(block)], ids=str)
def test_a_definition_is_valid_unless_the_page_shows_its_problems(block: Block, catalogue: Catalogue) -> None:
    definition, problems = check_definition(block.text, catalogue)
    if f"docrail validate {block.file}" not in commands_of(block.page):
        assert problems == []
        assert definition is not None


def test_the_picture_is_that_of_the_shipped_definition() -> None:
    [picture] = [block for block in blocks("mermaid") if block.page == README]
    definition, _ = check_definition((ROOT / "definitions" / "invoice.yaml").read_bytes(), load_catalogue())
    assert definition is not None
    assert picture.text == mermaid(definition)


def test_links_lead_to_files_and_headings_that_exist() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in PAGES
        for link in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text("utf-8"))
        if not leads_somewhere(page, link)
    ]
    assert broken == []


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, heading = link.partition("#")
    target = page.parent / path if path else page
    if not heading:
        return target.exists()
    headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
    return heading in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings}


def test_the_files_that_the_readme_names_exist() -> None:
    named = re.findall(r"^\| `([^`]+)` \|", README.read_text("utf-8"), re.MULTILINE)
    assert len(named) >= 4
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_files_of_the_rooms_that_a_page_names_exist() -> None:
    tops = "|".join((*ROOMS, "bench", "deploy", "docs", "tests"))
    named = [
        (page, path) for page in PAGES for path in re.findall(rf"`((?:{tops})/[\w./-]*\w)/?`", page.read_text("utf-8"))
    ]
    assert len(named) > 40
    assert [f"{page.relative_to(ROOT)}: {path}" for page, path in named if not (ROOT / path).exists()] == []


def test_every_page_is_reached_from_the_readme() -> None:
    def links(page: Path) -> set[Path]:
        found = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))
        return {(page.parent / link).resolve() for link in found}

    reached, new = set[Path](), {README}
    while new:
        reached |= new
        new = {target for page in new for target in links(page) if target.suffix == ".md"} - reached
    pages = {page for page in PAGES if page.parent.name != "adr"}  # the README links to their folder
    assert pages - reached == set()


def test_settings_that_pages_name_exist() -> None:
    known = {f"DOCRAIL_{name.upper()}" for name in Settings.model_fields} | NO_SETTINGS
    for page in PAGES:
        assert set(re.findall(r"DOCRAIL_[A-Z_]*[A-Z]", page.read_text("utf-8"))) <= known, page


@pytest.mark.parametrize("block", blocks("toml"), ids=str)
def test_a_settings_file_that_a_page_shows_is_accepted(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "docrail.toml"
    file.write_text(block.text)
    monkeypatch.setenv("DOCRAIL_SETTINGS_FILE", str(file))
    assert Settings().model_fields_set >= file_values().keys() != set()


@pytest.mark.parametrize("block", blocks("ini"), ids=str)
def test_settings_that_a_page_gives_are_accepted(block: Block) -> None:
    given = settings_of(block.text)
    assert Settings.model_validate({name.removeprefix("DOCRAIL_").lower(): value for name, value in given.items()})
