"""Every registered class takes part in the contract tests, and says so where a law does not."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.core.registry import REGISTRY, find_class
from tests.contract.cases import ESTIMATORS, FITS, NOT_CHECKED
from tests.contract.recorded import fitted

SOURCE = Path(tacit.__file__).parent

# Summable classes whose fit adds nothing up over rows, and why.
WITHOUT_SUMS = {
    "Authorship": "counts the words of its texts by a map over the blocks",
    "CacheModel": "estimates one weight from the probabilities of another model",
    "CalibratedClassifier": "its classifiers have the sums",
    "ClassModel": "its Brown clusters are sequential; then it counts in one pass",
    "BrownClusters": "merges clusters one by one, from counts in memory",
    "HashingVectorizer": "learns nothing",
    "InvertedIndex": "its blocks merge into one index by runs, not by sums",
    "KMedoids": "evaluates samples by a map over the blocks",
    "LexiconClassifier": "learns nothing from documents",
    "MixedModel": "estimates weights from the probabilities of other models",
    "NGramModel": "counts merge and spill, the named exception of the law of size",
    "NearDuplicates": "its blocks are rows of signatures, compared afterwards",
    "SpellingCorrector": "counts n-grams, as NGramModel does",
}
# Summable classes without a loss that a pass could lower, and why.
ONE_PASS = "one pass"
WITHOUT_LOSS = {
    **{name: why for name, why in WITHOUT_SUMS.items() if name != "KMedoids"},
    "BernoulliNB": ONE_PASS,
    "ComplementNB": ONE_PASS,
    "CountVectorizer": ONE_PASS,
    "FunctionWords": ONE_PASS,
    "MultinomialNB": ONE_PASS,
    "MultivariateNormal": ONE_PASS,
    "PCA": "one pass, or passes that enlarge a subspace",
    "PPMIVectors": "a truncated SVD of weighted counts",
    "SemanticIndex": "a truncated SVD of tf-idf weights",
    "TextClassifier": "its classifier may have one",
    "GlobalMean": ONE_PASS,
    "Popularity": ONE_PASS,
    "TextFeatures": ONE_PASS,
    "TfidfTransformer": ONE_PASS,
    "TfidfVectorizer": ONE_PASS,
    "LatentDirichletAllocation": "documents are inferred to a tolerance; see its own tests",
    "Whitener": ONE_PASS,
    "WordSenses": "its mixture has one",
    "TruncatedSVD": "passes enlarge a subspace; the residuals are checked in its own tests",
    "AgglomerativeClustering": "the k-means of compress has one",
    "LogisticRegression": "line searches are checked in its own tests",
    "LinearSVC": "line searches are checked in its own tests",
}
every_fit = pytest.mark.parametrize("name", FITS)


def class_of(name):
    return name.partition(",")[0]


def test_every_registered_class_has_a_fit():
    assert {class_of(name) for name in FITS} == set(REGISTRY)


def test_every_parameter_is_checked_when_a_file_is_loaded():
    """By a constraint, or by what is named here."""
    everywhere = {"random_state", "engine", "callbacks"}  # core.modelfile.check_settings
    elsewhere = {
        "AgglomerativeClustering": {"memory"},  # has no effect
        "CalibratedClassifier": {"estimator"},  # these are models; what was fitted is checked
        "TextClassifier": {"classifier", "vectorizer"},
        "TextTopics": {"model", "vectorizer"},
        "SemanticIndex": {"vectorizer"},
        "CacheModel": {"model"},
        "MixedModel": {"models"},
        "LexiconClassifier": {"negators", "intensifiers", "default"},  # fit, _after_load
        "NGramModel": {"vocabulary", "prune"},
        "HashingVectorizer": {"dtype"},
        "CountVectorizer": {"dtype", "max_features", "max_df", "min_df"},
        "TextFeatures": {"dtype", "max_features", "max_df", "min_df"},
        "TfidfVectorizer": {"dtype", "max_features", "max_df", "min_df"},
    }
    for name in REGISTRY:
        given = inspect.signature(find_class(name)).parameters
        checks = find_class(name)._parameter_constraints
        free = {each for each in given if checks.get(each, "no_validation") == "no_validation"}
        unchecked = free - everywhere
        assert unchecked == elsewhere.get(name, set()), name


def test_every_registered_class_meets_the_checks_of_scikit_learn_or_says_why_not():
    checked = {type(estimator).__name__ for estimator in ESTIMATORS}
    assert checked | set(NOT_CHECKED) == set(REGISTRY)
    assert not checked & set(NOT_CHECKED)


@every_fit
def test_a_summable_fit_is_made_of_sums(name):
    model, passes = fitted(name)
    sums = [each for each in passes if each.kind == "reduce"]
    if model.contract == "summable":
        assert bool(sums) == (class_of(name) not in WITHOUT_SUMS)


def test_every_collect_of_the_package_is_recorded_by_a_fit():
    recorded = {each.name for name in FITS for each in fitted(name).passes}
    written = set()
    for path in SOURCE.rglob("*.py"):
        module = ".".join(["tacit", *path.relative_to(SOURCE).with_suffix("").parts])
        if re.search(r"^def collect\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            written.add(f"{module}.collect")
    assert written - recorded == set()


@every_fit
def test_the_loss_of_a_fit_never_rises(name):
    model, _ = fitted(name)
    if model.contract != "summable":
        return  # the law is for sums
    losses = getattr(model, "losses_", None)
    if hasattr(model, "lower_bounds_"):  # mixtures count upwards, as in scikit-learn
        losses = [-bound for bound in model.lower_bounds_]
    assert (losses is None) == (class_of(name) in WITHOUT_LOSS)
    if losses is None:
        return
    assert (np.diff(losses) <= 1e-9 * abs(losses[0])).all()
