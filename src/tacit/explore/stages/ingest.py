"""The first stage: documents of any origin, as one Parquet file that all others read."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tacit.data.documents import Documents
from tacit.data.text_block import scrub
from tacit.explore.stages.cleaning import Cleaned, Found
from tacit.explore.stages.stage import DOCUMENTS

__all__ = [
    "RESERVED", "Source", "blocks_of", "facts_of", "free_name", "read_through",
    "write_documents",
]  # fmt: skip

ROWS = 4096  # documents to a row group: what reading one of them costs
RESERVED = ("id", "text")
PASSAGES = 20  # of the repeated ones that are on record
EXACT = 2**53  # whole numbers up to this are floats without loss; longer ones are names


class Source(NamedTuple):
    """What identifies the documents to explore, and their size."""

    digest: str
    bytes: int  # of text


def read_through(documents: Documents) -> Source:
    """Read everything once: a digest of texts, ids and columns, and how much text it is."""
    found, size = hashlib.blake2b(digest_size=32), 0
    for text in documents.texts():
        data = text.encode("utf-8", "replace")
        size += len(data)
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    for name in documents.columns:
        found.update(repr((name, documents.column(name))).encode("utf-8", "replace"))
    found.update(repr(list(documents.ids)).encode("utf-8", "replace"))
    return Source(found.hexdigest(), size)


def write_documents(documents: Documents, folder: Path, *, clean: bool = True) -> Cleaned:
    """id, text and the columns that came along, packed with zstd, a few thousand at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids = [str(each) for each in documents.ids]
    kept = kept_columns(documents)
    arrays = {name: column_of(documents.column(given)) for name, given in kept.items()}
    cleaned = Cleaned(documents, on=clean)
    arrays |= {name: column_of(values) for name, values in cleaned.columns.items()}
    schema = pa.schema(
        [("id", pa.string()), ("text", pa.large_string())]
        + [(name, array.type) for name, array in arrays.items()]
    )
    with pq.ParquetWriter(folder / DOCUMENTS, schema, compression="zstd") as writer:
        for start, texts in blocks_of(cleaned.texts(), ROWS):
            parts = {name: array.slice(start, len(texts)) for name, array in arrays.items()}
            table = {"id": ids[start : start + len(texts)], "text": texts, **parts}
            writer.write_table(pa.table(table, schema=schema))
        if not ids:
            writer.write_table(schema.empty_table())
    return cleaned


def blocks_of(texts: Iterable[str], size: int) -> Iterator[tuple[int, list[str]]]:
    """Texts in order, a block at a time: where it begins, and its texts."""
    start, rest = 0, iter(texts)
    while block := list(islice(rest, size)):
        yield start, block
        start += len(block)


def kept_columns(documents: Documents) -> dict[str, str]:
    """The columns to keep, by the name they are kept under. Those called like one of ours are
    given_NAME; the one that the ids are from is there already."""
    kept = {name: name for name in documents.columns if name not in RESERVED}
    for name in documents.columns:
        if name == "text" or (name == "id" and not holds_ids(documents)):
            kept[free_name(name, {*kept, *RESERVED})] = name
    return kept


def free_name(name: str, taken: Collection[str]) -> str:
    """A name for a column that came along, which may be called as one of ours.

    >>> free_name("date", {"words"}), free_name("words", {"words"})
    ('date', 'given_words')
    """
    while name in taken:
        name = f"given_{name}"
    return name


def holds_ids(documents: Documents) -> bool:
    """Whether the column "id" is what the ids are from; a repeated one has "#2"."""
    pairs = zip(documents.ids, documents.column("id"), strict=True)
    return all(v in (None, "") or str(each).partition("#")[0] == str(v).partition("#")[0]
               for each, v in pairs)  # fmt: skip


def column_of(values: list) -> Any:
    """Numbers stay numbers; everything else becomes text."""
    import pyarrow as pa

    if all(v is None or is_number(v) for v in values):
        return pa.array(values, pa.float64())
    return pa.array([None if v is None else as_text(v) for v in values], pa.string())


def as_text(value: Any) -> str:
    """A value as text; a list as JSON, so that its values can be told apart."""
    if isinstance(value, list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, float) or (isinstance(value, int) and abs(value) <= EXACT)


def facts_of(documents: Documents, cleaned: Cleaned | None = None) -> dict[str, Any]:
    """The ingest report as JSON values, with what was decoded and set aside."""
    report = documents.report
    done = Found() if cleaned is None else cleaned.found
    return {
        "documents": len(documents),
        "source": report.source,
        "sentences": [*report.lines(), *done.sentences()],
        "cleaned": {**asdict(done), "passages": [scrub(p) for p in done.passages[:PASSAGES]]},
        "repairs": asdict(report.repairs),
        "columns": [*kept_columns(documents), *(() if cleaned is None else cleaned.columns)],
        "partial": [file.sentence() for file in report.partial],
    }
