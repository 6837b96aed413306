"""Implementations of agentplane's protocols in other installed packages, found through entry points.

An extension runs inside agentplane, so two rules decide what is loaded. Only packages in the `site-packages`
folders of this Python count, because another folder on `sys.path` can belong to a cloned repository. And the
user chooses extensions with environment variables, because the settings of a project come with a clone.

An extension that fails never stops a command. Its caller catches the `ExtensionError` and uses agentplane's
own implementation.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from agentplane.errors import BadInput


# Most commands use no extension, and these modules take long to load.
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from queue import SimpleQueue

    from agentplane.findings import Check, Finding

T = TypeVar("T")
S = TypeVar("S")

SECONDS = 60.0
"""Maximum time of loading an extension, and of each call."""
MOST_FINDINGS = 1000
"""Maximum number of findings of one check."""


class Point(msgspec.Struct, frozen=True):
    """An extension point, which is the entry point group of one protocol."""

    group: str
    variable: str
    """The environment variable with the names of the extensions to use."""
    title: str
    use: Literal["one", "several", "all"] = "one"
    """The number of extensions in use. With `all`, every installed extension is used if the variable isn't set."""


EMBEDDERS = Point("agentplane.embedders", "AGENTPLANE_EMBEDDER", "embedder")
VECTOR_STORES = Point("agentplane.vector_stores", "AGENTPLANE_VECTOR_STORE", "vector store")
RETRIEVERS = Point("agentplane.retrievers", "AGENTPLANE_RETRIEVER", "retriever")
TRANSCRIPT_READERS = Point(
    "agentplane.transcript_readers", "AGENTPLANE_TRANSCRIPT_READERS", "transcript reader", "several"
)
CHECKS = Point("agentplane.checks", "AGENTPLANE_CHECKS", "check", "all")
CURATOR_CHECKS = Point(
    "agentplane.curator_checks", "AGENTPLANE_CURATOR_CHECKS", "check of the curator", "all"
)
POINTS = (EMBEDDERS, VECTOR_STORES, RETRIEVERS, TRANSCRIPT_READERS, CHECKS, CURATOR_CHECKS)


class ExtensionError(BadInput):
    """An extension that isn't installed, can't be loaded, fails, or returns something unusable."""


class Extension:
    """A loaded extension. One thread makes all calls to it, because libraries such as sqlite3 require that."""

    def __init__(self, point: Point, entry: "EntryPoint") -> None:
        """Load the object that the entry point names."""
        self.point = point
        self.name = entry.name
        self.release = _release(entry)
        self.failure: ExtensionError | None = None
        """The error that ended the use of the extension in this process."""
        self._calls: SimpleQueue[Any] | None = None
        self._process = 0
        self._made: Any = None
        self.target: Any = self.call(entry.load)

    def made(self) -> Any:
        """Return the implementation, made on first use by calling the loaded object without arguments."""
        if self._made is None:
            self._made = self.call(self.target)
        return self._made

    def call(self, work: Callable[[], T]) -> T:
        """Return the result of code in the extension. Raises ExtensionError if it raises or takes too long."""
        from queue import Empty, SimpleQueue

        if self.failure is not None:
            raise self.failure
        answer: SimpleQueue[Any] = SimpleQueue()
        self._thread().put((work, answer))
        try:
            result, error = answer.get(timeout=SECONDS)
        except Empty:
            raise self.give_up(self.error(f"took more than {SECONDS:g} seconds")) from None
        if error is not None:
            raise self.error(f"failed: {' '.join(f'{type(error).__name__}: {error}'.split())}") from error
        made: T = result
        return made

    def error(self, what: str) -> ExtensionError:
        """Return the error for a failure."""
        return _error(
            self.point, self.name, f"The {self.point.title} `{self.name}` from {self.release} {what}."
        )

    def give_up(self, error: ExtensionError) -> ExtensionError:
        """Return an error that every later use of the extension in this process raises too."""
        self.failure = self.failure or error
        return self.failure

    def _thread(self) -> "SimpleQueue[Any]":
        from queue import SimpleQueue

        if self._calls is None or self._process != os.getpid():  # a fork has no threads of its parent
            self._calls, self._process = SimpleQueue(), os.getpid()
            threading.Thread(target=_answer, args=(self._calls,), name=self.name, daemon=True).start()
        return self._calls


_loading = threading.Lock()
_loaded: dict[tuple[str, str], Extension | ExtensionError] = {}
_failures: dict[str, ExtensionError] = {}
"""The first error of each extension that was replaced, by the place of the choice."""


def names(point: Point) -> tuple[str, ...]:
    """Return the names of the extensions in use. Nothing is looked up unless the user chose an extension."""
    chosen = os.environ.get(point.variable)
    if chosen is None:
        return tuple(installed(point)) if point.use == "all" else ()
    if point.use == "one":
        return (chosen.strip(),) if chosen.strip() else ()
    return tuple(dict.fromkeys(name for part in chosen.split(",") if (name := part.strip())))


def chosen(point: Point) -> str | None:
    """Return the name of the extension to use instead of agentplane's own implementation, or None."""
    return next(iter(names(point)), None)


