"""What goes wrong, by name.

    TacitError
    ├── DataError           bad input, met at a known file, row and column
    │   └── PartialInput    some of the input could not be read; the rest was
    ├── ModelFileError      a model file that cannot be trusted
    └── Locked              another process holds it

Wrong values raise ValueError, wrong types TypeError, as everywhere in Python. The first two
above are ValueErrors too. ``explain`` turns any error into an exit code and a message.
"""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

__all__ = [
    "DataError", "Locked", "ModelFileError", "PartialInput", "TacitError", "explain",
    "on_one_line", "raised_as", "reading",
]  # fmt: skip

CONTROLS = re.compile(r"[\x00-\x1f\x7f]")

NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}


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
        named = (("", file), ("row ", row), ("column ", column))
        place = [f"{what}{on_one_line(value)}" for what, value in named if value is not None]
        super().__init__(f"{', '.join(place)}: {message}" if place else message)

    def __reduce__(self) -> tuple:
        # Exceptions cross process borders by their arguments; ours are keywords.
        place: dict[str, Any] = {"file": self.file, "row": self.row, "column": self.column}
        return partial(type(self), **place), (self.message,)


class PartialInput(DataError):
    """Some of the input could not be read. What could be was used."""

    exit_code = 3


class ModelFileError(TacitError, ValueError):
    """A model file that is damaged, foreign, or from the future."""

    exit_code = 4


class Locked(TacitError):
    """Another process is writing there."""

    exit_code = 5


def on_one_line(name: object) -> str:
    r"""A name of a file or a column with its control characters written out.

    >>> on_one_line("a\nb.txt")
    'a\\nb.txt'
    """
    return CONTROLS.sub(lambda match: repr(match[0])[1:-1], str(name))


@contextmanager
def reading(path: str | os.PathLike, buffering: int = -1) -> Iterator[Any]:
    """Open a file. A disk that fails in the middle of a read names none: the error gets it."""
    with open(path, "rb", buffering) as file:
        try:
            yield file
        except OSError as error:
            if error.errno == errno.EIO and error.filename is None:
                error.filename = os.fspath(path)
            raise


@contextmanager
def raised_as(outer: Any, inner: str) -> Iterator[None]:
    """Errors of a model that another contains name that one, which the caller knows.

    >>> with raised_as(TacitError(), "KMeans"):
    ...     raise ValueError("KMeans: the data is too large.")
    Traceback (most recent call last):
        ...
    ValueError: TacitError: the data is too large.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        name = partial(re.compile(rf"\b{inner}\b").sub, type(outer).__name__)
        if isinstance(error, DataError):
            error.message = name(error.message)
        error.args = tuple(name(each) if isinstance(each, str) else each for each in error.args)
        raise


# --- For people ---


def explain(error: BaseException) -> tuple[int, str]:
    """The exit code and the message of an error.

    >>> explain(DataError("the value is missing.", file="a.csv", row=3))
    (4, 'Error: a.csv, row 3: the value is missing.')
    """
    if was_interrupted(error):
        return 130, "Interrupted."
    match error:
        case TacitError():
            return error.exit_code, f"Error: {error}"
        case MemoryError():
            return 1, "Error: there is not enough memory. Use fewer rows or columns."
        case OSError() if error.errno in NO_SPACE:
            return 6, f"Error: {place(error)}. Free some space, or write somewhere else."
        case OSError() if error.errno in NOT_ALLOWED:
            return 6, f"Error: {place(error)}. Change the permissions, or the place."
        case OSError():  # no such file, a folder, a scheduler that does not answer
            return 4, f"Error: {place(error).rstrip('.')}."
        case ValueError():
            return 4, f"Error: {error}"
        case ImportError() if not isinstance(error, ModuleNotFoundError):
            return 2, f"Error: {error}"  # an extra that is not installed, and how to get it
    return 1, (
        f"Internal error: {type(error).__name__}: {error}\n"
        "This is a bug in Tacit. Run again with --debug to see where, and report it."
    )


def was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused the error, perhaps in the middle of an import."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def place(error: OSError) -> str:
    """The file and the reason, without the error number."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename is not None else reason
