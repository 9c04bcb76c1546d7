"""The screens of questions to people: the list, and one question with its form, its document and what follows."""

from pathlib import Path
from uuid import uuid4

from playwright.async_api import Browser, Page, expect

from docrail.dag.values.json_values import Json
from tests.console.site import LOOKS_WITH_PHONE, Scheme, Site, Visitor, Watch, axe, screenshot, tab_to, visit
from tests.console.test_review import invoice_pdf
from tests.stack import eventually

SAMPLE = Path(__file__).parents[2] / "samples" / "zf2_en16931_physiotherapeut.pdf"
SCRIPT = "<img src=x onerror=\"throw Error('ran')\"><script>throw Error('ran')</script>\u202e"


def asking(**show: Json) -> Json:
    """Return a definition that asks whether to pay."""
    return {
        "id": "payment",
        "title": "Pay an invoice",
        "inputs": {"document_id": {"type": "string"}},
        "steps": [
            {
                "id": "approval",
                "human": {
                    "queue": "cashiers",
                    "title": "Pay Blume GmbH 4,904.95 EUR?",
                    "show": {"vendor": "Blume GmbH", "total": "4904.95", "reason": "above the limit of 1,000", **show},
                    "form": {
                        "type": "object",
                        "required": ["approved"],
                        "properties": {
                            "approved": {"type": "boolean", "title": "Pay it"},
                            "account": {"enum": ["4200 Rent", "4930 Office"], "title": "Account"},
                            "discount": {"type": "number", "maximum": 3, "description": "In percent, at most 3."},
                            "comment": {"type": "string", "title": "Comment"},
                        },
                    },
                    "timeout_seconds": 86400,
                    "on_timeout": {"escalate_to": "managers", "then": "abort"},
                },
            },
            {
                "id": "pay",
                "title": "Pay",
                "handler": "echo",
                "depends_on": ["approval"],
                "condition": "approval.approved",
                "config": {"value": "{{ approval.comment }}"},
            },
            {
                "id": "refuse",
                "title": "Refuse the invoice",
                "depends_on": ["approval"],
                "condition": "not approval.approved",
                "abort": {"reason": "not approved"},
            },
        ],
    }


async def ask(site: Site, definition: Json | None = None, document_id: str | None = None) -> tuple[str, str]:
    """Start a run that asks, and return the ids of the run and of its question."""
    body: Json = {"definition": definition or asking(), "inputs": {"document_id": document_id} if document_id else {}}
    started = await site.service.http.post("/v1/runs", json=body)
    assert started.status_code == 202, started.text
    run_id, found = str(started.json()["run_id"]), list[str]()

    async def is_asked() -> bool:
        listed = (await site.service.http.get("/v1/reviews?kind=step&limit=500")).json()["reviews"]
        found.extend(each["review_id"] for each in listed if each["run_id"] == run_id)
        return bool(found)

    await eventually(is_asked, f"the question of {run_id}")
    return run_id, found[0]


async def upload(site: Site) -> str:
    sent = await site.service.http.post("/v1/documents", files={"file": ("blume.pdf", SAMPLE.read_bytes())})
    assert sent.status_code == 202, sent.text
    return str(sent.json()["document_id"])


async def choose(page: Page, name: str, value: str) -> None:
    await page.get_by_role("radiogroup", name=name).get_by_role("radio", name=value).click()


async def test_a_question_is_found_in_the_list_and_its_answer_completes_the_run(site: Site, page: Page) -> None:
    title = f"Pay {uuid4().hex[:6]}?"
    definition = asking()
    definition["steps"][0]["human"]["title"] = title
    run_id, _ = await ask(site, definition)
    await page.get_by_role("navigation").get_by_role("link", name="Decisions").click()
    await page.get_by_role("link", name=title).click()
    await expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()
    await choose(page, "Pay it", "Yes")
    await choose(page, "Account", "4930 Office")
    await page.get_by_label("Discount").fill("2,5")
    await page.get_by_label("Comment").fill("as ordered")
    await page.get_by_role("button", name="Send the answer").click()
    await expect(page.get_by_role("heading", name="This is answered")).to_be_visible()
    run = await site.service.ended(run_id)
    assert (run["status"], run["steps"]["pay"]["status"]) == ("completed", "completed")
    output = (await site.service.http.get(f"/v1/runs/{run_id}/steps/approval/output")).json()["output"]
    expected = {"approved": True, "account": "4930 Office", "discount": 2.5, "comment": "as ordered"}
    assert {name: output[name] for name in expected} == expected
    await page.get_by_role("link", name="Other questions").click()
    await expect(page.get_by_role("heading", level=1, name="Decisions")).to_be_visible()
    await expect(page.get_by_role("link", name=title)).to_be_hidden()


