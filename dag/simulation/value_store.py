"""Provide a value store in memory, for test runs."""

from docrail.dag.values.json_parts import NOTHING, lookup_written
from docrail.dag.values.json_values import Json, digest, size_of
from docrail.dag.values.stored import MAX_INLINE_BYTES, Part, Piece, lack_of, part_of


class Memory:
    """Keeps values by their digest, and replaces placeholders with them."""

    def __init__(self) -> None:
        """Create an empty store."""
        self._kept: dict[str, Json] = {}

    def put(self, value: Json) -> dict[str, Json]:
        """Store a value, with its placeholders replaced, and return its placeholder."""
        whole = self.filled(value)
        sha256 = digest(whole)
        self._kept[sha256] = whole
        return Part(sha256, size_of(whole)).to_json()

    def find(self, part: Part, *, may_stay: bool = False) -> Piece:
        """Return a part, or where its path ends. `may_stay`: a large part is returned as its placeholder."""
        value = self._kept[part.sha256]
        keys: list[str | int] = []
        for key in part.path:
            found = lookup_written(value, key)
            if found is NOTHING:
                return Piece(tuple(keys), None, lack_of(value))
            keys.append(int(key) if isinstance(value, list) else key)
            value = found
        is_large = may_stay and size_of(value) > MAX_INLINE_BYTES
        return Piece(tuple(keys), part.to_json() if is_large else value)

    def filled(self, value: Json) -> Json:
        """Return `value` with the placeholders of all stored parts replaced."""
        part = part_of(value)
        if part is not None:
            return self.find(part).value if part.sha256 in self._kept else value
        if isinstance(value, dict):
            return {key: self.filled(inner) for key, inner in value.items()}
        return [self.filled(inner) for inner in value] if isinstance(value, list) else value
