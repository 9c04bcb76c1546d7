"""Files of a watched folder, into which an attacker writes too: nothing outside of it is read, and nothing waits."""

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from docrail.services.errors import InvalidInput, TooLarge
from docrail.services.triggers.folders import FolderUnknown, SettledFile, find_folder, read_file, settled_files

SECRET = b"of another tenant"


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """Two tenants, each with a folder of scans and a file in it."""
    for tenant, data in (("acme", b"own"), ("globex", SECRET)):
        put(tmp_path / tenant / "scans" / "in" / "a.txt", data)
    return tmp_path


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return aged(path)


def aged(path: Path) -> Path:
    at = time.time() - 60
    os.utime(path, (at, at), follow_symlinks=False)
    return path


def places(files: list[SettledFile]) -> list[str]:
    return [file.place for file in files]


def replace_by_link(path: Path, inbox: Path) -> None:
    path.unlink()
    path.symlink_to(inbox / "globex" / "scans" / "in" / "a.txt")


def replace_parent_by_link(path: Path, inbox: Path) -> None:
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to(inbox / "globex" / "scans" / "in")


def replace_by_pipe(path: Path, _: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replace_by_socket(path: Path, _: Path) -> None:
    path.unlink()
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def replace_by_folder(path: Path, _: Path) -> None:
    path.unlink()
    path.mkdir()


def remove(path: Path, _: Path) -> None:
    path.unlink()


REPLACED = [replace_by_link, replace_parent_by_link, replace_by_pipe, replace_by_socket, replace_by_folder, remove]


@pytest.mark.parametrize("replace", REPLACED)
def test_what_a_file_was_replaced_by_is_neither_read_nor_waited_for(
    inbox: Path, replace: Callable[[Path, Path], None]
) -> None:
    own, folder = find_folder(inbox, "acme", "scans")
    [file] = settled_files(own / folder, 9)
    assert read_file(own, f"{folder}/{file.place}", 1_000) == b"own"
    replace(own / folder / file.place, inbox)
    assert read_file(own, f"{folder}/{file.place}", 1_000) is None


@pytest.mark.parametrize("replace", REPLACED)
def test_what_is_no_file_of_the_folder_is_not_listed(inbox: Path, replace: Callable[[Path, Path], None]) -> None:
    own, folder = find_folder(inbox, "acme", "scans")
    replace(own / folder / "in" / "a.txt", inbox)
    put(own / folder / "b.txt", b"own")
    assert places(settled_files(own / folder, 9)) == ["b.txt"]


def test_a_watched_folder_that_becomes_a_link_is_not_followed(inbox: Path) -> None:
    own, folder = find_folder(inbox, "acme", "scans")
    (own / "scans").rename(own / "was")
    (own / "scans").symlink_to(inbox / "globex" / "scans")
    assert read_file(own, f"{folder}/in/a.txt", 1_000) is None


@pytest.mark.parametrize("name", ["../globex/scans", "scans/../../globex", "link", "link/in", "none", "scans/in/a.txt"])
def test_a_folder_outside_of_the_tenants_own_is_unknown(inbox: Path, name: str) -> None:
    (inbox / "acme" / "link").symlink_to(inbox / "globex" / "scans")
    with pytest.raises(FolderUnknown, match="there is no folder"):
        find_folder(inbox, "acme", name)


def test_a_file_that_is_written_while_it_is_read_waits_for_another_pass(
    inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, path, stat = inbox / "acme", inbox / "acme" / "scans" / "in" / "a.txt", os.fstat

    def written_meanwhile(opened: int) -> os.stat_result:
        found = stat(opened)
        path.write_bytes(b"more than before")
        return found

    monkeypatch.setattr(os, "fstat", written_meanwhile)
    assert read_file(own, "scans/in/a.txt", 1_000) is None


def test_a_large_file_is_not_read_to_its_end(inbox: Path) -> None:
    with pytest.raises(TooLarge):
        read_file(inbox / "acme", "scans/in/a.txt", 2)


def test_a_file_that_cannot_be_read_is_refused_with_its_reason(inbox: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read: File name too long"):
        read_file(inbox / "acme", f"scans/{'a' * 300}", 1_000)


def test_only_the_first_files_are_kept_in_order(inbox: Path) -> None:
    for number in range(20):
        put(inbox / "acme" / "many" / f"{number:02}.txt", b"x")
    assert places(settled_files(inbox / "acme" / "many", 3)) == ["00.txt", "01.txt", "02.txt"]


def test_the_stamp_of_a_file_changes_with_its_content_though_size_and_time_stay(inbox: Path) -> None:
    path = inbox / "acme" / "scans" / "in" / "a.txt"
    [before] = settled_files(inbox / "acme", 9)
    assert settled_files(inbox / "acme", 9) == [before]
    times = path.stat()
    path.write_bytes(b"OWN")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    [after] = settled_files(inbox / "acme", 9)
    assert (after.place, after.stamp == before.stamp) == (before.place, False)
