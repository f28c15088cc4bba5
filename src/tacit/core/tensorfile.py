"""One file of named arrays and a JSON document: the container of models and checkpoints.

The format is safetensors, so other programs can read the arrays:

    8 bytes    length of the header, little-endian
    header     JSON: for every array its dtype, shape and place; and metadata
    data       the arrays, row by row, one after the other, without gaps

The metadata has ``tacit``, our document as JSON text, and ``checksum``, a blake2b digest of
that text and of the table of arrays. The document in turn holds ``data_blake2b``, the
digest of the data. So a flipped bit is seen anywhere, and the header alone can be trusted
without reading the data, which is what opening a large file by ``mmap`` does.

We read and write the format ourselves, in this file: a full disk must stay an OSError, a
damaged file must be told apart from a foreign one, and nothing is allocated before its size
was compared with the size of the file.
"""

import hashlib
import json
import mmap
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from tacit.core.atomic import atomic_write
from tacit.core.errors import ModelFileError

__all__ = ["Entry", "TensorFile", "bad", "excerpt", "open_tensors", "write_tensors"]

HEADER_MOST = 32 * 2**20  # long lists and vocabularies are arrays, so headers are small
CHUNK = 2**24  # bytes between two chances for Ctrl-C
FETCH_ANEW = "Save it again, or fetch a fresh copy."

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
    b"<": "looks like a web page",
    b"{": "looks like JSON text",
}


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
        """All arrays, in memory of their own and writable, their checksum verified."""
        digest, arrays = hashlib.blake2b(digest_size=32), {}
        for name, entry in self.table.items():
            array = np.empty(entry.shape, entry.dtype)
            self.file.seek(entry.start)
            for piece in pieces(array):
                fill(self.path, self.file, piece)
                digest.update(piece)
            arrays[name] = array if array.dtype.isnative else native(array)
        if digest.hexdigest() != self.document.get("data_blake2b"):
            raise bad(self.path, "is damaged: its arrays do not match their checksum")
        for name, array in arrays.items():
            if array.dtype == bool and array.size and array.view(np.uint8).max() > 1:
                raise bad(self.path, f"has bytes other than 0 and 1 in {excerpt(name)}")
        return arrays

    def map(self) -> dict[str, np.ndarray]:
        """All arrays as read-only views of the file. Nothing is read or verified yet."""
        view = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)
        content, arrays = np.frombuffer(view, np.uint8), {}
        for name, (dtype, shape, start, nbytes) in self.table.items():
            array = content[start : start + nbytes]
            if start % dtype.itemsize:  # only in files we did not write
                array = array.copy()
            array = array.view(dtype).reshape(shape)
            arrays[name] = array if array.dtype.isnative else native(array)
            arrays[name].flags.writeable = False
        return arrays


