"""`docrail definition schema`: the JSON Schema of a definition."""

from docrail.cli.catalogue import all_handlers
from docrail.cli.terminal import AlwaysJson, print_json
from docrail.dag.validation.definition_schema import definition_schema


def schema(as_json: AlwaysJson = True) -> None:  # noqa: ARG001
    """Print the JSON Schema of a definition, for editors.

    Editors complete and check with it while you type: in a YAML file, point `# yaml-language-server: $schema=` to it.
    It has every handler. `docrail validate` also finds what no schema can express. Needs no server.

    Exit codes: 0 printed, 2 wrong usage.

    Example: docrail definition schema > docrail.schema.json
    """
    print_json(definition_schema(all_handlers()))
