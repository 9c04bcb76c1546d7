import httpx
import jsonschema

from docrail.activities.registry import load_catalogue


async def test_every_handler_is_listed_by_name(http: httpx.AsyncClient) -> None:
    listed = (await http.get("/v1/handlers")).json()["handlers"]
    assert [handler["name"] for handler in listed] == list(load_catalogue())
    assert all(handler["summary"] for handler in listed)


async def test_a_handler_comes_with_the_schemas_of_what_it_takes_and_gives(http: httpx.AsyncClient) -> None:
    handler = (await http.get("/v1/handlers/send_webhook")).json()
    assert handler["aliases"] == ["send_webhook_event", "SendWebhookEvent"]
    for schema in (handler["config_schema"], handler["output_schema"]):
        jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(handler["config_schema"])
    assert check.is_valid({"url": "https://a.example", "body": {"a": 1}})
    assert not check.is_valid({"address": "https://a.example"})
    assert "webhook_id" in handler["output_schema"]["properties"]


async def test_a_handler_is_found_by_an_alias(http: httpx.AsyncClient) -> None:
    assert (await http.get("/v1/handlers/data_processor")).json()["name"] == "transform"


async def test_an_unknown_handler_is_refused_with_the_name_that_is_meant(http: httpx.AsyncClient) -> None:
    refused = await http.get("/v1/handlers/send_webhok")
    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/not-found")
    assert refused.json()["detail"] == "there is no handler 'send_webhok': did you mean 'send_webhook'?"


async def test_a_definition_under_an_alias_is_stored_under_the_handlers_name(http: httpx.AsyncClient) -> None:
    steps = [{"node_id": "shape", "handler": "data_processor", "config": {"a": 1}}]
    await http.post("/v1/definitions", json={"definition": {"id": "by_alias", "steps": steps}})
    body = (await http.get("/v1/definitions/by_alias")).json()["body"]
    assert body["steps"][0]["handler"] == "transform"
