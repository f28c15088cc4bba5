"""Columns that came along: which are compared, their words, and how groups relate to them."""

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_mutual_info_score, v_measure_score

from tacit.core import Threads
from tacit.data import Documents
from tacit.explore import explore_documents
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import run_stages
from tacit.explore.report.sections.fields import relate
from tacit.explore.report.sections.method import agreement
from tacit.explore.stages.fields import (
    MOST_KINDS,
    Column,
    columns_of,
    inspect_column,
    strata_of,
    words_of,
)
from tacit.explore.stages.ingest import column_of, kept_columns
from tests.explore.corpora import HOSTILE, only
from tests.explore.test_pipeline import QUICK, TOPICS, letters, look


def explored_table(path, columns, n=90, engine="serial"):
    """Letters on three topics with columns; the context."""
    texts, topics = letters(n)
    made = {name: f(topics) if callable(f) else f for name, f in columns.items()}
    folder = ProjectFolder(path)
    with folder.writing():
        table = pa.table({"text": texts, **made})
        documents = Documents.of(table, text="text")
        run_stages(folder, documents, QUICK, engine=engine, choice=only("fields"))
    return look(folder)


def test_the_words_of_each_value_are_those_of_its_documents(tmp_path):
    context = explored_table(tmp_path, {"topic": lambda topics: topics})
    (field,) = context.facts("fields")["fields"]
    assert field["values"] == sorted(TOPICS)
    assert field["sizes"] == [30, 30, 30]
    for value, words in zip(field["values"], field["words"], strict=True):
        assert len(words) > 4
        assert {word for word, *_ in words} <= set(TOPICS[value])
        assert all(inside > outside for _, inside, outside in words)


def test_a_column_of_chance_has_no_words(tmp_path):
    coin = np.random.default_rng(5).choice(["heads", "tails"], 90).tolist()
    context = explored_table(tmp_path, {"coin": coin})
    (field,) = context.facts("fields")["fields"]
    assert field["words"] == [[], []]


def test_a_word_of_two_thirds_here_and_a_sixth_elsewhere_distinguishes_a_value():
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1], [120, 60])
    rows = (rng.random((180, 2_000)) < rng.uniform(0.02, 0.5, 2_000)).astype(np.float32)
    rows[:, 0] = rng.random(180) < np.where(codes, 0.67, 0.17)
    names = [f"word{i}" for i in range(2_000)]
    column = Column("party", "kinds", "", ("blue", "red"), codes)
    present, strata = sp.csr_array(rows), np.arange(180) % 5
    blue, red = words_of(column, codes, np.array([120, 60]), present, names, strata)
    assert (blue, [word for word, *_ in red]) == ([], ["word0"])


def test_words_of_long_documents_do_not_distinguish_the_value_that_has_them():
    rng = np.random.default_rng(4)
    lengths = rng.integers(10, 200, 400)
    codes = (lengths + rng.integers(0, 60, 400) > 120).astype(np.int64)
    rows = (rng.random((400, 500)) < lengths[:, None] / 400).astype(np.float32)
    column = Column("kind", "kinds", "", ("short", "long"), codes)
    present, names = sp.csr_array(rows), [f"word{i}" for i in range(500)]
    found = words_of(column, codes, np.bincount(codes), present, names, strata_of(lengths))
    assert found == [[], []]


def test_missing_values_are_no_kind_of_their_own(tmp_path):
    def some(topics):
        return [None if i < 30 else topic for i, topic in enumerate(topics)]

    context = explored_table(tmp_path, {"topic": some})
    (field,) = context.facts("fields")["fields"]
    assert field["values"][-1] == "(none)"
    assert field["sizes"][-1] == 30
    assert field["words"][-1] == []


@pytest.mark.parametrize(
    ("values", "role", "why"),
    [
        (["a", "b"] * 20, "kinds", ""),
        ([1.0, 2.0, 3.0] * 20, "kinds", ""),
        ([True, False] * 20, "kinds", ""),
        (["same"] * 40, "other", "has one value only"),
        ([None] * 40, "other", "is empty"),
        ([f"name {i}" for i in range(40)], "other", "has 40 different values for 40 documents"),
        ([f"name {i % 51}" for i in range(900)], "other", "has 51 different values"),
        ([f"name {i % MOST_KINDS}" for i in range(900)], "kinds", ""),
        (["1993-04-06", "1994-05-01"] * 20, "dates", ""),
        (["a", None], "other", "has one value only"),
        ([], "other", "is empty"),
        ([float("nan"), 1.0] * 20, "other", "has one value only"),
    ],
)
def test_what_a_column_holds(values, role, why):
    column = inspect_column("column", values)
    assert column.role == role
    assert column.why.startswith(why)


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([1, None, 2.5], [1.0, None, 2.5]),
        ([2**53, -(2**53)], [2.0**53, -(2.0**53)]),
        ([1234567890123456789, 5], ["1234567890123456789", "5"]),
        ([10**30, None], ["1" + "0" * 30, None]),
        ([False, None], ["False", None]),
        ([True, False], ["True", "False"]),
    ],
)
def test_numbers_stay_numbers_where_that_loses_nothing(values, kept):
    assert column_of(values).to_pylist() == kept


