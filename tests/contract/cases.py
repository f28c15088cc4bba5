"""The models of the contract tests. A registered class without a case fails them.

SUMMABLE       (name, module with collect and update, rows, params to start from)
ESTIMATORS     estimators of rows, for scikit-learn's checks
NOT_CHECKED    all other registered classes, and why scikit-learn's checks do not apply
FITS           a fit of every registered class: the estimator, X, and y or None
"""

from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier

from tacit.classify import (
    BernoulliNB,
    CalibratedClassifier,
    ComplementNB,
    LinearSVC,
    LogisticRegression,
    MultinomialNB,
    PassiveAggressiveClassifier,
    Perceptron,
)
from tacit.cluster import (
    AgglomerativeClustering,
    DivisiveClustering,
    FuzzyCMeans,
    KMeans,
    KMedoids,
    MiniBatchKMeans,
    SoftKMeans,
    SphericalKMeans,
    lloyd,
    soft,
    spherical,
)
from tacit.core import Serial
from tacit.core.registry import find_class
from tacit.data import Table
from tacit.data.summary import summarize
from tacit.decompose import (
    MDS,
    PCA,
    ClassicalMDS,
    NeighborMap,
    ProbabilisticPCA,
    TruncatedSVD,
    Whitener,
)
from tacit.kernels.unit_rows import unit_rows
from tacit.language import NGramModel
from tacit.mixture import (
    BernoulliMixture,
    CategoricalMixture,
    GaussianMixture,
    MultiComponentNB,
    MultinomialMixture,
    MultivariateNormal,
    SemiSupervisedNB,
)
from tacit.neural import GAN, RBM, Autoencoder
from tacit.text import TfidfTransformer
from tacit.topics import GibbsLDA, LatentDirichletAllocation


def blobs(n=3000, d=5, k=6, seed=0):
    """Points around k centers."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(k, d)) * 6
    return centers[rng.integers(k, size=n)] + rng.normal(size=(n, d))


def documents(n=800, v=50, k=3, seed=0):
    """Word counts of documents on k topics, and the topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(v, 0.1), size=k)
    labels = rng.integers(k, size=n)
    counts = np.stack([rng.multinomial(30, topics[z]) for z in labels])
    return sp.csr_array(counts.astype(np.float64)), labels


def summary_of(rows):
    """The summary of rows in memory."""
    return summarize(Table.from_array(rows), Serial(), name="k-means")


def lloyd_on(rows, k=6):
    sparse = sp.issparse(rows)
    centers = rows[:k].toarray() if sparse else rows[:k]
    return lloyd, rows, lloyd.start(centers, summary_of(rows), sparse=sparse)


def soft_on(rows, k=6, **options):
    return soft, rows, soft.start(rows[:k], summary_of(rows), **options)


def spherical_on(rows, k=6):
    sparse = sp.issparse(rows)
    centers = rows[:k].toarray() if sparse else rows[:k]
    summary = summary_of(unit_rows(rows)[0])
    return spherical, rows, spherical.start(centers, summary, sparse=sparse)


SUMMABLE = {
    "k-means": lambda: lloyd_on(blobs()),
    "k-means, float32": lambda: lloyd_on(blobs(seed=1).astype(np.float32)),
    "k-means, plane, many centers": lambda: lloyd_on(blobs(d=2, k=70, seed=2), k=70),
    "k-means, sparse": lambda: lloyd_on(documents()[0]),
    "spherical k-means": lambda: spherical_on(blobs(seed=3)),
    "spherical k-means, sparse": lambda: spherical_on(documents()[0]),
    "fuzzy c-means": lambda: soft_on( blobs(seed=4), m=2.0),
    "soft k-means": lambda: soft_on( blobs(seed=5), stiffness=0.5),
}

