"""Which classes a model file may name, and where they live.

A file says "KMeans", never a module: the module comes from this map, so no file can make
Tacit import anything. Homes are strings, so that ``core`` imports no model. A new model is
one line.
"""

import importlib

__all__ = ["REGISTRY", "find_class", "name_of"]

REGISTRY: dict[str, str] = {
    "AgglomerativeClustering": "tacit.cluster.hierarchy.agglomerative:AgglomerativeClustering",
    "Authorship": "tacit.style.authorship:Authorship",
    "Autoencoder": "tacit.neural.autoencoder:Autoencoder",
    "BernoulliMixture": "tacit.mixture.multinomial:BernoulliMixture",
    "BernoulliNB": "tacit.classify.naive_bayes:BernoulliNB",
    "ClassicalMDS": "tacit.decompose.classical_mds:ClassicalMDS",
    "ComplementNB": "tacit.classify.naive_bayes:ComplementNB",
    "BrownClusters": "tacit.language.brown_clusters:BrownClusters",
    "CalibratedClassifier": "tacit.classify.calibration:CalibratedClassifier",
    "ClassModel": "tacit.language.class_model:ClassModel",
    "CacheModel": "tacit.language.cache_model:CacheModel",
    "CategoricalMixture": "tacit.mixture.multinomial:CategoricalMixture",
    "CountVectorizer": "tacit.text.counts:CountVectorizer",
    "DivisiveClustering": "tacit.cluster.hierarchy.divisive:DivisiveClustering",
    "FunctionWords": "tacit.style.function_words:FunctionWords",
    "FuzzyCMeans": "tacit.cluster.soft:FuzzyCMeans",
    "GAN": "tacit.neural.gan:GAN",
    "GaussianMixture": "tacit.mixture.gaussian:GaussianMixture",
    "GibbsLDA": "tacit.topics.lda_gibbs:GibbsLDA",
    "HashingVectorizer": "tacit.text.hashing:HashingVectorizer",
    "InvertedIndex": "tacit.search.inverted_index:InvertedIndex",
    "KMeans": "tacit.cluster.kmeans:KMeans",
    "KMedoids": "tacit.cluster.kmedoids:KMedoids",
    "LatentDirichletAllocation": "tacit.topics.lda_variational:LatentDirichletAllocation",
    "LexiconClassifier": "tacit.classify.lexicon:LexiconClassifier",
    "LinearSVC": "tacit.linear.svm:LinearSVC",
    "LogisticRegression": "tacit.linear.logistic:LogisticRegression",
    "MDS": "tacit.decompose.mds:MDS",
    "MiniBatchKMeans": "tacit.cluster.minibatch:MiniBatchKMeans",
    "MultiComponentNB": "tacit.mixture.semi_supervised:MultiComponentNB",
    "MultinomialMixture": "tacit.mixture.multinomial:MultinomialMixture",
    "MultinomialNB": "tacit.classify.naive_bayes:MultinomialNB",
    "MultivariateNormal": "tacit.mixture.normal:MultivariateNormal",
    "MixedModel": "tacit.language.mixed_model:MixedModel",
    "NGramModel": "tacit.language.ngram_model:NGramModel",
    "NearDuplicates": "tacit.search.near_duplicates:NearDuplicates",
    "PCA": "tacit.decompose.pca:PCA",
    "PPMIVectors": "tacit.words.ppmi:PPMIVectors",
    "PassiveAggressiveClassifier": "tacit.linear.perceptron:PassiveAggressiveClassifier",
    "Perceptron": "tacit.linear.perceptron:Perceptron",
    "ProbabilisticPCA": "tacit.decompose.probabilistic_pca:ProbabilisticPCA",
    "RBM": "tacit.neural.rbm:RBM",
    "SemanticIndex": "tacit.search.semantic_index:SemanticIndex",
    "SoftKMeans": "tacit.cluster.soft:SoftKMeans",
    "SemiSupervisedNB": "tacit.mixture.semi_supervised:SemiSupervisedNB",
    "SpellingCorrector": "tacit.language.spelling:SpellingCorrector",
    "SphericalKMeans": "tacit.cluster.spherical:SphericalKMeans",
    "TextClassifier": "tacit.classify.text_classifier:TextClassifier",
    "TextFeatures": "tacit.text.features:TextFeatures",
    "TextTopics": "tacit.topics.text_topics:TextTopics",
    "TfidfTransformer": "tacit.text.tfidf:TfidfTransformer",
    "TfidfVectorizer": "tacit.text.tfidf:TfidfVectorizer",
    "Word2Vec": "tacit.words.word2vec:Word2Vec",
    "Whitener": "tacit.decompose.whitening:Whitener",
    "WordSenses": "tacit.mixture.word_senses:WordSenses",
    "ALS": "tacit.recommend.als:ALS",
    "AttributeRecommender": "tacit.recommend.attributes:AttributeRecommender",
    "BiasedSGD": "tacit.recommend.sgd:BiasedSGD",
    "Biases": "tacit.recommend.baselines:Biases",
    "GlobalMean": "tacit.recommend.baselines:GlobalMean",
    "ImplicitALS": "tacit.recommend.als:ImplicitALS",
    "ItemKNN": "tacit.recommend.baselines:ItemKNN",
    "Popularity": "tacit.recommend.baselines:Popularity",
    "WordVectors": "tacit.words.vectors:WordVectors",
    "NeighborMap": "tacit.decompose.neighbor_map:NeighborMap",
    "TruncatedSVD": "tacit.decompose.truncated_svd:TruncatedSVD",
}


def find_class(name: str) -> type:
    """The class that a model file means by ``name``.

    >>> find_class("Kmean")
    Traceback (most recent call last):
        ...
    KeyError: "There is no model class 'Kmean'; the registry has ALS, ..."
    """
    if name not in REGISTRY:
        known = ", ".join(sorted(REGISTRY))
        raise KeyError(f"There is no model class {name!r}; the registry has {known}.")
    module, _, attribute = REGISTRY[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def name_of(cls: type) -> str:
    """The name by which a model file calls ``cls``.

    >>> name_of(dict)
    Traceback (most recent call last):
        ...
    TypeError: dict is not in tacit.core.registry, so no model file can hold one. ...
    """
    saved_as = vars(cls).get("_saved_as")  # a class without its conventions stands for it
    home = REGISTRY.get(saved_as or "") or f"{cls.__module__}:{cls.__qualname__}"
    for name, place in REGISTRY.items():
        if place == home:
            return name
    raise TypeError(
        f"{cls.__qualname__} is not in tacit.core.registry, so no model file can hold one. "
        "Save a model of a registered class, or add a line there for a new one."
    )
