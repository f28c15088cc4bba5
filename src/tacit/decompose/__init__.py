"""Fewer columns that say nearly the same: directions, and distances."""

from tacit.core.lazy import attach

__all__ = ["NeighborMap", "TruncatedSVD"]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "NeighborMap": "tacit.decompose.neighbor_map",
        "TruncatedSVD": "tacit.decompose.truncated_svd",
    },
)
