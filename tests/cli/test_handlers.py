"""`docrail handler list`."""

import json

from activities.registry import load_catalogue
from tests.cli.process import docrail


async def test_it_lists_every_handler_with_what_it_does() -> None:
    ended = await docrail("handler", "list")
    assert ended.code == 0, ended.err
    for name, handler in load_catalogue().items():
        [line] = [line for line in ended.out.splitlines() if line.startswith(f"{name} ")]
        assert handler.summary[:60] in line


async def test_it_shows_the_fields_of_one() -> None:
    ended = await docrail("handler", "show", "data_processor")
    lines = ended.out.splitlines()
    assert lines[0].startswith("transform: ")
    assert lines[1] == "Other names: data_processor"
    assert any(line.startswith("operation") and "one of uppercase" in line for line in lines)
    ended = await docrail("handler", "show", "send_webhook")
    assert any(line.startswith("url ") and "required" in line for line in ended.out.splitlines())
    assert any(line.startswith("webhook_id ") for line in ended.out.splitlines())


async def test_json_is_what_the_api_gives() -> None:
    listed = json.loads((await docrail("handler", "list", "--json")).out)
    shown = json.loads((await docrail("handler", "show", "echo", "--json")).out)
    assert [handler["name"] for handler in listed] == list(load_catalogue())
    assert shown in listed
    assert shown["config_schema"]["properties"]["value"]["description"] == "anything"


async def test_an_unknown_one_is_refused_with_the_name_that_is_meant() -> None:
    ended = await docrail("handler", "show", "send_webhok")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        "docrail: there is no handler 'send_webhok': did you mean 'send_webhook'? "
        "(`docrail handler list` lists them all)\n"
    )
