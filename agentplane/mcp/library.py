"""Load only the used parts of the MCP library.

The library's packages would load every part, including clients and cryptography. In a long-lived server, the
unused parts take 12 MB. So the two packages load convenience names only on use. No part of the library is
removed or replaced.
"""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


SPARED = ("mcp", "mcp.server")
"""Packages whose modules are imported by their full names."""


def spare() -> None:
    """Set up both packages before the first import of the library.

    If the library is already loaded, nothing changes.
    """
    for name in SPARED:
        spec = None if name in sys.modules else importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None and spec.submodule_search_locations:
            _put(spec)


@contextmanager
def without(name: str) -> Iterator[None]:
    """Import modules as if a package that they don't need were not installed."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # Python's own way to mark a module that can't be imported
    try:
        yield
    finally:
        del sys.modules[name]


def _put(spec: ModuleSpec) -> None:
    module = importlib.util.module_from_spec(spec)
    vars(module)["__getattr__"] = _Missing(module, spec)
    sys.modules[spec.name] = module
    parent, _, own = spec.name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, module)


class _Missing:
    """Resolves a name that a package does not have yet."""

    def __init__(self, module: ModuleType, spec: ModuleSpec) -> None:
        self._module = module
        self._spec = spec

    def __call__(self, wanted: str) -> Any:
        module, name = self._module, self._spec.name
        if wanted.startswith("__") and wanted != "__all__":
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        if importlib.util.find_spec(f"{name}.{wanted}") is not None:
            return importlib.import_module(f"{name}.{wanted}")
        # From here on, the package is complete.
        vars(module).pop("__getattr__", None)
        if self._spec.loader is not None:
            self._spec.loader.exec_module(module)
        return getattr(module, wanted)
