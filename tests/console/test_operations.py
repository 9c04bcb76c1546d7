"""The screen of operations: each of its parts on a running stack, what it changes, and who may see it."""

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from docrail.adapters.postgres.tenants import of_tenant
from docrail.adapters.temporal.connection import Connection
from docrail.invoices.llm.prices import Cost, Tokens
from docrail.services.access.models import Scope, system_principal
from docrail.services.access.service import create_key
from docrail.services.maintenance.service import apply_background_schedule, apply_schedule, apply_sla_schedule
from docrail.services.triggers.models import TriggerOrder
from docrail.services.triggers.service import create_trigger
from docrail.services.usage.models import Use
from docrail.services.usage.repository import record_use
from tests.api.service import SLOW
from tests.console.site import LOOKS, Scheme, Site, Visitor, Watch, axe, screenshot, tab_to, visit
from tests.stack import Servers, eventually

PARTS = ("fleet", "limits", "triggers", "schedules", "usage", "quotas", "keys", "sessions", "tenants", "audit")


@pytest.fixture(scope="module")
async def furnished(site: Site, embedded: Servers) -> Site:
    """A site with schedules, tenants, keys, model costs and events in its audit log."""
    connection, queue = Connection(embedded.temporal_address), site.service.settings.task_queue
    await apply_schedule(connection, queue, "30 2 * * *")
    await apply_sla_schedule(connection, queue)
    await apply_background_schedule(connection, queue)
    report = {"id": "shown_report", "steps": [{"id": "say", "handler": "noop"}]}
    (await site.service.http.post("/v1/definitions", json={"definition": report})).raise_for_status()
    for tenant, name in (("default", "erp"), ("acme", "ann"), ("globex", "bob")):
        with of_tenant(tenant):
            await create_key(site.service.app.db, system_principal(tenant), name, [Scope.SUBMIT, Scope.READ])
    for cost, outcome in (("0.004211", "read"), ("0.012100", "garbled")):
        use = Use("default", "run.1", "ask", 1, "gemini-3.8-flash-001", outcome, Tokens(4800, 620, 110))
        paid = Cost(Decimal(cost), "m")
        with of_tenant("default"):
            await record_use(site.service.app.db, use, paid, currency="USD", prices_read_on=dt.date(2026, 11, 21))
    return site


@pytest.fixture
async def operations(furnished: Site, visitor: Visitor) -> Page:
    assert furnished.url == visitor.watch.url
    return await visitor.tab("/operations")


async def part(page: Page, name: str) -> None:
    """Open a part by its link."""
    link = page.get_by_role("navigation", name="Parts of the operations").get_by_role("link", name=name, exact=True)
    await link.click()
    await expect(link).to_have_attribute("aria-current", "page")


async def test_workers_and_queues_are_shown_with_their_state(operations: Page, furnished: Site, pictures: Path) -> None:
    services = operations.get_by_role("list", name="Services")
    await expect(services.get_by_role("listitem").filter(has_text="Available")).to_have_count(4)
    worker = operations.get_by_role("table", name="Workers").get_by_role("row").nth(1)
    await expect(worker).to_contain_text("Working")
    started = await furnished.service.http.post("/v1/runs", json={"definition": SLOW})
    run_id = started.json()["run_id"]
    await expect(worker).to_contain_text("1 of 100")
    queues = operations.get_by_role("table", name="Task queues")
    await expect(queues.get_by_role("row").filter(has_text="Runs to decide")).to_contain_text("1")
    await screenshot(operations, "operations-fleet-busy", pictures)
    await furnished.service.http.post(f"/v1/runs/{run_id}/abort")


async def test_a_limit_is_changed_with_a_reason_and_reset(operations: Page) -> None:
    await part(operations, "Limits")
    row = operations.get_by_role("row").filter(has_text="gemini_api")
    await row.get_by_role("button", name="Change the limit of gemini_api").click()
    dialog = operations.get_by_role("dialog", name="Change the limit of gemini_api")
    await dialog.get_by_label("Uses per second").fill("4")
    await dialog.get_by_label("Reason").fill("quota was halved")
    assert await axe(operations) == []
    await dialog.get_by_role("button", name="Save").click()
    await expect(row).to_contain_text("4 per s")
    await expect(row).to_contain_text("quota was halved")
    await row.get_by_role("button", name="Reset the limit of gemini_api").click()
    dialog = operations.get_by_role("dialog", name="Reset the limit of gemini_api")
    await dialog.get_by_role("button", name="Reset", exact=True).click()
    await expect(row).to_contain_text("As in the settings")


