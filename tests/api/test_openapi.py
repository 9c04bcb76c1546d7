"""The OpenAPI document is complete: descriptions, examples, stable operation ids."""

import json
import re

from fastapi.routing import APIRoute

from docrail.api.app import FOR_STRANGERS, ROUTERS
from docrail.api.descriptions import BY_MODEL, BY_NAME, described_things
from tests.api.described import DOCUMENT


def test_every_property_and_parameter_has_a_description() -> None:
    lacking = [f"{place}.{name}" for place, name, schema in described_things(DOCUMENT) if "description" not in schema]
    assert lacking == []


def test_every_description_of_the_table_describes_something() -> None:
    shown = [(place, name, schema.get("description")) for place, name, schema in described_things(DOCUMENT)]
    of_models = {(f"{place}.{name}", text) for place, name, text in shown}
    of_names = {(name, text) for _, name, text in shown}
    assert [entry for entry in BY_MODEL.items() if entry not in of_models] == []
    assert [entry for entry in BY_NAME.items() if entry not in of_names] == []


def test_every_body_has_an_example() -> None:
    schemas, lacking = DOCUMENT["components"]["schemas"], []
    for methods in DOCUMENT["paths"].values():
        for operation in methods.values():
            for body in operation.get("requestBody", {}).get("content", {}).values():
                models = re.findall(r"#/components/schemas/(\w+)", json.dumps(body))
                if '"example' not in json.dumps([body, *(schemas[model] for model in models)]):
                    lacking.append(operation["operationId"])
    assert lacking == []


def test_an_operations_id_is_the_name_of_its_function() -> None:
    ids = [operation["operationId"] for methods in DOCUMENT["paths"].values() for operation in methods.values()]
    routes = [route for router in (*ROUTERS, *FOR_STRANGERS) for route in router.routes]
    names = [route.endpoint.__name__ for route in routes if isinstance(route, APIRoute) and route.include_in_schema]
    assert sorted(ids) == sorted(names)
    assert len(ids) == len(set(ids))
