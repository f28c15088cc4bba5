"""One file of named arrays and a JSON document: the container of models and checkpoints.

The format is safetensors, so other programs can read the arrays:

    8 bytes    length of the header, little-endian
    header     JSON: for every array its dtype, shape and place; and metadata
    data       the arrays, row by row, one after the other, without gaps

The metadata has ``tacit``, our document as JSON text, and ``checksum``, a blake2b digest of
that text and of the table of arrays. The document in turn holds ``data_blake2b``, the
digest of the data. So a flipped bit is seen anywhere, and the header alone can be trusted
without reading the data, which is what opening a large file by ``mmap`` does.

The safetensors package validates the header: JSON, sizes, no gaps, no overlaps. Arrays are then
read and written here, in chunks: a full disk stays an OSError, a file that shrinks while it is
read is an error and not a crash, Ctrl-C works, and the same input gives the same bytes (the
package writes metadata in a random order).
"""

import hashlib
import json
import math
import mmap
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open

from tacit.core.atomic import atomic_write
from tacit.core.disk_array import release
from tacit.core.errors import ModelFileError, reading

__all__ = ["Entry", "TensorFile", "bad", "excerpt", "open_tensors", "write_tensors"]

HEADER_MOST = 32 * 2**20  # long lists and vocabularies are arrays, so headers are small
CHUNK = 2**24  # bytes between two chances for Ctrl-C
SMALL = 2**18  # bytes; smaller arrays of a mapped file are read at once
SAVE_AGAIN = "Save it again, or fetch a fresh copy."

