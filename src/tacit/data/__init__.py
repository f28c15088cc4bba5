"""Where rows come from: arrays, files, streams, as tables of blocks."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = ["Documents", "NumberTable", "Ratings", "ReadReport", "Table", "read_numbers"]

if TYPE_CHECKING:
    from tacit.data.documents import Documents
    from tacit.data.number_files import NumberTable, ReadReport, read_numbers
    from tacit.data.ratings import Ratings
    from tacit.data.table import Table
else:
    __getattr__, __dir__ = attach(__name__)
