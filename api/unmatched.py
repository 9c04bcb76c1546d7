"""What an empty list tells of filters that nothing has."""

from pydantic import BaseModel, ConfigDict, Field


class UnmatchedOut(BaseModel):
    """A filter whose value nothing has, whatever the other filters say."""

    model_config = ConfigDict(from_attributes=True)

    filter: str = Field(examples=["class"])
    value: str = Field(examples=["ConectionError"])
    known: list[str] = Field(description="values that there are, at most 20", examples=[["ConnectionError"]])
    has_more: bool = Field(description="whether there are more than those")
    suggestion: str | None = Field(description="the one that was probably meant", examples=["ConnectionError"])