DTYPES = {
    "BOOL": np.dtype("bool"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
CODES = {dtype: code for code, dtype in DTYPES.items()}

FOREIGN = {  # how files that people take for a model begin
    b"\x80": "looks like a pickle, which can run code when opened",
    b"PK": "looks like a zip archive",
    b"\x93NUMPY": "is a NumPy .npy file",
    b"\x1f\x8b": "is compressed with gzip",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd",
    b"%PDF": "is a PDF file",
    b"\x89PNG": "is a picture",
    b"\xff\xd8\xff": "is a picture",
    b"PAR1": "is a Parquet file",
    b"SQLite format 3": "is an SQLite database",
    b"\\data\\": "is a language model in ARPA format",
    b"<": "is a web page or XML",
    b"{": "is JSON text",
    b"[": "is JSON text",
}
HEAD = 4096  # bytes by which a file is recognized


class Entry(NamedTuple):
    """Where an array lies in the file."""

    dtype: np.dtype
    shape: tuple[int, ...]
    start: int  # bytes from the start of the file
    nbytes: int


class TensorFile(NamedTuple):
    """An open file whose header has been checked."""

    path: Path
    file: BinaryIO
    document: dict[str, Any]
    table: dict[str, Entry]  # in the order of the file
    size: int

    def read(self) -> dict[str, np.ndarray]:
        """All arrays in memory, writable, their checksum verified."""
        digest, arrays = hashlib.blake2b(digest_size=32), {}
        for name, entry in self.table.items():
            array = self._allocate(name, entry)
            self.file.seek(entry.start)
            for piece in pieces(array):
                fill(self.path, self.file, piece)
                digest.update(piece)
            arrays[name] = array
        if digest.hexdigest() != self.document.get("data_blake2b"):
            raise bad(self.path, "is damaged: its arrays do not match their checksum")
        for name, array in arrays.items():
            if array.dtype == bool and array.size and array.view(np.uint8).max() > 1:
                raise bad(self.path, f"has bytes other than 0 and 1 in {excerpt(name)}")
        return arrays

    def _allocate(self, name: str, entry: Entry) -> np.ndarray:
        try:
            return np.empty(entry.shape, entry.dtype)
        except ValueError:  # more dimensions, or a longer one, than NumPy has
            shape = excerpt(entry.shape)
            raise bad(self.path, f"has {excerpt(name)} of impossible shape {shape}") from None

    def map(self, *, small: int = SMALL) -> dict[str, np.ndarray]:
        """All arrays, read-only. Nothing is verified yet.

        Those of up to ``small`` bytes are read into memory; the others are views of the file,
        and whoever shortens it later ends every process that touches them (SIGBUS).
        """
        view = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)
        content, arrays = np.frombuffer(view, np.uint8), {}
        for name, (dtype, shape, start, nbytes) in self.table.items():
            if nbytes <= small:
                array = np.empty(nbytes, np.uint8)
                self.file.seek(start)
                fill(self.path, self.file, array.data)
            else:
                array = content[start : start + nbytes]
            if start % dtype.itemsize:  # only in files we did not write
                array = array.copy()
            try:
                array = array.view(dtype).reshape(shape)
            except ValueError:
                raise bad(self.path, f"has {excerpt(name)} of impossible shape") from None
            arrays[name] = array
            array.flags.writeable = False
        return arrays


def write_tensors(
    path: str | os.PathLike, document: Mapping[str, Any], tensors: Mapping[str, np.ndarray]
) -> None:
    """Write the document and the arrays to ``path``, all or nothing. Same input, same bytes."""
    # Wide items first, then by name: everything stays aligned without gaps.
    names = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    digest, entries, arrays, end = hashlib.blake2b(digest_size=32), {}, [], 0
    for name in names:
        tensor = tensors[name]
        array = np.asarray(tensor, tensor.dtype.newbyteorder("<"), order="C")
        for piece in pieces(array):
            digest.update(piece)
        arrays.append(array)
        entries[name] = Entry(array.dtype, array.shape, end, array.nbytes)
        end += array.nbytes
    table = table_of(entries)
    text = compact({**document, "data_blake2b": digest.hexdigest()})
    metadata = {"tacit": text, "checksum": seal(text, table)}
    header = compact({"__metadata__": metadata, **table}).encode("ascii")
    header += b" " * (-len(header) % 8)
    if len(header) > HEADER_MOST:
        raise ValueError(
            f"The header of {os.fspath(path)} would take {len(header):,} bytes, but "
            f"{HEADER_MOST:,} is the most. Hold long lists as arrays."
        )
    with atomic_write(path) as file:
        file.write(len(header).to_bytes(8, "little"))
        file.write(header)
        for array in arrays:
            for piece in pieces(array):
                file.write(piece)


@contextmanager
def open_tensors(path: str | os.PathLike, *, kind: str) -> Iterator[TensorFile]:
    """Open a file of this kind that ``write_tensors`` wrote.

    Raises ModelFileError with the reason if it is not one.
    """
    path = Path(path)
    mode = path.stat().st_mode  # FileNotFoundError and PermissionError stay what they are
    if stat.S_ISDIR(mode):
        if (path / "project.json").is_file():
            raise bad(path, "is a project, not a model", f"Open it with: tacit serve {path}")
        raise bad(path, "is a folder, not a model", "Name a file inside it.")
    if not stat.S_ISREG(mode):  # opening a pipe would wait forever
        raise bad(path, "is not a regular file", "Copy it to one first.")
    with reading(path, buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        metadata, table = read_header(path, check_length(path, file, size))
        if "tacit" not in metadata:
            raise bad(
                path,
                "is a safetensors file, but not one of Tacit's",
                "Read its arrays with the safetensors package.",
            )
        document = strict_json(path, metadata["tacit"], "description")
        check_format(path, document)
        if seal(metadata["tacit"], table_of(table)) != metadata.get("checksum"):
            raise bad(path, "is damaged: its header does not match its checksum")
        check_kind(path, document, kind)
        yield TensorFile(path, file, document, table, size)


# --- Reading the header ---


def check_length(path: Path, file: BinaryIO, size: int) -> int:
    """Where the data begins. Names what a file is that was never safetensors."""
    first = file.read(8)
    if len(first) < 8:
        what = "is empty" if not size else f"holds only {size} bytes"
        raise bad(path, f"{what}, so it is not a model file")
    length = int.from_bytes(first, "little")
    start = 8 + length
    if length <= HEADER_MOST and start <= size:
        return start
    file.seek(0)
    kind = what_is(file.read(HEAD))
    if kind is not None:
        way_out = "Give a file that `save()` or an option such as --model or --out wrote."
        raise bad(path, f"{kind}, not a model", way_out)
    if length > HEADER_MOST:
        raise bad(
            path,
            f"is not a safetensors file, or has an oversized header: {length:,} bytes, where "
            f"{HEADER_MOST:,} is the most",
        )
    raise bad(
        path,
        f"is cut short or not a safetensors file: its header should end at byte {start:,}, "
        f"but the file has {size:,}",
    )


def what_is(head: bytes) -> str | None:
    """The kind of a file that begins like this and is no model file; None if unknown.

    >>> what_is(b"%PDF-1.7 ..."), what_is(b"Dear Ann, thank you"), what_is(bytes([0, 7, 7, 7]))
    ('is a PDF file', 'is text', None)
    """
    for magic, what in FOREIGN.items():
        if head.lstrip().startswith(magic) or head.startswith(magic):
            return what
    try:
        text = head[:-4].decode("utf-8") if len(head) == HEAD else head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 8:
            return None
        text = head[: error.start].decode("utf-8")
    strange = sum(not (c.isprintable() or c in "\t\n\r\f") for c in text)
    if 50 * strange > len(text) or "\0" in text:
        return None
    lines = text.splitlines()[:3]
    commas = {line.count(",") for line in lines}
    table = len(lines) > 1 and len(commas) == 1 and commas != {0}
    return "is a table (CSV)" if table else "is text"


def read_header(path: Path, start: int) -> tuple[dict[str, str], dict[str, Entry]]:
    """The metadata, and the table of arrays in the order of the file."""
    table = {}
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            for name in file.offset_keys():
                view = file.get_slice(name)
                code, shape = view.get_dtype(), tuple(view.get_shape())
                if code not in DTYPES:
                    raise bad(path, f"has the array {excerpt(name)} of unknown dtype {code}")
                nbytes = math.prod(shape) * DTYPES[code].itemsize
                table[name] = Entry(DTYPES[code], shape, start, nbytes)
                start += nbytes
    except SafetensorError as error:
        reason = str(error).removeprefix("Error while deserializing header: ")[:200]
        if "incomplete metadata" in reason:
            raise bad(path, "is cut short, or has bytes after its last array") from None
        raise bad(path, f"is damaged or not a safetensors file ({reason})") from None
    return metadata, table


def check_format(path: Path, document: dict) -> None:
    """Refuse what a newer Tacit wrote, whose checksum may be computed differently."""
    version = document.get("format")
    if type(version) is not int or version < 1:
        raise bad(path, "does not name its format")
    if version > 1:
        raise bad(
            path, f"was written by a newer Tacit (format {excerpt(version)})", "Upgrade Tacit."
        )


def check_kind(path: Path, document: dict, kind: str) -> None:
    actual = document.get("kind")
    if actual == kind:
        return
    if actual == "model":
        raise bad(path, f"is a model, not a {kind}", "Open it with tacit.load.")
    if actual == "checkpoint":
        way_out = "Give it to Checkpoint to resume the fit, or name the model's file."
        raise bad(path, f"is the checkpoint of an unfinished fit, not a {kind}", way_out)
    raise bad(path, "does not name its kind")


def strict_json(path: Path, text: str | bytes, what: str) -> dict[str, Any]:
    """JSON as we write it: an object, no key twice, no NaN, no half of a surrogate pair."""

    def no_repeats(pairs: list) -> dict:
        value = dict(pairs)
        if len(value) < len(pairs):
            raise ValueError("a key appears twice")
        return value

    def no_constant(name: str) -> None:
        raise ValueError(f"{name} is not a number")

    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(text, object_pairs_hook=no_repeats, parse_constant=no_constant)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:  # UnicodeError is a ValueError too
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise bad(
            path,
            f"is damaged or not a safetensors file: its {what} is not valid JSON "
            f"({str(reason)[:100]})",
        ) from None
    if not isinstance(value, dict):
        raise bad(path, f"is not a safetensors file: its {what} is not a JSON object")
    return value


# --- Small pieces ---


def bad(path: str | os.PathLike, what: str, way_out: str = SAVE_AGAIN) -> ModelFileError:
    """The error that says what is wrong with the file, and the way out."""
    return ModelFileError(f"{os.fspath(path)} {what}. {way_out}")


def excerpt(value: Any, most: int = 60) -> str:
    """A value from a file, short and without control characters, for a message."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits; deep nesting
        return f"a very long {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}..."


def table_of(entries: Mapping[str, Entry]) -> dict[str, Any]:
    """The table of arrays as the header has it, in the order in which we write arrays."""
    ordered = sorted(entries.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    base = min((entry.start for entry in entries.values()), default=0)
    return {
        name: {
            "dtype": CODES[entry.dtype],
            "shape": list(entry.shape),
            "data_offsets": [entry.start - base, entry.start - base + entry.nbytes],
        }
        for name, entry in ordered
    }


def seal(text: str, table: Mapping[str, Any]) -> str:
    """Digest of the document's text and the table of arrays."""
    digest = hashlib.blake2b(text.encode("utf-8"), digest_size=32)
    digest.update(b"\n" + compact(table).encode("ascii"))
    return digest.hexdigest()


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def pieces(array: np.ndarray) -> Iterator[memoryview]:
    """The bytes of a C-contiguous array, a chunk at a time."""
    flat = array.reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)
    for start in range(0, len(flat), CHUNK):
        piece = flat[start : start + CHUNK]
        yield piece.data
        release(piece)


def fill(path: Path, file: BinaryIO, piece: memoryview) -> None:
    """Read exactly as many bytes as ``piece`` has."""
    while piece:
        got = file.readinto(piece)  # type: ignore[attr-defined]
        if not got:
            raise bad(path, "became shorter while it was read")
        piece = piece[got:]
