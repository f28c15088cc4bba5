"""Where rows come from: arrays, files, streams, as tables of blocks."""

from tacit.core.lazy import attach

__all__ = ["Documents", "NumberTable", "Ratings", "ReadReport", "Table", "read_numbers"]

__getattr__, __dir__ = attach(
    __name__,
    submodules=["delimited", "number_files", "scaled_rows", "table"],
    names={
        "Documents": "tacit.data.documents",
        "NumberTable": "tacit.data.number_files",
        "Ratings": "tacit.data.ratings",
        "ReadReport": "tacit.data.number_files",
        "Table": "tacit.data.table",
        "read_numbers": "tacit.data.number_files",
    },
)
