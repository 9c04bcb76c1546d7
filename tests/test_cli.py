"""The other commands: help that teaches, and errors in plain words."""

import json
import os
import re
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from socket import socket

import pytest
import typer

from docrail.cli.listing import ID, NUMBER, Listing
from docrail.cli.main import NOUNS, leaves
from docrail.cli.printout import Printout
from tests.commands import Ended, run
from tests.stack import Servers

ALSO_SHORT = {"document extract", "definition validate", "definition test"}
"""Commands that have a shortcut, which their example shows."""


def docrail(*arguments: str, **environment: str) -> Ended:
    return run(arguments, {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **environment})


def test_without_a_command_it_lists_them() -> None:
    shown = docrail()
    commands = ("demo", "validate", "extract", "test", "up", *NOUNS)
    assert shown.code == 2
    assert all(f"\n  {command} " in shown.err for command in commands)


def test_a_misspelt_variable_is_reported_and_the_command_goes_on() -> None:
    shown = docrail("validate", "definitions/invoice.yaml", DOCRAIL_API_PROT="8001")
    assert shown.code == 0
    assert shown.err == (
        "docrail: the variable DOCRAIL_API_PROT is not a setting and has no effect: did you mean DOCRAIL_API_PORT?\n"
    )


def test_every_command_and_option_explains_itself() -> None:
    found = list(leaves())
    silent = [words for words, command in found if not command.help]
    silent += [
        f"{words} {option.name}"
        for words, command in found
        for option in command.params
        if not getattr(option, "help", "")
    ]
    assert silent == []


def test_the_help_of_a_command_has_an_example_that_names_it_and_its_exit_codes() -> None:
    helps = {words: command.help or "" for words, command in leaves() if " " in words}
    assert {
        words for words, text in helps.items() if words not in ALSO_SHORT and f"docrail {words}" not in text
    } == set()
    assert {words for words, text in helps.items() if "Exit codes: " not in text} == set()


def test_every_command_prints_json_if_it_is_asked_to() -> None:
    assert [words for words, command in leaves() if not any("--json" in param.opts for param in command.params)] == []


def test_results_are_printed_for_people_or_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = Printout({"a": 1}, ["a line", Listing({"name": ID, "size": NUMBER}, [("a", "1")])])
    found.print(as_json=False)
    assert [line.split() for line in capsys.readouterr().out.splitlines()[:2]] == [["a", "line"], ["name", "size"]]
    found.print(as_json=True)
    assert json.loads(capsys.readouterr().out) == {"a": 1}


def test_a_command_that_did_not_succeed_prints_what_it_found_first(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="the chain is broken"):
        Printout({"intact": False}, error="the chain is broken").print(as_json=True)
    with pytest.raises(typer.Exit) as ended:
        Printout([], "one was not approved", code=1).print(as_json=False)
    assert ended.value.exit_code == 1
    assert capsys.readouterr().out == '{\n  "intact": false\n}\none was not approved\n'


def test_a_reason_is_given_by_the_same_option_everywhere() -> None:
    options = {opt for _, command in leaves() for param in command.params for opt in param.opts}
    assert "--reason" in options
    assert "--why" not in options


def test_the_version_is_that_of_the_package() -> None:
    shown = docrail("--version")
    assert (shown.code, shown.out) == (0, f"docrail {version('docrail')}\n")


