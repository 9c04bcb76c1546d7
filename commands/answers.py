"""`docrail answer`: give a waiting step of a run its answer, and how people type an answer."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from commands.asking import HERE, Api, AsJson, ask_api, print_json
from dag.values import Json

Fields = Annotated[
    list[str] | None,
    typer.Argument(
        help="The answer's fields: a VALUE that is JSON is taken as JSON, else as text.", metavar="NAME=VALUE"
    ),
]
Value = Annotated[
    str | None, typer.Option("--value", help="The whole answer as JSON, instead of fields.", metavar="JSON")
]
LONGEST_SHOWN = 60
"""Characters of a value that are repeated in a message."""


def answer(
    run: Annotated[str, typer.Argument(help="A run's id.", metavar="RUN")],
    step: Annotated[str, typer.Argument(help="The waiting step's id.", metavar="STEP")],
    given: Fields = None,
    value: Value = None,
    as_json: AsJson = False,
    api: Api = HERE,
) -> None:
    """Answer a step that waits for somebody.

    For a signal, a webhook or a person.

    The first answer that the step accepts counts. An answer may come before the step waits: it is kept.

    Exit codes: 0 answered, 1 the API refused or is away, 2 wrong usage.

    Example: docrail answer settle.order-4711 customer_reply decision=process
    """
    answered = ask_api(api, "POST", f"/v1/runs/{run}/waits/{step}", json={"answer": parse_answer(given or [], value)})
    if as_json:
        print_json(answered)
    else:
        print(f"answered {step}; {answered['run_id']} is {answered['status']}")


def parse_answer(given: Sequence[str], value: str | None, form: Mapping[str, Json] | None = None) -> Json:
    """Return the answer that was typed; fields that `form`, its JSON Schema, calls texts are taken as they are.

    Raises typer.BadParameter.
    """
    if value is not None:
        if given:
            raise typer.BadParameter("is given beside fields: expected one of both", param_hint="--value")
        try:
            return _parse(value)
        except (ValueError, RecursionError):
            raise typer.BadParameter(f"expected JSON, found {_shown(value)}", param_hint="--value") from None
    answer_: dict[str, Json] = {}
    for argument in given:
        name, separator, text = argument.partition("=")
        if not separator or not name:
            raise typer.BadParameter(f"expected NAME=VALUE, found {_shown(argument)}", param_hint="NAME=VALUE")
        if name in answer_:
            raise typer.BadParameter(f"{name} is given twice: expected one value", param_hint="NAME=VALUE")
        answer_[name] = text if _is_text(form or {}, name) else _json_or_text(text)
    return answer_


def _is_text(form: Mapping[str, Json], name: str) -> bool:
    field = (form.get("properties") or {}).get(name)
    return isinstance(field, dict) and field.get("type") == "string"


def _json_or_text(text: str) -> Json:
    try:
        return _parse(text)
    except (ValueError, RecursionError):
        return text


def _parse(text: str) -> Json:
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> Json:
    raise ValueError(constant)  # NaN and Infinity, which Python reads, are not JSON


def _shown(text: str) -> str:
    return repr(text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…")
