"""What goes wrong, by name.

    TacitError
    ├── DataError           bad input, met at a known file, row and column
    │   └── PartialInput    some of the input could not be read; the rest was
    ├── ModelFileError      a model file that cannot be trusted
    └── Locked              another process holds it

Wrong values raise ValueError, wrong types TypeError, as everywhere in Python. The first two
above are ValueErrors too. The command line turns each into the exit code in ``exit_code``.
"""

from pathlib import Path
from typing import Any

__all__ = ["DataError", "Locked", "ModelFileError", "PartialInput", "TacitError"]


class TacitError(Exception):
    """Base of the errors that Tacit defines itself."""

    exit_code = 1


class DataError(TacitError, ValueError):
    """Bad input, met in the middle of a pass. Says where: file, row, column."""

    exit_code = 4

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        row: int | None = None,
        column: int | str | None = None,
    ) -> None:
        self.message, self.file, self.row, self.column = message, file, row, column
        place = [
            *([str(file)] if file is not None else []),
            *([f"row {row}"] if row is not None else []),
            *([f"column {column}"] if column is not None else []),
        ]
        super().__init__(f"{', '.join(place)}: {message}" if place else message)

    def __reduce__(self) -> tuple:
        # Exceptions cross process borders by their arguments; ours are keywords.
        return _rebuild, (type(self), self.message, self.file, self.row, self.column)


class PartialInput(DataError):
    """Some of the input could not be read. What could be was used."""

    exit_code = 3


class ModelFileError(TacitError, ValueError):
    """A model file that is damaged, foreign, or from the future."""

    exit_code = 4


class Locked(TacitError):
    """Another process is writing there."""

    exit_code = 5


def _rebuild(cls: type[DataError], message: str, file: Any, row: Any, column: Any) -> DataError:
    return cls(message, file=file, row=row, column=column)
