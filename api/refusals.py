"""What a refusal tells beside its status: the fields of problem+json (RFC 9457)."""

from pydantic import BaseModel, Field

from dag.values import Json


class ProblemOut(BaseModel):
    """Why a request was refused (RFC 9457). `type` is stable: programs decide by it, people read `detail`."""

    type: str = Field(examples=["/problems/not-found"])
    title: str
    status: int
    detail: str
    problems: list[dict[str, Json]] | None = Field(
        default=None,
        description="each thing that is wrong: path, message, suggestion; for definitions code, line, column; "
        "for tests which one, what it expected and what was found",
    )
    state: str | None = Field(default=None, description="the state that refused")
    differences: list[str] | None = Field(default=None, description="what differs from the first request with this key")
    limit_bytes: int | None = None
    current: int | None = Field(default=None, description="the revision that is in force")
    decided_by: str | None = Field(default=None, description="who was first")
    decision: Json = Field(default=None, description="what was decided first")
    scope: str | None = Field(default=None, description="the scope that is missing")
    service: str | None = Field(default=None, description="what does not answer")
