"""Find the documents of a batch: in a folder, by a pattern, in a manifest, or a zip file, which is sent as it is."""

import glob
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from docrail.cli.extract import SUFFIXES
from docrail.cli.files import files_in
from docrail.dag.values.json_values import Json, strict_json

MANIFEST_FIELDS = frozenset({"file", "place", "inputs"})
EXAMPLE = 'expected {"file": "november/4711.pdf"}'


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file to send. `place` names it in the batch: the same place with the same content is sent once."""

    place: str
    path: Path
    inputs: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that cannot be sent: a line of a manifest, or a file."""

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Found:
    """The documents of a source, and what is broken in it. A zip file has neither: the API opens it."""

    files: Sequence[LocalFile] = ()
    broken: Sequence[Broken] = ()
    zip: Path | None = None


def find(source: str) -> Found:
    """Return the documents that `source` names. Raises: SystemExit if it names nothing."""
    path = Path(source)
    if path.is_dir():
        return _checked(path, files_in(path, SUFFIXES), f"the folder {source} has no document")
    if path.is_file():
        return _of_file(path)
    if glob.has_magic(source):
        matched = [Path(each) for each in sorted(glob.glob(source, recursive=True))]  # noqa: PTH207 - absolute too
        return _checked(_base(source), [each for each in matched if each.is_file()], f"nothing matches {source}")
    raise SystemExit(f"there is no {source}: expected a folder, a pattern such as 'in/*.pdf', a zip or a manifest")


def _of_file(path: Path) -> Found:
    if path.suffix.lower() == ".jsonl":
        return _of_manifest(path)
    if zipfile.is_zipfile(path):
        return Found(zip=path)
    if path.suffix.lower() == ".zip":
        raise SystemExit(f"{path} is not a zip file, or its end is missing: nothing was sent")
    return _checked(path.parent, [path], "")


def _checked(root: Path, paths: Sequence[Path], nothing: str) -> Found:
    """Return the files below `root` that can be sent, and why the others cannot."""
    if not paths:
        raise SystemExit(f"{nothing}: looked for {', '.join(sorted(SUFFIXES))}")
    found = [_file(root, path, str(path)) for path in paths]
    return _sorted_out(found)


def _sorted_out(found: Sequence[LocalFile | Broken]) -> Found:
    files = [each for each in found if isinstance(each, LocalFile)]
    return Found(files, [each for each in found if isinstance(each, Broken)])


def _file(root: Path, path: Path, where: str, place: str | None = None) -> LocalFile | Broken:
    """Return a file below `root` that can be sent, else why it cannot."""
    problem = _problem(root, path)
    if problem is None:
        return LocalFile(place or str(PurePosixPath(path.relative_to(root))), path)
    return Broken(where, problem if where == str(path) else f"{path} {problem}")


def _problem(root: Path, path: Path) -> str | None:
    """Return why a file cannot be sent; None: it can."""
    try:
        whole = path.resolve()
        if not whole.is_relative_to(root.resolve()):
            return f"is outside the folder {root}"
        if not whole.exists():
            return "does not exist"
        if not whole.is_file():
            return "is not a file"
        if whole.stat().st_size == 0:
            return "is empty"
        with whole.open("rb"):
            return None
    except (OSError, ValueError, RuntimeError) as error:  # a name with a zero byte, a loop of links
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def _base(pattern: str) -> Path:
    """Return the folder of a pattern before its first wildcard."""
    parts = []
    for part in Path(pattern).parts:
        if glob.has_magic(part):
            break
        parts.append(part)
    return Path(*parts)


def _of_manifest(manifest: Path) -> Found:
    try:
        lines = manifest.read_bytes().decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise SystemExit(f"{manifest} is not UTF-8 at byte {error.start}: nothing was sent") from None
    except OSError as error:
        raise SystemExit(f"cannot read {manifest}: {error.strerror}") from None
    found = _sorted_out(list(_of_lines(manifest.parent, lines)))
    if not found.files and not found.broken:
        raise SystemExit(f"the manifest {manifest} is empty: {EXAMPLE} on each line")
    return found


def _of_lines(folder: Path, lines: Sequence[str]) -> Iterator[LocalFile | Broken]:
    """Yield what each line of a manifest names, lines without text left out."""
    lines_of_places: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        found = _of_line(folder, f"line {number}", line)
        if isinstance(found, LocalFile):
            first = lines_of_places.setdefault(found.place, number)
            found = found if first == number else Broken(f"line {number}", f"has the place of line {first}")
        yield found


def _of_line(folder: Path, where: str, line: str) -> LocalFile | Broken:
    try:
        entry: Json = strict_json(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error) or "too deep"
        return Broken(where, f"is not JSON ({reason}): {EXAMPLE}")
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str) or not entry["file"]:
        return Broken(where, f"names no file: {EXAMPLE}")
    if unknown := sorted(entry.keys() - MANIFEST_FIELDS):
        return Broken(
            where, f"has unknown fields {', '.join(map(repr, unknown))}: expected `file`, `place` and `inputs`"
        )
    place = entry.get("place")
    if place is not None and (not isinstance(place, str) or not place):
        return Broken(where, "`place` must be a text")
    inputs = entry.get("inputs", {})
    if not isinstance(inputs, dict):
        return Broken(where, "`inputs` must be an object with a value for each input")
    found = _file(folder, folder / entry["file"], where, place or entry["file"])
    return replace(found, inputs=inputs) if isinstance(found, LocalFile) else found