async def test_a_schedule_is_paused_with_a_reason_resumed_and_run_now(operations: Page) -> None:
    await part(operations, "Schedules")
    row = operations.get_by_role("row").filter(has_text="Maintenance of files")
    await row.get_by_role("button", name="Pause Maintenance of files").click()
    dialog = operations.get_by_role("dialog", name="Pause Maintenance of files")
    await dialog.get_by_label("Reason").fill("a new disk")
    await dialog.get_by_role("button", name="Pause", exact=True).click()
    await expect(row).to_contain_text("Paused")
    await expect(row).to_contain_text("a new disk")
    await row.get_by_role("button", name="Run now: Maintenance of files").click()
    await expect(row).to_contain_text("Completed", timeout=60_000)
    await row.get_by_role("button", name="Resume Maintenance of files").click()
    dialog = operations.get_by_role("dialog", name="Resume Maintenance of files")
    await dialog.get_by_role("button", name="Resume", exact=True).click()
    await expect(row).to_contain_text("Active")


async def test_a_trigger_is_run_paused_with_a_reason_resumed_and_deleted(operations: Page, furnished: Site) -> None:
    name = f"nightly-{uuid4().hex[:6]}"
    order = {"name": name, "definition": "shown_report", "cron": "0 3 29 2 *"}
    (await furnished.service.http.post("/v1/triggers", json=order)).raise_for_status()
    await part(operations, "Triggers")
    row = operations.get_by_role("row").filter(has_text=name)
    await expect(row).to_contain_text("Starts shown_report")
    await row.get_by_role("button", name=f"Run now: {name}").click()
    await expect(row).to_contain_text("Completed")
    await row.get_by_role("button", name=f"Pause {name}").click()
    dialog = operations.get_by_role("dialog", name=f"Pause {name}")
    await dialog.get_by_label("Reason").fill("the office is closed")
    assert await axe(operations) == []
    await dialog.get_by_role("button", name="Pause", exact=True).click()
    await expect(row).to_contain_text("Paused")
    await expect(row).to_contain_text("the office is closed")
    await row.get_by_role("button", name=f"Resume {name}").click()
    await operations.get_by_role("dialog").get_by_role("button", name="Resume", exact=True).click()
    await expect(row).to_contain_text("Active")
    await row.get_by_role("button", name=f"Delete {name}").click()
    await operations.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    await expect(row).to_have_count(0)


async def test_operations_are_done_by_keyboard_alone(operations: Page) -> None:
    name, keyboard = f"keyed-{uuid4().hex[:6]}", operations.keyboard

    async def press(control: Locator, key: str = "Enter") -> None:
        await expect(control).to_be_visible()
        await tab_to(operations, control)
        await keyboard.press(key)

    async def write(control: Locator, text: str) -> None:
        await tab_to(operations, control)
        await keyboard.press("Control+a")
        await keyboard.type(text)

    parts, dialog = (
        operations.get_by_role("navigation", name="Parts of the operations"),
        operations.get_by_role("dialog"),
    )
    rows = operations.get_by_role("row")
    await press(parts.get_by_role("link", name="Limits"))
    limit = rows.filter(has_text="gemini_api")
    await press(limit.get_by_role("button", name="Change the limit of gemini_api"))
    await write(dialog.get_by_label("Uses per second"), "3")
    await write(dialog.get_by_label("Reason"), "quota was halved")
    await keyboard.press("Enter")
    await expect(limit).to_contain_text("3 per s")
    await press(limit.get_by_role("button", name="Reset the limit of gemini_api"))
    await press(dialog.get_by_role("button", name="Reset", exact=True))
    await expect(limit).to_contain_text("As in the settings")

    await press(parts.get_by_role("link", name="Schedules"))
    schedule = rows.filter(has_text="Maintenance of files")
    await press(schedule.get_by_role("button", name="Pause Maintenance of files"))
    await write(dialog.get_by_label("Reason"), "a new disk")
    await keyboard.press("Enter")
    await expect(schedule).to_contain_text("a new disk")
    await press(schedule.get_by_role("button", name="Resume Maintenance of files"))
    await press(dialog.get_by_role("button", name="Resume", exact=True))
    await expect(schedule).to_contain_text("Active")

    await press(parts.get_by_role("link", name="Triggers"))
    await press(operations.get_by_role("button", name="Create trigger"))
    await write(dialog.get_by_role("textbox", name="Name", exact=True), name)
    await write(dialog.get_by_role("combobox", name="Definition"), "shown_report")
    await expect(operations.get_by_role("option", name="shown_report")).to_be_visible()
    await keyboard.press("ArrowDown")
    await keyboard.press("Enter")
    await write(dialog.get_by_label("Time (UTC)"), "1805")
    await press(dialog.get_by_role("button", name="Create trigger"))
    trigger = rows.filter(has_text=name)
    await expect(trigger).to_contain_text("Starts shown_report")
    await press(trigger.get_by_role("button", name=f"Run now: {name}"))
    await expect(trigger).to_contain_text("Completed")
    await press(trigger.get_by_role("button", name=f"Delete {name}"))
    await press(dialog.get_by_role("button", name="Delete", exact=True))
    await expect(trigger).to_have_count(0)


