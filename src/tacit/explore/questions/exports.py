"""A project as files that other programs read, written in blocks and whole or not at all.

    documents.csv .parquet .json   a row for every document: text, group, place, labels, columns
    groups.json                    the groups: size, verdict, words, typical documents
    projector-vectors.tsv          the Embedding Projector's pair: directions of meaning, and
    projector-metadata.tsv         what each row is
    atlas.parquet                  Embedding Atlas: id, text, x, y, neighbors
    tree.nwk                       the tree of the groups, in Newick

Cells that a spreadsheet would take for formulas are quoted in .csv, and in the metadata too.
"""

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from tacit.core.atomic import atomic_write
from tacit.data.delimited import guard, write_rows
from tacit.explore.questions.none_of_these import NONE
from tacit.explore.questions.reader import ProjectReader
from tacit.explore.report.clean_text import clean_line, cut, title_and_opening
from tacit.explore.stages.groups import nodes_of
from tacit.explore.stages.ingest import blocks_of, free_name
from tacit.explore.stages.naming import shown_name

__all__ = [
    "BLOCK", "EXPORTS", "Export", "export", "write_csv", "write_json", "write_parquet",
]  # fmt: skip


def write_csv(table: Any, file: BinaryIO) -> None:
    """Comma-separated, with a header, safe to open in a spreadsheet."""
    stream = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
    try:
        write_rows(stream, [table.schema().names])
        for batch in table.batches():
            columns = [column.to_pylist() for column in batch.columns]
            write_rows(stream, zip(*columns, strict=True))
        stream.flush()
    finally:
        stream.detach()  # the file is closed by who opened it