ESTIMATORS = [
    KMeans(n_clusters=3),
    MiniBatchKMeans(n_clusters=3),
    SphericalKMeans(n_clusters=3),
    FuzzyCMeans(n_clusters=3),
    SoftKMeans(n_clusters=3),
    KMedoids(n_clusters=3),
    AgglomerativeClustering(n_clusters=3),
    DivisiveClustering(n_clusters=3),
    ClassicalMDS(n_components=1),
    ClassicalMDS(n_components=1, metric="manhattan", n_landmarks=10),
    MDS(n_components=1, eps=1e-3),
    PCA(n_components=1),
    PCA(n_components=1, svd_solver="full"),
    ProbabilisticPCA(n_components=1, tol=1e-3),
    Whitener(),
    TruncatedSVD(n_components=1),
    NeighborMap(n_steps=20),
    TfidfTransformer(),
    MultivariateNormal(),
    GaussianMixture(n_components=2),
    GaussianMixture(n_components=2, covariance_type="diag"),
    MultinomialMixture(n_components=2),
    BernoulliMixture(n_components=2),
    LatentDirichletAllocation(n_components=2),
    SemiSupervisedNB(),
    MultiComponentNB(),
    MultinomialNB(),
    BernoulliNB(),
    ComplementNB(),
    Perceptron(),
    PassiveAggressiveClassifier(),
    LogisticRegression(),
    LogisticRegression(solver="lbfgs", tol=1e-9, max_iter=1000),
    LinearSVC(),
    LinearSVC(solver="newton"),
    CalibratedClassifier(LinearSVC(), random_state=0),
    Autoencoder((2,), max_iter=2, batch_size=64),
    RBM(2, visible="gaussian", max_iter=2, batch_size=64),
]


DOCUMENTS = "takes documents, not rows of numbers"
SENTENCES = "takes sentences, not rows of numbers"
RATINGS = "takes ratings, not rows of numbers"
NOT_CHECKED = {
    "Authorship": DOCUMENTS,
    "BrownClusters": SENTENCES,
    "CacheModel": SENTENCES,
    "CategoricalMixture": "takes codes of categories",
    "ClassModel": SENTENCES,
    "CountVectorizer": DOCUMENTS,
    "FunctionWords": DOCUMENTS,
    "GibbsLDA": "takes whole counts, and every token is drawn on its own",
    "GAN": "compiles a game of two networks for every width; its own tests check its manners",
    "HashingVectorizer": DOCUMENTS,
    "InvertedIndex": DOCUMENTS,
    "LexiconClassifier": DOCUMENTS,
    "MixedModel": SENTENCES,
    "NGramModel": SENTENCES,
    "NearDuplicates": DOCUMENTS,
    "PPMIVectors": SENTENCES,
    "SemanticIndex": DOCUMENTS,
    "SpellingCorrector": SENTENCES,
    "TextClassifier": DOCUMENTS,
    "TextFeatures": DOCUMENTS,
    "TextTopics": DOCUMENTS,
    "TfidfVectorizer": DOCUMENTS,
    "Word2Vec": SENTENCES,
    "WordSenses": DOCUMENTS,
    **dict.fromkeys(
        ("ALS", "AttributeRecommender", "BiasedSGD", "Biases", "GlobalMean", "ImplicitALS",
         "ItemKNN", "Popularity"), RATINGS,
    ),
    "WordVectors": DOCUMENTS,
}

ANIMALS, VERBS, PLACES = (
    words.split()
    for words in ("fox dog cat horse bird", "runs sleeps eats jumps", "home away here there")
)
TEXTS = [
    f"the {a} {v} {p}" + " and waits" * (i % 3)
    for i in range(3)
    for a in ANIMALS
    for v in VERBS
    for p in PLACES
]
TEXT_LABELS = np.array(["bird" if "bird" in text else "other" for text in TEXTS])


def with_params(estimator, **changes):
    """A fresh copy with those of the changes that it knows."""
    known = estimator.get_params()
    return clone(estimator).set_params(**{k: v for k, v in changes.items() if k in known})


def targets(estimator, rows):
    """Labels of the rows, for a classifier."""
    return np.arange(len(rows)) * 7919 // 5 % 3 if is_classifier(estimator) else None


def case_name(estimator):
    """The class and, where it has several cases, how this differs from the first."""
    first = next(each for each in ESTIMATORS if type(each) is type(estimator))
    params, default = estimator.get_params(deep=False), first.get_params(deep=False)
    changed = [f"{key}={value}" for key, value in params.items() if value != default[key]]
    return ", ".join([type(estimator).__name__, *changed])


def on_rows(estimator):
    rows = np.abs(blobs(1200))  # counts, for those that want them
    return lambda: (clone(estimator), rows, targets(estimator, rows))


def on_texts(kind, labels=None, **options):
    return lambda: (find_class(kind)(**options), TEXTS, labels)


