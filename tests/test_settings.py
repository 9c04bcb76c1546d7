"""The settings: what they are called, and that a wrong one is refused by its name."""

import base64
import datetime as dt
import os
from decimal import Decimal
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from pydantic import ValidationError

from docrail.activities.registry import load_catalogue
from docrail.adapters.settings_file import SettingsFileError, setting_text
from docrail.adapters.store.folders import LocalFolder
from docrail.cli.credentials import KEY_VARIABLE
from docrail.cli.main import leaves
from docrail.dag.validation.validate import check_definition
from docrail.invoices.llm.prices import shipped_prices
from docrail.services.access.models import Scope
from docrail.services.access.oidc import ClaimMapping
from docrail.services.app import Keeping
from docrail.services.fleet.health import LOST_AFTER
from docrail.settings import Settings, explain_settings, missing_settings, unread_variables
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
    with pytest.raises(ValidationError, match="gemini_api: 'fast' is not a rate: expected uses per second"):
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
    assert Settings().keeping == Keeping(dt.timedelta(hours=24), 90, None, 365)
    settings = Settings(keep_values_days=0, keep_originals_days=3650, keep_runs_days=0)
    assert settings.keeping == Keeping(dt.timedelta(hours=24), None, 3650, None)


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


@pytest.fixture
def settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "docrail.toml"
    monkeypatch.setenv("DOCRAIL_SETTINGS_FILE", str(path))
    return path


OF_FILE = """
api_port = 8443
handlers = ["./handlers", "acme.handlers"]
database_url = "postgresql://docrail:hunter2@db:5432/docrail"

[resource_limits]
gemini_api = "5/s"
printer = "30/min"

[oidc]
issuer = "https://sso.example"
audience = "docrail"

[oidc.scopes]
docrail-clerks = ["read", "review"]
"""


def test_settings_are_read_from_the_tables_of_a_file(settings_file: Path) -> None:
    settings_file.write_text(OF_FILE)
    settings = Settings()
    assert settings.api_port == 8443
    assert settings.handlers == ("./handlers", "acme.handlers")
    assert settings.resource_limits == {"gemini_api": 5, "printer": 0.5}
    assert settings.oidc_issuer == "https://sso.example"
    assert settings.oidc_scopes == {"docrail-clerks": frozenset({Scope.READ, Scope.REVIEW})}