async def test_a_trigger_is_created_and_what_the_server_refuses_is_at_its_field(
    operations: Page, furnished: Site, pictures: Path
) -> None:
    name = f"weekly-{uuid4().hex[:6]}"
    inputs = {"weeks": {"type": "integer", "default": 1, "maximum": 52}}
    report = {"id": "weekly_report", "inputs": inputs, "steps": [{"id": "say", "handler": "noop"}]}
    (await furnished.service.http.post("/v1/definitions", json={"definition": report})).raise_for_status()
    await part(operations, "Triggers")
    await operations.get_by_role("button", name="Create trigger").click()
    dialog = operations.get_by_role("dialog", name="Create trigger")
    send = dialog.get_by_role("button", name="Create trigger")
    await dialog.get_by_role("textbox", name="Name", exact=True).fill("Weekly!")
    await send.click()
    await expect(dialog.get_by_role("combobox", name="Definition")).to_have_accessible_description("Needs an answer")
    await dialog.get_by_role("combobox", name="Definition").click()
    await operations.get_by_role("option", name="weekly_report").click()
    await dialog.get_by_label("Weeks").fill("60")
    await choose(operations, "When", "Every week")
    await choose(operations, "Day", "Friday")
    await dialog.get_by_label("Time (UTC)").fill("18:05")
    await send.click()
    await expect(dialog.get_by_role("textbox", name="Name", exact=True)).to_have_accessible_description(
        re.compile("must match")
    )
    await dialog.get_by_role("textbox", name="Name", exact=True).fill(name)
    await send.click()
    await expect(dialog.get_by_label("Weeks")).to_have_accessible_description(re.compile("52"))
    await screenshot(operations, "trigger-create", pictures)
    assert await axe(operations) == []
    await dialog.get_by_label("Weeks").fill("2")
    await send.click()
    await expect(dialog).to_be_hidden()
    row = operations.get_by_role("row").filter(has_text=name)
    await expect(row).to_contain_text("Starts weekly_report")
    made = (await furnished.service.http.get(f"/v1/triggers/{name}")).json()
    assert (made["cron"], made["inputs"]) == ("5 18 * * 5", {"weeks": 2})


async def test_what_is_typed_into_a_new_trigger_survives_a_reload_until_it_is_cancelled(operations: Page) -> None:
    dialog = operations.get_by_role("dialog", name="Create trigger")

    async def opened() -> None:
        await operations.get_by_role("button", name="Create trigger").click()
        await expect(dialog).to_be_visible()

    await part(operations, "Triggers")
    await opened()
    await dialog.get_by_role("textbox", name="Name", exact=True).fill("scans")
    await dialog.get_by_text("Watch a folder").click()
    await dialog.get_by_role("textbox", name="Folder", exact=True).fill("in")
    await dialog.get_by_role("checkbox", name="As a batch").check()
    await choose(operations, "When", "At an interval")
    await dialog.get_by_label("Minutes").fill("25")
    await operations.reload()
    await opened()
    await expect(dialog.get_by_role("textbox", name="Name", exact=True)).to_have_value("scans")
    await expect(dialog.get_by_role("textbox", name="Folder", exact=True)).to_have_value("in")
    await expect(dialog.get_by_role("checkbox", name="As a batch")).to_be_checked()
    await expect(dialog.get_by_label("Minutes")).to_have_value("25")
    await dialog.get_by_role("button", name="Cancel").click()
    await opened()
    await expect(dialog.get_by_role("textbox", name="Name", exact=True)).to_have_value("")
    await expect(dialog.get_by_role("combobox", name="When", exact=True)).to_have_value("Every day")