def triples(n=400, m=60, seed=0):
    """Ratings of rank 2 and some noise: about one in five pairs."""
    rng = np.random.default_rng(seed)
    users, items = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    u, i = np.nonzero(rng.random((n, m)) < 0.2)
    values = 3 + (users[u] * items[i]).sum(axis=1) + 0.3 * rng.normal(size=len(u))
    return np.column_stack([u, i]), np.round(np.clip(values, 0, 6), 1)


def on_ratings(kind, **options):
    return lambda: (find_class(kind)(**options), *triples())


def on_attributes():
    """Attributes go with the ratings."""
    tags = {i: [f"a{i % 3}", f"b{i % 2}"] for i in range(60)}
    model = find_class("AttributeRecommender")()
    model.fit = partial(model.fit, attributes=tags)
    return model, *triples()


FITS = {
    **{case_name(estimator): on_rows(estimator) for estimator in ESTIMATORS},
    "TruncatedSVD, wide": lambda: (TruncatedSVD(4), documents(n=600, v=900)[0], None),
    "PCA, wide": lambda: (
        PCA(4, svd_solver="krylov"), documents(n=200, v=300)[0], None,
    ),
    "KMedoids, clara": on_rows(KMedoids(3, method="clara")),
    "AgglomerativeClustering, compressed": on_rows(AgglomerativeClustering(3, compress=50)),
    "CategoricalMixture": lambda: (
        CategoricalMixture(3), np.random.default_rng(0).integers(3, size=(900, 4)), None,
    ),
    "AttributeRecommender": on_attributes,
    "ALS": on_ratings("ALS", n_factors=3),
    "ALS, nonnegative": on_ratings("ALS", n_factors=3, nonnegative=True, bias=False),
    "ImplicitALS": on_ratings("ImplicitALS", n_factors=3),
    "ImplicitALS, cholesky": on_ratings("ImplicitALS", n_factors=3, solver="cholesky"),
    **{kind: on_ratings(kind) for kind in ("Biases", "GlobalMean", "ItemKNN", "Popularity")},
    "BiasedSGD": on_ratings("BiasedSGD", n_factors=3, n_epochs=5),
    "GibbsLDA": lambda: (GibbsLDA(3, max_iter=20), documents()[0], None),
    "GAN": on_rows(GAN(2, generator=(4,), discriminator=(4,), max_iter=2)),
    "WordSenses": on_texts("WordSenses", word="fox", min_count=1),
    "BrownClusters": on_texts("BrownClusters", n_clusters=5),
    "CacheModel": lambda: (find_class("CacheModel")(NGramModel(2).fit(TEXTS)), TEXTS, None),
    "ClassModel": on_texts("ClassModel", n_clusters=5),
    "MixedModel": lambda: (
        find_class("MixedModel")([NGramModel(1).fit(TEXTS), NGramModel(2).fit(TEXTS)]), TEXTS,
        None,
    ),
    "PPMIVectors": on_texts("PPMIVectors", vector_size=4, min_count=1),
    "TextClassifier": on_texts("TextClassifier", TEXT_LABELS),
    "TextTopics": on_texts("TextTopics", n_components=3, model=GibbsLDA(max_iter=5)),
    "Authorship": on_texts("Authorship", TEXT_LABELS, block=3),
    "FunctionWords": on_texts("FunctionWords", n_words=8),
    "Word2Vec": on_texts("Word2Vec", vector_size=16, min_count=1, epochs=2, random_state=0),
    "Word2Vec, hierarchical": on_texts(
        "Word2Vec", vector_size=16, min_count=1, epochs=2, sg=0, random_state=0,
        objective="hierarchical-softmax",
    ),
    "WordVectors": lambda: (find_class("WordVectors").one_hot(ANIMALS + VERBS), TEXTS, None),
    **{
        kind: on_texts(kind)
        for kind in (
            "CountVectorizer", "HashingVectorizer", "InvertedIndex", "LexiconClassifier",
            "NGramModel", "NearDuplicates", "SemanticIndex", "SpellingCorrector",
            "TextFeatures", "TfidfVectorizer",
        )
    },
}  # fmt: skip


def leaves(value):
    """The arrays and numbers in params or stats, in order."""
    if sp.issparse(value):
        value = (value.data, value.indices, value.indptr)
    elif hasattr(value, "__dataclass_fields__"):
        value = tuple(vars(value).values())
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [np.asarray(value)]


def assert_same_bits(a, b):
    for x, y in zip(leaves(a), leaves(b), strict=True):
        np.testing.assert_array_equal(x, y)
