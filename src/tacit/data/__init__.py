"""Where rows come from: arrays, files, streams, as tables of blocks."""

from tacit.core.lazy import attach

__all__ = ["Documents", "NumberTable", "ReadReport", "Table", "read_numbers"]

__getattr__, __dir__ = attach(
    __name__,
    submodules=["decode", "delimited", "files", "number_columns", "scaled_rows", "table"],
    names={
        "Documents": "tacit.data.documents",
        "NumberTable": "tacit.data.files",
        "ReadReport": "tacit.data.files",
        "Table": "tacit.data.table",
        "read_numbers": "tacit.data.files",
    },
)
