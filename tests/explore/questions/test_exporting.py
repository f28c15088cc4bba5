"""Exports, read back by the programs and readers they are for."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.cluster import from_newick
from tacit.explore.ask import EXPORTS, export, spread
from tests.explore.corpora import HOSTILE
from tests.explore.questions.conftest import live_of

LABELS = {0: "=danger()", 1: "fine", 5: "fi\tne\nagain"}


def written(live, name, labels=None, **more):
    stream = io.BytesIO()
    export(live, name, stream, labels, **more)
    return stream.getvalue()


@pytest.fixture
def spread_over(live):
    topics = live.table["topic"].to_pylist()
    return spread(live, {row: topics[row] for row in range(12)})


def test_a_path_and_a_stream_get_the_same_bytes(live, tmp_path):
    for name in EXPORTS:
        target = tmp_path / name
        export(live, name, target, LABELS)
        assert target.read_bytes() == written(live, name, LABELS)


def test_the_table_is_the_same_in_every_format(live, spread_over):
    as_csv = pd.read_csv(io.BytesIO(written(live, "documents.csv", LABELS, spread=spread_over)))
    parquet = written(live, "documents.parquet", LABELS, spread=spread_over)
    as_parquet = pq.read_table(pa.BufferReader(parquet)).to_pandas()
    as_json = json.loads(written(live, "documents.json", LABELS, spread=spread_over))
    assert list(as_csv.columns) == list(as_parquet.columns) == list(as_json[0])
    assert len(as_csv) == len(as_parquet) == len(as_json) == 90
    assert list(as_csv.columns) == [
        "id", "group", "group_name", "sure", "leaf", "x", "y", "words", "copies", "label",
        "spread", "spread_sure", "topic", "number", "text",
    ]  # fmt: skip
    for name in ("id", "group", "words", "topic", "number", "text", "spread"):
        assert as_csv[name].tolist() == as_parquet[name].tolist()
        assert [row[name] for row in as_json] == as_parquet[name].tolist()
    np.testing.assert_allclose(as_csv["x"], as_parquet["x"], rtol=1e-6)
    assert as_parquet["text"].tolist() == list(live.documents.texts())
    assert as_parquet["group"].tolist() == live.groups.tolist()
    assert as_json[0]["label"] == "=danger()"
    assert as_csv["label"][0] == "'=danger()"
    assert as_parquet["label"].isna().sum() == 87


def test_hostile_documents_stay_cells(hostile_live):
    rows = list(csv.reader(io.StringIO(written(hostile_live, "documents.csv").decode())))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(rows) == 91
    table = pq.read_table(pa.BufferReader(written(hostile_live, "documents.parquet")))
    assert table["text"].to_pylist() == list(hostile_live.documents.texts())
    formulas = [cell for row in rows for cell in row if cell[:1] in "=+-@" and cell]
    assert all(cell.lstrip("+-").replace(".", "").replace("e", "").replace("-", "").isdigit()
               for cell in formulas)  # fmt: skip
    assert any(cell.startswith("'=cmd") for row in rows for cell in row)
    assert json.loads(written(hostile_live, "documents.json"))[0]["text"].startswith(HOSTILE[0])


def test_a_column_with_the_name_of_ours_keeps_its_values(explored):
    texts = [f"some words {i % 7} here" for i in range(8)]
    frame = pa.table({"text": texts, "words": ["mine"] * 8, "given_words": ["too"] * 8})
    live = live_of(explored("clash", lambda: frame))
    found = pd.read_csv(io.BytesIO(written(live, "documents.csv")))
    assert found["words"].tolist() == [4] * 8
    assert set(found["given_words"]) | set(found["given_given_words"]) == {"mine", "too"}


def test_the_projector_gets_a_pair_of_files_in_step(live, hostile_live, spread_over):
    for each, labels, more in ((live, LABELS, spread_over), (hostile_live, {}, None)):
        vectors = written(each, "projector-vectors.tsv").decode().splitlines()
        raw = written(each, "projector-metadata.tsv", labels, spread=more)
        lines = raw.decode().split("\n")
        assert lines.pop() == ""
        assert len(vectors) == each.n == len(lines) - 1
        found = np.array([[float(v) for v in line.split("\t")] for line in vectors])
        np.testing.assert_allclose(found, each.arrays("meaning")["rows"], rtol=1e-4, atol=1e-8)
        assert {line.count("\t") for line in lines} == {lines[0].count("\t")}
        assert lines[0].startswith("id\ttitle\tgroup\tlabel\tspread")
        assert "\r" not in raw.decode()
    table = pd.read_csv(io.BytesIO(raw), sep="\t", quoting=csv.QUOTE_NONE)
    assert len(table) == 90
    assert "fi ne again" in written(live, "projector-metadata.tsv", LABELS).decode()


def test_the_atlas_gets_neighbors_as_rows_with_distances(live):
    table = pq.read_table(pa.BufferReader(written(live, "atlas.parquet")))
    assert {"id", "text", "x", "y", "neighbors"} <= {*table.column_names}
    near = table["neighbors"].to_pylist()
    rows = live.arrays("meaning")["rows"].astype(float)
    for row in (0, 13, 89):
        ids, distances = near[row]["ids"], near[row]["distances"]
        assert row not in ids
        assert distances == sorted(distances)
        expected = np.linalg.norm(rows[ids] - rows[row], axis=1)
        np.testing.assert_allclose(distances, expected, atol=2e-3)
    assert all(0 <= i < 90 for each in near for i in each["ids"])


def test_documents_without_words_have_no_place(odd):
    live = live_of(odd)
    table = pq.read_table(pa.BufferReader(written(live, "atlas.parquet")))
    assert table["x"][11].as_py() is None
    assert table["group"][11].as_py() is None
    copies = pd.read_csv(io.BytesIO(written(live, "documents.csv")))["copies"]
    assert copies[4] == copies[5]


def test_the_tree_is_read_back(live):
    Z, names = from_newick(written(live, "tree.nwk").decode())
    facts = live.facts("groups")
    assert len(names) == len(facts["groups"])
    heights = sorted(np.array(facts["tree"])[:, 2])
    np.testing.assert_allclose(sorted(Z[:, 2]), heights, rtol=1e-6)
    numbers = sorted(int(name.split()[0]) for name in names)
    assert numbers == [0, 1, 2]


def test_groups_come_with_words_and_typical_documents(live):
    found = json.loads(written(live, "groups.json"))
    assert found["documents"] == 90
    assert [group["size"] for group in found["groups"]] == [30, 30, 30]
    for group in found["groups"]:
        assert group["words"][0]["inside"] > group["words"][0]["outside"]
        assert {*group["typical"]} <= {f"letter {i}" for i in range(90)}
    assert found["tree"].endswith(";")


def test_an_export_that_fails_leaves_the_file_as_it_was(live, few_live, tmp_path, monkeypatch):
    target = tmp_path / "tree.nwk"
    target.write_text("before")
    with pytest.raises(ValueError, match="no tree of groups"):
        export(few_live, "tree.nwk", target)
    assert target.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["tree.nwk"]
    monkeypatch.setattr("tacit.explore.questions.exports.BLOCK", 40)

    def broken(path):
        class Stream(io.BytesIO):
            def write(self, data):
                raise OSError(28, "No space left on device")

        return Stream()

    with pytest.raises(OSError, match="No space"):
        export(live, "documents.json", broken(target))


def test_small_blocks_make_the_same_table(live, monkeypatch):
    whole = {name: written(live, name, LABELS) for name in EXPORTS if "parquet" not in name}
    monkeypatch.setattr("tacit.explore.questions.exports.BLOCK", 7)
    for name, data in whole.items():
        assert written(live, name, LABELS) == data
    table = pq.read_table(pa.BufferReader(written(live, "documents.parquet", LABELS)))
    assert table["text"].to_pylist() == list(live.documents.texts())


def test_unknown_names_and_stale_labels_are_refused(live, spread_over):
    with pytest.raises(ValueError, match=r"documents\.csv"):
        written(live, "secrets.txt")
    with pytest.raises(IndexError, match="row 900"):
        written(live, "documents.csv", {900: "x"})
    stale = spread_over | {"names": [0, 1]}
    for name in ("documents.csv", "projector-metadata.tsv"):
        with pytest.raises(ValueError, match="Spread them again"):
            written(live, name, {}, spread=stale)
