"""The public names: `import docrail` is light, and each name is there."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import docrail

ROOT = Path(__file__).parents[2]
ROOMS = {f"docrail.{link.stem}" for link in (ROOT / "docrail").iterdir() if link.is_symlink()}
SERVERS = {"asyncpg", "httpx", "temporalio", "fastapi", "pyarrow", "lxml", "jinja2", "pytest", "uvicorn"}
OF_THE_CLIENT = {"ApiError", "AsyncClient", "Client", "NoAnswerError"}


def loaded_by(code: str) -> set[str]:
    """Return the packages and the rooms that `code` loads in a fresh interpreter."""
    program = f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before)"
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    names = ended.stdout.split()
    return {name.partition(".")[0] for name in names} | ROOMS.intersection(names)


def test_the_package_loads_nothing_but_the_standard_library() -> None:
    assert loaded_by("import docrail; docrail.__version__") - sys.stdlib_module_names == {"docrail"}


def test_the_names_for_handlers_load_no_server_no_client_and_no_service() -> None:
    names = sorted({*docrail.__all__} - OF_THE_CLIENT)
    loaded = loaded_by(f"from docrail import {', '.join(names)}")
    assert loaded & (SERVERS | ROOMS) == {"docrail.dag", "docrail.invoices"}
    assert "pydantic" in loaded


def test_the_client_loads_httpx_alone_and_no_model_of_the_api() -> None:
    loaded = loaded_by("from docrail import Client")
    assert loaded & (SERVERS | ROOMS) == {"httpx", "docrail.dag"}
    assert "pydantic" not in loaded


def test_the_test_tools_load_no_reader_before_they_open_a_document() -> None:
    assert loaded_by("import docrail.testing") & (SERVERS | ROOMS) == {"docrail.dag", "docrail.invoices"}


@pytest.mark.parametrize("name", docrail.__all__)
def test_each_public_name_is_there(name: str) -> None:
    assert getattr(docrail, name) is not None
    assert name in dir(docrail)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Handlr'"):
        _ = docrail.Handlr


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "docrail.__version__"}
    assert docrail.__version__ == "0.1.0"
