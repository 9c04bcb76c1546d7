"""A catalogue of three handlers with every kind of field, and short ways to validate a text against it."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, computed_field

from docrail.dag.validation.validate import check_definition
from docrail.dag.values.problems import Problem


class Ref(BaseModel):
    document_id: str
    sha256: str


class ExtractConfig(BaseModel, extra="forbid"):
    document_id: str
    pages: list[int] = Field(default=[], max_length=3)
    mode: Literal["fast", "exact"] = "fast"


class Line(BaseModel):
    amount: float


class ExtractOutput(BaseModel):
    invoice_ref: Ref
    total: float | None
    lines: list[Line]
    extras: dict[str, str]


class SaveConfig(BaseModel, extra="forbid"):
    invoice: Ref
    copies: int = Field(default=1, ge=1)


class SaveOutput(BaseModel):
    path: str

    @computed_field
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


class AnyConfig(BaseModel, extra="allow"):
    pass


class AnyOutput(BaseModel):
    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True)
class Models:
    name: str
    config: type[BaseModel]
    output: type[BaseModel]
    aliases: tuple[str, ...] = ()


CATALOGUE = {
    "extract_invoice": Models("extract_invoice", ExtractConfig, ExtractOutput),
    "save_json": Models("save_json", SaveConfig, SaveOutput),
    "anything": Models("anything", AnyConfig, AnyOutput),
}

EXTRACT = """\
id: invoice
steps:
  - id: extract
    handler: extract_invoice
    config: {document_id: doc_1}
"""
"""A right definition of one step; tests add lines to it."""

SAVE = """\
  - id: save_json
    handler: save_json
    depends_on: [extract]
    config: {invoice: "{{ extract.invoice_ref }}"}
"""
"""A right second step."""


Problems = list[tuple[str, ...]]
"""For each problem where and what it is (`6:18 unknown-step steps[1].depends_on[0]`), its message, its suggestion."""


def problems_of(text: str | bytes) -> Problems:
    """Return the problems of a definition."""
    definition, problems = check_definition(text, CATALOGUE)
    assert (definition is None) == any(problem.severity == "error" for problem in problems)
    return [_line_of(problem) for problem in problems]


def _line_of(problem: Problem) -> tuple[str, ...]:
    place = "" if problem.line is None else f"{problem.line}:{problem.column} "
    severity = "" if problem.severity == "error" else f"{problem.severity} "
    where = f"{place}{severity}{problem.code} {problem.path}"
    return (where, problem.message) if problem.suggestion is None else (where, problem.message, problem.suggestion)


def change(old: str, new: str, text: str = EXTRACT + SAVE) -> str:
    """Return `text` with its only `old` replaced."""
    assert text.count(old) == 1
    return text.replace(old, new)
