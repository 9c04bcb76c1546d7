"""Keeps the saved state of a run in the value store, in pieces, where it is too large for a workflow's argument."""

from dag.pieces import PIECES, StatePiece, joined, split, standing_for
from dag.stored import part_of
from dag.values import Json
from storage.values import ValueStore


async def keep_state(values: ValueStore, tenant_id: str, state: dict[str, Json]) -> dict[str, Json]:
    """Keep the state, durable when this returns, and return what stands for it. Raises: OSError."""
    marks: list[Json] = []
    for piece in split(state):
        part = await values.put(tenant_id, {"path": list(piece.path), "part": piece.part})
        marks.append(part.to_json())
    return standing_for(state, marks)


async def load_state(values: ValueStore, tenant_id: str, state: dict[str, Json]) -> dict[str, Json]:
    """Return the state that `state` stands for; itself, if it is one. Raises: StorageError (a piece is lost)."""
    if PIECES not in state:
        return state
    return joined([await load_piece(values, tenant_id, mark) for mark in state[PIECES]])


async def load_piece(values: ValueStore, tenant_id: str, mark: dict[str, Json]) -> StatePiece:
    """Return the piece that `mark` stands for. Raises: StorageError, OSError."""
    part = part_of(mark)
    assert part is not None, "a state's pieces are named by marks of ours"
    kept: dict[str, Json] = (await values.get(tenant_id, part.sha256)).value
    return StatePiece(tuple(kept["path"]), kept["part"])
