# ruff: noqa: INP001  # a folder of documents, not a package
"""Write the Python client from the OpenAPI document: docrail/client.py, and its types in docrail/client_types.py.

Run: python -m docs.client_python.
"""

import builtins
import keyword
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docrail.api.app import create_app
from docrail.dag.values.json_values import canonical
from docrail.settings import Settings
from docrail.transport import HEADERS

FOLDER = Path(__file__).parent.parent / "docrail"
JSON = "application/json"
FORM = "Body_"
"""Names of forms begin so. Their fields are parameters of a method."""
MOST_WORDS = 100
LEFT_OUT = {"text/event-stream", "text/html"}
"""Answers that the client has no method for: streams, and pages of the sign-in."""
NOTE = "# Made by `python -m docs.client_python`: change the API, not this file.\n"

Schema = Mapping[str, Any]

TYPES_HEAD = '''"""The types of what the API takes and returns. In one file because they refer to each other."""

from typing import Any, Literal, NotRequired, TypedDict

Json = Any

'''

CLIENT_HEAD = '''# mypy: disable-error-code="empty-body"
"""The client of the API: `from docrail import Client`. In one file because it is made as a whole."""

import asyncio
import functools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Self, TypeVar

from docrail.transport import TIMEOUT_SECONDS, File, Transport, end_of_run, path_part, sends

if TYPE_CHECKING:
    from docrail import client_types as types

Json = Any
Page = TypeVar("Page", bound=Mapping[str, Any])
P = ParamSpec("P")
T = TypeVar("T")
HERE = "http://127.0.0.1:8000"


def _address(given: str | None) -> str:
    return given or os.environ.get("DOCRAIL_API_URL") or HERE


def _key(given: str | None) -> str:
    return os.environ.get("DOCRAIL_API_KEY", "") if given is None else given


class AsyncClient:
    """Calls the API from code with an event loop: `async with AsyncClient() as client`.

    `address` is by default that of DOCRAIL_API_URL, else http://127.0.0.1:8000; `key` that of DOCRAIL_API_KEY, else
    none. Methods raise ApiError with the API's problem, and NoAnswerError if the API is unavailable.
    """

    def __init__(
        self, address: str | None = None, key: str | None = None, *, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        """Prepare a connection. Raises: ApiError if that is not an address, or the key is none."""
        self.transport = Transport(_address(address), _key(key), timeout_seconds=timeout_seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self.transport.close()

    async def request(self, method: str, path: str, **request: Any) -> Any:
        """Return the answer to a request that has no method here; `request` as httpx takes it."""
        return await self.transport.request(method, path, **request)

    async def wait_for_run(self, run_id: str) -> "types.RunOut":
        """Wait until a run has ended, and return its report. It may take weeks: someone may be asked."""
        found: types.RunOut = await end_of_run(self.transport, f"/v1/runs/{path_part(run_id)}")
        return found

    async def pages(self, list_: "Callable[..., Awaitable[Page]]", *given: Any, **wanted: Any) -> "AsyncIterator[Page]":
        """Yield the pages of a list: `client.pages(client.list_runs, status="failed")`."""
        after: str | None = None
        while True:
            page = await list_(*given, **wanted, after=after)
            yield page
            after = page["after"]
            if after is None:
                return

'''

BLOCKING_HEAD = '''
def _blocking(
    call: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["Client", P], T]:
    """Return a method of Client from that of AsyncClient."""

    @functools.wraps(call)
    def wait(self: "Client", /, *given: P.args, **named: P.kwargs) -> T:
        return self.runner.run(call(self.calls, *given, **named))

    return wait


class Client:
    """Calls the API: `with Client() as client`. For one thread; where an event loop runs, use AsyncClient.

    Its arguments, methods and errors are those of AsyncClient.
    """

    def __init__(
        self, address: str | None = None, key: str | None = None, *, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        """Prepare a connection. Raises: ApiError if that is not an address, or the key is none."""
        self.calls = AsyncClient(address, key, timeout_seconds=timeout_seconds)
        self.runner = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.runner.run(self.calls.close())
        self.runner.close()

    def request(self, method: str, path: str, **request: Any) -> Any:
        """Return the answer to a request that has no method here; `request` as httpx takes it."""
        return self.runner.run(self.calls.request(method, path, **request))

    def pages(self, list_: "Callable[..., Page]", *given: Any, **wanted: Any) -> "Iterator[Page]":
        """Yield the pages of a list: `client.pages(client.list_runs, status="failed")`."""
        after: str | None = None
        while True:
            page = list_(*given, **wanted, after=after)
            yield page
            after = page["after"]
            if after is None:
                return

    wait_for_run = _blocking(AsyncClient.wait_for_run)
'''


