"""Data for examples, demos and tests: docstrings of installed packages, and public data sets.

``docstrings()`` works on every machine. ``load(name)`` reads a set from the folder that the
environment variable TACIT_DATA names; ``available()`` lists them. No data comes with Tacit.
"""

from tacit.core.lazy import attach

__all__ = ["Dataset", "Entry", "available", "docstrings", "load"]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "Dataset": "tacit.datasets.dataset",
        "Entry": "tacit.datasets.catalog",
        "available": "tacit.datasets.catalog",
        "docstrings": "tacit.datasets.docstring_set",
        "load": "tacit.datasets.catalog",
    },
)
