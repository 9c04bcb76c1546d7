"""A person who clears documents by keyboard alone: every act is a key, and the page is only looked at."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from playwright.async_api import FilePayload, Page, expect

from docrail.samples.bill import Bill
from docrail.samples.desk import DeskFile, Kind
from tests.console.site import focused
from tests.stack import eventually

READING_SECONDS = 240
MOST_TABS = 200
REVIEW = re.compile(r"/review/(\w+)")
REJECTED = {
    Kind.DISAGREES: "the page and the data disagree",
    Kind.DUPLICATE: "sent twice",
    Kind.LOOK_ALIKE: "a reminder of one that we have",
}
"""What the clerk rejects, and why."""


@dataclass(frozen=True, slots=True)
class Clerk:
    """A person in front of a page."""

    page: Page

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            await self.page.keyboard.press(key)

    async def write(self, text: str) -> None:
        """Replace the text of the field that has the focus."""
        await self.press("Control+a")
        await self.page.keyboard.type(text)

    async def send(self, files: Sequence[DeskFile]) -> None:
        """Choose the files to send, in the dialog of the browser, and wait until all are read."""
        self.page.on("filechooser", lambda _: None)  # from now on: to begin with the key would be too late at times
        tabs = self.page.get_by_role("navigation", name="Documents by status")
        await expect(tabs.get_by_role("link", name=re.compile(r"^Needs attention ?\d"))).to_be_visible()
        async with self.page.expect_file_chooser() as choosing:
            await self.press("u")
        given = [FilePayload(name=each.name, mimeType="", buffer=each.content) for each in files]
        await (await choosing.value).set_files(given)
        uploads = self.page.get_by_role("region", name="Uploads")
        done = f"{len(files)} of {len(files)} documents done"
        await expect(uploads).to_contain_text(done, timeout=READING_SECONDS * 1000)

    async def go_to(self, name: str) -> None:
        """Press Tab until the control whose name begins so has the focus."""
        for _ in range(MOST_TABS):
            if (await focused(self.page)).startswith(name):
                return
            await self.press("Tab")
        raise AssertionError(f"{name} cannot be reached with Tab")

    async def choose(self, name: str) -> None:
        """Go to a button or link and press Enter."""
        await self.go_to(name)
        await self.press("Enter")

    async def search(self, text: str) -> None:
        """Search the list; no text shows everything."""
        await expect(self.page.get_by_role("searchbox")).to_be_visible()
        await self.press("/")
        await expect(self.page.get_by_role("searchbox")).to_be_focused()
        await self.press("Control+a", "Backspace")
        await self.page.keyboard.type(text)
        await self.press("Enter")

    async def open_next(self) -> str:
        """Open the next document of the list, at first the first one; return the id of its item."""
        await expect(self.page.get_by_role("row").nth(1)).to_be_visible()
        await self.press("j", "Enter")
        await self.page.wait_for_url(REVIEW)
        return await self.sees() or ""

    async def sees(self) -> str | None:
        """Wait until the document of the page's address is painted, and return its item; None in the list."""
        found = REVIEW.search(self.page.url)
        if found is None:
            return None
        await expect(self.page.locator(f"[data-review={found[1]}][data-painted]")).to_be_visible(timeout=30_000)
        return found[1]

    async def next_after(self, review_id: str) -> str | None:
        """Wait for the document after an item that was decided; None: there is none, and the list is shown."""
        await self.page.wait_for_url(lambda url: review_id not in url)
        return await self.sees()

    async def correct(self, label: str, text: str) -> None:
        """Go to the first field that needs a person, which must be that one, and change it."""
        await self.press("Enter")
        await expect(self.page.locator("[data-field]:focus")).to_be_visible()
        await self.press("Tab")
        await eventually(lambda: self.is_in(label), f"the focus in {label}")
        await self.write(text)
        await self.press("Enter")

    async def is_in(self, label: str) -> bool:
        """Return whether the field of that name has the focus."""
        script = "document.activeElement?.labels?.[0]?.textContent"
        return bool(await self.page.evaluate(script) == label)

    async def approve(self) -> None:
        """Approve the document, and go on."""
        await self.press("Control+Enter")

    async def reject(self, why: str) -> None:
        """Reject the document with a reason, and go on."""
        await self.press("Control+Shift+Enter")
        await self.page.keyboard.type(why)
        await self.press("Control+Enter")

    async def postpone(self) -> None:
        """Postpone the document until tomorrow, and go on."""
        await self.press("p", "Control+Enter")

    async def decide(self, file: DeskFile) -> None:
        """Do with the document on the screen what is right for it."""
        if why := REJECTED.get(file.kind):
            return await self.reject(why)
        if file.kind is Kind.WRONG_TOTAL and file.bill:
            await self.correct("Total", right_total(file.bill))
        if file.kind is Kind.NO_NUMBER:
            await self.correct("Invoice no.", missing_number(file))
        return await self.approve()


def right_total(bill: Bill) -> str:
    """Return the sum of net and tax, as the vendor writes amounts."""
    return str(bill.net + bill.tax).replace(".", bill.vendor.words.decimal)


def missing_number(file: DeskFile) -> str:
    """Return the number of an invoice that does not print it: it is in the name of its file."""
    return file.name.removesuffix(".pdf")
