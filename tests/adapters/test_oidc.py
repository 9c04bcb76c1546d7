"""What an issuer publishes is read when needed, shared, and renewed, however many tokens come in."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from docrail.adapters.oidc.access import IssuerAccess
from docrail.adapters.oidc.errors import IssuerUnavailableError, TokenRefusedError, UnknownKeyError
from docrail.adapters.oidc.issuer import Issuer
from docrail.adapters.oidc.published import FRESH_SECONDS, RETRY_SECONDS, UNKNOWN_KEY_SECONDS
from tests.oidc_issuer import AUDIENCE, LoopbackIssuer, loopback_issuer, new_key
from tests.stack import eventually


@dataclass
class Clock:
    now: float = 0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def served() -> AsyncIterator[LoopbackIssuer]:
    async with loopback_issuer() as issuer:
        yield issuer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ours(served: LoopbackIssuer, clock: Clock) -> Issuer:
    return Issuer(IssuerAccess(served.url, AUDIENCE), clock)


async def test_a_token_is_verified_with_the_issuers_keys(served: LoopbackIssuer, ours: Issuer) -> None:
    assert (await ours.verify_access_token(served.token()))["sub"] == "subject-ann"


async def test_keys_are_read_once_for_all_tokens(served: LoopbackIssuer, ours: Issuer) -> None:
    await asyncio.gather(*(ours.verify_access_token(served.token()) for _ in range(20)))
    assert served.readings() == 1


async def test_keys_at_another_address_are_read_without_discovery(served: LoopbackIssuer) -> None:
    ours = Issuer(IssuerAccess(served.url, AUDIENCE, jwks_url=f"{served.url}/keys"))
    await ours.verify_access_token(served.token())
    assert served.asked == ["/keys"]


async def test_a_new_key_is_found_by_the_first_token_that_it_signs(served: LoopbackIssuer, ours: Issuer) -> None:
    old = served.token()
    await ours.verify_access_token(old)
    served.rotate("second")
    await ours.verify_access_token(served.token())
    await ours.verify_access_token(old)
    assert served.readings() == 2


async def test_invented_key_ids_make_one_reading_a_minute(served: LoopbackIssuer, ours: Issuer, clock: Clock) -> None:
    await ours.verify_access_token(served.token())
    for _ in range(2):
        for number in range(50):
            with pytest.raises(UnknownKeyError):
                await ours.verify_access_token(served.token(header={"kid": f"invented-{number}"}))
        clock.now += UNKNOWN_KEY_SECONDS
    assert served.readings() == 3


async def test_a_withdrawn_key_counts_no_longer_than_ten_minutes(
    served: LoopbackIssuer, ours: Issuer, clock: Clock
) -> None:
    withdrawn = served.token()
    await ours.verify_access_token(withdrawn)
    served.rotate("second", keeping=False)
    clock.now += FRESH_SECONDS

    async def is_refused() -> bool:
        try:
            await ours.verify_access_token(withdrawn)
        except UnknownKeyError:
            return True
        return False

    await eventually(is_refused, "the withdrawn key to be forgotten")


async def test_known_keys_serve_while_the_issuer_is_unreachable(clock: Clock) -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(loopback_issuer())
        ours = Issuer(IssuerAccess(served.url, AUDIENCE), clock)
        await ours.verify_access_token(served.token())
        await stack.aclose()
        clock.now += FRESH_SECONDS
        for _ in range(3):
            await ours.verify_access_token(served.token())
        with pytest.raises(IssuerUnavailableError):
            await ours.verify_access_token(served.token(key=new_key("unknown")))


async def test_an_issuer_that_starts_late_is_asked_again_after_a_pause(
    served: LoopbackIssuer, ours: Issuer, clock: Clock
) -> None:
    served.status = 503
    for _ in range(20):
        with pytest.raises(IssuerUnavailableError, match="answered 503"):
            await ours.verify_access_token(served.token())
    assert len(served.asked) == 1
    served.status = 200
    clock.now += RETRY_SECONDS
    await ours.verify_access_token(served.token())


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"issuer": "https://other.example"}, "calls itself 'https://other.example'"),
        ({"jwks_uri": "http://keys.example/keys"}, "invalid document: jwks_uri"),
        ({"jwks_uri": "file:///etc/passwd"}, "invalid document: jwks_uri"),
        ({"jwks_uri": None}, "invalid document: jwks_uri"),
        ({"token_endpoint": "http://token.example"}, "invalid document: token_endpoint"),
        ({"jwks_uri": "https://169.254.169.254/keys"}, "a cloud's metadata service"),
    ],
)
async def test_a_discovery_document_that_points_elsewhere_is_refused(
    served: LoopbackIssuer, ours: Issuer, change: dict[str, str | None], found: str
) -> None:
    served.discovery = dict(change)
    with pytest.raises(IssuerUnavailableError, match=found):
        await ours.verify_access_token(served.token())


async def test_an_issuer_without_a_usable_key_is_unavailable(served: LoopbackIssuer, ours: Issuer) -> None:
    served.keys = []
    with pytest.raises(IssuerUnavailableError, match="no usable key"):
        await ours.verify_access_token("a.b.c")


async def test_without_an_audience_no_bearer_token_is_accepted(served: LoopbackIssuer) -> None:
    with pytest.raises(TokenRefusedError):
        await Issuer(IssuerAccess(served.url, None)).verify_access_token(served.token())
