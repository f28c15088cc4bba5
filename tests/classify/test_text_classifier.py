"""Documents in, classes out; and the choice between classifiers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import tacit
from tacit.classify import MultinomialNB, Perceptron, TextClassifier, choose_classifier
from tacit.classify.text_classifier import CANDIDATES, choose_features, make_classifier
from tacit.core.registry import REGISTRY
from tacit.data import Documents
from tacit.text import CountVectorizer, TfidfTransformer

WORDS = {"sea": "whale ship sail storm deck", "law": "court judge trial jury appeal"}
COMMON = ["the", "and", "of", "very", "old", "new", "day"]


def corpus(n=60, seed=0):
    rng = np.random.default_rng(seed)
    labels = [("sea", "law")[i % 2] for i in range(n)]
    texts = [
        " ".join([*rng.choice(WORDS[label].split(), 3), *rng.choice(COMMON, 4)])
        for label in labels
    ]
    return texts, labels


TEXTS, LABELS = corpus()
AVAILABLE = [name for name, each in CANDIDATES.items() if each.model in REGISTRY]


@pytest.mark.parametrize("name", AVAILABLE)
def test_every_candidate_learns_saves_and_explains(name, tmp_path):
    model = TextClassifier(name, random_state=0).fit(TEXTS, LABELS)
    texts, labels = corpus(20, seed=1)
    assert_array_equal(model.predict(texts), labels)
    model.save(tmp_path / "model")
    loaded = tacit.load(tmp_path / "model")
    assert_array_equal(loaded.predict(texts), labels)
    if hasattr(model, "predict_proba"):
        assert_array_equal(loaded.predict_proba(texts), model.predict_proba(texts))
    if hasattr(model, "decision_function"):
        assert_array_equal(loaded.decision_function(texts), model.decision_function(texts))
    top = [word for word, _ in model.top_features("sea", n=5)]
    assert len(set(top) & set(WORDS["sea"].split())) >= 4
    assert not set(top) & set(WORDS["law"].split())
    pushes = dict(loaded.explain("the whale and the judge", class_="sea", against="law"))
    assert pushes["whale"] > 0 > pushes["judge"]


def test_it_is_the_sum_of_its_parts():
    counter = CountVectorizer(ngram_range=(1, 2), min_df=2)
    model = TextClassifier(MultinomialNB(alpha=0.5), vectorizer=counter).fit(TEXTS, LABELS)
    counts = clone(counter).fit_transform(TEXTS)
    wanted = MultinomialNB(alpha=0.5).fit(counts, LABELS)
    assert_array_equal(model.classifier_.weights_, wanted.weights_)
    weighted = TextClassifier(Perceptron(random_state=0)).fit(TEXTS, LABELS)
    rows = TfidfTransformer(sublinear_tf=True).fit_transform(
        CountVectorizer().fit_transform(TEXTS)
    )
    wanted = Perceptron(random_state=0).fit(rows, LABELS)
    assert_array_equal(weighted.classifier_.weights_, wanted.weights_)
    plain = TextClassifier("perceptron", weighting="counts").fit(TEXTS, LABELS)
    assert plain.weigher_ is None


def test_blocks_of_documents_are_predicted_one_by_one(monkeypatch):
    model = TextClassifier().fit(TEXTS, LABELS)
    whole = model.predict_proba(TEXTS)
    monkeypatch.setattr("tacit.data.document_blocks.BLOCK_BYTES", 100)
    documents = Documents.of(text for text in TEXTS)
    assert_allclose(model.predict_proba(documents), whole, rtol=1e-12)
    assert model.predict([]).shape == (0,)
    assert model.predict_proba([]).shape == (0, 2)


def test_documents_without_words_get_a_class_all_the_same():
    model = TextClassifier().fit([*TEXTS, None, ""], [*LABELS, "sea", "sea"])
    assert_array_equal(model.predict(["", None, "unheard of"]), ["sea"] * 3)
    assert model.explain("unheard") == []


def test_bad_labels_are_refused():
    with pytest.raises(ValueError, match="59 labels for 60 documents"):
        TextClassifier().fit(TEXTS, LABELS[1:])
    with pytest.raises(ValueError, match="row 3 has no label"):
        TextClassifier().fit(TEXTS, [*LABELS[:3], None, *LABELS[4:]])
    with pytest.raises(TypeError, match="strings and others are not"):
        TextClassifier().fit(TEXTS, [1, *LABELS[1:]])
    with pytest.raises(ValueError, match="no classifier 'bayes'"):
        TextClassifier("bayes").fit(TEXTS, LABELS)


def test_the_choice_is_by_documents_left_out():
    seen = []
    found = choose_classifier(
        TEXTS,
        LABELS,
        candidates=["naive-bayes", "perceptron"],
        folds=3,
        callbacks=[seen.append],
    )
    assert {trial.name for trial in found.table} == {"naive-bayes", "perceptron"}
    assert found.model.classifier_ is not None
    assert [step.number for step in seen] == [1, 2, 3, 4, 5, 6]
    assert [step.done for step in seen] == [False] * 5 + [True]
    assert "naive-bayes" in str(found)
    for trial in found.table:
        assert trial.interval[0] <= trial.accuracy <= trial.interval[1]
        assert_allclose(trial.accuracy, np.mean(trial.predictions == np.array(LABELS)))
    assert found.table[0].accuracy >= found.table[-1].accuracy


def test_nothing_of_a_fold_is_known_to_the_model_that_labels_it():
    """The same predictions as from vectorizers and models fitted without the fold."""
    folds = np.arange(60) % 4
    found = choose_classifier(
        TEXTS, LABELS, candidates=["naive-bayes", "perceptron"], folds=folds
    )
    for trial in found.table:
        for number in range(4):
            out = folds == number
            model = TextClassifier(trial.name, random_state=0).fit(
                [TEXTS[i] for i in np.flatnonzero(~out)],
                [LABELS[i] for i in np.flatnonzero(~out)],
            )
            wanted = model.predict([TEXTS[i] for i in np.flatnonzero(out)])
            assert_array_equal(trial.predictions[out], wanted)


def test_settings_are_passed_to_the_models_that_have_them():
    assert make_classifier("perceptron", random_state=7, engine="serial")[0].random_state == 7
    assert make_classifier("naive-bayes", random_state=7, engine="serial")[0].engine == "serial"


def test_predict_before_fit_says_so():
    model = TextClassifier("naive-bayes")
    for method in ("predict", "predict_proba", "predict_log_proba"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(["hello"])
    with pytest.raises(NotFittedError):
        TextClassifier("svm").decision_function(["hello"])


def test_only_what_the_classifier_can_do_is_offered():
    assert hasattr(TextClassifier("logistic"), "predict_proba")
    assert hasattr(TextClassifier(MultinomialNB()), "predict_proba")
    assert not hasattr(TextClassifier("svm"), "predict_proba")
    assert not hasattr(TextClassifier("no such"), "predict_proba")


def test_a_fold_that_leaves_one_class_is_named():
    with pytest.raises(ValueError, match="fold 1 of 2 leaves only documents of class"):
        choose_classifier(["hello there", "good bye"], ["a", "b"], folds=2)


def invented_words(n=600, seed=0):
    """Words of two invented languages: hardly one occurs twice, but their letters differ."""
    rng = np.random.default_rng(seed)
    letters = {"north": ("bdgkmn", "aou"), "south": ("ptsfrl", "eiy")}
    labels = [("north", "south")[i % 2] for i in range(n)]
    words = [
        "".join(rng.choice(list(letters[label][i % 2])) for i in range(8)) for label in labels
    ]
    # Some letters are from the other language, so that no single one decides.
    mixed = "bdgkmnaouptsfrleiy"
    return [word[:6] + "".join(rng.choice(list(mixed), 2)) for word in words], labels


@pytest.mark.parametrize("name", ["naive-bayes", "svm"])
def test_single_words_are_classified_by_their_characters(name):
    words, labels = invented_words()
    model = TextClassifier(name, random_state=0).fit(words[:400], labels[:400])
    assert model.features_ == "characters"
    assert np.mean(model.predict(words[400:]) == labels[400:]) > 0.95
    by_words = TextClassifier(name, features="words", random_state=0)
    by_words.fit(words[:400], labels[:400])
    assert np.mean(by_words.predict(words[400:]) == labels[400:]) < 0.6


def test_the_choice_of_a_classifier_includes_that_of_the_features():
    words, labels = invented_words(200)
    choice = choose_classifier(words, labels, candidates=["naive-bayes"], folds=3)
    assert choice.features.best == choice.model.features_ == "characters"
    assert choice.table[0].accuracy > 0.9
    assert choice.to_dict()["features"]["accuracy"]["words"] < 0.7
    assert "features: characters" in str(choice)


def test_words_are_taken_unless_characters_are_significantly_better():
    assert choose_features(TEXTS, LABELS).best == "words"
    assert TextClassifier().fit(TEXTS, LABELS).features_ == "words"
    assert TextClassifier(vectorizer=CountVectorizer()).fit(TEXTS, LABELS).features_ is None
    few = choose_features(["a b", "c d"], [0, 1])
    assert (few.best, few.accuracy) == ("words", {})
    assert choose_features(["!", "?"] * 20, [0, 1] * 20).best == "characters"


def test_features_are_chosen_on_a_sample(monkeypatch):
    words, labels = invented_words(400)
    monkeypatch.setattr("tacit.classify.text_classifier.SAMPLE", 100)
    assert choose_features(words, labels).documents == 100
    monkeypatch.setattr("tacit.classify.text_classifier.SAMPLE_CHARACTERS", 400)
    assert choose_features(words, labels).documents == 50