def test_a_variable_takes_precedence_over_the_file(settings_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings_file.write_text(OF_FILE)
    monkeypatch.setenv("DOCRAIL_API_PORT", "9000")
    assert Settings().api_port == 9000


def test_settings_that_are_read_alone_come_from_the_file_too(
    settings_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_file.write_text(OF_FILE)
    assert setting_text("handlers") == "./handlers, acme.handlers"
    monkeypatch.setenv("DOCRAIL_HANDLERS", "")
    assert (setting_text("handlers"), setting_text("data_dir")) == ("", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("api_prt = 1", "there is no setting api_prt: did you mean api_port?"),
        ("[oidc]\nisuer = 'x'", "there is no setting oidc_isuer: did you mean oidc_issuer?"),
        ("api_port", "is not a TOML file: "),
        (None, "No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(settings_file: Path, text: str | None, message: str) -> None:
    if text is not None:
        settings_file.write_text(text)
    with pytest.raises(SettingsFileError) as refused:
        Settings()
    assert str(refused.value).startswith(f"DOCRAIL_SETTINGS_FILE: {settings_file}")
    assert message in str(refused.value)


def test_a_profile_changes_defaults_and_no_given_value(settings_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings_file.write_text('profile = "test"')
    assert Settings().sandboxed
    assert not Settings(sandboxed=False).sandboxed
    monkeypatch.setenv("DOCRAIL_PROFILE", "dev")
    assert not Settings().sandboxed


SAFE = {
    "profile": "prod",
    "database_url": "postgresql://docrail:Xk29-vq@db:5432/docrail",
    "callback_key": "k" * 32,
    "payload_keys": f"2026-11:{base64.b64encode(b'k' * 32).decode()}",
    "api_host": "0.0.0.0",
    "trusted_proxies": "10.0.0.0/8",
    "public_url": "https://docrail.example",
}


def test_production_accepts_what_is_safe() -> None:
    assert Settings.model_validate(SAFE).log_level == "info"


@pytest.mark.parametrize(
    ("unsafe", "message"),
    [
        ({"access": "local", "api_host": "127.0.0.1"}, "DOCRAIL_ACCESS: found `local`"),
        ({"database_url": "postgresql://docrail_service:docrail@db/docrail"}, "DOCRAIL_DATABASE_URL: the password is"),
        ({"callback_key": ""}, "DOCRAIL_CALLBACK_KEY: not set"),
        ({"payload_keys": None}, "DOCRAIL_PAYLOAD_KEYS: not set"),
        ({"trusted_proxies": ""}, "DOCRAIL_API_HOST: 0.0.0.0 would be served over plain HTTP"),
        ({"public_url": "http://docrail.example"}, "DOCRAIL_PUBLIC_URL: found plain HTTP to docrail.example"),
        ({"notify_url": "http://chat.internal/hook"}, "DOCRAIL_NOTIFY_URL: found plain HTTP to chat.internal"),
        ({"store_endpoint": "http://minio.internal:9000"}, "DOCRAIL_STORE_ENDPOINT: found plain HTTP"),
    ],
)
def test_production_refuses_what_is_unsafe(unsafe: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate(SAFE | unsafe)
    assert "(1):" in str(refused.value)
    assert message in str(refused.value)
    assert Settings.model_validate(SAFE | unsafe | {"profile": "dev"}).profile == "dev"


def test_each_setting_is_listed_with_its_source_and_no_secret(settings_file: Path) -> None:
    settings_file.write_text(f'{OF_FILE}[gemini]\nbudget_per_day = "12.50"\n')
    environment = {"DOCRAIL_PROFILE": "test", "docrail_api_host": "::1", "GEMINI_API_KEY": "theirs"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        found = {each.name: each for each in explain_settings(Settings(), os.environ)}
    assert found.keys() == Settings.model_fields.keys()
    shown = {name: (found[name].value, found[name].source) for name in found}
    assert shown["api_host"] == ("::1", "docrail_api_host")
    assert shown["gemini_api_key"] == ("********", "GEMINI_API_KEY")
    assert shown["sandboxed"] == ("True", "profile test")
    assert shown["log_level"] == ("warning", "default")
    assert shown["database_url"] == ("postgresql://docrail:********@db:5432/docrail", str(settings_file))
    assert shown["oidc_scopes"] == ("docrail-clerks=read+review", str(settings_file))
    assert shown["gemini_budget_per_day"] == ("12.50", str(settings_file))
    assert "hunter2" not in str(shown)
    assert "theirs" not in str(shown)


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_an_empty_variable_counts_as_unset_unless_it_says_none(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    default = getattr(Settings(), name)
    monkeypatch.setenv(f"DOCRAIL_{name.upper()}", "")
    empty = {"worker_resource_tags": (), "maintenance_schedule": "", "temporal_ui_url": ""}
    assert getattr(Settings(), name) == empty.get(name, default)


def test_the_databases_password_may_have_any_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_DATABASE_URL", "postgresql://docrail@db:5432/docrail")
    monkeypatch.setenv("DOCRAIL_DATABASE_PASSWORD", "p@ss:w/rd?#%")
    url = urlsplit(Settings().database_url)
    assert (url.username, url.hostname, unquote(url.password or "")) == ("docrail", "db", "p@ss:w/rd?#%")
    monkeypatch.setenv("DOCRAIL_DATABASE_URL", "postgresql://docrail:other@db:5432/docrail")
    with pytest.raises(ValidationError, match="expected a user without a password: DOCRAIL_DATABASE_PASSWORD has it"):
        Settings()


def test_steps_get_the_installations_retries_where_their_definition_gives_none() -> None:
    settings = Settings(retry_max_retries=7, retry_initial_delay=2, retry_max_delay=20)
    own = "max_retries: 0, retry_config: {jitter: 0}"
    text = f"id: a\nsteps:\n  - {{id: a, handler: noop}}\n  - {{id: b, handler: noop, {own}}}"
    definition, problems = check_definition(text, load_catalogue(), fallbacks=settings.step_defaults)
    assert (definition is not None, problems) == (True, [])
    assert definition is not None
    first, second = definition.steps
    assert (first.max_retries, first.retry_config.initial_delay, first.retry_config.max_delay) == (7, 2, 20)
    assert (second.max_retries, second.retry_config.initial_delay, second.retry_config.jitter) == (0, 2, 0)


def test_a_definitions_longer_first_delay_lifts_the_installations_longest() -> None:
    settings = Settings(retry_max_delay=20)
    text = "id: a\ndefaults: {retry_config: {initial_delay: 60}}\nsteps:\n  - {id: a, handler: noop}"
    definition, problems = check_definition(text, load_catalogue(), fallbacks=settings.step_defaults)
    assert problems == []
    assert definition is not None
    assert definition.steps[0].retry_config.max_delay == 60


def test_a_longest_delay_below_the_first_is_refused() -> None:
    with pytest.raises(ValidationError, match="expected at least the first delay, DOCRAIL_RETRY_INITIAL_DELAY: 10"):
        Settings(retry_max_delay=5)


def test_slots_are_given_by_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCRAIL_WORKER_ACTIVITY_SLOTS", "8")
    monkeypatch.setenv("DOCRAIL_WORKER_TAG_SLOTS", "gemini_api=2")
    settings = Settings()
    assert (settings.slots_of("gemini_api"), settings.slots_of("database")) == (2, 8)
    for wrong, message in {
        "printer=1": "expected tags of",
        "gemini_api": "expected entries like",
        "gemini_api=0": "1;",
    }.items():
        monkeypatch.setenv("DOCRAIL_WORKER_TAG_SLOTS", wrong)
        with pytest.raises(ValidationError, match=message):
            Settings()
