"""Data for examples, demos and tests: docstrings of installed packages, and public data sets.

``docstrings()`` works on every machine. ``load(name)`` reads a set from the folder that the
environment variable TACIT_DATA names; ``available()`` lists them. No data comes with Tacit.
"""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = ["Dataset", "Entry", "available", "docstrings", "load"]

if TYPE_CHECKING:
    from tacit.datasets.catalog import Dataset, Entry, available, load
    from tacit.datasets.docstring_set import docstrings
else:
    __getattr__, __dir__ = attach(__name__)