def test_the_shell_completes_nouns_verbs_and_options() -> None:
    def completed(typed: str) -> list[str]:
        words = typed.split(" ")
        variables = {"_DOCRAIL_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
        return docrail(**variables).out.split()

    assert completed("docrail re") == ["restore", "review"]
    assert completed("docrail run wa") == ["waits"]
    assert completed("docrail run list --sta") == ["--status"]
    assert docrail("--show-completion", "bash").code in (0, 1)


def test_a_misspelt_command_is_refused_with_the_one_that_is_meant() -> None:
    for words, meant in ((("revew",), "review"), (("review", "reopn", "x"), "reopen")):
        refused = docrail(*words)
        assert refused.code == 2
        assert f"No such command {words[-2] if len(words) > 2 else words[-1]!r}. Did you mean {meant!r}?" in refused.err


def test_ctrl_c_ends_a_command_without_a_traceback(tmp_path: Path) -> None:
    fifo = tmp_path / "never.yaml"
    os.mkfifo(fifo)
    command = (sys.executable, "-m", "docrail", "validate", str(fifo))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process, fifo.open("w"):  # opens when the command has: it is past its start, and reads
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")


def test_an_unknown_command_is_refused() -> None:
    refused = docrail("fly")
    assert refused.code == 2
    assert "No such command 'fly'" in refused.err


def test_a_wrong_setting_is_named_without_a_traceback() -> None:
    refused = docrail("server", "migrate", DOCRAIL_API_PORT="many")
    assert refused.code == 1
    assert (
        refused.err
        == "docrail: DOCRAIL_API_PORT: Input should be a valid integer, unable to parse string as an integer\n"
    )


@pytest.mark.parametrize("command", ["worker start", "server start", "server migrate"])
def test_a_wrong_connection_is_reported_without_a_traceback(command: str, embedded: Servers) -> None:
    refused = docrail(
        *command.split(), DOCRAIL_DATABASE_URL=embedded.dsn, DOCRAIL_API_PORT="0", TEMPORAL_PROFILE="missing"
    )
    assert refused.code != 0
    assert "invalid settings of the connection to Temporal: Profile 'missing' not found" in refused.err
    assert "Traceback" not in refused.err


def test_migrate_says_what_it_applied_and_may_be_repeated(embedded: Servers) -> None:
    servers = {
        "DOCRAIL_DATABASE_URL": embedded.dsn,
        "DOCRAIL_TEMPORAL_ADDRESS": embedded.temporal_address,
        "DOCRAIL_TASK_QUEUE": "never-migrated",  # other tests limit the resources of the usual one
    }
    first, again = docrail("server", "migrate", **servers), docrail("server", "migrate", **servers)
    assert first.code == again.code == 0, first.err
    assert "limited gemini_api to 10/s\nlimited database to 50/s\n" in first.out
    assert "scheduled the background tasks: every minute\n" in first.out
    assert first.out.endswith("Temporal's namespace 'default' is up to date\n")
    assert again.out == "the database is up to date\nTemporal's namespace 'default' is up to date\n"


def test_migrate_without_a_server_says_so() -> None:
    refused = docrail("server", "migrate", DOCRAIL_DATABASE_URL="postgresql://docrail:secret@127.0.0.1:1/docrail")
    assert refused.code == 1
    assert "cannot reach the database of DOCRAIL_DATABASE_URL" in refused.err
    assert "secret" not in refused.err


def test_migrate_without_temporal_says_so_and_the_database_is_migrated(embedded: Servers) -> None:
    refused = docrail("server", "migrate", DOCRAIL_DATABASE_URL=embedded.dsn, DOCRAIL_TEMPORAL_ADDRESS="127.0.0.1:1")
    assert refused.code == 1
    assert refused.out.endswith("the database is up to date\n")
    assert refused.err.startswith(
        "docrail: Temporal is not available: it cannot be reached (its address is 127.0.0.1:1): "
    )
    assert "Connection refused" in refused.err


@pytest.mark.parametrize("command", ["worker start", "server start", "server migrate"])
@pytest.mark.parametrize("url", ["foo", "mysql://h/d", "postgresql://u:secret@h:99999999/d"])
def test_a_wrong_database_url_is_reported_without_its_secrets(command: str, url: str) -> None:
    refused = docrail(*command.split(), DOCRAIL_DATABASE_URL=url)
    assert refused.code == 1
    assert "DOCRAIL_DATABASE_URL: " in refused.err
    assert "expected a URL like postgresql://user@host:5432/database" in refused.err
    assert "Traceback" not in refused.err
    assert "secret" not in refused.err


def test_a_missing_database_is_reported(embedded: Servers) -> None:
    refused = docrail("server", "migrate", DOCRAIL_DATABASE_URL=embedded.dsn.replace("/docrail?", "/missing?"))
    assert (refused.code, refused.err) == (
        1,
        'docrail: cannot reach the database of DOCRAIL_DATABASE_URL: database "missing" does not exist\n',
    )


def test_a_worker_without_temporal_says_so(embedded: Servers) -> None:
    refused = docrail("worker", "start", DOCRAIL_DATABASE_URL=embedded.dsn, DOCRAIL_TEMPORAL_ADDRESS="127.0.0.1:1")
    assert refused.code == 1
    *warnings, reason = refused.err.splitlines()
    assert all(re.match(r"docrail: DOCRAIL_\w+ is not set: ", line) for line in warnings)
    assert reason.startswith("docrail: Temporal is not available: it cannot be reached (its address is 127.0.0.1:1): ")


@pytest.mark.parametrize("option", ["--port", "--temporal-port", "--ui-port"])
def test_a_port_that_is_none_is_refused(option: str, tmp_path: Path) -> None:
    refused = docrail("up", "--data", str(tmp_path), option, "99999")
    assert refused.code == 2
    assert f"Invalid value for '{option}': Input should be less than or equal to 65535" in refused.err


def test_a_port_that_is_asked_for_twice_is_named_with_both_options(tmp_path: Path) -> None:
    refused = docrail("up", "--data", str(tmp_path), "--port", "18100", "--temporal-port", "0", "--ui-port", "18100")
    assert (refused.code, refused.err) == (
        1,
        "docrail: --port and --ui-port ask for the same port, 18100: give each a port of its own\n",
    )


def test_ctrl_c_while_the_commands_are_loaded_is_no_traceback(tmp_path: Path) -> None:
    slow = "import sys, time\nprint('loading', flush=True)\ntime.sleep(60)\n"
    (tmp_path / "typer.py").write_text(slow)  # stands before the real one
    process = subprocess.Popen(
        (sys.executable, "-m", "docrail", "up"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")


def groups() -> list[tuple[str, ...]]:
    return [(), *((name,) for name in NOUNS)]


@pytest.mark.parametrize("group", groups(), ids=lambda group: group[0] if group else "docrail")
def test_no_line_of_a_list_of_commands_is_cut_off_on_a_usual_terminal(group: tuple[str, ...]) -> None:
    shown = docrail(*group, "--help", COLUMNS="80")
    assert [line for line in shown.out.partition("Commands:")[2].splitlines() if line.endswith("...")] == []


@pytest.mark.parametrize(
    "command", ["review export gold", "calibration list", "calibration set 1", "calibration fit --decisions"]
)
def test_an_unavailable_database_is_reported_with_what_to_do(command: str) -> None:
    refused = docrail(*command.split(), DOCRAIL_DATABASE_URL="postgresql://docrail@127.0.0.1:1/docrail")
    assert refused.code == 1
    assert refused.err.startswith("docrail: cannot reach the database of DOCRAIL_DATABASE_URL: ")
    assert refused.err.endswith("; is it running? `docrail up` prints the URL of its own\n")


def test_an_unavailable_temporal_is_reported_in_one_line_with_what_to_do() -> None:
    refused = docrail("lake", "compact", DOCRAIL_TEMPORAL_ADDRESS="127.0.0.1:1")
    assert (refused.code, refused.err) == (
        1,
        (
            "docrail: Temporal is not available: it cannot be reached (its address is 127.0.0.1:1): Connection refused"
            "; is it running? `docrail up` starts one, and DOCRAIL_TEMPORAL_ADDRESS is its address\n"
        ),
    )


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("server", "start"), "DOCRAIL_API_PORT"),
        (("server", "fake-gemini", "--port", "{port}"), "--port"),
    ],
)
def test_a_port_in_use_is_reported_with_what_to_do(command: tuple[str, ...], option: str) -> None:
    with socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        refused = docrail(*(word.format(port=port) for word in command), DOCRAIL_API_PORT=port)
    assert (refused.code, refused.out, refused.err) == (
        1,
        "",
        (
            f"docrail: port {port} is taken by another program: stop that program, or choose another port with {option}"
            f" ({option} 0 takes a free one)\n"
        ),
    )