def write_tensors(
    path: str | os.PathLike, document: Mapping[str, Any], tensors: Mapping[str, np.ndarray]
) -> None:
    """Write the document and the arrays to ``path``, all or nothing. Same input, same bytes."""
    # Wide items first, then by name: everything stays aligned without gaps.
    names = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    digest, table, arrays, end = hashlib.blake2b(digest_size=32), {}, [], 0
    for name in names:
        given = tensors[name]
        array = np.asarray(given, given.dtype.newbyteorder("<"), order="C")
        for piece in pieces(array):
            digest.update(piece)
        arrays.append(array)
        table[name] = {
            "dtype": CODES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        end += array.nbytes
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

    ModelFileError says what is wrong with it.
    """
    path = Path(path)
    mode = path.stat().st_mode  # FileNotFoundError and PermissionError stay what they are
    if stat.S_ISDIR(mode):
        raise bad(path, "is a folder, not a file", "Name a file inside it.")
    if not stat.S_ISREG(mode):  # opening a pipe would wait forever
        raise bad(path, "is not a regular file", "Copy it to one first.")
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        header, start = read_header(path, file, size)
        metadata = header.pop("__metadata__", None)
        if not (
            isinstance(metadata, dict) and all(isinstance(v, str) for v in metadata.values())
        ):
            metadata = {}
        table = read_table(path, header, start, size)
        if "tacit" not in metadata:
            raise bad(
                path,
                "is a safetensors file, but not one of Tacit's",
                "Read its arrays with the safetensors package.",
            )
        document = strict_json(path, metadata["tacit"], "description")
        check_format(path, document)
        if seal(metadata["tacit"], header) != metadata.get("checksum"):
            raise bad(path, "is damaged: its header does not match its checksum")
        check_kind(path, document, kind)
        yield TensorFile(path, file, document, table, size)


# --- Reading the header ---


def read_header(path: Path, file: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    """The header, and where the data begins."""
    first = file.read(8)
    if len(first) < 8:
        what = "is empty" if not size else f"holds only {size} bytes"
        raise bad(path, f"{what}, so it is no model file")
    length = int.from_bytes(first, "little")
    start = 8 + length
    if length > HEADER_MOST or start > size:
        for magic, what in FOREIGN.items():
            if first.startswith(magic):
                raise bad(
                    path,
                    f"{what}, not a safetensors file",
                    "Give a file that save() wrote.",
                )
    if length > HEADER_MOST:
        raise bad(
            path,
            f"is not a safetensors file, or has an oversized header: {length:,} bytes, where "
            f"{HEADER_MOST:,} is the most",
        )
    if start > size:
        raise bad(
            path,
            f"is cut short or not a safetensors file: its header should end at byte {start:,}, "
            f"but the file has {size:,}",
        )
    content = bytearray(length)
    fill(path, file, memoryview(content))
    return strict_json(path, bytes(content), "header"), start


def read_table(path: Path, header: dict, start: int, size: int) -> dict[str, Entry]:
    """The table of arrays, with every size compared with what the file has."""
    table = {}
    for name, entry in header.items():
        table[name] = read_entry(path, name, entry, start)
    ordered = dict(sorted(table.items(), key=lambda item: (item[1].start, item[1].nbytes)))
    end = start
    for name, place in ordered.items():
        if place.start != end:
            raise bad(path, f"has a gap or an overlap before the array {excerpt(name)}")
        end += place.nbytes
    if end > size:
        raise bad(path, f"is cut short: it should have {end:,} bytes, but has {size:,}")
    if end < size:
        raise bad(path, f"has {size - end:,} bytes too many after its last array")
    return ordered


def read_entry(path: Path, name: str, entry: Any, start: int) -> Entry:
    wrong = f"does not say clearly where the array {excerpt(name)} is"
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise bad(path, wrong)
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in DTYPES:
        raise bad(path, f"has the array {excerpt(name)} of an unknown dtype {excerpt(code)}")
    if not (is_sizes(shape) and is_sizes(offsets) and len(offsets) == 2):
        raise bad(path, wrong)
    dtype, (first, last) = DTYPES[code], offsets
    most = count = 1
    for size in shape:  # Python's integers do not overflow; NumPy's would
        count *= size
        most *= max(1, size)
    if len(shape) > 32 or most * dtype.itemsize >= 2**63:
        raise bad(path, f"has the array {excerpt(name)} of impossible shape {excerpt(shape)}")
    if last - first != count * dtype.itemsize:
        raise bad(
            path,
            f"gives {last - first:,} bytes to the array {excerpt(name)} of shape "
            f"{excerpt(shape)}, which needs {count * dtype.itemsize:,}",
        )
    return Entry(dtype, tuple(shape), start + first, last - first)


def is_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(size) is int and size >= 0 for size in value)


def check_format(path: Path, document: dict) -> None:
    """Refuse what a newer Tacit wrote before looking closer: it may be sealed otherwise."""
    version = document.get("format")
    if type(version) is not int or version < 1:
        raise bad(path, "does not say which format it is in")
    if version > 1:
        raise bad(
            path, f"was written by a newer Tacit (format {excerpt(version)})", "Upgrade Tacit."
        )


def check_kind(path: Path, document: dict, kind: str) -> None:
    found = document.get("kind")
    if found == kind:
        return
    if found == "model":
        raise bad(path, f"is a model, not a {kind}", "Open it with tacit.load.")
    if found == "checkpoint":
        way_out = "Give it to Checkpoint to resume the fit, or name the model's file."
        raise bad(path, f"is the checkpoint of an unfinished fit, not a {kind}", way_out)
    raise bad(path, "does not say what it holds")


def strict_json(path: Path, text: str | bytes, what: str) -> dict[str, Any]:
    """JSON as we write it: an object, no key twice, no NaN, no half of a surrogate pair."""

    def no_twins(pairs: list) -> dict:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key appears twice")
        return found

    def no_constant(name: str) -> None:
        raise ValueError(f"{name} is no number")

    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(text, object_pairs_hook=no_twins, parse_constant=no_constant)
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


def bad(path: str | os.PathLike, what: str, way_out: str = FETCH_ANEW) -> ModelFileError:
    """The error that says what is wrong with the file, and the way out."""
    return ModelFileError(f"{os.fspath(path)} {what}. {way_out}")


def excerpt(value: Any, most: int = 60) -> str:
    """Something found in a file, short and without control characters, for a message."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits; deep nesting
        return f"a very long {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}..."


def seal(text: str, table: Mapping[str, Any]) -> str:
    """Digest of the document's text and the table of arrays."""
    digest = hashlib.blake2b(text.encode("utf-8"), digest_size=32)
    digest.update(b"\n" + compact(table).encode("ascii"))
    return digest.hexdigest()


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def pieces(array: np.ndarray) -> Iterator[memoryview]:
    """The bytes of a C-contiguous array, a chunk at a time."""
    flat = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
    for start in range(0, len(flat), CHUNK):
        yield flat[start : start + CHUNK]


def fill(path: Path, file: BinaryIO, piece: memoryview) -> None:
    """Read exactly as many bytes as ``piece`` has."""
    while piece:
        got = file.readinto(piece)  # type: ignore[attr-defined]
        if not got:
            raise bad(path, "became shorter while it was read")
        piece = piece[got:]


def native(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder("="))
