"""Offer the parts of the audit log to the nouns that write to it, list it and verify it."""

from docrail.services.audit.repository import (
    append_event,
    list_acts,
    list_events,
    list_items,
    list_newest,
    load_states,
    verify_chain,
)

__all__ = [
    "append_event",
    "list_acts",
    "list_events",
    "list_items",
    "list_newest",
    "load_states",
    "verify_chain",
]
