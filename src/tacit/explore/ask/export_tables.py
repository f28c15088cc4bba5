"""Documents as a table, block by block."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tacit.explore.ask.live import Live

__all__ = ["BLOCK", "AtlasTable", "DocumentTable", "blocks_of"]

BLOCK = 4096  # documents


def blocks_of(live: Live) -> Iterator[tuple[int, list[str]]]:
    """The texts in order: where a block begins, and its texts."""
    start, held = 0, []
    for text in live.documents.texts():
        held.append(text)
        if len(held) == BLOCK:
            yield start, held
            start, held = start + len(held), []
    if held:
        yield start, held


class DocumentTable:
    """A row for every document: what was found, what was given, and the text last."""

    def __init__(
        self, live: Live, labels: Mapping[int, str] | None = None, spread: Mapping | None = None
    ) -> None:
        self.live, self.labels, self.spread = live, labels or {}, spread

    def schema(self) -> Any:
        """The names and types of the columns."""
        import pyarrow as pa

        fields = [(name, kind) for name, kind, _ in self.made()]
        taken = {name for name, _ in fields} | {"text"}
        for name in self.live.columns:
            fields.append((free_name(name, taken), self.live.table[name].type))
            taken.add(fields[-1][0])
        return pa.schema([*fields, ("text", pa.large_string())])

    def batches(self) -> Iterator[Any]:
        """Record batches of a few thousand documents."""
        import pyarrow as pa

        schema = self.schema()
        made = self.made()
        for start, texts in blocks_of(self.live):
            stop = start + len(texts)
            parts = [pa.array(cut(start, stop), kind) for _, kind, cut in made]
            for name in self.live.columns:
                column = self.live.table[name].slice(start, stop - start)
                parts.append(column.combine_chunks() if hasattr(column, "chunks") else column)
            parts.append(pa.array(texts, pa.large_string()))
            yield pa.table(parts, schema=schema)

    def made(self) -> list[tuple[str, Any, Any]]:
        """What the project found: name, type, and a function from rows to values."""
        import pyarrow as pa

        live = self.live
        ids = live.table["id"]
        found: list[tuple[str, Any, Any]] = [
            ("id", pa.string(), lambda i, j: ids.slice(i, j - i).to_pylist())
        ]
        if live.groups is not None:
            labels, sure = live.groups, live.arrays("groups")["confidence"]
            inside = labels >= 0
            found.append(("group", pa.int32(), masked(labels, inside)))
            found.append(("sure", pa.float32(), masked(sure, inside)))
        if not live.skipped("map"):
            points, shown = live.arrays("map")["points"], ~live.arrays("meaning")["blank"]
            found.append(("x", pa.float32(), masked(points[:, 0], shown)))
            found.append(("y", pa.float32(), masked(points[:, 1], shown)))
        if not live.skipped("counts"):
            lengths = live.arrays("counts")["lengths"]
            found.append(("words", pa.int64(), masked(lengths, np.ones(live.n, bool))))
        if not live.skipped("duplicates"):
            copies = live.arrays("duplicates")["labels"]
            found.append(("copies", pa.int32(), masked(copies, copies >= 0)))
        if self.labels:
            found.append(
                ("label", pa.string(), lambda i, j: [self.labels.get(r) for r in range(i, j)])
            )
        if self.spread is not None:
            codes, classes = np.asarray(self.spread["names"]), self.spread["classes"]
            sure = np.asarray(self.spread["sure"], np.float32)
            found.append(
                ("spread", pa.string(),
                 lambda i, j: [classes[c] if c >= 0 else None for c in codes[i:j].tolist()])
            )  # fmt: skip
            found.append(("spread_sure", pa.float32(), masked(sure, codes >= 0)))
        return found


class AtlasTable(DocumentTable):
    """What Embedding Atlas reads: neighbours are rows, counted from 0, with distances."""

    def schema(self) -> Any:
        import pyarrow as pa

        if why := self.live.skipped("map"):
            raise ValueError(f"There is no map to export: {why}")
        near = pa.struct([("ids", pa.list_(pa.int64())), ("distances", pa.list_(pa.float32()))])
        return super().schema().append(pa.field("neighbors", near))

    def batches(self) -> Iterator[Any]:
        import pyarrow as pa

        schema = self.schema()
        found = self.live.arrays("map")
        start = 0
        for table in DocumentTable(self.live, self.labels, self.spread).batches():
            stop = start + table.num_rows
            places = found["neighbors"][start:stop]
            far = np.sqrt(np.maximum(found["squares"][start:stop], 0))
            edges = np.arange(len(places) + 1, dtype=np.int32) * places.shape[1]
            ids = pa.ListArray.from_arrays(edges, places.ravel().astype(np.int64))
            lengths = pa.ListArray.from_arrays(edges, far.ravel().astype(np.float32))
            near = pa.StructArray.from_arrays([ids, lengths], ["ids", "distances"])
            yield table.append_column(schema.field("neighbors"), near)
            start = stop


def masked(values: np.ndarray, there: np.ndarray) -> Any:
    """A function from rows to an Arrow array with nulls where there is nothing."""
    import pyarrow as pa

    return lambda i, j: pa.array(np.ascontiguousarray(values[i:j]), mask=~there[i:j])


def free_name(name: str, taken: set[str]) -> str:
    """A name for a column that came along, which may be called as one of ours.

    >>> free_name("date", {"words"}), free_name("words", {"words"})
    ('date', 'given_words')
    """
    while name in taken:
        name = f"given_{name}"
    return name
