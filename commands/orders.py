"""What `docrail run` asks the API for: a file's definition or a published one, and inputs as that one declares them."""

import uuid
from collections.abc import Sequence
from pathlib import Path

from commands.asking import ask_api
from commands.client import ApiError, NoAnswerError
from commands.definitions import load
from commands.inputs import parse_inputs
from commands.registry import DEFINITIONS
from dag.aliases import Ref, Target, parse_ref, version_for
from dag.definition import Definition, to_json
from dag.values import Json


def order_of(api: str, what: str, given: Sequence[str], key: str | None) -> dict[str, Json]:
    """Return the body of `POST /v1/runs` for `what`: a file if there is one, else `ID`, `ID@VERSION` or `ID@ALIAS`.

    Raises SystemExit with what is wrong with the file or the inputs, ApiError if there is no such definition.
    """
    # A key of our own: if the answer gets lost, asking again finds the run instead of starting another.
    key = uuid.uuid4().hex if key is None else key
    ref = None if Path(what).is_file() else parse_ref(what)
    if ref is None:
        definition = load(Path(what))
        return {"definition": to_json(definition), "inputs": parse_inputs(definition, given), "key": key}
    definition = _published(api, ref, key)
    return {"definition": str(ref), "inputs": parse_inputs(definition, given), "key": key}


def _published(api: str, ref: Ref, key: str) -> Definition:
    """Return the definition that the run `key` of `ref` will follow: an id alone may mean the canary."""
    try:
        if ref.version is None and ref.alias is None:
            named: dict[str, Json] = ask_api(api, "GET", f"{DEFINITIONS}/{ref}/versions")["aliases"]
            aliases = {name: Target(target["version"], target["percent"]) for name, target in named.items()}
            ref = Ref(ref.definition_id, version_for(ref.definition_id, aliases, key))
        return Definition.model_validate(ask_api(api, "GET", f"{DEFINITIONS}/{ref}")["body"])
    except NoAnswerError:
        raise
    except ApiError as error:
        raise ApiError(f"{error} (nor is there a file {str(ref)!r} here)") from error