def release(point: Point) -> str:
    """Return the name and release of the chosen extension without loading it, or an empty string."""
    name = chosen(point)
    if name is None:
        return ""
    found = installed(point).get(name)
    return f"{name} {_release(found)}" if found else f"{name}, not installed"


def installed(point: Point) -> "Mapping[str, EntryPoint]":
    """Return the installed extensions by name, in the order of their names."""
    return _installed(point.group, _folders())


def folder_of(package: str) -> Path | None:
    """Return the folder of an installed package without loading it, or None."""
    from importlib.util import find_spec

    spec = find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def release_of(package: str) -> str:
    """Return a text that identifies the installed release of a package, or an empty string if it is missing."""
    folder = folder_of(package)
    if folder is None:
        return ""
    return " ".join(sorted(one.name for one in folder.parent.glob(f"{package}-*.dist-info"))) or str(folder)


def get(point: Point, name: str) -> Extension:
    """Return an extension, loaded on first use. Raises ExtensionError, the same for each call."""
    key = point.group, name
    with _loading:
        found = _loaded.get(key) or _load(point, name)
        _loaded[key] = found
    if isinstance(found, ExtensionError):
        raise found
    if found.failure is not None:
        raise found.failure
    return found


def report(error: ExtensionError) -> None:
    """Add the error of an extension that was replaced by agentplane's own implementation."""
    _failures.setdefault(str(error.where), error)


def reported() -> list[ExtensionError]:
    """Return the first reported error of each extension, and forget them."""
    found = list(_failures.values())
    _failures.clear()
    return found


def unseen(seen: set[str]) -> list[ExtensionError]:
    """Return the first reported error of each extension that isn't in `seen`, and add the extension to it.

    A long-running process has one set for each reader, so that each reader sees an extension once.
    """
    found = [error for where, error in list(_failures.items()) if where not in seen]
    seen.update(str(error.where) for error in found)
    return found


def findings(point: Point, subject: S) -> "Iterator[Finding]":
    """Yield the findings of the extensions of a point for checks, and a finding for each check that fails."""
    for name in names(point):
        try:
            yield from _found(get(point, name), subject)
        except ExtensionError as error:
            yield failed(error)


def failed(error: ExtensionError) -> "Finding":
    """Return the finding for an extension that failed."""
    from agentplane.findings import Finding, Instruction

    return Finding(
        "extension-failed", "warning", str(error.where), error.what, (Instruction(str(error.todo)),)
    )


def _found(extension: Extension, subject: S) -> "list[Finding]":
    """Return the findings of one check. Their codes begin with its name, so no code of agentplane is used."""
    from itertools import islice

    check: Check[S] = extension.target
    found = extension.call(lambda: list(islice(check(subject), MOST_FINDINGS)))
    if not all(map(_is_sound, found)):
        raise extension.error("returned something other than findings")
    return [msgspec.structs.replace(one, code=f"{extension.name}:{one.code}") for one in found]


def _is_sound(found: object) -> bool:
    from agentplane.findings import Finding

    return isinstance(found, Finding) and found.is_sound


def _load(point: Point, name: str) -> Extension | ExtensionError:
    entry = installed(point).get(name)
    if entry is None:
        return _error(
            point,
            name,
            f"No installed package provides the {point.title} `{name}`.",
            "Install a package that provides it",
        )
    try:
        return Extension(point, entry)
    except ExtensionError as error:
        return error


def _error(point: Point, name: str, what: str, fix: str = "Fix the extension") -> ExtensionError:
    others = ", ".join(f"`{one}`" for one in installed(point) if one != name)
    instead = f" Other installed {point.title}s: {others}." if others else ""
    if point.use == "one":
        todo = f"{fix}, or unset {point.variable} to use agentplane's built-in {point.title}.{instead}"
    else:
        todo = f"{fix}, or set {point.variable} to a list of names that doesn't include it.{instead}"
    return ExtensionError(what, where=f"{point.variable}={name}", todo=todo)


def _answer(calls: "SimpleQueue[Any]") -> None:
    while True:
        work, answer = calls.get()
        try:
            answer.put((work(), None))
        except BaseException as error:  # noqa: BLE001 -- an extension may raise anything, even SystemExit
            answer.put((None, error))


@lru_cache(maxsize=16)
def _installed(group: str, folders: tuple[str, ...]) -> "dict[str, EntryPoint]":
    from importlib.metadata import distributions

    found: dict[str, EntryPoint] = {}
    for package in distributions(path=list(folders)):
        try:
            entries = [one for one in package.entry_points if one.group == group and package.name]
        except Exception:  # noqa: BLE001, S112 -- broken metadata raises what its finder and this Python raise
            continue
        for entry in entries:
            found.setdefault(entry.name, entry)
    return dict(sorted(found.items()))


def _folders() -> tuple[str, ...]:
    """Return the `site-packages` folders of this Python."""
    import site

    own = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return tuple(dict.fromkeys((*site.getsitepackages(), *own)))


def _release(entry: "EntryPoint") -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"
