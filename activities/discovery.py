"""Find handlers outside the source tree: in folders, in importable packages, and by entry points.

A file that cannot be used is reported with its line; the others are not affected.
"""

import importlib
import inspect
import pkgutil
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from docrail.dag.values.json_values import digest, shortened
from docrail.handlers import BrokenHandler, Handler

GROUP = "docrail.handlers"
"""Group of the entry points of installed packages: each names a handler, its module, or a package of such modules."""

INTERNAL = frozenset(
    {
        *("close_review", "escalate_review", "open_review", "record_decision"),
        *("load_state", "load_values", "store_value"),
        *("file_reviewed", "record_dead_letter", "record_overdue", "notify_sla"),
        *("list_lake_tenants", "look_after_lake", "remove_expired_rows", "remove_old_originals", "remove_old_values"),
        *("start_waiting_documents", "answer_waiting_runs", "start_waiting_exports", "start_waiting_batches"),
        *("copy_ended_runs", "record_ends"),
        *("forget_events", "note_ended_documents", "keep_metrics", "run_group"),
        *("make_export", "send_export", "fail_export", "keep_window", "notify_batch", "fail_batch_webhook"),
        "fire_trigger",
    }
)
"""Names of the worker's own activities: a handler with such a name would keep the worker from starting."""

LONGEST_ERROR = 300
"""Maximum number of characters shown of an error."""

_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_NO_HANDLER = re.compile(r"_|test_|conftest$|tests$|.*_test$")
"""Files without a handler that a folder may contain: shared code, and tests."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A file that should define the handler `name`; `shown` is its displayed path, `load` imports it."""

    name: str
    file: str
    shown: str
    load: Callable[[], object]

    def broken(self, error: object, line: int = 1) -> BrokenHandler:
        text = " ".join(str(error).split())
        return BrokenHandler(self.name, self.shown, line, shortened(text, LONGEST_ERROR))


@dataclass(slots=True)
class Discovery:
    """Handlers outside the tree by name, and those that cannot be used."""

    handlers: dict[str, Handler] = field(default_factory=dict)
    broken: list[BrokenHandler] = field(default_factory=list)


def find_handlers(sources: Sequence[str], taken: Mapping[str, str]) -> Discovery:
    """Return the handlers of `sources`, folders and importable modules, and of entry points.

    `taken` maps the reserved names to their owners. Raises nothing.
    """
    importlib.invalidate_caches()
    found, owners = Discovery(), {**taken, **dict.fromkeys(INTERNAL, "Docrail itself")}
    for candidate in (each for part in _parts(sources) for each in part):
        if isinstance(candidate, BrokenHandler):
            found.broken.append(candidate)
            continue
        handler = _loaded(candidate, owners)
        if isinstance(handler, BrokenHandler):
            found.broken.append(handler)
        else:
            found.handlers[handler.name] = handler
            owners |= dict.fromkeys((handler.name, *handler.aliases), candidate.shown)
    return found


def _parts(sources: Sequence[str]) -> Iterator[Iterator[_Candidate | BrokenHandler]]:
    for source in sources:
        is_module = _MODULE.fullmatch(source) and not Path(source).is_dir()
        yield _of_module(source) if is_module else _of_folder(Path(source))
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        yield _of_entry_point(point)


def _of_folder(folder: Path) -> Iterator[_Candidate | BrokenHandler]:
    """Yield the files of a folder as modules of a synthetic package, so that they can import each other.

    They shadow no other module.
    """
    if not folder.is_dir():
        yield BrokenHandler(folder.stem, str(folder), 1, "there is no such folder: DOCRAIL_HANDLERS names it")
        return
    path = folder.resolve()
    package = f"_docrail_handlers_{digest(str(path))[:16]}"
    if package not in sys.modules:
        spec = ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [str(path)]
        sys.modules[package] = module_from_spec(spec)
    yield from _in_package(package, [str(path)], folder)


def _of_module(name: str) -> Iterator[_Candidate | BrokenHandler]:
    """Yield the module if it defines a handler, or else the modules of the package."""
    candidate = _candidate(name, name.rpartition(".")[2])
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's file may raise anything
        yield candidate.broken(*_fault(error, candidate.file))
        return
    if hasattr(module, "HANDLER") or not hasattr(module, "__path__"):
        yield candidate
    else:
        yield from _in_package(name, list(module.__path__))


def _of_entry_point(point: EntryPoint) -> Iterator[_Candidate | BrokenHandler]:
    if not point.attr:
        yield from _of_module(point.module)
        return
    module = _candidate(point.module, point.name)
    yield _Candidate(point.name, module.file, module.shown, point.load)


def _in_package(package: str, paths: list[str], folder: Path | None = None) -> Iterator[_Candidate]:
    for found in sorted(pkgutil.iter_modules(paths), key=lambda found: found.name):
        if not _NO_HANDLER.match(found.name):
            yield _candidate(f"{package}.{found.name}", found.name, folder)


def _candidate(module: str, name: str, folder: Path | None = None) -> _Candidate:
    """Return the candidate `module`; its file is displayed relative to `folder` as configured."""
    try:
        spec = find_spec(module)
    except (Exception, SystemExit):  # noqa: BLE001 - a parent package fails: loading it says how
        spec = None
    file = (spec and spec.origin) or module
    shown = str(folder / Path(file).relative_to(folder.resolve())) if folder else file
    return _Candidate(name, file, shown, lambda: importlib.import_module(module))


def _loaded(candidate: _Candidate, owners: Mapping[str, str]) -> Handler | BrokenHandler:
    try:
        loaded = candidate.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's file may raise anything
        return candidate.broken(*_fault(error, candidate.file))
    handler = getattr(loaded, "HANDLER", loaded)
    try:
        return _checked(handler, candidate.name, owners)
    except Exception as error:  # noqa: BLE001 - pydantic has errors of many kinds for a model that has no schema
        return candidate.broken(error, _line_of_handler(candidate.file))


def _checked(handler: Any, name: str, owners: Mapping[str, str]) -> Handler:
    """Return the handler if it can be used. Raises: ValueError, TypeError, and any error of its models."""
    if not isinstance(handler, Handler):
        raise TypeError("expected HANDLER = Handler(name, Config, Output, run)")
    if handler.name != name:
        raise ValueError(f"the handler is named {handler.name!r}: expected the name of its file, {name!r}")
    for model in (handler.config, handler.output):
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise TypeError(f"expected pydantic models as Config and Output, found {model!r}")
    if not inspect.iscoroutinefunction(handler.run):
        raise ValueError("expected an `async def` as the handler's function")
    for each in (handler.name, *handler.aliases):
        if each in owners:
            raise ValueError(f"the name {each!r} is taken by {owners[each]}")
    handler.config.model_json_schema()
    handler.output.model_json_schema(mode="serialization")
    return handler


def _fault(error: BaseException, file: str) -> tuple[str, int]:
    """Return the error message, and the line of `file` that it comes from."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"{type(error).__name__}: {error.msg}", error.lineno or 1
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{type(error).__name__}: {error}", (lines and lines[-1]) or 1


def _line_of_handler(file: str) -> int:
    """Return the line on which HANDLER is assigned."""
    try:
        lines = Path(file).read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return 1
    return next((number for number, line in enumerate(lines, start=1) if re.match(r"HANDLER\b", line)), 1)
