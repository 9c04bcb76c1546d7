"""`docrail quota`: how much a tenant, or one of its API keys, may use."""

from typing import Annotated

import typer

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.listing import ID, NUMBER, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.terminal import moment
from docrail.dag.values.json_values import Json

QUOTAS = "/v1/quotas"

Name = Annotated[
    str,
    typer.Argument(
        help="requests_per_second, body_bytes, documents_per_day, open_runs, model_budget_per_day or highest_priority.",
        metavar="QUOTA",
    ),
]
Tenant = Annotated[str, typer.Option(help="The tenant.", metavar="TENANT")]
Key = Annotated[str | None, typer.Option("--key", help="The id of one of its API keys.", metavar="ID")]


def list_quotas(api: Api = HERE) -> Printout:
    """List the quotas of your tenant and its API keys.

    What is not listed is unlimited.

    Example: docrail quota list
    """
    found = ask_api(api, "GET", QUOTAS)["quotas"]
    return _printout(found, found)


def change(
    quota: Name,
    value: Annotated[
        float,
        typer.Argument(help="How much may be used; 0 for nothing. A priority: 1, the first, to 5.", metavar="VALUE"),
    ],
    tenant: Tenant,
    key: Key = None,
    api: Api = HERE,
) -> Printout:
    """Set a quota of a tenant, or of one of its API keys.

    It applies within five seconds. Needs a key of the operator's tenant with the scope admin.

    Example: docrail quota set documents_per_day 10000 --tenant acme
    """
    wanted = {"tenant": tenant, "key_id": key, "value": value}
    found = ask_api(api, "PUT", f"{QUOTAS}/{quota}", json=wanted)
    return _printout(found, [found])


def reset(quota: Name, tenant: Tenant, key: Key = None, api: Api = HERE) -> Printout:
    """Remove a quota that was set.

    The default of the settings applies again, if there is one.

    Example: docrail quota reset documents_per_day --tenant acme
    """
    ask_api(api, "DELETE", f"{QUOTAS}/{quota}", params={"tenant": tenant, "key_id": key})
    return Printout({"quota": quota, "tenant": tenant, "key_id": key}, f"{quota} of {key or tenant} is reset")


def _printout(answer: Json, found: list[dict[str, Json]]) -> Printout:
    headings = {"quota": ID, "value": NUMBER, "of": ID, "changed": TEXT}
    return Printout(answer, [Listing(headings, map(_row, found))])


def _row(quota: dict[str, Json]) -> list[str]:
    of = f"key {quota['key_id']}" if quota["key_id"] else f"tenant {quota['tenant']}"
    changed = f"{moment(quota['changed_at'])} by {quota['changed_by']}" if quota["changed_by"] else "default"
    return [quota["quota"], f"{quota['value']:g}" if quota["value"] % 1 else str(int(quota["value"])), of, changed]