async def test_a_watched_folder_and_a_mailbox_become_triggers(
    operations: Page, furnished: Site, pictures: Path
) -> None:
    names = {work: f"{work}-{uuid4().hex[:6]}" for work in ("folder", "mailbox")}
    typed = {
        "folder": {"Folder": "scans", "Source": "scanner"},
        "mailbox": {
            "Mail server": "imap.example.com",
            "User": "invoices@example.com",
            "Secret with the password": "mail_password",
            "Only mails from": "@supplier.example\nann@example.com",
        },
    }
    await part(operations, "Triggers")
    for work, choice in (("folder", "Watch a folder"), ("mailbox", "Read a mailbox")):
        await operations.get_by_role("button", name="Create trigger").click()
        dialog = operations.get_by_role("dialog", name="Create trigger")
        await dialog.get_by_role("textbox", name="Name", exact=True).fill(names[work])
        await dialog.get_by_text(choice).click()
        for label, text in typed[work].items():
            await dialog.get_by_role("textbox", name=label, exact=True).fill(text)
        if work == "folder":
            await dialog.get_by_role("checkbox", name="As a batch").check()
        await choose(operations, "When", "At an interval")
        await dialog.get_by_label("Minutes").fill("1440")
        await screenshot(operations, f"trigger-{work}", pictures)
        assert await axe(operations) == []
        await dialog.get_by_role("button", name="Create trigger").click()
        await expect(dialog).to_be_hidden()
    rows = operations.get_by_role("row")
    folder = rows.filter(has_text=names["folder"])
    await expect(folder).to_contain_text("Uploads the files of scans")
    await expect(folder).to_contain_text("The files of a pass are a batch.")
    await expect(rows.filter(has_text=names["mailbox"])).to_contain_text("mails to invoices@example.com")
    made = (await furnished.service.http.get(f"/v1/triggers/{names['mailbox']}")).json()
    assert (made["every_seconds"], made["mailbox"]["senders"]) == (86_400, ["@supplier.example", "ann@example.com"])
    made = (await furnished.service.http.get(f"/v1/triggers/{names['folder']}")).json()
    assert (made["folder"], made["source"], made["definition"], made["batch"]) == ("scans", "scanner", None, True)


async def choose(page: Page, label: str, option: str) -> None:
    """Choose from a list of the dialog."""
    await page.get_by_role("dialog").get_by_role("combobox", name=label, exact=True).click()
    await page.get_by_role("option", name=option, exact=True).click()


async def test_a_reader_sees_triggers_without_their_buttons(guarded_site: Site, browser: Browser) -> None:
    name, app = f"weekly-{uuid4().hex[:6]}", guarded_site.service.app
    order = TriggerOrder(name, every_seconds=86_400, definition="invoice", folder="scans")
    with of_tenant("default"):
        await create_trigger(app, system_principal("default"), order)
        made = await create_key(app.db, system_principal("default"), f"p-{uuid4().hex[:6]}", [Scope.READ])
    watch = Watch(guarded_site.url)
    async with visit(browser, watch) as visitor:
        page = await visitor.tab("/operations/triggers")
        await sign_in(page, made.key)
        row = page.get_by_role("row").filter(has_text=name)
        await expect(row).to_contain_text("Uploads the files of scans")
        await expect(row.get_by_role("button")).to_have_count(0)
        await expect(page.get_by_role("button", name="Create trigger")).to_have_count(0)
    assert watch.found() == []