def write_parquet(table: Any, file: BinaryIO) -> None:
    """Parquet, packed with zstd, a row group for every block."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, table.schema(), compression="zstd") as writer:
        for batch in table.batches():
            writer.write_table(batch)


def write_json(table: Any, file: BinaryIO) -> None:
    """A list of objects, one to a line."""
    names = table.schema().names
    before = b"[\n"
    for batch in table.batches():
        columns = [[plain(v) for v in column.to_pylist()] for column in batch.columns]
        for values in zip(*columns, strict=True):
            row = dict(zip(names, values, strict=True))
            file.write(before + json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
            before = b",\n"
    file.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def plain(value: Any) -> Any:
    """A number that JSON has, or null."""
    return None if isinstance(value, float) and value - value != 0 else value


BLOCK = 4096  # documents


class DocumentTable:
    """A row for every document: what was found, what was given, and the text last.

    All but the texts is in memory; the texts are read in blocks.
    """

    def __init__(
        self,
        reader: ProjectReader,
        labels: Mapping[int, str] | None = None,
        spread: Mapping | None = None,
    ) -> None:
        import pyarrow as pa

        self.reader = reader
        self.columns = {**found_columns(reader), **label_columns(reader, labels or {}, spread)}
        taken = {*self.columns, "text"}
        for name in reader.columns:
            self.columns[free := free_name(name, taken)] = reader.table[name]
            taken.add(free)
        fields = [(name, column.type) for name, column in self.columns.items()]
        self._schema = pa.schema([*fields, ("text", pa.large_string())])

    def schema(self) -> Any:
        return self._schema

    def batches(self) -> Iterator[Any]:
        """Tables of a few thousand documents."""
        import pyarrow as pa

        table = pa.table(self.columns)
        for start, texts in blocks_of(self.reader.documents.texts(), BLOCK):
            some = table.slice(start, len(texts)).combine_chunks()
            yield some.append_column("text", pa.array(texts, pa.large_string()))


class AtlasTable(DocumentTable):
    """What Embedding Atlas reads: neighbors are rows, counted from 0, with distances."""

    def schema(self) -> Any:
        import pyarrow as pa

        if why := self.reader.skipped("map"):
            raise ValueError(f"There is no map to export: {why}")
        near = pa.struct([("ids", pa.list_(pa.int64())), ("distances", pa.list_(pa.float32()))])
        return super().schema().append(pa.field("neighbors", near))

    def batches(self) -> Iterator[Any]:
        import pyarrow as pa

        schema = self.schema()
        arrays = self.reader.arrays("map")
        start = 0
        for table in super().batches():
            stop = start + table.num_rows
            places = arrays["neighbors"][start:stop]
            far = np.sqrt(np.maximum(arrays["squares"][start:stop], 0))
            edges = np.arange(len(places) + 1, dtype=np.int32) * places.shape[1]
            ids = pa.ListArray.from_arrays(edges, places.ravel().astype(np.int64))
            lengths = pa.ListArray.from_arrays(edges, far.ravel().astype(np.float32))
            near = pa.StructArray.from_arrays([ids, lengths], ["ids", "distances"])
            yield table.append_column(schema.field("neighbors"), near)
            start = stop


def found_columns(reader: ProjectReader) -> dict[str, Any]:
    """What the project found, as Arrow arrays with nulls where there is nothing."""
    import pyarrow as pa

    columns = {"id": reader.table["id"].cast(pa.string())}
    if reader.groups is not None:
        arrays = reader.arrays("groups")
        labels, leaf = reader.groups, arrays["leaf"]
        columns["group"] = pa.array(labels, pa.int32(), mask=labels < 0)
        if groups := reader.facts("groups")["groups"]:
            names = pa.array([" · ".join(shown_name(group)) for group in groups], pa.string())
            columns["group_name"] = names.take(columns["group"])
        columns["sure"] = pa.array(arrays["confidence"], pa.float32(), mask=labels < 0)
        columns["leaf"] = pa.array(leaf, pa.int32(), mask=leaf < 0)
    if not reader.skipped("map"):
        points, blank = reader.arrays("map")["points"], reader.arrays("meaning")["blank"]
        for name, values in zip("xy", points.T, strict=True):
            columns[name] = pa.array(np.ascontiguousarray(values), pa.float32(), mask=blank)
    if not reader.skipped("counts"):
        columns["words"] = pa.array(reader.arrays("counts")["lengths"], pa.int64())
    if not reader.skipped("duplicates"):
        copies = reader.arrays("duplicates")["labels"]
        columns["copies"] = pa.array(copies, pa.int32(), mask=copies < 0)
    return columns


def label_columns(
    reader: ProjectReader, labels: Mapping[int, str], spread: Mapping | None
) -> dict[str, Any]:
    """The labels that were given and those that were spread, if any."""
    import pyarrow as pa

    columns = {}
    if labels:
        columns["label"] = pa.array([labels.get(row) for row in range(reader.n)], pa.string())
    if spread is not None:
        codes = np.asarray(spread["names"])
        labels_of = {**dict(enumerate(spread["classes"])), NONE: "(none of these)"}
        names = [labels_of.get(code) for code in codes.tolist()]
        columns["spread"] = pa.array(names, pa.string())
        sure = np.asarray(spread["sure"], np.float32)
        columns["spread_sure"] = pa.array(sure, pa.float32(), mask=codes < 0)
    return columns


VECTORS = 1024  # rows at a time
CELL = 200  # characters


def write_groups(reader: ProjectReader, file: BinaryIO, *_: Any) -> None:
    """The groups as JSON: size, verdict, words, typical documents by id."""
    facts = reader.facts("groups")
    groups = [
        {
            "group": group["group"],
            "name": " · ".join(shown_name(group)),
            "title": str(group.get("title", "")),
            "size": group["size"],
            "share": group["share"],
            "verdict": group["verdict"],
            "overlap": group["jaccard"],
            "words": [
                {"word": word, "score": score, "inside": inside, "outside": outside}
                for word, score, inside, outside in group["words"]
            ],
            "typical": [reader.id_of(row) for row in group["typical"]],
        }
        for group in facts.get("groups", [])
    ]
    out: dict[str, Any] = {"documents": reader.n, "k": facts.get("k"), "groups": groups}
    out["nodes"] = nodes_of(facts)
    out["levels"] = [level["cut"] for level in facts.get("levels", [])]
    out["level"] = facts.get("level")
    out["note"] = facts.get("skipped")
    if len(groups) > 1:
        out["tree"] = tree_text(reader)
    text = json.dumps(out, ensure_ascii=False, indent=1)
    file.write(text.encode("utf-8", "replace") + b"\n")


def write_tree(reader: ProjectReader, file: BinaryIO, *_: Any) -> None:
    file.write(tree_text(reader).encode("utf-8", "replace") + b"\n")


def tree_text(reader: ProjectReader) -> str:
    """The tree of the groups, each named by its number and words."""
    from tacit.cluster import to_newick

    facts = reader.facts("groups")
    groups = facts.get("groups", [])
    if not groups:
        why = facts.get("skipped", "The documents are not divided into groups.")
        raise ValueError(f"There is no tree of groups to export. {why}")
    named = [shown_name(group) for group in groups]
    names = [
        clean_line(f"{group['group']} {' '.join(words)}")
        for group, words in zip(groups, named, strict=True)
    ]
    return to_newick(np.array(facts["tree"], np.float64).reshape(-1, 4), names)


def write_vectors(reader: ProjectReader, file: BinaryIO, *_: Any) -> None:
    """A row of numbers for every document, between tabs."""
    rows = directions(reader)
    for start in range(0, len(rows), VECTORS):
        part = rows[start : start + VECTORS].tolist()
        text = "".join("\t".join(f"{v:.6g}" for v in row) + "\n" for row in part)
        file.write(text.encode())


def write_metadata(
    reader: ProjectReader, file: BinaryIO, labels: Mapping, spread: Any = None
) -> None:
    """What each row is: a header, and no tab or line end inside a cell."""
    import pyarrow as pa

    directions(reader)
    names = [name for name in reader.columns if name.lower() != "title"]
    label_cells = label_columns(reader, labels, spread)
    groups = None if reader.groups is None else pa.array(reader.groups)
    columns = [groups, label_cells.get("label"), label_cells.get("spread")]
    columns += [reader.table[name] for name in names]
    file.write(tsv_line(["id", "title", "group", "label", "spread", *names]))
    for start, texts in blocks_of(reader.documents.texts(), BLOCK):
        some = slice(start, start + len(texts))
        cells = ([None] * len(texts) if c is None else c[some].to_pylist() for c in columns)
        for row, text, *rest in zip(range(start, some.stop), texts, *cells, strict=True):
            title, _ = title_and_opening(text, reader.title_of(row))
            file.write(tsv_line([reader.id_of(row), title, *rest]))


def tsv_line(cells: list[Any]) -> bytes:
    clean = (
        "" if each is None else str(guard(cut(clean_line(str(each)), CELL))) for each in cells
    )
    return ("\t".join(clean) + "\n").encode("utf-8", "replace")


def directions(reader: ProjectReader) -> np.ndarray:
    if why := reader.skipped("meaning"):
        raise ValueError(f"There are no directions of meaning to export: {why}")
    return reader.arrays("meaning")["rows"]


class Export(NamedTuple):
    """How one file is written, and what it is to a browser."""

    media_type: str
    write: Callable[[ProjectReader, BinaryIO, Mapping[int, str], Mapping | None], None]


def table_as(write: Callable, table: Callable) -> Callable:
    return lambda reader, file, labels, spread: write(table(reader, labels, spread), file)


CSV, TSV = "text/csv; charset=utf-8", "text/tab-separated-values; charset=utf-8"
JSON, PARQUET = "application/json", "application/vnd.apache.parquet"
EXPORTS = {
    "documents.csv": Export(CSV, table_as(write_csv, DocumentTable)),
    "documents.parquet": Export(PARQUET, table_as(write_parquet, DocumentTable)),
    "documents.json": Export(JSON, table_as(write_json, DocumentTable)),
    "groups.json": Export(JSON, write_groups),
    "projector-vectors.tsv": Export(TSV, write_vectors),
    "projector-metadata.tsv": Export(TSV, write_metadata),
    "atlas.parquet": Export(PARQUET, table_as(write_parquet, AtlasTable)),
    "tree.nwk": Export("text/plain; charset=utf-8", write_tree),
}


def export(
    reader: ProjectReader,
    name: str,
    target: str | os.PathLike | BinaryIO,
    labels: Mapping[int, str] | None = None,
    *,
    spread: Mapping | None = None,
) -> None:
    """Write one of ``EXPORTS`` to a path or a binary stream.

    ``labels`` are those given by hand, by row; ``spread`` is the answer of ``spread``. A path
    holds the whole file or what was there before, whatever happens.
    """
    if name not in EXPORTS:
        raise ValueError(f"export({name!r}) is unknown; choose from {list(EXPORTS)}.")
    labels_by_row = {reader.check_row(row): str(label) for row, label in (labels or {}).items()}
    if spread is not None and len(spread["names"]) != reader.n:
        raise ValueError(
            f"The labels were spread over {len(spread['names']):,} documents, but there are "
            f"{reader.n:,}. Spread them again."
        )
    write = EXPORTS[name].write
    if not isinstance(target, str | os.PathLike):
        write(reader, target, labels_by_row, spread)
        return
    with atomic_write(target) as file:
        write(reader, file, labels_by_row, spread)
