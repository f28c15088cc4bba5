"""Fewer columns that say nearly the same: directions, and distances."""

from tacit.core.lazy import attach

__all__ = ["TruncatedSVD"]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "TruncatedSVD": "tacit.decompose.truncated_svd",
    },
)
