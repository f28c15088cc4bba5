"""Warnings that point to the user's line, however deep inside a fit they arise."""

import sys
import warnings

__all__ = ["warn_caller"]

INSIDE = ("tacit", "sklearn")  # scikit-learn's decorators and pipelines call ``fit`` too


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside of Tacit and scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
