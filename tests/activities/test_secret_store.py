"""Secrets by reference: whose they are, where they may go, and that nothing tells them."""

from pathlib import Path

import pytest

from activities.secret_store import (
    MissingSecretError,
    RefusedSecretError,
    Revealed,
    SecretStore,
    name_of,
    refuse_references,
)
from dag.values import Json


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, content in {"acme/erp": "hush-hush\n", "acme/two_lines": "a\nb\n", "globex/bank": "other-word"}.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    return tmp_path


async def test_a_secret_is_the_content_of_its_file(folder: Path) -> None:
    store = SecretStore(folder)
    assert await store.load("acme", "erp") == "hush-hush"
    assert await store.load("acme", "two_lines") == "a\nb"


async def test_a_new_content_needs_no_restart(folder: Path) -> None:
    store = SecretStore(folder)
    await store.load("acme", "erp")
    (folder / "acme" / "erp").write_text("new-word")
    assert await store.load("acme", "erp") == "new-word"


async def test_a_tenant_has_only_its_own(folder: Path) -> None:
    store = SecretStore(folder)
    with pytest.raises(MissingSecretError, match="tenant 'acme' has no secret 'bank': expected the file acme/bank"):
        await store.load("acme", "bank")
    assert await store.find("acme", "bank") is None


@pytest.mark.parametrize("tenant", ["..", "../globex", "", "/etc", ".", "a/../globex"])
async def test_a_tenant_is_no_path(folder: Path, tenant: str) -> None:
    with pytest.raises(MissingSecretError):
        await SecretStore(folder / "acme").load(tenant, "bank")


async def test_without_a_folder_there_are_no_secrets() -> None:
    with pytest.raises(MissingSecretError, match="DOCRAIL_SECRETS_DIR"):
        await SecretStore().load("acme", "erp")


async def test_an_empty_file_a_folder_and_bytes_that_are_no_text_are_no_secrets(folder: Path) -> None:
    (folder / "acme" / "empty").write_text("\n")
    (folder / "acme" / "folder").mkdir()
    (folder / "acme" / "bytes").write_bytes(b"\xff\xfe")
    for name in ("empty", "folder", "bytes"):
        with pytest.raises(MissingSecretError):
            await SecretStore(folder).load("acme", name)


async def test_references_are_replaced_and_the_rest_stays(folder: Path) -> None:
    texts = {"Authorization": "Bearer secret://erp", "X-Both": "secret://erp:secret://erp", "Accept": "*/*"}
    revealed = await SecretStore(folder).reveal("acme", texts, "erp.internal")
    assert revealed.texts == {"Authorization": "Bearer hush-hush", "X-Both": "hush-hush:hush-hush", "Accept": "*/*"}
    assert "hush" not in repr(revealed)


@pytest.mark.parametrize(
    "text", ["secret://", "secret://../globex/bank", "secret://erp.hosts/..", "secret:///etc/passwd"]
)
async def test_a_reference_is_a_name_and_never_a_path(folder: Path, text: str) -> None:
    (folder / "acme" / "erp.hosts").write_text("a.example")
    with pytest.raises((MissingSecretError, RefusedSecretError)):
        await SecretStore(folder).reveal("acme", {"X": text}, "evil.example")


async def test_a_secret_goes_only_to_the_hosts_that_are_listed_for_it(folder: Path) -> None:
    (folder / "acme" / "erp.hosts").write_text("erp.internal\nERP2.internal\n")
    store = SecretStore(folder)
    for host in ("erp.internal", "erp2.internal"):
        assert (await store.reveal("acme", {"X": "secret://erp"}, host)).texts == {"X": "hush-hush"}
    with pytest.raises(RefusedSecretError, match=r"'erp' may not go to evil\.example: the file erp\.hosts"):
        await store.reveal("acme", {"X": "secret://erp"}, "evil.example")


def test_what_comes_back_is_told_without_the_secret() -> None:
    revealed = Revealed({}, ('hush"hush', "abc"))
    assert revealed.redact('you sent hush"hush and {"key": "hush\\"hush"}, abc') == (
        'you sent [secret] and {"key": "[secret]"}, abc'
    )


@pytest.mark.parametrize("value", ["secret://k", [{"a": ["secret://k"]}], {"a": " secret://k "}])
def test_a_reference_where_none_is_resolved_is_refused(value: Json) -> None:
    with pytest.raises(ValueError, match="would be sent as it stands"):
        refuse_references(value)


@pytest.mark.parametrize("value", ["about secret://k", None, 1, {"secret://k": 1}, []])
def test_a_text_about_a_reference_is_a_text(value: Json) -> None:
    assert refuse_references(value) == value


def test_a_name_stands_alone_behind_its_scheme() -> None:
    assert name_of("secret://webhook-key_2") == "webhook-key_2"
    for wrong in ("webhook", "secret://", "secret://a b", "secret://a/b", " secret://a"):
        with pytest.raises(ValueError, match="expected secret://"):
            name_of(wrong)
