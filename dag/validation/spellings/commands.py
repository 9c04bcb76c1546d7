"""Read commands by their class names, such as `SendWebhookEvent`: some are kinds of steps here.

`WaitForResponse` waits for an answer; `EvaluateIfThenElse` aborts the run or chooses a branch. Implicit parameters are
filled in: `ParseHTTPRequest` takes the previous result, `ParseDocument` the run's document. In the `payload` of a
`SendWebhookEvent` a list that begins with `workflow`, `document` or `previous` is an access path, and
`document.parsed_content` is the content of the parsed document. Steps with Docrail's own handler names are unchanged.
"""

import re
from collections.abc import Sequence

from docrail.dag.language.expressions.templates import PATH_KEY
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.validation.spellings.decisions import ROOTS, decision_in
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_values import Json

SEND, WAIT, TAKE, DECIDE, PARSE = COMMANDS = (
    "SendWebhookEvent",
    "WaitForResponse",
    "ParseHTTPRequest",
    "EvaluateIfThenElse",
    "ParseDocument",
)
"""The commands. The demo stores them with their module, as in `Elixir.Demo.Commands.WaitForResponse`."""

_MODULE = re.compile(r"(?:Elixir\.)?Demo\.Commands\.")

PARSED = "parse_document"
"""The id given to a step without one that parses the document, if another step reads the parsed content."""
_DOCUMENT = {"id": "document_id", "filename": "file_name"}
_CONTENT = {"amount": "total"}
"""The demo's names of document fields, and the names here."""


def read_commands(steps: list[Json], findings: Findings) -> list[Json]:
    """Return the steps, with aliases replaced and the demo's commands converted."""
    named = [_named(number, step, findings) for number, step in enumerate(steps)]
    if not any(_command(step) for step in named):
        return steps
    in_order = not any(isinstance(step, dict) and "depends_on" in step for step in named)
    parsers = [number for number, step in enumerate(named) if _command(step) == PARSE]
    reading = [number for number, step in enumerate(named) if _command(step) == SEND and _reads_content(step)]
    if parsers and reading and parsers[0] < reading[0]:
        named[parsers[0]] = {"id": PARSED, **named[parsers[0]]}
    content = named[parsers[0]].get("id", PARSED) if parsers else PARSED
    return [_read(number, step, content, findings, in_order=in_order) for number, step in enumerate(named)]


def _named(number: int, step: Json, findings: Findings) -> Json:
    """Return a step with the plain command name as its handler, if its handler or its `module` names a command."""
    if not isinstance(step, dict):
        return step
    word = "module" if "module" in step and StepKind.HANDLER not in step else StepKind.HANDLER.value
    written = step.get(word)
    name = _MODULE.sub("", written, count=1) if isinstance(written, str) else None
    if name not in COMMANDS:
        return step
    if word == "module":
        findings.renames["steps", number, StepKind.HANDLER.value] = word
    return {StepKind.HANDLER.value if key == word else key: value for key, value in step.items()} | {
        StepKind.HANDLER.value: name
    }


def _command(step: Json) -> str | None:
    if not isinstance(step, dict) or not isinstance(step.get("config", {}), dict):
        return None
    handler = step.get(StepKind.HANDLER)
    return handler if isinstance(handler, str) and handler in COMMANDS else None


def _read(number: int, step: Json, content: str, findings: Findings, *, in_order: bool) -> Json:
    command = _command(step)
    if command is None:
        return step
    config: dict[str, Json] = step.get("config", {})
    kind: dict[str, Json] | None = None
    if command == WAIT:
        kind = {StepKind.WAIT: {"for": "signal", **config}}
    elif command == DECIDE:
        kind = _decision(number, step, findings, in_order=in_order)
    if kind is not None:
        findings.commands[number] = command
        written = findings.renames.get(("steps", number, "config"), "config")
        findings.renames.update({("steps", number, name): written for name in kind})
        return {name: value for name, value in step.items() if name not in (StepKind.HANDLER, "config")} | dict(kind)
    if command == SEND and isinstance(config.get("payload"), dict):
        config = config | {"payload": {name: _reference(value, content) for name, value in config["payload"].items()}}
    elif command == TAKE and in_order and number and not config.keys() & {"body", "request"}:
        config = {"body": {PATH_KEY: ["previous"]}, **config}
    elif command == PARSE:
        config = {"document_id": {PATH_KEY: ["document", "document_id"]}, **config}
    return {**step, "config": config} if config else step


def _decision(number: int, step: dict[str, Json], findings: Findings, *, in_order: bool) -> dict[str, Json] | None:
    """Return the step kind that an `EvaluateIfThenElse` means; None if it is empty or cannot be read."""
    config, path = step.get("config"), ("steps", number)
    if not config:
        return None
    findings.reported.add((*path, StepKind.HANDLER.value))
    kind = decision_in(config, (*path, "config"), findings).read(in_order=in_order)
    if "condition" in step:
        message = "an EvaluateIfThenElse has a 'condition' and an 'if': write both as one expression in 'if'"
        findings.error("unknown-field", (*path, "condition"), message, at_key=True)
        return None
    return kind


def _is_access_path(value: Json) -> bool:
    is_texts = isinstance(value, list) and len(value) > 1 and all(isinstance(key, str) for key in value)
    return is_texts and value[0] in ROOTS


def _reads_content(step: dict[str, Json]) -> bool:
    payload = step.get("config", {}).get("payload")
    values = payload.values() if isinstance(payload, dict) else ()
    return any(_is_access_path(value) and value[:2] == ["document", "parsed_content"] for value in values)


def _reference(value: Json, content: str) -> Json:
    """Return an access path as a reference; any other value unchanged."""
    if not _is_access_path(value):
        return value
    keys: Sequence[str] = value
    match keys:
        case ["document", "parsed_content", *rest]:
            keys = [content, *(_CONTENT.get(key, key) for key in rest)]
        case ["document", key, *rest]:
            keys = ["document", _DOCUMENT.get(key, key), *rest]
    return {PATH_KEY: list(keys)}