async def test_a_keys_secret_is_shown_once_and_the_key_is_rotated_and_revoked(
    operations: Page, furnished: Site, pictures: Path
) -> None:
    name = f"robot-{uuid4().hex[:6]}"
    await part(operations, "API keys")
    await operations.get_by_role("button", name="Create a key").click()
    dialog = operations.get_by_role("dialog", name="Create a key")
    await dialog.get_by_label("Name").fill(name)
    await dialog.get_by_role("button", name="Create a key").click()
    secret = operations.get_by_role("dialog", name=f"The key of {name}")
    first = await secret.get_by_label("Key", exact=True).input_value()
    assert re.fullmatch(r"docrail_[0-9a-f]{16}_[0-9a-f]{64}", first)
    await expect(secret.get_by_role("button", name="Copy")).to_be_visible()
    await screenshot(operations, "operations-key", pictures)
    assert await axe(operations) == []
    await secret.get_by_role("button", name="I have stored it").click()
    row = operations.get_by_role("row").filter(has_text=name)
    await expect(row).to_contain_text("Valid")
    assert first.rpartition("_")[2] not in await operations.content()
    assert await status(furnished, first) == 200
    await row.get_by_role("button", name=f"Rotate the key of {name}").click()
    dialog = operations.get_by_role("dialog", name=f"Rotate the key of {name}")
    await dialog.get_by_role("button", name="Rotate", exact=True).click()
    second = await secret.get_by_label("Key", exact=True).input_value()
    await secret.get_by_role("button", name="I have stored it").click()
    await expect(row).to_contain_text("previous secret until")
    assert [await status(furnished, key) for key in (first, second)] == [200, 200]
    await row.get_by_role("button", name=f"Revoke the key of {name}").click()
    dialog = operations.get_by_role("dialog", name=f"Revoke the key of {name}")
    await dialog.get_by_role("button", name="Revoke", exact=True).click()
    await expect(row).to_contain_text("Revoked")
    assert [await status(furnished, key) for key in (first, second)] == [401, 401]


async def status(site: Site, key: str) -> int:
    return (await site.service.http.get("/v1/me", headers={"Authorization": f"Bearer {key}"})).status_code


async def test_a_quota_of_another_tenant_is_set_and_reset(operations: Page, furnished: Site) -> None:
    await part(operations, "Tenants")
    await operations.get_by_role("link", name="Quotas of acme").click()
    default = operations.get_by_role("row").filter(has_text="Most urgent priority of a run")
    await expect(default).to_contain_text("Default of the settings")
    assert "tenant=acme" in operations.url
    await operations.get_by_role("button", name="Set a quota").click()
    dialog = operations.get_by_role("dialog", name="Set a quota of acme")
    await dialog.get_by_label("Value").fill("1000")
    await dialog.get_by_role("button", name="Save").click()
    row = operations.get_by_role("row").filter(has_text="Documents per day")
    await expect(row).to_contain_text("1,000")
    quotas = (await furnished.service.http.get("/v1/quotas", params={"tenant": "acme"})).json()["quotas"]
    assert ("documents_per_day", 1000) in [(each["quota"], each["value"]) for each in quotas]
    await row.get_by_role("button", name="Reset Documents per day").click()
    dialog = operations.get_by_role("dialog", name="Reset Documents per day")
    await dialog.get_by_role("button", name="Reset", exact=True).click()
    await expect(row).to_have_count(0)


async def test_model_costs_are_shown_against_the_budget_and_by_day(operations: Page) -> None:
    await part(operations, "Model costs")
    await expect(operations.get_by_text("Tenant default").first).to_be_visible()
    row = operations.get_by_role("row").filter(has_text="gemini-3.8-flash-001")
    for cell in ("2", "1", "9,600", "1,240", "220", "0.016311"):
        await expect(row).to_contain_text(cell)


async def test_the_audit_log_is_filtered_by_the_url_and_verified(operations: Page) -> None:
    await part(operations, "Audit log")
    await operations.get_by_role("button", name="Verify").click()
    await expect(operations.get_by_role("status").filter(has_text="Intact:")).to_be_visible()
    await operations.get_by_role("textbox", name="Person or system").fill("someone-else")
    await operations.get_by_role("button", name="Filter").click()
    await expect(operations.get_by_text("No event matches")).to_be_visible()
    assert "actor=someone-else" in operations.url
    await operations.get_by_role("button", name="Clear", exact=True).click()
    await expect(operations.get_by_role("row").filter(has_text="key_created").first).to_be_visible()
    await operations.goto(f"{operations.url.partition('?')[0]}?act=key_created")
    await expect(operations.get_by_role("row").filter(has_text="key_created").first).to_be_visible()
    await expect(operations.get_by_role("row").filter(has_text="key_revoked")).to_have_count(0)


