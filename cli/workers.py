"""`docrail worker list`: the fleet's workers and their task queues."""

from docrail.cli.client import HERE, Api, ask_api
from docrail.cli.listing import ID, NUMBER, STATUS, TEXT, Listing
from docrail.cli.printout import Printout
from docrail.cli.terminal import moment
from docrail.dag.values.json_values import Json

WORKERS = "/v1/workers"


def list_workers(api: Api = HERE) -> Printout:
    """List the workers, and what waits in their task queues.

    A worker is `working`, `draining` after SIGTERM, or `silent`: frozen, killed or cut off from Temporal. A silent one
    is listed for an hour. `slots` are the steps that it runs, of those that it may run at once.

    Example: docrail worker list
    """
    found = ask_api(api, "GET", WORKERS)
    tables = [_workers(found["workers"]), _queues(found["queues"])]
    return Printout(found, tables if found["workers"] else ["no worker", *tables[1:]])


def _workers(workers: list[dict[str, Json]]) -> Listing:
    headings = {"state": STATUS, "host": ID, "process": NUMBER, "since": ID, "last heartbeat": ID, "slots": ID}
    return Listing(headings | {"version": ID, "build": ID, "queues": TEXT}, map(_worker, workers))


def _worker(worker: dict[str, Json]) -> list[str]:
    slots = ", ".join(_slots(queue["steps"]) for queue in worker["queues"])
    times = [moment(worker[name]) for name in ("since", "last_heartbeat")]
    queues = ", ".join(queue["queue"] for queue in worker["queues"])
    versions = [worker["version"] or "", worker["build"] or ""]
    return [worker["state"], worker["host"], worker["process_id"], *times, slots, *versions, queues]


def _slots(slots: dict[str, Json]) -> str:
    return str(slots["used"]) if slots["total"] is None else f"{slots['used']}/{slots['total']}"


def _queues(queues: list[dict[str, Json]]) -> Listing:
    headings = {"queue": ID, "of": ID, "waiting": NUMBER, "oldest": NUMBER, "workers": NUMBER}
    return Listing(headings, map(_queue, queues))


def _queue(queue: dict[str, Json]) -> list[str]:
    oldest = f"{queue['oldest_wait_seconds']:.0f} s" if queue["waiting"] else ""
    return [queue["queue"], queue["tasks"], str(queue["waiting"]), oldest, str(queue["workers"])]