async def test_a_question_is_answered_by_keyboard_alone(site: Site, visitor: Visitor) -> None:
    run_id, review_id = await ask(site)
    page = await visitor.tab(f"/decide/{review_id}")
    await tab_to(page, page.get_by_role("radiogroup", name="Pay it").get_by_role("radio", name="Yes"))
    await page.keyboard.press("Space")
    await tab_to(page, page.get_by_role("radiogroup", name="Account").get_by_role("radio", name="4200 Rent"))
    await page.keyboard.press("ArrowDown")
    await tab_to(page, page.get_by_label("Comment"))
    await page.keyboard.type("as ordered")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("heading", name="This is answered")).to_be_visible()
    assert (await site.service.ended(run_id))["status"] == "completed"
    output = (await site.service.http.get(f"/v1/runs/{run_id}/steps/approval/output")).json()["output"]
    expected = {"approved": True, "account": "4930 Office", "comment": "as ordered"}
    assert {name: output[name] for name in expected} == expected


async def test_the_list_is_walked_and_opened_by_keyboard(site: Site, visitor: Visitor) -> None:
    for _ in range(3):
        await ask(site)
    page = await visitor.tab("/decide")
    rows = page.get_by_role("row")
    await expect(rows.nth(3)).to_be_visible()
    await is_current(page, 1)
    await page.keyboard.press("j")
    await page.keyboard.press("ArrowDown")
    await is_current(page, 3)
    await page.keyboard.press("k")
    await is_current(page, 2)
    await page.keyboard.press("Home")
    await page.keyboard.press("k")
    await is_current(page, 1)
    await page.keyboard.press("j")
    wanted = await rows.nth(2).get_by_role("link").get_attribute("href")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(f"{site.url}{wanted}")


async def is_current(page: Page, place: int) -> None:
    """Expect that a row, from 1, and no other is the one on which keys act."""
    await expect(page.locator("tbody tr[aria-current]")).to_have_count(1)
    await expect(page.locator("tbody tr").nth(place - 1)).to_have_attribute("aria-current", "true")


async def test_the_current_question_stays_when_another_one_comes_before_it(site: Site, visitor: Visitor) -> None:
    late, urgent = asking(), asking()
    late["steps"][0]["human"] |= {"title": f"Late {uuid4().hex[:6]}?", "timeout_seconds": 8_000_000}
    urgent["steps"][0]["human"] |= {"title": f"Urgent {uuid4().hex[:6]}?", "timeout_seconds": 60}
    await ask(site, late)
    page = await visitor.tab("/decide")
    await expect(page.get_by_role("link", name="Late")).to_be_visible()
    await page.keyboard.press("End")
    current = page.locator("tbody tr[aria-current]")
    await expect(current).to_contain_text("Late")
    await ask(site, urgent)
    await expect(page.get_by_role("link", name="Urgent")).to_be_visible()
    await expect(current).to_contain_text("Late")


async def test_a_page_of_the_document_is_in_the_address_and_the_last_one_has_none_after_it(
    site: Site, visitor: Visitor
) -> None:
    files = {"file": ("two.pdf", invoice_pdf(uuid4().hex[:8], pages=2))}
    sent = await site.service.http.post("/v1/documents", files=files)
    _, of_two = await ask(site, document_id=str(sent.json()["document_id"]))
    page = await visitor.tab(f"/decide/{of_two}")
    following, before = (page.get_by_role("button", name=name) for name in ("Next page", "Previous page"))
    await expect(following).to_be_enabled()
    await following.click()
    second = page.get_by_role("img", name="Page 2 of two.pdf")
    await expect(second).to_have_js_property("complete", value=True)
    assert await second.evaluate("image => image.naturalWidth") > 500
    await page.reload()
    await expect(second).to_be_visible()
    await expect(following).to_be_disabled()
    await before.click()
    await expect(page.get_by_role("img", name="Page 1 of two.pdf")).to_be_visible()
    files = {"file": ("one.pdf", invoice_pdf(uuid4().hex[:8]))}
    document_id = (await site.service.http.post("/v1/documents", files=files)).json()["document_id"]
    _, of_one = await ask(site, document_id=document_id)
    async with page.expect_response(lambda response: f"{document_id}/pages/2.png" in response.url) as asked:
        await page.goto(f"{site.url}/decide/{of_one}")
    assert (await asked.value).status == 404
    await expect(page.get_by_role("img", name="Page 1 of one.pdf")).to_be_visible()
    await expect(following).to_be_disabled()