def test_a_column_of_long_numbers_is_explored(tmp_path):
    post = [1234567890123456789 + i % 3 for i in range(90)]
    context = explored_table(tmp_path, {"post": post})
    (field,) = context.facts("fields")["fields"]
    assert field["values"] == [str(1234567890123456789 + i) for i in range(3)]


def test_columns_called_like_ours_are_kept_under_another_name():
    table = pa.table({"ref": ["a", "b"], "body": ["x", "y"], "text": ["p", "q"], "id": [7, 7]})
    documents = Documents.of(table, text="body", id="ref")
    assert kept_columns(documents) == {"ref": "ref", "given_text": "text", "given_id": "id"}
    documents = Documents.of(table, text="body", id="id")
    assert kept_columns(documents) == {"ref": "ref", "given_text": "text"}
    taken = pa.table({"body": ["x"], "text": ["p"], "given_text": ["q"]})
    kept = kept_columns(Documents.of(taken, text="body"))
    assert kept == {"given_text": "given_text", "given_given_text": "text"}


def test_hostile_names_and_values_stay_text(tmp_path):
    bad = [HOSTILE[i % 3] for i in range(90)]
    context = explored_table(tmp_path, {"<b>kind</b>\x1b[31m": bad})
    facts = context.facts("fields")
    assert facts["columns"][0][1] == "kinds"
    assert "\x1b" not in "".join(facts["fields"][0]["values"])


def test_threads_compare_to_the_same_bits(tmp_path):
    one = explored_table(tmp_path / "a", {"topic": lambda topics: topics})
    many = explored_table(tmp_path / "b", {"topic": lambda topics: topics}, engine=Threads(3))
    assert one.facts("fields") == many.facts("fields")


def test_documents_without_columns_have_no_fields(tmp_path):
    context = explored_table(tmp_path, {}, n=9)
    assert context.facts("fields") == {"columns": [], "fields": []}
    assert columns_of(context.documents()) == []


def test_agreement_with_groups_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 200)
    codes = np.where(rng.random(200) < 0.7, labels % 3, rng.integers(0, 3, 200))
    labels[:7], codes[7:12] = -1, -1
    found = relate(codes, labels, 3, 4)
    both = (labels >= 0) & (codes >= 0)
    assert found["v"] == pytest.approx(v_measure_score(codes[both], labels[both]), abs=1e-3)
    adjusted = adjusted_mutual_info_score(codes[both], labels[both])
    assert found["adjusted"] == pytest.approx(adjusted, abs=1e-3)
    assert np.sum(found["table"]) == both.sum()


@pytest.mark.parametrize(("index", "said"), [(-0.001, "0.00"), (-0.02, "−0.02")])
def test_agreement_is_a_number_with_a_true_sign(index, said):
    assert f"is {said} with" in agreement([{"name": "site", "agreement": index}])


def test_agreement_with_one_value_is_not_told():
    assert relate(np.zeros(5, int), np.arange(5) % 2, 1, 2)["v"] is None


def test_lists_are_compared_value_by_value():
    sea, bread = ["whale", "ship", "harbor", "mast"], ["flour", "oven", "yeast", "dough"]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice((sea, bread)[i % 2], 8)) for i in range(80)]
    tags = [["trade", ("sea", "bread")[i % 2]] if i % 4 < 2 else [("sea", "bread")[i % 2]]
            for i in range(80)]  # fmt: skip
    for given in (tags, ["; ".join(each) for each in tags]):
        documents = Documents.of(pa.table({"text": texts, "tags": given}), text="text")
        project = explore_documents(documents, effort="quick", k=2)
        [field] = project._context.facts("fields")["fields"]
        sizes = dict(zip(field["values"], field["sizes"], strict=True))
        assert sizes == {"bread": 40, "sea": 40, "trade": 40, "(none)": 0}
        words = dict(zip(field["values"], field["words"], strict=True))
        assert {word for word, *_ in words["sea"]} <= set(sea)
        assert words["sea"]
        assert not words["trade"]
        said = "several values to a document"
        assert said in project.report().read_text(encoding="utf8")


def test_single_letters_and_markup_are_no_words_of_a_value(tmp_path):
    texts, topics = letters(90)
    texts = [f"{text} x amp" if topic == "sea" else text
             for text, topic in zip(texts, topics, strict=True)]  # fmt: skip
    folder = ProjectFolder(tmp_path)
    with folder.writing():
        documents = Documents.of(pa.table({"text": texts, "topic": topics}), text="text")
        run_stages(folder, documents, QUICK, choice=only("fields"))
    (field,) = look(folder).facts("fields")["fields"]
    said = {word for listed in field["words"] for word, *_ in listed}
    assert said
    assert not {"x", "amp"} & said
