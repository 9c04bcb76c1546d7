"""Secrets by reference: whose they are, where they may go, and that nothing reveals them."""

from pathlib import Path

import pytest

from docrail.adapters.secrets import (
    MissingSecretError,
    RefusedSecretError,
    SecretStore,
    name_of,
    refuse_references,
)
from docrail.dag.values.json_values import Json


async def load(store: SecretStore, tenant: str, name: str) -> str:
    """Load a secret that the author named."""
    return await store.load(tenant, name, field="secret", named=(name,))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"acme/erp": "hush-hush\n", "acme/erp.hosts": "erp.internal", "acme/two_lines": "a\nb\n"}
    files |= {"acme/two_lines.hosts": "erp.internal", "globex/bank": "other-word"}
    for path, content in files.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    return tmp_path


async def test_a_secret_is_the_content_of_its_file(folder: Path) -> None:
    store = SecretStore(folder)
    assert await load(store, "acme", "erp") == "hush-hush"
    assert await load(store, "acme", "two_lines") == "a\nb"


async def test_a_new_content_needs_no_restart(folder: Path) -> None:
    store = SecretStore(folder)
    await load(store, "acme", "erp")
    (folder / "acme" / "erp").write_text("new-word")
    assert await load(store, "acme", "erp") == "new-word"


async def test_a_tenant_has_only_its_own(folder: Path) -> None:
    store = SecretStore(folder)
    with pytest.raises(MissingSecretError, match="tenant 'acme' has no secret 'bank': expected the file acme/bank"):
        await load(store, "acme", "bank")
    assert await store.find("acme", "bank") is None


@pytest.mark.parametrize("tenant", ["..", "../globex", "", "/etc", ".", "a/../globex"])
async def test_a_tenant_is_no_path(folder: Path, tenant: str) -> None:
    with pytest.raises(MissingSecretError):
        await load(SecretStore(folder / "acme"), tenant, "bank")


async def test_without_a_folder_there_are_no_secrets() -> None:
    with pytest.raises(MissingSecretError, match="DOCRAIL_SECRETS_DIR"):
        await load(SecretStore(), "acme", "erp")


async def test_an_empty_file_a_folder_and_bytes_that_are_no_text_are_no_secrets(folder: Path) -> None:
    (folder / "acme" / "empty").write_text("\n")
    (folder / "acme" / "folder").mkdir()
    (folder / "acme" / "bytes").write_bytes(b"\xff\xfe")
    for name in ("empty", "folder", "bytes"):
        with pytest.raises(MissingSecretError):
            await load(SecretStore(folder), "acme", name)


async def test_references_are_replaced_and_the_rest_stays(folder: Path) -> None:
    texts = {"Authorization": "Bearer secret://erp", "X-Both": "secret://erp:secret://erp", "Accept": "*/*"}
    revealed = await SecretStore(folder).reveal("acme", texts, "erp.internal", named=("erp",))
    assert revealed.texts == {"Authorization": "Bearer hush-hush", "X-Both": "hush-hush:hush-hush", "Accept": "*/*"}
    assert "hush" not in repr(revealed)


@pytest.mark.parametrize(
    "text", ["secret://", "secret://../globex/bank", "secret://erp.hosts/..", "secret:///etc/passwd"]
)
async def test_a_reference_is_a_name_and_never_a_path(folder: Path, text: str) -> None:
    (folder / "acme" / "erp.hosts").write_text("a.example")
    with pytest.raises((MissingSecretError, RefusedSecretError)):
        await SecretStore(folder).reveal("acme", {"X": text}, "evil.example", named=("erp", "globex"))


async def test_a_secret_goes_only_to_the_hosts_that_are_listed_for_it(folder: Path) -> None:
    (folder / "acme" / "erp.hosts").write_text("erp.internal\nERP2.internal\n")
    store = SecretStore(folder)
    for host in ("erp.internal", "erp2.internal"):
        revealed = await store.reveal("acme", {"X": "secret://erp"}, host, named=("erp",))
        assert revealed.texts == {"X": "hush-hush"}
    with pytest.raises(RefusedSecretError, match=r"'erp' may not go to evil\.example: the file erp\.hosts"):
        await store.reveal("acme", {"X": "secret://erp"}, "evil.example", named=("erp",))


@pytest.mark.parametrize(("listed", "host"), [("api.erp.internal", "erp.internal"), ("", "erp.internal")])
async def test_a_host_is_listed_by_its_whole_name_and_an_empty_list_allows_none(
    folder: Path, listed: str, host: str
) -> None:
    (folder / "acme" / "erp.hosts").write_text(listed)
    with pytest.raises(RefusedSecretError, match="may not go to"):
        await SecretStore(folder).reveal("acme", {"X": "secret://erp"}, host, named=("erp",))


async def test_without_a_list_no_host_may_receive_it(folder: Path) -> None:
    (folder / "acme" / "erp.hosts").unlink()
    with pytest.raises(RefusedSecretError, match=r"no host may receive the secret 'erp': .* the file acme/erp\.hosts"):
        await SecretStore(folder).reveal("acme", {"X": "secret://erp"}, "erp.internal", named=("erp",))


async def test_only_what_the_author_named_is_revealed_whatever_a_value_says(folder: Path) -> None:
    store, texts = SecretStore(folder), {"Authorization": "secret://two_lines", "X-Note": "see secret://erp"}
    with pytest.raises(RefusedSecretError) as refused:
        await store.reveal("acme", texts, "erp.internal", named=("two_lines",))
    assert str(refused.value) == (
        "headers.X-Note refers to the secret 'erp', and the step's config does not name it as its author wrote it: "
        "write secret://erp there, without a template, if the step may use it"
    )


async def test_a_key_that_signs_is_one_that_the_author_named(folder: Path) -> None:
    with pytest.raises(RefusedSecretError, match="secret refers to the secret 'erp'"):
        await SecretStore(folder).load("acme", "erp", field="secret", named=("other",))


async def test_a_forbidden_secret_looks_like_a_missing_one(folder: Path) -> None:
    for name in ("erp", "nothing"):
        with pytest.raises(RefusedSecretError, match=f"the secret '{name}', and the step's config"):
            await SecretStore(folder).reveal("acme", {"X": f"secret://{name}"}, "erp.internal", named=())


async def test_a_file_that_is_too_long_is_refused_and_not_cut(folder: Path) -> None:
    (folder / "acme" / "longest").write_text("x" * 65_536)
    assert len(await load(SecretStore(folder), "acme", "longest")) == 65_536
    (folder / "acme" / "long").write_text("x" * 65_537)
    for find in (load(SecretStore(folder), "acme", "long"), SecretStore(folder).find("acme", "long")):
        with pytest.raises(RefusedSecretError, match="the file of the secret 'long' has more than 65536 bytes"):
            await find


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
