"""Decide what a caller may do with a document in the list, from its status and the caller's scopes."""

from docrail.services.access.models import Principal, Scope
from docrail.services.inbox.models import DocumentAction, DocumentStatus, RowAction

IN = {
    RowAction.SEND_AGAIN: (DocumentStatus.FAILED, DocumentStatus.DISMISSED),
    RowAction.DISMISS: (DocumentStatus.FAILED,),
}
"""The statuses in which a document takes each action."""


def document_actions(who: Principal, status: DocumentStatus) -> list[DocumentAction]:
    """Return the actions, each with the reason if the caller may not take it now."""
    return [_action(action, _refusal(who, action, status)) for action in RowAction]


def _action(action: RowAction, refusal: str | None) -> DocumentAction:
    return DocumentAction(action, refusal is None, refusal)


def _refusal(who: Principal, action: RowAction, status: DocumentStatus) -> str | None:
    if Scope.REVIEW not in who.scopes:
        return f"this needs the scope '{Scope.REVIEW}'"
    return None if status in IN[action] else f"the document is {status}"
