"""The settings: what they are called, and that a wrong one is refused by its name."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import ValidationError

from docrail.adapters.store.folders import LocalFolder
from docrail.cli.credentials import KEY_VARIABLE
from docrail.cli.main import leaves
from docrail.invoices.llm.prices import shipped_prices
from docrail.services.access.models import Scope
from docrail.services.access.oidc import ClaimMapping
from docrail.services.app import Keeping
from docrail.services.fleet.health import LOST_AFTER
from docrail.settings import Settings, missing_settings, unread_variables
from docrail.worker import outside_of


def test_every_setting_says_what_it_is() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_the_heartbeat_setting_says_when_a_worker_counts_as_gone() -> None:
    printed = Settings.model_fields["worker_heartbeat_seconds"].description
    assert printed is not None
    assert "misses two of them" in printed
    assert int(LOST_AFTER) == 2


def test_a_setting_is_an_environment_variable_with_our_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_DATA_DIR", "/srv/docrail")
    monkeypatch.setenv("DATA_DIR", "elsewhere")
    assert Settings().data_dir == Path("/srv/docrail")


def test_a_setting_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_API_PORT", "70000")
    with pytest.raises(ValidationError, match="api_port"):
        Settings()


def test_limits_of_resources_are_read_as_people_write_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().resource_limits == {"gemini_api": 10, "database": 50}
    monkeypatch.setenv("DOCRAIL_RESOURCE_LIMITS", "gemini_api=300/min, printer=0.5")
    assert Settings().resource_limits == {"gemini_api": 5, "printer": 0.5}


def test_the_resource_of_the_shipped_definitions_is_always_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_RESOURCE_LIMITS", "printer=1")
    assert Settings().resource_limits == {"gemini_api": 10, "printer": 1}


def test_wrong_limits_are_refused_with_what_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_RESOURCE_LIMITS", "gemini_api=fast")
    with pytest.raises(ValidationError, match="gemini_api: 'fast' is not a rate: expected a number of uses a second"):
        Settings()


@pytest.mark.parametrize(
    ("written", "served"), [(None, ("gemini_api", "database")), ("database", ("database",)), ("", ())]
)
def test_a_worker_serves_all_resources_or_those_of_its_setting(
    monkeypatch: pytest.MonkeyPatch, written: str | None, served: tuple[str, ...]
) -> None:
    if written is not None:
        monkeypatch.setenv("DOCRAIL_WORKER_RESOURCE_TAGS", written)
    assert Settings().served_tags == served


def test_a_worker_cannot_serve_a_resource_without_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_WORKER_RESOURCE_TAGS", "printer")
    with pytest.raises(ValidationError, match="printer: expected tags of DOCRAIL_RESOURCE_LIMITS, which has"):
        Settings()


def test_allowed_hosts_are_a_list_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_ALLOWED_HOSTS", "erp.internal:8443, 10.20.0.0/16,")
    assert Settings().allowed_hosts == ("erp.internal:8443", "10.20.0.0/16")


def test_an_allowed_host_that_cannot_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_ALLOWED_HOSTS", "10.20.3.4/16")
    with pytest.raises(ValidationError, match=r"for the network write 10\.20\.0\.0/16"):
        Settings()


@pytest.mark.parametrize(
    ("variables", "key"),
    [
        ({"DOCRAIL_GEMINI_API_KEY": "our-own"}, "our-own"),
        ({"GEMINI_API_KEY": "theirs"}, "theirs"),
        ({"DOCRAIL_GEMINI_API_KEY": "our-own", "GEMINI_API_KEY": "theirs"}, "our-own"),
        ({"DOCRAIL_GEMINI_API_KEY": ""}, None),
        ({}, None),
    ],
)
def test_the_key_of_gemini_may_stand_under_two_names_and_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], key: str | None
) -> None:
    for name in ("DOCRAIL_GEMINI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert outside_of(settings).gemini.api_key == key
    assert "our-own" not in repr(settings)
    assert "theirs" not in repr(outside_of(settings))


def test_a_key_that_fits_into_no_header_is_refused_without_repeating_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_GEMINI_API_KEY", "secret-ключ")
    with pytest.raises(ValidationError, match="expected ASCII characters without spaces") as refused:
        Settings()
    assert "secret" not in refused.value.errors()[0]["msg"]


@pytest.mark.parametrize("url", ["127.0.0.1:9200", "ftp://gemini", "http://gemini:99999", "http://[::1", "http://"])
def test_a_server_that_cannot_be_asked_is_refused_before_it_is_asked(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("DOCRAIL_GEMINI_BASE_URL", url)
    with pytest.raises(ValidationError, match="gemini_base_url"):
        Settings()


def test_secrets_lie_in_the_data_folder_by_default() -> None:
    assert outside_of(Settings(data_dir=Path("data"))).secrets.folder == Path("data/secrets")
    assert outside_of(Settings(secrets_dir=Path("mounted"))).secrets.folder == Path("mounted")


def test_files_are_kept_where_the_store_says_and_in_the_data_folder_otherwise() -> None:
    assert Settings(data_dir=Path("data"), store="").open_store() == LocalFolder(Path("data"))
    assert Settings(store="file:///srv/docrail").open_store() == LocalFolder(Path("/srv/docrail"))


def test_a_store_that_is_none_is_refused_without_repeating_what_may_be_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCRAIL_STORE", "s3://key:secret@bucket")
    with pytest.raises(ValidationError, match="expected s3://bucket/prefix or file:///folder") as refused:
        Settings()
    assert "secret" not in refused.value.errors()[0]["msg"]


def test_unlimited_retention_has_no_days() -> None:
    assert Settings().keeping == Keeping(dt.timedelta(hours=24), 90, None)
    assert Settings(keep_values_days=0, keep_originals_days=3650).keeping == Keeping(dt.timedelta(hours=24), None, 3650)


@pytest.mark.parametrize(("cron", "fits"), [("0 3 * * *", True), ("", True), ("nightly", False), ("0 3 * *", False)])
def test_the_schedule_is_a_cron_line_or_nothing(cron: str, fits: bool) -> None:
    if fits:
        assert Settings(maintenance_schedule=cron).maintenance_schedule == cron
        return
    with pytest.raises(ValidationError):
        Settings(maintenance_schedule=cron)


def test_prices_are_the_shipped_ones_unless_a_file_replaces_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert outside_of(Settings()).gemini.prices == shipped_prices()
    dearer = shipped_prices().model_copy(update={"currency": "EUR"})
    own = tmp_path / "prices.json"
    own.write_text(dearer.model_dump_json())
    monkeypatch.setenv("DOCRAIL_GEMINI_PRICES", str(own))
    assert outside_of(Settings()).gemini.prices == dearer
    own.write_text('{"read_on": "2026-11-21", "per_million_tokens": []}')
    with pytest.raises(ValidationError, match=r"(?s)invoices/llm/prices\.json.*expected an entry of model '\*'"):
        Settings()


@pytest.mark.parametrize(("written", "budget"), [("", None), ("2.50", Decimal("2.50")), ("0", Decimal(0))])
def test_a_budget_may_be_none_or_nothing(monkeypatch: pytest.MonkeyPatch, written: str, budget: Decimal | None) -> None:
    monkeypatch.setenv("DOCRAIL_GEMINI_BUDGET_PER_DAY", written)
    monkeypatch.setenv("DOCRAIL_GEMINI_BUDGET_PER_TENANT", written)
    access = outside_of(Settings()).gemini
    assert (access.budget_per_day, access.budget_per_tenant) == (budget, budget)


def test_an_unread_variable_is_reported_with_the_one_that_is_meant() -> None:
    names = ["DOCRAIL_API_PROT", "docrail_api_port", "DOCRAIL_API_KEY", "DOCRAIL_COLOUR", "DOCRAILS", "HOME"]
    assert list(unread_variables(names)) == [
        "the variable DOCRAIL_API_PROT is not a setting and has no effect: did you mean DOCRAIL_API_PORT?",
        "the variable DOCRAIL_COLOUR is not a setting and has no effect: docs/reference/settings.md has all",
    ]


def test_a_worker_warns_of_each_setting_that_steps_need_and_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCRAIL_ALLOWED_HOSTS", "erp.internal")
    monkeypatch.setenv("DOCRAIL_GEMINI_API_KEY", "")
    lines = list(missing_settings(Settings()))
    assert [line.partition(" ")[0] for line in lines] == [
        "DOCRAIL_PUBLIC_URL",
        "DOCRAIL_CALLBACK_KEY",
        "DOCRAIL_GEMINI_API_KEY",
    ]
    assert lines[2].endswith("this worker leaves steps that ask a model to others, and they fail if no worker has it")


def test_every_variable_that_a_command_or_setting_reads_is_known() -> None:
    options = [option.envvar for _, command in leaves() for option in command.params if isinstance(option.envvar, str)]
    names = [KEY_VARIABLE, *options, *(f"DOCRAIL_{name.upper()}" for name in Settings.model_fields)]
    assert options
    assert list(unread_variables(names)) == []


ISSUER = "https://sso.example/realms/office"


def with_issuer(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Settings:
    given = {"ISSUER": ISSUER, "AUDIENCE": "docrail", "SCOPES": "clerks=read+review, a=b=admin"} | variables
    for name, value in given.items():
        monkeypatch.setenv(f"DOCRAIL_OIDC_{name}", value)
    return Settings()


def test_what_roles_permit_is_read_as_people_write_it(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = with_issuer(monkeypatch)
    assert settings.oidc_scopes == {"clerks": {Scope.READ, Scope.REVIEW}, "a=b": {Scope.ADMIN}}


def test_empty_variables_of_single_sign_on_count_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [name.removeprefix("oidc_").upper() for name in Settings.model_fields if name.startswith("oidc_")]
    settings = with_issuer(monkeypatch, **dict.fromkeys(names, ""))
    assert (settings.issuer, settings.claim_mapping) == (None, ClaimMapping())


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"ISSUER": "http://sso.example"}, "oidc_issuer.*expected https://, or http:// on this machine"),
        ({"ISSUER": "https://user:word@sso.example"}, "expected https://, a host and a path"),
        ({"JWKS_URL": "http://10.0.0.1/keys"}, "oidc_jwks_url.*expected https://"),
        ({"ISSUER": ""}, "oidc_scopes.*need DOCRAIL_OIDC_ISSUER"),
        ({"AUDIENCE": ""}, "oidc_scopes.*expected DOCRAIL_OIDC_AUDIENCE"),
        ({"SCOPES": ""}, "oidc_scopes.*expected what the provider"),
        ({"SCOPES": "clerks"}, "oidc_scopes.*expected entries like docrail-clerks=read"),
        ({"SCOPES": "clerks=root"}, "oidc_scopes.clerks"),
    ],
)
def test_settings_of_single_sign_on_that_do_not_fit_are_refused(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], problem: str
) -> None:
    with pytest.raises(ValidationError, match=f"(?s){problem}"):
        with_issuer(monkeypatch, **variables)


def test_a_secret_is_not_shown_by_the_error_of_another_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError) as error:
        with_issuer(monkeypatch, SCOPES="", CLIENT_SECRET="word-4711")
    assert "word-4711" not in str(error.value)