async def test_it_says_what_happens_on_each_answer_and_without_one(site: Site, visitor: Visitor) -> None:
    _, review_id = await ask(site)
    page = await visitor.tab(f"/decide/{review_id}")
    pay, refuse = (page.get_by_role("listitem").filter(has_text=name) for name in ("Pay runs", "Refuse the invoice"))
    await expect(pay).to_contain_text("Depends on your answer")
    await choose(page, "Pay it", "No")
    await expect(pay).to_contain_text("Not with this answer")
    await expect(refuse).to_contain_text("ends the run")
    await expect(refuse).to_contain_text("With this answer")
    await expect(page.get_by_text("the question moves to managers")).to_be_visible()
    await expect(page.get_by_text("Queue cashiers")).to_be_visible()


async def test_what_is_wrong_with_an_answer_is_said_at_its_field(site: Site, visitor: Visitor) -> None:
    _, review_id = await ask(site)
    page = await visitor.tab(f"/decide/{review_id}")
    await page.get_by_role("button", name="Send the answer").click()
    await expect(page.get_by_text("Needs an answer")).to_be_visible()
    await choose(page, "Pay it", "Yes")
    await page.get_by_label("Discount").fill("7")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_text("expected at most 3")).to_be_visible()  # in the server's words
    await page.get_by_label("Discount").fill("3")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("heading", name="This is answered")).to_be_visible()


async def test_an_answer_of_someone_else_is_shown_at_once(site: Site, visitor: Visitor) -> None:
    _, review_id = await ask(site)
    page = await visitor.tab(f"/decide/{review_id}")
    await page.get_by_label("Comment").fill("I think")
    path = f"/v1/reviews/{review_id}/decision"
    assert (await site.service.http.post(path, json={"decision": {"approved": False}})).is_success
    await expect(page.get_by_role("heading", name="This is answered")).to_be_visible()


async def test_a_reload_keeps_what_was_typed(site: Site, visitor: Visitor) -> None:
    _, review_id = await ask(site)
    page = await visitor.tab(f"/decide/{review_id}")
    await choose(page, "Pay it", "No")
    await page.get_by_label("Comment").fill("the goods are broken")
    await page.reload()
    await expect(page.get_by_label("Comment")).to_have_value("the goods are broken")
    await expect(page.get_by_role("radio", name="No", exact=True)).to_be_checked()


async def test_scripts_in_what_is_shown_are_text(site: Site, visitor: Visitor) -> None:
    definition = asking(note=SCRIPT)
    definition["steps"][0]["human"]["title"] = SCRIPT
    _, review_id = await ask(site, definition)
    page = await visitor.tab(f"/decide/{review_id}")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("<script>")
    await expect(page.get_by_role("definition").filter(has_text="<img src=x")).to_contain_text("⟨U+202E⟩")
    await page.goto("/decide")
    await expect(page.get_by_role("link", name="<script>")).to_be_visible()


@LOOKS_WITH_PHONE
async def test_it_looks_right_and_axe_finds_nothing_serious(
    browser: Browser, site: Site, pictures: Path, scheme: Scheme, size: tuple[int, int]
) -> None:
    _, review_id = await ask(site, document_id=await upload(site))
    watch = Watch(site.url)
    async with visit(browser, watch, scheme=scheme, size=size) as visitor:
        page = await visitor.tab(f"/decide/{review_id}")
        await choose(page, "Pay it", "Yes")
        drawn = page.get_by_role("img", name="Page 1 of blume.pdf")
        await expect(drawn).to_be_visible()
        await expect(drawn).to_have_js_property("complete", True)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert await axe(page) == []
        await screenshot(page, f"decide-{scheme}-{size[0]}", pictures)
        await page.goto("/decide")
        await expect(page.get_by_role("link", name="Pay Blume GmbH").first).to_be_visible()
        assert await axe(page) == []
        await screenshot(page, f"decisions-{scheme}-{size[0]}", pictures)
    assert watch.found() == []
