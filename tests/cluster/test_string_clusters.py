"""Words in many spellings, as a dialect survey collects them, grouped by edit distance."""

import numpy as np
import pytest

from tacit.cluster import (
    AgglomerativeClustering,
    DivisiveClustering,
    KMedoids,
    cophenetic_correlation,
    cut,
    linkage,
)
from tacit.measure import adjusted_rand_score, silhouette_score
from tacit.text import levenshtein, pairwise_strings

SPELLINGS = {
    "kitchen": "kitchin kichen kytchen ketchen kitschen kitchan kutchen kittchen kitchn",
    "butterfly": "buterfly butterflie botterfly butterfli buttafly bytterfly butterflee "
    "budderfly butterfley",
    "potato": "patato pitato potata pertato potater potaato putato potatoe pottato",
    "church": "chirch cherch churche kurch chorch churck tchurch churtch chuch",
    "neighbour": "neighbor naighbour neibour neebour neyghbour neighber nighbour neighboor "
    "neighbours",
    "tomorrow": "tomorra tomorow temorrow tamorrow tomarrow tumorrow tomorrer tommorow tomorro",
}
HEADWORDS = sorted(SPELLINGS)


@pytest.fixture(scope="module")
def survey():
    """Sixty words in no order, and for each the word it is a spelling of."""
    words = [
        (spelling, head)
        for head, others in SPELLINGS.items()
        for spelling in (head, *others.split())
    ]
    order = np.random.default_rng(4).permutation(len(words))
    return [words[i][0] for i in order], [words[i][1] for i in order]


def test_the_survey_has_sixty_different_words(survey):
    words, heads = survey
    assert len({*words}) == 60
    assert all(heads.count(head) == 10 for head in HEADWORDS)


def test_medoids_by_edit_distance_are_the_words_themselves(survey):
    words, heads = survey
    model = KMedoids(6, metric=levenshtein).fit(words)
    assert sorted(model.cluster_centers_) == HEADWORDS
    assert [words[i] for i in model.medoid_indices_] == model.cluster_centers_
    assert [model.cluster_centers_[label] for label in model.labels_] == heads
    heard = ["kitchun", "butterflies", "neighbou", "potatos", "tomorr", "churchh"]
    said = [model.cluster_centers_[label] for label in model.predict(heard)]
    assert said == ["kitchen", "butterfly", "neighbour", "potato", "tomorrow", "church"]


def test_all_distances_at_once_give_the_same_medoids(survey):
    words, _ = survey
    one_by_one = KMedoids(6, metric=levenshtein).fit(words)
    distances = pairwise_strings(words)
    at_once = KMedoids(6, metric="precomputed").fit(distances)
    assert at_once.medoid_indices_.tolist() == one_by_one.medoid_indices_.tolist()
    assert at_once.labels_.tolist() == one_by_one.labels_.tolist()
    loss = distances[:, at_once.medoid_indices_].min(axis=1).sum()
    assert at_once.inertia_ == one_by_one.inertia_ == loss


@pytest.mark.parametrize("method", ["single", "average", "complete", "weighted"])
def test_trees_by_edit_distance_find_the_words(survey, method):
    words, heads = survey
    model = AgglomerativeClustering(6, metric=levenshtein, linkage=method).fit(words)
    assert adjusted_rand_score(heads, model.labels_) == 1.0
    Z = linkage(pairwise_strings(words, condensed=True), method)
    np.testing.assert_allclose(Z, model.linkage_matrix_)
    assert cut(Z, k=6).tolist() == model.labels_.tolist()
    assert (
        model.predict(["kitchun", "ketchin"]).tolist()
        == [model.labels_[words.index("kitchen")]] * 2
    )
    assert cophenetic_correlation(Z, pairwise_strings(words, condensed=True)) > 0.85


def test_splitting_by_edit_distance_finds_them_too(survey):
    words, heads = survey
    model = DivisiveClustering(6, method="diana", metric=levenshtein).fit(words)
    assert adjusted_rand_score(heads, model.labels_) == 1.0


def test_six_groups_are_the_clearest(survey):
    words, _ = survey
    distances = pairwise_strings(words).astype(float)
    clear = {
        k: silhouette_score(
            distances,
            KMedoids(k, metric="precomputed").fit(distances).labels_,
            metric="precomputed",
        )
        for k in range(2, 12)
    }
    assert max(clear, key=clear.__getitem__) == 6


def test_the_medoid_of_each_branch_of_a_tree_is_a_word(survey):
    words, _ = survey
    distances = pairwise_strings(words)
    labels = cut(linkage(pairwise_strings(words, condensed=True), "average"), k=6)
    middle = []
    for j in range(6):
        members = np.flatnonzero(labels == j)
        sums = distances[np.ix_(members, members)].sum(axis=1)
        middle.append(words[members[sums.argmin()]])
    assert sorted(middle) == HEADWORDS
