"""What the notes say of stylometry: the books of Oz and the Federalist Papers."""

import os

import numpy as np
import pytest

from tacit.datasets import load
from tacit.style import Authorship, FunctionWords, consensus_tree, impostors

pytestmark = pytest.mark.skipif(
    not os.environ.get("TACIT_DATA"), reason="TACIT_DATA names no folder with data sets"
)

# Percentages of the 50 function words in the notes' table.
PERCENTAGES = """
the 6.7 with 0.7 up 0.3 into 0.2 just 0.2 and 3.7 but 0.7 no 0.3 now 0.2 very 0.2 to 2.6 for 0.7
out 0.3 down 0.2 where 0.2 a/an 2.3 at 0.6 what 0.3 over 0.2 before 0.2 of 2.1 this/these 0.5
then 0.3 back 0.2 upon 0.1 in 1.3 so 0.5 if 0.3 or 0.2 about 0.1 that/those 1.0 all 0.5
there 0.3 well 0.2 after 0.1 it 1.0 on 0.5 by 0.3 which 0.2 more 0.1 not 0.9 from 0.4 who 0.3
how 0.2 why 0.1 as 0.7 one/ones 0.3 when 0.2 here 0.2 some 0.1
"""


@pytest.fixture(scope="module")
def oz():
    books = load("oz")
    labels = np.array([books.target_names[code] for code in books.target])
    return books, labels


@pytest.fixture(scope="module")
def authors(oz):
    books, labels = oz
    known = np.flatnonzero(np.isin(labels, ["baum", "thompson"]))
    return Authorship(block=5000).fit(
        [books.documents[i] for i in known], labels[known],
        names=[books.metadata["title"][i] for i in known],
    )  # fmt: skip


def book(oz, label):
    books, labels = oz
    return [books.documents[i] for i in np.flatnonzero(labels == label)]


def test_the_fifty_words_have_the_frequencies_of_the_table(authors):
    pairs = PERCENTAGES.split()
    table = dict(zip(pairs[::2], map(float, pairs[1::2]), strict=True))
    assert set(table) == set(authors.words_)
    share = 100 * authors.block_counts_.sum(axis=0) / authors.block_lengths_.sum()
    for word, percentage in zip(authors.words_, share, strict=True):
        assert percentage == pytest.approx(table[word], abs=0.11), word


def test_there_are_about_as_many_blocks_as_in_the_notes(authors):
    assert len(authors.block_lengths_) == pytest.approx(223, abs=12)


def sides(authors):
    """Coordinates along the first direction, Thompson to the right."""
    points = authors.map().points[:, 0]
    author = authors.classes_[authors.text_authors_[authors.block_texts_]]
    baum, thompson = points[author == "baum"], points[author == "thompson"]
    turn = 1.0 if thompson.mean() > baum.mean() else -1.0
    return turn, turn * baum, turn * thompson


def test_rank_two_separates_every_block_of_baum_from_every_block_of_thompson(authors):
    _, baum, thompson = sides(authors)
    assert baum.max() < thompson.min()


def test_every_block_of_the_royal_book_falls_with_thompson(oz, authors):
    turn, baum, thompson = sides(authors)
    royal = turn * authors.map(book(oz, "contested")).points[:, 0]
    assert len(royal) == 8
    assert royal.min() > max(baum.max(), thompson.min())
    verdict = authors.attribute(book(oz, "contested"))[0]
    assert verdict.author == "thompson"
    assert verdict.votes["thompson"] == 1.0
    assert verdict.probability > 0.9
    assert verdict.typicality > 0.1
    assert impostors(authors, book(oz, "contested")).scores.tolist() == [[0.0, 1.0]]


def test_the_books_outside_of_the_series_fall_on_the_right_side(oz, authors):
    turn, _, _ = sides(authors)
    baum = turn * authors.map(book(oz, "baum_nonoz")).points[:, 0]
    thompson = turn * authors.map(book(oz, "thompson_nonoz")).points[:, 0]
    assert (thompson > 0).all()
    assert sum(baum > 0) == 1  # of eight blocks of The Sea Fairies, one is across
    assert baum.mean() < 0
    assert authors.predict(book(oz, "baum_nonoz")).tolist() == ["baum"]
    assert authors.predict(book(oz, "thompson_nonoz")).tolist() == ["thompson"]


@pytest.mark.parametrize("variant", ["burrows", "eder", "cosine", "quadratic"])
def test_every_book_of_oz_is_attributed_by_the_others(oz, variant):
    books, labels = oz
    known = np.flatnonzero(np.isin(labels, ["baum", "thompson"]))
    model = Authorship(variant=variant).fit([books.documents[i] for i in known], labels[known])
    assert (model.evaluation().right, model.evaluation().tested) == (27, 27)


def test_the_consensus_tree_puts_the_royal_book_among_thompsons(oz):
    books, labels = oz
    rows = FunctionWords.english(50).fit(None).transform(books.documents)
    tree = consensus_tree(rows, books.metadata["id"])
    thompson = [
        name
        for name, label in zip(books.metadata["id"], labels, strict=True)
        if label in ("thompson", "contested")
    ]
    assert tree.support(thompson) > 0.5


@pytest.fixture(scope="module")
def federalist():
    papers = load("federalist")
    status, author = (np.array(papers.metadata[name]) for name in ("status", "author"))
    known = np.flatnonzero((status == "undisputed") & (author != "Jay"))
    model = Authorship(block=None).fit([papers.documents[i] for i in known], author[known])
    disputed = [papers.documents[i] for i in np.flatnonzero(status == "disputed")]
    return model, disputed


def test_hamilton_uses_upon_ten_times_more_often_than_madison(federalist):
    model, _ = federalist
    upon = model.telling_words("Hamilton", "Madison", top=1)[0]
    assert upon.word == "upon"
    assert upon.rate > 10 * upon.other_rate


def test_the_disputed_papers_are_madisons(federalist):
    model, disputed = federalist
    assert len(disputed) == 12
    assert set(model.predict(disputed)) == {"Madison"}
    assert model.typicality(disputed)[:, 1].min() > 0.1
    assert model.evaluation().tested == 65
    assert model.evaluation().accuracy == 1.0
