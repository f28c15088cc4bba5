"""The sections of the page, one file each, and with the same name one script in ``web/``.

A section has a ``PLACE`` on the page, ``NAV`` (the ids it has and what the navigation calls
them), ``data``, which adds numbers and arrays for the script to ``report.meta`` and
``report.arrays``, and ``words``, which returns its HTML, or "" where there is nothing to show.
``data`` of all sections runs before any ``words``.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

__all__ = ["page_sections"]


def page_sections() -> list[ModuleType]:
    """The modules of this package in the order of the page."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return sorted(modules, key=lambda module: module.PLACE)
