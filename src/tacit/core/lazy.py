"""Names that are imported when first used, so that ``import tacit`` stays light.

A package lists its public names once, as imports that only type checkers and editors follow:

    if TYPE_CHECKING:
        from tacit.cluster.kmeans import KMeans
    else:
        __getattr__, __dir__ = attach(__name__)
"""

import ast
import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["attach"]


def attach(
    package: str, *, callable_packages: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` (PEP 562) of a package whose names load on demand.

    The names are those that the package imports under ``if TYPE_CHECKING``. Subpackages that
    can be called are functions to type checkers; ``callable_packages`` names them.
    """
    module = sys.modules[package]
    homes = lazy_imports(package) | {name: (package, name) for name in callable_packages}

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, original = homes[name]
        if home == package:
            value = importlib.import_module(f"{package}.{original}")
        else:
            value = getattr(importlib.import_module(home), original)
        setattr(module, name, value)
        return value

    def __dir__() -> list[str]:
        return sorted(module.__all__)

    return __getattr__, __dir__


def lazy_imports(package: str) -> dict[str, tuple[str, str]]:
    """The module and name behind every import under ``if TYPE_CHECKING`` in a package."""
    spec: Any = sys.modules[package].__spec__
    homes = {}
    for node in ast.parse(spec.loader.get_source(package)).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                if isinstance(line, ast.ImportFrom) and line.module:
                    for alias in line.names:
                        homes[alias.asname or alias.name] = (line.module, alias.name)
    return homes
