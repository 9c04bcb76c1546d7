"""Fill in the form of a question before a person sees it."""

from docrail.dag.values.json_values import Json


def with_values(form: dict[str, Json], prefill: Json, notes: Json) -> dict[str, Json]:
    """Return a form whose fields begin with the values of `prefill`, and are described with those of `notes`.

    Both are objects by the fields' names. Null, and names that the form does not have, are left out: the form is the
    author's, and an answer is checked against it as it was written.
    """
    properties = form.get("properties")
    if not isinstance(properties, dict):
        return form
    values, remarks = (part if isinstance(part, dict) else {} for part in (prefill, notes))
    filled = {name: _with_value(field, values.get(name), remarks.get(name)) for name, field in properties.items()}
    return {**form, "properties": filled}


def _with_value(field: Json, value: Json, remark: Json) -> Json:
    if not isinstance(field, dict):
        return field
    default = {} if value is None else {"default": value}
    said = "\n".join(text for text in (field.get("description"), remark) if isinstance(text, str) and text)
    return {**field, **default, **({"description": said} if said else {})}
