"""The inputs of a document's run: those that the document provides, and those that its upload has given."""

from collections.abc import Mapping

from docrail.dag.values.json_values import Json
from docrail.services.app import App
from docrail.services.definitions.checks import check_inputs
from docrail.services.definitions.models import StoredDefinition
from docrail.services.definitions.routing import BROUGHT, check_brought
from docrail.services.documents.models import Document


def inputs_of(document: Document, definition: StoredDefinition) -> dict[str, Json]:
    """Return what a document and its upload provide of the inputs of a definition."""
    declared = definition.body.get("inputs", {})
    given = {name: value for name, value in document.inputs.items() if name in declared}
    return given | _provided(document.document_id, int(document.sla_hours), definition)


async def check_given(
    app: App, definition: StoredDefinition, given: Mapping[str, Json], document_id: str, sla_hours: int
) -> None:
    """Check what an upload gives for the inputs of a definition. Raises: InvalidInput."""
    check_brought(given)
    await check_inputs(app, definition.body, {**given, **_provided(document_id, sla_hours, definition)})


def _provided(document_id: str, sla_hours: int, definition: StoredDefinition) -> dict[str, Json]:
    provided: dict[str, Json] = {"document_id": document_id, "sla_hours": sla_hours}
    return {name: provided[name] for name in BROUGHT if name in definition.body.get("inputs", {})}
