"""Data sets from the folder that TACIT_DATA names: real ones, and what is missing or broken."""

import gzip
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from tacit import datasets
from tacit.core import DataError
from tacit.data import Documents
from tacit.datasets import Dataset
from tacit.datasets.catalog import CATALOG

FOLDER = os.environ.get("TACIT_DATA")
# Rows and classes of every part, as counted when the files were collected.
SIZES = {
    "bodyfat": {None: (252, 0)},
    "brown_tagged": {None: (500, 15)},
    "enwiki_text8style": {"enwiki": (5_601, 0), "text8_prefix": (1, 0)},
    "federalist": {None: (85, 4)},
    "langid": {"all": (27_141, 28)},
    "mnist": {"all": (70_000, 10), "test": (10_000, 10)},
    "movie_reviews": {
        "reviews": (2_000, 2),
        "sentences": (10_662, 2),
        "subjectivity": (10_000, 2),
    },
    "movielens_100k": {None: (100_000, 0)},
    "names": {None: (7_944, 2)},
    "newsgroups": {"all": (18_846, 20), "train": (11_314, 20), "test": (7_532, 20)},
    "olivetti": {None: (400, 40)},
    "oz": {None: (30, 5)},
    "ptb": {"train": (42_068, 0), "valid": (3_370, 0), "test": (3_761, 0)},
    "senseval": {"hard": (4_333, 3), "interest": (2_368, 6), "line": (4_146, 6)},
    "shakespeare": {"works": (42, 0), "tiny": (1, 0)},
    "sms_spam": {None: (5_574, 2)},
    "spelling": {"norvig_testset1": (270, 0), "birkbeck": (36_133, 0), "big": (1, 0)},
    "word_similarity": {
        "wordsim353": (353, 0),
        "simlex999": (999, 0),
        "analogies": (19_544, 0),
    },
}
SLOW = {"brown_tagged", "enwiki_text8style"}
PARTS = [
    pytest.param(name, part, *size, marks=[pytest.mark.slow] if name in SLOW else [])
    for name, parts in SIZES.items()
    for part, size in parts.items()
]


def real(name):
    """The real set, or a skip with the reason."""
    if not FOLDER:
        pytest.skip("TACIT_DATA is not set: no real data sets")
    if not (Path(FOLDER) / name).exists():
        pytest.skip(f"TACIT_DATA holds no {name}")


def test_every_set_in_the_catalog_is_looked_at_here():
    assert {*SIZES} == {*CATALOG}
    for name, parts in SIZES.items():
        known = CATALOG[name].parts or (None,)
        assert {*parts} <= {*known}


@pytest.mark.parametrize(("name", "part", "rows", "classes"), PARTS)
def test_real_sets_have_the_size_they_had_when_collected(name, part, rows, classes):
    real(name)
    data = datasets.load(name, part=part)
    assert len(data) == rows
    assert len(data.target_names) == classes
    if classes:
        assert data.target.dtype == np.int64
        assert {*np.unique(data.target).tolist()} == {*range(classes)}
    assert data.description
    assert data.licence
    assert all(len(column) == rows for column in data.metadata.values())
    if data.documents is not None:
        assert all(isinstance(text, str) and text for text in data.documents)
        assert len(Documents.of(data.documents)) == rows


def test_ratings_know_their_films_and_people():
    real("movielens_100k")
    loaded = datasets.load("movielens_100k")
    assert loaded.data.max(axis=0).tolist() == [943, 1682]
    assert np.unique(loaded.target).tolist() == [1, 2, 3, 4, 5]
    assert loaded.extra["films"][0]["title"] == "Toy Story (1995)"
    assert loaded.extra["films"][0]["genres"] == ["Animation", "Children's", "Comedy"]
    assert len(loaded.extra["users"]) == 943


def test_measurements_leave_out_what_gives_the_answer_away():
    real("bodyfat")
    loaded = datasets.load("bodyfat")
    assert loaded.data.shape == (252, 14) == (len(loaded), len(loaded.extra["columns"]))
    siri = 495 / np.array(loaded.metadata["density"]) - 450
    assert np.median(np.abs(siri - loaded.target)) < 0.1


def test_books_know_their_authors():
    real("oz")
    data = datasets.load("oz")
    contested = data.metadata["title"].index("The Royal Book of Oz")
    assert data.target_names[data.target[contested]] == "contested"
    real("federalist")
    assert datasets.load("federalist").metadata["status"].count("disputed") == 12


def test_senses_stand_where_their_position_says():
    real("senseval")
    data = datasets.load("senseval", part="line")
    words = {
        t[p] for t, p in zip(data.metadata["tokens"], data.metadata["position"], strict=True)
    }
    assert words <= {"line", "lines", "lined", "Line", "Lines"}


# --- Made-up sets: all that needs no real data ---


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    return tmp_path


