"""How commands say that nothing has what a filter asks for, and what there is in its place."""

from collections.abc import Iterator

from commands.speaking import complain
from dag.values import Json


def tell_unmatched(answer: dict[str, Json], thing: str) -> None:
    """Say on stderr which filters of an empty list nothing has; `thing` is what is listed, in the singular."""
    for line in _lines(answer, thing):
        complain(line)


def _lines(answer: dict[str, Json], thing: str) -> Iterator[str]:
    for each in answer.get("unmatched", ()):  # an API of an earlier build says nothing of it
        meant = f"; did you mean {each['suggestion']!r}?" if each["suggestion"] else ""
        known = ", ".join(map(str, each["known"])) + (", …" if each["has_more"] else "")
        there = f" There is: {known}" if known else ""
        yield f"no {thing} has the {each['filter']} {each['value']!r}{meant or '.' * bool(there)}{there}"