@dataclass(slots=True)
class Method:
    """A method of the client: its parameters as Python writes them. `sends` knows how each is sent."""

    name: str
    verb: str
    path: str
    words: str
    returns: str
    is_file: bool
    first: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield its lines in AsyncClient."""
        given = ", ".join(["self", *self.first, *(["*", *self.more] if self.more else [])])
        yield f'    @sends("{self.verb}", "{self.path}"{", is_file=True" if self.is_file else ""})'
        yield f"    async def {self.name}({given}) -> {self.returns}:"
        yield f'        """{self.words}"""'
        yield ""


QUOTE = '"'


def main() -> None:
    """Write both files."""
    document = create_app(Settings()).openapi()
    for name, text in {"client_types.py": types_of(document), "client.py": client_of(document)}.items():
        (FOLDER / name).write_text(text, "utf-8")
        sys.stdout.write(f"wrote docrail/{name}\n")


def types_of(document: Schema) -> str:
    """Return the text of docrail/client_types.py."""
    sent = set(_sent(document))
    schemas = {name: each for name, each in document["components"]["schemas"].items() if not name.startswith(FORM)}
    body = "\n\n".join("\n".join(_type(name, schema, is_sent=name in sent)) for name, schema in schemas.items())
    return _formatted(NOTE + TYPES_HEAD + "\n" + body + "\n")


def _sent(document: Schema) -> Iterator[str]:
    """Yield the models that callers send; of all others every field is in the answer."""
    schemas, known = document["components"]["schemas"], set[str]()
    bodies = [each.get("requestBody") for operations in document["paths"].values() for each in operations.values()]
    pending = [*_refs(bodies)]
    while pending:
        name = pending.pop()
        if name not in known:
            known.add(name)
            pending += _refs(schemas[name])
            yield name


def _refs(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"].rpartition("/")[2]
        for each in part.values():
            yield from _refs(each)
    elif isinstance(part, list):
        for each in part:
            yield from _refs(each)


def client_of(document: Schema) -> str:
    """Return the text of docrail/client.py."""
    methods = [*_methods(document)]
    calls = "\n".join(line for method in methods for line in method.lines())
    blocking = "\n".join(f"    {method.name} = _blocking(AsyncClient.{method.name})" for method in methods)
    return _formatted(NOTE + CLIENT_HEAD + calls + BLOCKING_HEAD + blocking)


def _formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(FOLDER / "client.py"), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=FOLDER.parent).stdout  # noqa: S603


def _type(name: str, schema: Schema, *, is_sent: bool) -> Iterator[str]:
    fields = schema.get("properties")
    if schema.get("type") != "object" or not fields:
        yield f"{_name(name)} = {_of(schema, quoted=True)}"
        return
    required = schema.get("required", []) if is_sent else [*fields]
    types = {key: _of(each, quoted=True) for key, each in fields.items()}
    entries = {key: text if key in required else f"NotRequired[{text}]" for key, text in types.items()}
    if all(key.isidentifier() and not keyword.iskeyword(key) for key in entries):
        yield f"class {_name(name)}(TypedDict):"
        yield f'    """{_sentence(schema)}"""\n'
        yield from (f"    {key}: {text}" for key, text in entries.items())
    else:
        inner = ", ".join(f'"{key}": {text}' for key, text in entries.items())
        yield f'{_name(name)} = TypedDict("{_name(name)}", {{{inner}}})'


def _name(name: str) -> str:
    """Return a class's name: `Body_upload_zip` and `EncodedPayload-Input` in capital words."""
    return "".join(word[:1].upper() + word[1:] for word in name.replace("-", "_").split("_"))


def _sentence(schema: Schema) -> str:
    text = str(schema.get("description") or "A part of a request or of an answer.").split("\n")[0]
    first = text.partition(". ")[0].removesuffix(".").replace('"', "'").replace("\\", "\\\\")
    return f"{textwrap.shorten(first, MOST_WORDS, placeholder=' …')}."