def test_an_address_of_another_machine_is_not_reported_as_a_taken_port(tmp_path: Path) -> None:
    refused = docrail("up", "--require-keys", "--data", str(tmp_path), DOCRAIL_API_HOST="192.0.2.1")  # RFC 5737
    assert refused.code == 1
    assert "cannot listen on 192.0.2.1:8000: Cannot assign requested address: choose another" in refused.err


def test_a_file_in_place_of_the_data_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("")
    refused = docrail("up", "--data", str(tmp_path / "note"))
    assert refused.code == 1
    assert f"{tmp_path / 'note'} cannot be the folder of the data: File exists; expected a folder" in refused.err


def test_a_server_that_is_not_docrails_api_is_reported_with_what_to_do(embedded: Servers) -> None:
    refused = docrail("run", "list", "--api", embedded.temporal_ui_url)
    assert refused.code == 1
    assert "is not Docrail's API: it answered 200 without a reason; --api sets the API's address" in refused.err


@pytest.mark.parametrize("command", ["run list", "review list", "definition diff x@1 x@2", "run invoice"])
def test_an_unavailable_api_is_reported_with_what_to_do(command: str) -> None:
    refused = docrail(*command.split(), DOCRAIL_API_URL="http://127.0.0.1:1")
    assert refused.code == 1
    assert refused.err.startswith("docrail: no answer from the API at http://127.0.0.1:1 (")
    assert refused.err.endswith("): is it running? `docrail up` starts it, --api sets its address\n")