async def test_a_broken_log_is_shown_as_such(operations: Page) -> None:
    broken = {"events": 3, "head": "0" * 64, "broken_at": 3, "problem": "event 3 is missing", "intact": False}
    await operations.route("**/v1/audit/verify", lambda route: route.fulfill(json=broken))
    await part(operations, "Audit log")
    await operations.get_by_role("button", name="Verify").click()
    await expect(operations.get_by_role("alert")).to_contain_text("event 3 is missing")


async def sign_in(page: Page, key: str) -> None:
    await page.get_by_label("API key").fill(key)
    await page.get_by_role("button", name="Sign in").click()


async def test_a_session_is_listed_and_ended(guarded_site: Site, browser: Browser) -> None:
    made = await create_key(
        guarded_site.service.app.db, system_principal("default"), f"ops-{uuid4().hex[:6]}", list(Scope)
    )
    watch = Watch(guarded_site.url, expected=["answered 503"])
    async with visit(browser, watch) as visitor:
        page = await visitor.tab("/operations/sessions")
        await sign_in(page, made.key)
        row = page.get_by_role("row").filter(has_text=made.details.name)
        await row.get_by_role("button", name=f"End the session of {made.details.name}").click()
        dialog = page.get_by_role("dialog", name=f"End the session of {made.details.name}")
        await dialog.get_by_role("button", name="End", exact=True).click()
        await expect(page.get_by_label("API key")).to_be_visible()
    assert watch.found() == []


async def test_a_person_sees_the_parts_that_their_scopes_allow(guarded_site: Site, browser: Browser) -> None:
    app = guarded_site.service.app

    async def parts_of(tenant: str, *scopes: Scope) -> list[str]:
        with of_tenant(tenant):
            made = await create_key(app.db, system_principal(tenant), f"p-{uuid4().hex[:6]}", scopes)
        watch = Watch(guarded_site.url)
        async with visit(browser, watch) as visitor:
            page = await visitor.tab("/operations")
            await sign_in(page, made.key)
            await expect(page.get_by_role("heading", name="Operations", exact=True)).to_be_visible()
            navigation = page.get_by_role("navigation", name="Parts of the operations")
            return await navigation.get_by_role("link").all_inner_texts()

    assert await parts_of("default", Scope.READ, Scope.OPERATE) == [
        "Workers",
        "Limits",
        "Triggers",
        "Schedules",
        "Model costs",
        "Quotas",
        "Audit log",
    ]
    assert await parts_of("acme", Scope.READ, Scope.OPERATE, Scope.ADMIN) == [
        "Limits",
        "Triggers",
        "Model costs",
        "Quotas",
        "API keys",
        "Sessions",
        "Audit log",
    ]


@LOOKS
async def test_no_part_has_a_serious_finding_of_axe(
    browser: Browser, furnished: Site, pictures: Path, scheme: Scheme, size: tuple[int, int]
) -> None:
    async def has_sent_heartbeats() -> bool:
        return bool((await furnished.service.http.get("/v1/workers")).json()["workers"])

    await eventually(has_sent_heartbeats, "the worker's first heartbeat", timeout_seconds=90)
    watch = Watch(furnished.url)
    async with visit(browser, watch, scheme=scheme, size=size) as visitor:
        page = await visitor.tab("/operations")
        found: list[str] = []
        for name in PARTS:
            await page.goto(f"{furnished.url}/operations/{name}")
            section = page.get_by_role("main").get_by_role("region")
            await expect(section.get_by_role("table").or_(section.get_by_role("heading")).first).to_be_visible()
            await expect(page.get_by_role("status", name="Loading")).to_have_count(0)
            await screenshot(page, f"operations-{name}-{size[0]}-{scheme}", pictures)
            found += [f"{name}: {each}" for each in await axe(page)]
        assert found == []
    assert watch.found() == []