def _of(schema: Schema, *, quoted: bool) -> str:
    """Return the Python type of a JSON Schema; `quoted`: with forward references, without the module's name."""
    if "$ref" in schema:
        name = _name(schema["$ref"].rpartition("/")[2])
        return f'"{name}"' if quoted else f"types.{name}"
    if values := schema.get("enum") or [each for key, each in schema.items() if key == "const"]:
        return f"Literal[{', '.join(map(repr, values))}]"
    if found := schema.get("anyOf") or schema.get("oneOf"):
        kinds = dict.fromkeys(_of(each, quoted=quoted) for each in found)
        return "Json" if "Json" in kinds else _union([*kinds])
    match schema.get("type"):
        case "array":
            return f"list[{_of(schema.get('items', {}), quoted=quoted)}]"
        case "object":
            more = schema.get("additionalProperties")
            return f"dict[str, {_of(more, quoted=quoted) if isinstance(more, dict) else 'Json'}]"
        case kind:
            return SIMPLE.get(str(kind), "Json")


SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def _union(kinds: list[str]) -> str:
    """Return the union; of forward references as one, since a text has no operator."""
    if any(QUOTE in kind for kind in kinds):
        return QUOTE + " | ".join(kind.replace(QUOTE, "") for kind in kinds) + QUOTE
    return " | ".join(kinds)


def _methods(document: Schema) -> Iterator[Method]:
    for path, operations in document["paths"].items():
        for verb, operation in operations.items():
            if (method := _method(document, path, verb, operation)) is not None:
                yield method


def _method(document: Schema, path: str, verb: str, operation: Schema) -> Method | None:
    answers = {status: answer for status, answer in operation["responses"].items() if status < "300"}
    if not answers:
        return None
    [answer] = answers.values()
    media = next(iter(answer.get("content", {"": {}})))
    if media in LEFT_OUT:
        return None
    is_file = media not in (JSON, "")
    returns = "bytes" if is_file else "None"
    if media == JSON:
        returns = _quoted(_of(answer["content"][JSON]["schema"], quoted=False))
    words = _sentence(operation)
    method = Method(operation["operationId"], verb.upper(), path, words, returns, is_file)
    _add_parameters(method, operation.get("parameters", []))
    _add_body(method, document, operation.get("requestBody"))
    return method


def _quoted(kind: str) -> str:
    return f'"{kind}"' if "types." in kind else kind


def _python(name: str) -> str:
    found = name.lower().replace("-", "_")
    return f"{found}_" if keyword.iskeyword(found) or hasattr(builtins, found) else found


def _add_parameters(method: Method, parameters: list[Schema]) -> None:
    for each in parameters:
        name, kind = _python(each["name"]), _of(each.get("schema", {}), quoted=False)
        if each["in"] == "path":
            method.first.append(f"{name}: {_quoted(kind)}")
            method.path = method.path.replace("{" + each["name"] + "}", "{" + name + "}")
        elif each["name"] != "if-none-match":  # it has no answer without a change
            assert (each["in"] == "header") is (name in HEADERS), f"`sends` sends {each['name']} in another place"
            optional = kind if "None" in kind.split(" | ") else f"{kind} | None"
            is_needed = each.get("required", False)
            method.more.append(f"{name}: {_quoted(kind)}" if is_needed else f"{name}: {_quoted(optional)} = None")


def _add_body(method: Method, document: Schema, body: Schema | None) -> None:
    if body is None:
        return
    [(media, content)] = body["content"].items()
    if media == JSON:
        kind = _of(content["schema"], quoted=False)
        if body.get("required"):
            method.first.append(f"body: {_quoted(kind)}")
        else:
            kind = kind if "None" in kind.split(" | ") else f"{kind} | None"
            method.first.append(f"body: {_quoted(kind)} = None")
        return
    schema = document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
    for name, each in schema["properties"].items():
        if each.get("format") == "binary" or each.get("contentMediaType") == "application/octet-stream":
            assert name == "file", f"`sends` sends {name} as a text"
            method.first.append("file: File")
            continue
        is_object = canonical(dict(each)).count("application/json") > 0
        kind = "Mapping[str, Json]" if is_object else next(iter(_of(each, quoted=False).split(" | ")))
        method.more.append(f"{_python(name)}: {kind} | None = None")


if __name__ == "__main__":
    main()
