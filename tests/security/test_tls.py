"""The API over HTTPS: with a certificate of one's own, one that is renewed, and those that cannot be used."""

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from trustme import CA, LeafCert

from docrail.api.server import CertificateError, tls_context
from tests.commands import docrail
from tests.security.test_connections import HALF_SENT, PATIENCE_SECONDS, Api, half_sent, running
from tests.stack import eventually

pytestmark = pytest.mark.server


def write(cert: LeafCert, folder: Path) -> tuple[Path, Path]:
    """Write a certificate and its key as two files."""
    cert.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    cert.private_key_pem.write_to_path(folder / "key.pem")
    return folder / "cert.pem", folder / "key.pem"


def trusting(authority: CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.fixture(scope="module")
def authority() -> CA:
    return CA()


@pytest.fixture(scope="module")
async def api(authority: CA, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    folder = tmp_path_factory.mktemp("tls")
    cert, key = write(authority.issue_cert("127.0.0.1"), folder)
    async with running(folder, "--tls-cert", str(cert), "--tls-key", str(key)) as started:
        yield started


async def serial_number(api: Api, authority: CA) -> str:
    _, writer = await asyncio.open_connection("127.0.0.1", api.port, ssl=trusting(authority))
    found = writer.get_extra_info("peercert")["serialNumber"]
    writer.close()
    return str(found)


async def test_the_api_is_served_over_https_to_those_who_trust_its_authority(api: Api, authority: CA) -> None:
    async with httpx.AsyncClient(trust_env=False, verify=trusting(authority)) as http:
        assert (await http.get(f"{api.url}/healthz")).status_code == 200
        own = {"Origin": api.url, "Sec-Fetch-Site": "same-origin"}
        assert (await http.post(f"{api.url}/v1/runs", headers=own)).status_code == 401  # beyond the border: no key
    async with httpx.AsyncClient(trust_env=False) as http:
        with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
            await http.get(f"{api.url}/healthz")


async def test_commands_trust_the_authority_that_they_are_given(api: Api, authority: CA, tmp_path: Path) -> None:
    wary = await docrail("run", "list", "--api", api.url)
    assert (wary.code, "name the file of its authority in SSL_CERT_FILE" in wary.err) == (1, True)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    trusting = await docrail("run", "list", "--api", api.url, SSL_CERT_FILE=str(tmp_path / "ca.pem"))
    assert "SSL_CERT_FILE" not in trusting.err
    assert "key" in trusting.err  # it was answered


async def test_http_is_not_answered_there(api: Api) -> None:
    async with httpx.AsyncClient(trust_env=False) as http:
        with pytest.raises(httpx.HTTPError):
            await http.get(api.url.replace("https", "http") + "/healthz")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
async def test_old_versions_of_tls_are_refused(api: Api, authority: CA, version: ssl.TLSVersion) -> None:
    context = trusting(authority)
    context.minimum_version = context.maximum_version = version
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await asyncio.open_connection("127.0.0.1", api.port, ssl=context)


async def test_a_handshake_that_does_not_come_is_ended(api: Api) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", api.port)
    assert await asyncio.wait_for(reader.read(), PATIENCE_SECONDS) == b""
    writer.close()


async def test_half_a_handshake_keeps_no_one_out_for_long(api: Api, authority: CA) -> None:
    async def is_healthy() -> bool:
        try:
            return bool(await serial_number(api, authority))
        except OSError:
            return False

    async with half_sent(api, b"\x16\x03\x01", HALF_SENT):
        await eventually(is_healthy, "a handshake", timeout_seconds=PATIENCE_SECONDS)
    assert api.log.stat().st_size < 2**20


async def test_a_renewed_certificate_is_used_without_a_restart(authority: CA, tmp_path: Path) -> None:
    cert, key = write(authority.issue_cert("127.0.0.1"), tmp_path)
    async with running(tmp_path, DOCRAIL_TLS_CERT=str(cert), DOCRAIL_TLS_KEY=str(key)) as api:
        first = await serial_number(api, authority)
        key.write_text("half written")
        await eventually(lambda: "is not used" in api.log.read_text(), "the line in the log")
        assert await serial_number(api, authority) == first
        write(authority.issue_cert("127.0.0.1"), tmp_path)

        async def is_renewed() -> bool:
            return await serial_number(api, authority) != first

        await eventually(is_renewed, "the renewed certificate")


def problem_of(cert: Path | None, key: Path | None) -> str:
    with pytest.raises(CertificateError) as refused:
        tls_context(cert, key)
    return str(refused.value)


def test_files_that_cannot_be_used_are_named(authority: CA, tmp_path: Path) -> None:
    cert, key = write(authority.issue_cert("docrail.test"), tmp_path)
    (tmp_path / "other").mkdir()
    _, other_key = write(authority.issue_cert("docrail.test"), tmp_path / "other")
    nothing = tmp_path / "nothing.pem"
    nothing.write_text("no PEM")
    assert problem_of(cert, None) == "--tls-cert and --tls-key go together: --tls-key is missing"
    assert problem_of(None, key) == "--tls-cert and --tls-key go together: --tls-cert is missing"
    assert (
        problem_of(tmp_path / "none", key) == f"--tls-cert: cannot read {tmp_path / 'none'}: No such file or directory"
    )
    assert problem_of(cert, tmp_path) == f"--tls-key: cannot read {tmp_path}: Is a directory"
    assert problem_of(cert, other_key).startswith(f"--tls-key: {other_key} is not the key of the certificate {cert}")
    assert "both in PEM" in problem_of(nothing, key)
    assert "both in PEM" in problem_of(cert, nothing)
    assert tls_context(None, None) is None


def test_a_key_with_a_password_is_refused_instead_of_waiting_for_it(authority: CA, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization as pem

    cert, key = write(authority.issue_cert("docrail.test"), tmp_path)
    private = pem.load_pem_private_key(key.read_bytes(), None)
    locked = pem.BestAvailableEncryption(b"secret")
    key.write_bytes(private.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, locked))
    assert "private key without a password" in problem_of(cert, key)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--tls-cert", "none.pem"), "--tls-key is missing"),
        (("--tls-cert", "none.pem", "--tls-key", "none.key"), "--tls-cert: cannot read none.pem: No such file"),
        (("--trusted-proxies", "10.0.0.1/8"), "DOCRAIL_TRUSTED_PROXIES: "),
    ],
)
async def test_a_server_that_cannot_start_says_why_in_a_line(options: tuple[str, ...], expected: str) -> None:
    command = (sys.executable, "-m", "docrail", "server", "start", *options)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    _, err = await asyncio.wait_for(process.communicate(), PATIENCE_SECONDS)
    assert process.returncode == 1
    assert expected in err.decode()
    assert len(err.decode().splitlines()) == 1


async def test_the_printed_address_says_https(authority: CA, tmp_path: Path) -> None:
    cert, key = write(authority.issue_cert("127.0.0.1"), tmp_path)
    async with running(tmp_path, "--json", "--tls-cert", str(cert), "--tls-key", str(key)) as api:
        assert f'"api_url": "{api.url}"' in api.log.read_text()
