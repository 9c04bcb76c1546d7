# ruff: noqa: INP001  # a folder of documents, not a package
"""Write the types of the console's API client, console/src/api/schema.d.ts, from the OpenAPI document.

Run: python -m docs.client_types.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from deploy.node import CONSOLE, find_node
from docrail.api.app import create_app
from docrail.settings import Settings

TYPES = CONSOLE / "src" / "api" / "schema.d.ts"
FIRST_REFUSAL = "400"
ABSENT, EMPTY = re.compile(r"^ +\w+\?: never;\n", re.MULTILINE), re.compile(r"\{\n +\};")
"""A line that says that an operation or a parameter does not exist, and what is left where all lines were such."""


def generate() -> str:
    """Return the file's text. Needs the packages of console/: `make console-tools`."""
    node = find_node()
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder, "openapi.json")
        document.write_text(json.dumps(_without_titles(_without_refusals(create_app(Settings()).openapi()))), "utf-8")
        program = CONSOLE / "node_modules" / "openapi-typescript" / "bin" / "cli.js"
        command = [str(node.program), str(program), str(document), "--default-non-nullable=false"]
        text = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout  # noqa: S603
        return EMPTY.sub("{};", ABSENT.sub("", text))


def _without_refusals(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without problems: the client has one type for all of them."""
    for methods in document["paths"].values():
        for operation in methods.values():
            responses = operation["responses"]
            operation["responses"] = {status: body for status, body in responses.items() if status < FIRST_REFUSAL}
    return document


def _without_titles(part: Any) -> Any:
    """Return a part of the document without titles and summaries, which only spell names in another way."""
    if isinstance(part, list):
        return [_without_titles(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: _without_titles(each)
        for name, each in part.items()
        if name not in ("title", "summary") or not isinstance(each, str)
    }


def main() -> None:
    """Write the types."""
    TYPES.write_text(generate(), "utf-8")
    sys.stdout.write(f"wrote {TYPES.relative_to(CONSOLE.parent)}\n")


if __name__ == "__main__":
    main()
