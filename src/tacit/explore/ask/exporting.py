"""A project as files that other programs read, written in blocks and whole or not at all.

    documents.csv .parquet .json   a row for every document: text, group, place, labels, columns
    groups.json                    the groups: size, verdict, words, typical documents
    projector-vectors.tsv          the Embedding Projector's pair: directions of meaning, and
    projector-metadata.tsv         what each row is
    atlas.parquet                  Embedding Atlas: id, text, x, y, neighbors
    tree.nwk                       the tree of the groups, in Newick

Cells that a spreadsheet would take for formulas are quoted in .csv, and in the metadata too.
"""

import os
from collections.abc import Callable, Mapping
from typing import BinaryIO, NamedTuple

from tacit.core.atomic import atomic_write
from tacit.explore.ask.export_formats import write_csv, write_json, write_parquet
from tacit.explore.ask.export_tables import AtlasTable, DocumentTable
from tacit.explore.ask.export_views import (
    write_groups,
    write_metadata,
    write_tree,
    write_vectors,
)
from tacit.explore.ask.live import Live

__all__ = ["EXPORTS", "Export", "export"]


class Export(NamedTuple):
    """How one file is written, and what it is to a browser."""

    media_type: str
    write: Callable[[Live, BinaryIO, Mapping[int, str], Mapping | None], None]


def table_as(write: Callable, table: Callable) -> Callable:
    return lambda live, file, labels, spread: write(table(live, labels, spread), file)


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
    live: Live,
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
    given = {live.check_row(row): str(label) for row, label in (labels or {}).items()}
    if spread is not None and len(spread["names"]) != live.n:
        raise ValueError(
            f"The labels were spread over {len(spread['names']):,} documents, but there are "
            f"{live.n:,}. Spread them again."
        )
    write = EXPORTS[name].write
    if not isinstance(target, str | os.PathLike):
        write(live, target, given, spread)
        return
    with atomic_write(target) as file:
        write(live, file, given, spread)
