"""Read the files of data sets, compressed or not; errors name the file and row."""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from tacit.core.errors import DataError

__all__ = ["read_csv", "read_jsonl", "read_lines", "read_npz", "read_text"]


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """A text file in UTF-8, compressed if its name ends in .gz."""
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8", newline="")
            if path.suffix == ".gz"
            else open(path, encoding="utf-8", newline="")
        ) as stream:
            yield stream
    except FileNotFoundError:
        raise DataError("is missing from the data set. Copy it there.", file=path) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"is damaged: {error}. Copy it again.", file=path) from error
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8: {error.reason}. Copy it again.", file=path) from error


def read_text(path: Path) -> str:
    """The whole file; line ends become newlines."""
    with opened(path) as stream:
        return stream.read().replace("\r\n", "\n")


def read_lines(path: Path) -> list[str]:
    """The lines that are not blank, without surrounding white space."""
    return [line.strip() for line in read_text(path).split("\n") if line.strip()]


def read_jsonl(path: Path, *fields: str) -> list[dict[str, Any]]:
    """One JSON object a line, each with these fields."""
    records = []
    with opened(path) as stream:
        for number, line in enumerate(stream, 1):
            try:
                record = json.loads(line)
            except json.JSONDecodeError as error:
                problem = f"is not JSON: {error.msg}. Copy the file again."
                raise DataError(problem, file=path, row=number) from None
            absent = [f for f in fields if not isinstance(record, dict) or f not in record]
            if absent:
                raise DataError(f"has no {absent[0]!r}.", file=path, row=number)
            records.append(record)
    return records


def read_csv(path: Path, *fields: str) -> list[dict[str, str]]:
    """Records of a .csv file with a header that has these fields."""
    with opened(path) as stream:
        reader = csv.DictReader(stream, strict=True)
        limit = csv.field_size_limit(2**31 - 1)  # a field may hold a book
        try:
            absent = [f for f in fields if f not in (reader.fieldnames or ())]
            if absent:
                raise DataError(f"has no column {absent[0]!r}.", file=path)
            return list(reader)
        except csv.Error as error:
            raise DataError(f"is not CSV: {error}.", file=path, row=reader.line_num) from None
        finally:
            csv.field_size_limit(limit)


def read_npz(path: Path, *names: str) -> list[Any]:
    """Arrays of an .npz file, by name; never a pickle."""
    import zipfile

    import numpy as np

    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            return [file[name] for name in names]
    except FileNotFoundError:
        raise DataError("is missing from the data set. Copy it there.", file=path) from None
    except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"is damaged: {error}. Copy it again.", file=path) from error
