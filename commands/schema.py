"""`docrail schema`: the JSON Schema of a definition, for editors."""

from commands.asking import print_json
from commands.catalogue import all_handlers
from dag.schema import definition_schema


def schema() -> None:
    """Print the JSON Schema of a definition, for editors.

    Editors complete and check with it while you type: in a YAML file, point `# yaml-language-server: $schema=` to it.
    It has every handler there is. `docrail validate` tells more: what no schema can say. Needs no server.

    Example: docrail schema > docrail.schema.json
    """
    print_json(definition_schema(all_handlers()))
