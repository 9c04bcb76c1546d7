"""Handler `save_fields`: write the fields of a document of any kind to the lake, as JSON and as Parquet."""

from typing import Any

from pydantic import BaseModel, Field

from docrail.handlers import Handler, StepCall
from docrail.invoices.by_schema.checked import checked_record
from docrail.invoices.model import FieldValue
from docrail.services.extraction.local import load_stored
from docrail.services.tools import Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """The fields, and what a person made of them."""

    document_id: str = Field(description="the document that was read")
    kind: str = Field(
        pattern=r"^[a-z][a-z0-9_]{0,63}$", description="what it is, such as `purchase_order`: the folder of the files"
    )
    fields: dict[str, Any] = Field(description="the `fields` of `extract_fields`")
    checked: dict[str, Any] | None = Field(
        default=None, description="the answer of a person, whose values count; null: no one was asked"
    )
    checked_by: str | None = Field(default=None, description="who answered")


class Output(BaseModel):
    """The written files."""

    values: dict[str, Any] = Field(description="the value of each field as it was saved")
    json_path: str = Field(description="relative to the lake's root, as the other")
    parquet_path: str = Field(description="one row; `fields` is a list, so every kind has the same columns")


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Write both files; every attempt writes the same bytes under the same names.

    Raises: NotStored, ValueError (never retried); OSError, such as a full disk (retried).
    """
    config = call.config
    await load_stored(tools, call.tenant_id, config.document_id, fresh=False)
    fields = {name: FieldValue[Any].model_validate(field) for name, field in config.fields.items()}
    record = checked_record(config.document_id, config.kind, fields, config.checked, config.checked_by)
    json_file, parquet_file = await tools.lake.write_fields(call.tenant_id, record)
    return Output(values=record["values"], json_path=json_file.path, parquet_path=parquet_file.path)


HANDLER = Handler("save_fields", Config, Output, run, is_light=True)
