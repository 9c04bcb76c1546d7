"""`docrail run answer`: answer a waiting step of a run; and how answers are typed."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api, run_path
from docrail.cli.printout import Printout
from docrail.cli.runs import RunId
from docrail.cli.terminal import shortened
from docrail.dag.values.json_values import Json, strict_json

Fields = Annotated[
    list[str] | None,
    typer.Argument(
        help="The answer's fields: a VALUE that is JSON is taken as JSON, else as text.", metavar="NAME=VALUE"
    ),
]
Value = Annotated[
    str | None, typer.Option("--value", help="The whole answer as JSON, instead of fields.", metavar="JSON")
]


def answer(
    run: RunId,
    step: Annotated[str, typer.Argument(help="The waiting step's id.", metavar="STEP")],
    given: Fields = None,
    value: Value = None,
    api: Api = HERE,
) -> Printout:
    """Answer a step that waits.

    For a signal, a webhook or a person. The first answer that the step accepts counts. An answer may come before the
    step waits: it is kept.

    Example: docrail run answer settle.order-4711 customer_reply decision=process
    """
    answered = ask_api(api, "POST", run_path(run, "waits", step), json={"answer": parse_answer(given or [], value)})
    return Printout(answered, f"answered {step}; {answered['run_id']} is {answered['status']}")


def parse_answer(given: Sequence[str], value: str | None, form: Mapping[str, Json] | None = None) -> Json:
    """Return the answer that was typed; fields that `form`, its JSON Schema, calls strings are taken as they are.

    Raises: typer.BadParameter.
    """
    if value is not None:
        if given:
            raise typer.BadParameter("is given with fields: expected one of both", param_hint="--value")
        try:
            return strict_json(value)
        except (ValueError, RecursionError):
            raise typer.BadParameter(f"expected JSON, found {shortened(value)}", param_hint="--value") from None
    answer_: dict[str, Json] = {}
    for argument in given:
        name, separator, text = argument.partition("=")
        if not separator or not name:
            raise typer.BadParameter(f"expected NAME=VALUE, found {shortened(argument)}", param_hint="NAME=VALUE")
        if name in answer_:
            raise typer.BadParameter(f"{name} is given twice: expected one value", param_hint="NAME=VALUE")
        answer_[name] = text if _is_text(form or {}, name) else _json_or_text(text)
    return answer_


def _is_text(form: Mapping[str, Json], name: str) -> bool:
    field = (form.get("properties") or {}).get(name)
    return isinstance(field, dict) and field.get("type") == "string"


def _json_or_text(text: str) -> Json:
    try:
        return strict_json(text)
    except (ValueError, RecursionError):
        return text
