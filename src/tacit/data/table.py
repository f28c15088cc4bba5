"""A table: rows in blocks, each loaded by the worker that needs it.

Blocks are cut by the shape alone, never by the machine, so that a fit gives the same bits
wherever it runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.data.sparse_structure import check_structure

__all__ = ["BLOCK_ROWS", "Batch", "Table", "block_rows_for", "is_sparse", "parts"]

BLOCK_ROWS = 16_384
BLOCK_VALUES = 2**23  # a block of wide rows holds fewer of them


def block_rows_for(width: int, rows: int | None = None) -> int:
    """Rows to a block: at most 16,384, and fewer when rows are wide.

    If the number of rows is known, blocks are of equal size, and at least four or a multiple
    of eight, so that workers finish together.

    >>> block_rows_for(2), block_rows_for(784), block_rows_for(30_000)
    (16384, 8192, 256)
    >>> block_rows_for(16, 1_000_000), block_rows_for(16, 20_000), block_rows_for(16, 1_000)
    (15625, 5000, 1000)
    """
    fit = max(1, BLOCK_VALUES // max(1, width))
    most = max(256, min(BLOCK_ROWS, 1 << (fit.bit_length() - 1)))
    if rows is None:
        return most
    blocks = -(-rows // most)
    if blocks > 4:
        blocks = -(-blocks // 8) * 8
    elif rows >= 4096:  # rows that are worth four blocks
        blocks = 4
    return max(1, -(-rows // max(1, blocks)))


class Batch(NamedTuple):
    """A loaded block with its labels and weights."""

    rows: Any
    labels: Any = None
    weights: Any = None


def parts(block: Any) -> Batch:
    """Rows, labels and weights of a loaded block; the last two None where absent."""
    return block if isinstance(block, Batch) else Batch(block)


def is_sparse(table: "Table") -> bool:
    """Whether the blocks load as CSR matrices. Files are not read to find out."""
    block = innermost(table.blocks[0])
    if isinstance(block, Rows | CsrRows | NpyRows | ParquetRows):
        return isinstance(block, CsrRows)
    return sp.issparse(parts(block.load()).rows)


# --- Blocks: each knows which rows it is and how to load them ---


class Rows(NamedTuple):
    """A range of rows of an array in memory."""

    array: Any
    start: int
    stop: int

    def load(self) -> Any:
        rows = self.array[self.start : self.stop]
        # An array that came from another process may be unaligned, and then NumPy multiplies
        # without BLAS: other last bits.
        return rows.copy() if getattr(rows, "flags", None) and not rows.flags.aligned else rows


class CsrRows(NamedTuple):
    """A range of rows of a CSR matrix in memory. Loads as a view."""

    matrix: Any
    start: int
    stop: int

    def load(self) -> Any:
        matrix = self.matrix
        first, last = matrix.indptr[self.start], matrix.indptr[self.stop]
        block = sp.csr_array((self.stop - self.start, matrix.shape[1]), dtype=matrix.dtype)
        # Set afterwards: the constructor copies arrays that are views of much larger ones.
        block.data = matrix.data[first:last]
        block.indices = matrix.indices[first:last]
        block.indptr = matrix.indptr[self.start : self.stop + 1] - first
        return block


class NpyRows(NamedTuple):
    """A range of rows of a .npy file."""

    path: str
    start: int
    stop: int

    def load(self) -> Any:
        # A copy, not a view of the map: pages of a map stay resident, and count.
        return np.array(np.load(self.path, mmap_mode="r")[self.start : self.stop])


class ParquetRows(NamedTuple):
    """A range of rows of a Parquet file: the row groups that hold it, and the cut."""

    path: str
    columns: tuple
    groups: tuple
    skip: int
    start: int
    stop: int
    dtype: str

    def load(self) -> Any:
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path) as file:
            table = file.read_row_groups(list(self.groups), columns=list(self.columns))
        table = table.slice(self.skip, self.stop - self.start)
        out = np.empty((self.stop - self.start, len(self.columns)), self.dtype)
        for j, name in enumerate(self.columns):
            out[:, j] = table.column(name).to_numpy()  # nulls become NaN, and are caught
        return out


class DaskRows(NamedTuple):
    """A range of rows of a Dask array, computed by the worker that loads it."""

    array: Any
    start: int
    stop: int

    def load(self) -> Any:
        return np.asarray(self.array[self.start : self.stop].compute(scheduler="sync"))


@dataclass(frozen=True)
class Around:
    """A block that holds another."""

    rows: Any

    @property
    def start(self) -> int:
        return self.rows.start

    @property
    def stop(self) -> int:
        return self.rows.stop


@dataclass(frozen=True)
class BatchRows(Around):
    """A block with its labels and weights."""

    labels: Any = None
    weights: Any = None

    def load(self) -> Any:
        cut = (None if extra is None else extra.load() for extra in (self.labels, self.weights))
        return Batch(self.rows.load(), *cut)


@dataclass(frozen=True)
class MappedRows(Around):
    """A block whose rows a function changes as they load."""

    function: Any
    params: tuple

    def load(self) -> Any:
        return self.function(self.rows.load(), *self.params)


def innermost(block: Any) -> Any:
    """The block that the rows are read from."""
    while isinstance(block, Around):
        block = block.rows
    return block


# --- The table ---


@dataclass(frozen=True)
class Table:
    """Rows in blocks that can be read any number of times.

    >>> import numpy as np
    >>> table = Table.from_array(np.arange(10.0).reshape(5, 2), block_rows=2)
    >>> [block.load().shape for block in table]
    [(2, 2), (2, 2), (1, 2)]
    """

    blocks: tuple
    shape: tuple[int, int]
    dtype: np.dtype
    source: str | None = None  # the file the rows come from, for messages
    in_memory: bool = False

    def __iter__(self) -> Iterator:
        return iter(self.blocks)

    @property
    def values_in_memory(self) -> int | None:
        """Stored values, for the engine to decide whether threads pay; None for files."""
        if not self.in_memory or not self.blocks:
            return None
        matrix = getattr(innermost(self.blocks[0]), "matrix", None)
        return self.shape[0] * self.shape[1] if matrix is None else matrix.nnz

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, d = self.shape
        home = f", from {self.source}" if self.source else ""
        return (
            f"Table({n:,} rows x {d:,} columns, {len(self.blocks)} blocks, {self.dtype}{home})"
        )

    @classmethod
    def of(cls, data: Any, block_rows: int | None = None) -> "Table":
        """A table of an array, a CSR matrix, a path, a Dask array or a table."""
        if isinstance(data, Table):
            return data
        if isinstance(data, str | Path):
            return cls.open(data, block_rows)
        if type(data).__module__.startswith("dask."):
            return cls.from_dask(data, block_rows)
        return cls.from_array(data, block_rows)

    @classmethod
    def open(cls, path: str | Path, block_rows: int | None = None) -> "Table":
        """A table of a .npy or .parquet file, read block by block."""
        suffix = Path(path).suffix.lower()
        if suffix == ".npy":
            return cls.from_npy(path, block_rows)
        if suffix in (".parquet", ".pq"):
            return cls.from_parquet(path, block_rows=block_rows)
        raise ValueError(
            f"Table.open({str(path)!r}) reads .npy and .parquet files, not {suffix!r}. "
            "Read the file into an array and use Table.from_array."
        )

    @classmethod
    def from_array(cls, array: Any, block_rows: int | None = None) -> "Table":
        """Rows of a NumPy array or a CSR matrix in memory. Nothing is copied."""
        if sp.issparse(array):
            check_structure(array, "Table.from_array")
        return cls.from_checked(array, block_rows)

    @classmethod
    def from_checked(cls, array: Any, block_rows: int | None = None) -> "Table":
        """The same for a sparse matrix whose structure has been checked."""
        if sp.issparse(array):
            matrix = array if array.format == "csr" else array.tocsr()
            n = matrix.shape[0]
            width = -(-matrix.nnz // max(1, n))
            blocks = cut(n, width, block_rows, lambda i, j: CsrRows(matrix, i, j))
            return cls(blocks, matrix.shape, matrix.dtype, in_memory=True)
        array = np.asarray(array)
        if array.ndim != 2:
            raise ValueError(
                f"Table.from_array needs rows and columns, but the array has "
                f"ndim={array.ndim}. Reshape it to two dimensions."
            )
        n, d = array.shape
        block_rows = block_rows or (None if d else max(1, n))  # rows of nothing may be many
        blocks = cut(n, d, block_rows, lambda i, j: Rows(array, i, j))
        return cls(blocks, (n, d), array.dtype, in_memory=True)

    @classmethod
    def from_npy(cls, path: str | Path, block_rows: int | None = None) -> "Table":
        """Rows of a .npy file, which may be larger than memory."""
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if array.ndim != 2:
            raise ValueError(
                f"{path} holds an array with ndim={array.ndim}; a table needs two dimensions."
            )
        name, (n, d) = str(path), array.shape
        block_rows = block_rows or (None if d else max(1, n))
        blocks = cut(n, d, block_rows, lambda i, j: NpyRows(name, i, j))
        return cls(blocks, array.shape, array.dtype, source=name)

    @classmethod
    def from_parquet(
        cls, path: str | Path, *, columns: Sequence[str] | None = None,
        block_rows: int | None = None,
    ) -> "Table":  # fmt: skip
        """Number columns of a Parquet file; ``columns`` chooses and orders them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            schema, meta = file.schema_arrow, file.metadata
            sizes = [meta.row_group(g).num_rows for g in range(meta.num_row_groups)]

        def is_number(kind: pa.DataType) -> bool:
            return pa.types.is_integer(kind) or pa.types.is_floating(kind)

        numeric = [field.name for field in schema if is_number(field.type)]
        wrong = [name for name in columns or () if name not in numeric]
        if wrong:
            raise ValueError(f"{path} has no number columns {wrong}; it has {numeric}.")
        names = tuple(columns) if columns is not None else tuple(numeric)
        if not names:
            raise ValueError(f"{path} has no number columns; it has {schema.names}.")
        small = all(schema.field(name).type == pa.float32() for name in names)
        dtype = np.dtype(np.float32 if small else np.float64)
        edges = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)

        def block(start: int, stop: int) -> ParquetRows:
            first = int(np.searchsorted(edges, start, side="right")) - 1
            last = int(np.searchsorted(edges, stop, side="left"))
            skip = start - int(edges[first])
            groups = tuple(range(first, last))
            return ParquetRows(str(path), names, groups, skip, start, stop, dtype.str)

        n = int(edges[-1])
        blocks = cut(n, len(names), block_rows, block)
        return cls(blocks, (n, len(names)), dtype, source=str(path))

    @classmethod
    def from_dask(cls, array: Any, block_rows: int | None = None) -> "Table":
        """Rows of a Dask array. Blocks are cut by our rule, not by its chunks."""
        if array.ndim != 2 or np.isnan(array.shape[0]):
            raise ValueError(
                f"Table.from_dask needs a 2-D array of known shape, but got {array.shape}. "
                "Call compute_chunk_sizes() on it first."
            )
        n, d = (int(size) for size in array.shape)
        blocks = cut(n, d, block_rows, lambda i, j: DaskRows(array, i, j))
        return cls(blocks, (n, d), np.dtype(array.dtype))

    def mapped(
        self, function: Any, *params: Any, width: int | None = None, dtype: Any = None
    ) -> "Table":
        """The table of ``function(block, *params)``. Nothing is loaded yet."""
        blocks = tuple(MappedRows(block, function, params) for block in self)
        shape = (self.shape[0], self.shape[1] if width is None else width)
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        return replace(self, blocks=blocks, shape=shape, dtype=dtype)

    def with_labels(self, labels: Any) -> "Table":
        """The same blocks, each loading as a Batch that holds its labels."""
        return self._with("labels", np.asarray(labels))

    def with_weights(self, weights: Any) -> "Table":
        """The same blocks, each loading as a Batch that holds its weights."""
        return self._with("weights", np.asarray(weights, np.float64))

    def sample(self, size: int, rng: Any) -> Any:
        """Draw ``size`` distinct rows, or all of them, in table order."""
        if size >= self.shape[0]:
            return self.take(np.arange(self.shape[0]))
        return self.take(np.sort(rng.permutation(self.shape[0])[:size]))

    def take(self, indices: np.ndarray) -> Any:
        """The rows at sorted ``indices``, in memory, without labels and weights."""
        starts = [block.start for block in self]
        edges = np.searchsorted(indices, [*starts, self.shape[0]])
        picked = [
            parts(block.load()).rows[indices[i:j] - block.start]
            for block, i, j in zip(self, edges[:-1], edges[1:], strict=True)
            if j > i
        ]
        if not picked:
            return np.empty((0, self.shape[1]), self.dtype)
        return sp.vstack(picked, format="csr") if sp.issparse(picked[0]) else np.vstack(picked)

    def load(self) -> Any:
        """All rows as one array or CSR matrix, without labels and weights; not copied if they
        are one in memory already."""
        block = self.blocks[0] if self.blocks else None
        if isinstance(block, BatchRows):
            block = block.rows
        if isinstance(block, Rows | CsrRows):
            rows = block.array if isinstance(block, Rows) else block.matrix
            if rows.shape[0] == self.shape[0]:
                return rows
        return self.take(np.arange(self.shape[0]))

    def _with(self, kind: str, values: np.ndarray) -> "Table":
        if len(values) != self.shape[0]:
            raise ValueError(
                f"There are {len(values)} {kind} for {self.shape[0]} rows; give one per row."
            )
        batches = (b if isinstance(b, BatchRows) else BatchRows(b) for b in self)
        blocks = (replace(b, **{kind: Rows(values, b.start, b.stop)}) for b in batches)
        return replace(self, blocks=tuple(blocks))


def cut(n: int, width: int, block_rows: int | None, make: Any) -> tuple:
    """Blocks of ``block_rows`` rows, by default of as many as suit their width; the last may
    be shorter."""
    if block_rows is not None and block_rows < 1:
        raise ValueError(f"block_rows={block_rows} must be at least 1.")
    size = block_rows or block_rows_for(width, n)
    return tuple(make(i, min(i + size, n)) for i in range(0, n, size))