def pack(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def test_a_set_is_read_from_its_folder(folder):
    pack(folder / "sms_spam/SMSSpamCollection.tsv.gz", 'ham\tHi "you\nspam\tWIN\ta car\n')
    data = datasets.load("sms_spam")
    assert data.documents == ['Hi "you', "WIN\ta car"]
    assert [data.target_names[i] for i in data.target] == ["ham", "spam"]
    assert repr(data) == "Dataset 'sms_spam': 2 documents, 2 classes"
    assert "spam" in data.description
    assert data.to_dict()["rows"] == 2
    assert json.dumps(data.to_dict())


def test_parts_are_chosen(folder):
    for part in ("train", "test"):
        record = {"id": f"a/{part}", "label": "a", "split": part, "text": part}
        pack(folder / f"newsgroups/{part}.jsonl.gz", json.dumps(record) + "\n")
    assert datasets.load("newsgroups").documents == ["train", "test"]
    assert datasets.load("newsgroups", part="test").documents == ["test"]
    with pytest.raises(ValueError, match=r"choose from \['all', 'train', 'test'\]"):
        datasets.load("newsgroups", part="dev")
    with pytest.raises(ValueError, match="leave it out"):
        datasets.load("sms_spam", part="train")


def test_what_is_here_is_marked(folder):
    (folder / "names").mkdir()
    (folder / "names/male.txt").write_text("Al\n")
    assert not any(entry.here for entry in datasets.available())
    (folder / "names/female.txt").write_text("Eve\nJo\n")
    assert [entry.name for entry in datasets.available() if entry.here] == ["names"]
    assert datasets.load("names").documents == ["Eve", "Jo", "Al"]


def test_without_the_variable_the_error_names_it(monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    with pytest.raises(
        DataError, match="TACIT_DATA to the folder that holds it, as mnist/mnist"
    ):
        datasets.load("mnist")
    assert not any(entry.here for entry in datasets.available())


def test_a_set_that_is_not_there_is_named_with_its_origin(folder):
    with pytest.raises(DataError, match=r"no names/male\.txt.*Kantrowitz") as error:
        datasets.load("names")
    assert "TACIT_DATA" in str(error.value)
    assert error.value.exit_code == 4


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=r"no data set 'imdb'.*newsgroups"):
        datasets.load("imdb")


def damaged(folder, name):
    """A copy of a made-up set, broken by what the caller writes into it."""
    shutil.rmtree(folder / name, ignore_errors=True)
    return folder / name


def test_damage_is_reported_with_its_place(folder):
    home = damaged(folder, "langid")
    good = json.dumps({"lang": "en", "split": "train", "text": "x"})
    pack(home / "sentences.jsonl.gz", f"{good}\n{{broken\n")
    with pytest.raises(DataError, match=r"sentences\.jsonl\.gz, row 2: is not JSON"):
        datasets.load("langid")
    pack(home / "sentences.jsonl.gz", f'{good}\n{{"lang": "en"}}\n')
    with pytest.raises(DataError, match="row 2: has no 'split'"):
        datasets.load("langid")
    full = gzip.compress((good + "\n").encode() * 1000)
    (home / "sentences.jsonl.gz").write_bytes(full[: len(full) // 2])
    with pytest.raises(DataError, match="damaged"):
        datasets.load("langid")
    (home / "sentences.jsonl.gz").write_bytes(b"not packed at all")
    with pytest.raises(DataError, match="damaged"):
        datasets.load("langid")
    (home / "sentences.jsonl.gz").write_bytes(gzip.compress(b"\xff\xfe\xff"))
    with pytest.raises(DataError, match="not UTF-8"):
        datasets.load("langid")


def test_broken_tables_and_arrays_are_reported(folder):
    home = folder / "sms_spam"
    pack(home / "SMSSpamCollection.tsv.gz", "ham\tok\nno tab here\n")
    with pytest.raises(DataError, match="row 2: has no tab"):
        datasets.load("sms_spam")
    (folder / "olivetti").mkdir()
    (folder / "olivetti/olivetti.npz").write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(DataError, match="damaged"):
        datasets.load("olivetti")
    np.savez(folder / "olivetti/olivetti.npz", images=np.zeros((2, 3, 3), np.uint8))
    with pytest.raises(DataError, match="damaged"):
        datasets.load("olivetti")
    pickled = np.empty(1, object)
    pickled[0] = {}
    np.savez(folder / "olivetti/olivetti.npz", images=pickled, target=pickled)
    with pytest.raises(DataError, match="damaged"):
        datasets.load("olivetti")  # no pickle is opened
    (folder / "bodyfat").mkdir()
    (folder / "bodyfat/bodyfat.csv").write_text("case,density\n1,2\n")
    with pytest.raises(DataError, match="no column 'bodyfat'"):
        datasets.load("bodyfat")
    for file in CATALOG["word_similarity"].files:
        (folder / "word_similarity").mkdir(exist_ok=True)
        (folder / "word_similarity" / file).write_text("# remark\na\tb\t1.5\na\tb\n")
    with pytest.raises(DataError, match="row 3: has 2 fields instead of 3"):
        datasets.load("word_similarity", part="rg65")
    with pytest.raises(DataError, match="instead of 4"):
        datasets.load("word_similarity", part="analogies")


# --- The class ---


def test_a_data_set_keeps_its_columns_together():
    full = Dataset(
        "toy",
        ["a", "b", "c"],
        data=np.arange(6).reshape(3, 2),
        target=np.array([0, 1, 0]),
        target_names=["x", "y"],
        metadata={"id": ["A", "B", "C"]},
    )
    part = full.take(np.array([2, 1]))
    assert part.documents == ["c", "b"]
    assert part.data.tolist() == [[4, 5], [2, 3]]
    assert part.target.tolist() == [0, 1]
    assert part.metadata == {"id": ["C", "B"]}
    assert repr(full) == "Dataset 'toy': 3 documents of 2, 2 classes"
    with pytest.raises(ValueError, match="2 values of target for 3"):
        Dataset("toy", ["a", "b", "c"], target=np.array([0, 1]))
    with pytest.raises(ValueError, match="neither documents nor data"):
        Dataset("toy")
