import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core import ModelFileError, Serial, Threads
from tacit.language.sentences import Reader
from tacit.words import Word2Vec, pairs, skip_gram
from tacit.words.corpus import read_corpus
from tacit.words.windows import graft, huffman_paths

OBJECTIVES = ("negative-sampling", "hierarchical-softmax", "softmax")
every_objective = pytest.mark.parametrize("objective", OBJECTIVES)
both_models = pytest.mark.parametrize("sg", [1, 0])


def topics(n=300, seed=0, words=30):
    """Sentences of words of one of two kinds, a0 a1 ... or b0 b1 ..."""
    rng = np.random.default_rng(seed)
    return [[f"{'ab'[i % 2]}{w}" for w in rng.integers(words, size=12)] for i in range(n)]


def separation(vectors):
    """How much more similar words of one kind are than words of different kinds."""
    units = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    cosines, kind = units @ units.T, np.array([word[0] for word in vectors.words])
    same = kind[:, None] == kind[None, :]
    return cosines[same].mean() - cosines[~same].mean()


def model(**options):
    settings = {"window": 3, "min_count": 1, "sample": 0, "epochs": 8, "random_state": 0}
    return Word2Vec(16, **{**settings, **options})


def test_the_notes_eight_pairs():
    assert pairs("the cat sit on the mat", window=3) == [
        ("cat", "the"), ("cat", "sit"), ("sit", "cat"), ("sit", "on"),
        ("on", "sit"), ("on", "the"), ("the", "on"), ("the", "mat"),
    ]  # fmt: skip


def test_windows_at_the_ends_add_pairs():
    assert len(pairs("the cat sit on the mat", window=3, whole=False)) == 10
    assert pairs(["one"], 3, whole=False) == []


@pytest.mark.parametrize("window", [0, 1, 2, 4])
def test_a_window_is_odd_and_has_a_context(window):
    with pytest.raises(ValueError, match="odd"):
        pairs("a b c", window)


@every_objective
@both_models
def test_words_of_one_kind_become_similar(objective, sg):
    fitted = model(objective=objective, sg=sg, alpha=0.1).fit(topics())
    assert separation(fitted.vectors_) > 0.5
    assert fitted.losses_[-1] < fitted.losses_[0]
    assert fitted.n_iter_ == len(fitted.losses_) == 8


@every_objective
@both_models
def test_ordered_updates_have_the_same_bits_on_any_number_of_threads(
    objective, sg, monkeypatch
):
    monkeypatch.setattr(skip_gram, "FEW_WORDS", 50)  # so that there are groups of words
    monkeypatch.setattr(skip_gram, "CHUNK_WORDS", 1024)
    text = topics(1500 if objective == "negative-sampling" else 300, words=40)
    options = {"objective": objective, "sg": sg, "epochs": 1 if sg else 2, "sample": 0.01}
    fits = [
        model(engine=engine, **options).fit(text)
        for engine in (Serial(), Threads(2), Threads(4))
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].vectors_.vectors, other.vectors_.vectors)
        np.testing.assert_array_equal(fits[0].output_vectors_, other.output_vectors_)
        assert fits[0].losses_ == other.losses_


def test_groups_of_words_learn_as_well_as_one_group(monkeypatch):
    text = topics(1500)
    plain = model(epochs=3).fit(text)
    monkeypatch.setattr(skip_gram, "FEW_WORDS", 50)
    grouped = model(epochs=3).fit(text)
    assert separation(grouped.vectors_) > separation(plain.vectors_) - 0.1
    assert grouped.losses_[-1] == pytest.approx(plain.losses_[-1], rel=0.1)


def test_cells_of_a_diagonal_share_no_row():
    ids = np.random.default_rng(0).integers(3000, size=40_000).astype(np.int32)
    schedule = skip_gram.Schedule(
        ids, np.array([0, 20_000, 40_000]), np.full(3000, 2**32 - 1, np.uint32),
        np.ones(3000), 3, True, 5, 0.1, 0.1, 1, np.uint64(1), False,
    )  # fmt: skip
    passes = skip_gram.SkipGramPairs(schedule)
    assert passes.groups == skip_gram.GROUPS
    seen = 0
    for parts in passes.rounds(0):
        if not isinstance(parts[0], tuple):
            for part in parts:
                passes.visit(None, part, 0)
            continue
        rows, columns = set(), set()
        for row, column in parts:
            place = row * passes.groups + column
            low, high = passes.noise.edges[row : row + 2]
            own = {*passes.noise.members[low:high].tolist()}
            contexts = set()
            for each in passes.listed:
                part = slice(each.edges[place], each.edges[place + 1])
                seen += part.stop - part.start
                assert {*each.centers[part].tolist()} <= own
                contexts |= {*each.contexts[part].tolist()}
            assert not rows & own
            assert not columns & contexts
            rows |= own
            columns |= contexts
    plain = skip_gram.SkipGramPairs(schedule._replace(hogwild=True))
    chunks = range(len(plain.cuts) - 1)
    assert seen == sum(len(plain._list(place, 0).centers) for place in chunks) > 100_000


@both_models
def test_hogwild_learns_too(sg):
    fitted = model(updates="hogwild", sg=sg, alpha=0.1, engine=Threads(2)).fit(topics())
    assert separation(fitted.vectors_) > 0.5


def test_the_seed_decides():
    text = topics(50)
    first, again, other = (model(random_state=seed).fit(text) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.vectors_.vectors, again.vectors_.vectors)
    assert (first.vectors_.vectors != other.vectors_.vectors).any()


def test_words_are_sorted_by_count_and_rare_ones_left_out():
    fitted = model(min_count=2, epochs=1).fit(["b a a c", "a b"])
    assert fitted.vectors_.words == ["a", "b"]
    assert fitted.vectors_.counts.tolist() == [3, 2]
    assert fitted.n_words_ == 5


def test_sources_of_text_agree(tmp_path):
    texts = [" ".join(sentence) for sentence in topics(40)]
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts))
    expected = model(epochs=1).fit([text.split() for text in texts]).vectors_
    for source in (texts, path, tacit.data.Documents.open(path), (text for text in texts)):
        found = model(epochs=1).fit(source).vectors_
        assert found.words == expected.words
        np.testing.assert_array_equal(found.vectors, expected.vectors)


@every_objective
def test_partial_fit_adds_new_words_and_goes_on(objective, tmp_path):
    fitted = model(objective=objective, alpha=0.1).fit(topics())
    before = len(fitted.vectors_)
    path = tmp_path / "model.safetensors"
    fitted.save(path)
    draws = np.random.default_rng(1).integers(10, size=(300, 12))
    new = [[*(f"c{w}" for w in row), "a1"] for row in draws]
    for each in (fitted, tacit.load(path)):
        each.partial_fit(new, epochs=8)
        assert sorted(each.vectors_.words[before:]) == [f"c{w}" for w in range(10)]
        kinds = "".join(hit.word[0] for hit in each.vectors_.most_similar("c1", top=8))
        assert kinds.count("c") >= 6
        assert each.vectors_.counts[each.vectors_.place("a1")] > 300
    np.testing.assert_array_equal(fitted.vectors_.vectors, each.vectors_.vectors)


def test_partial_fit_without_new_words_keeps_the_vocabulary():
    fitted = model(objective="hierarchical-softmax").fit(topics(50))
    words = list(fitted.vectors_.words)
    assert fitted.partial_fit(topics(20, seed=5)).vectors_.words == words


def test_partial_fit_begins_a_fit():
    assert separation(model(alpha=0.1).partial_fit(topics()).vectors_) > 0.5


def test_a_grafted_tree_has_the_words_of_both():
    old, new = huffman_paths(np.array([4, 2, 1])), huffman_paths(np.array([3, 3]))
    both = graft(old, new)
    assert len(both.edges) == 6
    assert both.nodes.max() == 3
    np.testing.assert_array_equal(np.diff(both.edges), [2, 3, 3, 2, 2])
    codes = {tuple(both.codes[both.edges[w] : both.edges[w + 1]].tolist()) for w in range(5)}
    assert len(codes) == 5
    assert huffman_paths(np.array([7])).edges.tolist() == [0, 0]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=40))
def test_huffman_codes_are_as_short_as_the_entropy_allows(counts):
    counts = np.sort(np.array(counts))[::-1]
    paths = huffman_paths(counts)
    lengths = np.diff(paths.edges)
    p = counts / counts.sum()
    mean, entropy = float(p @ lengths), float(-(p * np.log2(p)).sum())
    assert entropy - 1e-9 <= mean < entropy + 1
    if len(counts) > 1:
        assert (2.0**-lengths).sum() == pytest.approx(1)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=8), min_size=1, max_size=6),
    st.integers(1, 3),
)
def test_a_corpus_keeps_the_frequent_words_of_every_sentence(sentences, min_count):
    words = [word for sentence in sentences for word in sentence]
    kept = {word for word in words if words.count(word) >= min_count}
    if not kept:
        with pytest.raises(ValueError, match=r"min_count|needs words"):
            read_corpus(sentences, Reader(), "serial", min_count=min_count, name="Test")
        return
    corpus = read_corpus(sentences, Reader(), "serial", min_count=min_count, name="Test")
    read = [
        [corpus.words[i] for i in corpus.ids[a:b]]
        for a, b in zip(corpus.edges[:-1], corpus.edges[1:], strict=True)
    ]
    expected = [[word for word in sentence if word in kept] for sentence in sentences]
    assert read == [sentence for sentence in expected if sentence]


def test_frequent_words_are_sampled_less():
    keep = tacit.words.word2vec.keep_probabilities(np.array([90_000, 9_000, 1]), 1e-3) / 2**32
    assert keep[0] < 0.05 < 0.1 < keep[1] < 0.15
    assert keep[2] > 0.999
    assert (tacit.words.word2vec.keep_probabilities(np.array([9, 1]), 0) == 2**32 - 1).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ([], "needs words"),
        (["", None, "  "], "needs words"),
        (["one two three"], "min_count=2"),
        ("missing-file.txt", "missing-file"),
    ],
)
def test_text_without_words_is_refused_with_the_way_out(text, message):
    with pytest.raises((ValueError, OSError), match=message):
        model(min_count=2).fit(text)


def test_a_single_word_is_enough():
    fitted = model(min_count=1, epochs=1).fit(["word word word"])
    assert fitted.vectors_.words == ["word"]
    assert np.isfinite(fitted.vectors_.vectors).all()
    for objective in OBJECTIVES:
        with pytest.warns(UserWarning, match="no two words"):
            model(objective=objective, epochs=1).fit(["word"])


@pytest.mark.parametrize(
    "bad",
    [
        {"vector_size": 0}, {"window": 0}, {"sg": 2}, {"negative": 0}, {"epochs": 0},
        {"objective": "magic"}, {"updates": "fast"}, {"alpha": -1.0}, {"sample": 2.0},
        {"tokenizer": "magic"},
    ],
)  # fmt: skip
def test_parameters_are_checked(bad):
    options = {"min_count": 1, **bad}
    with pytest.raises(ValueError, match=next(iter(bad))):
        Word2Vec(options.pop("vector_size", 16), **options).fit(["a b a b"])


def test_a_learning_rate_that_overflows_is_an_error():
    with pytest.raises(ValueError, match="Lower alpha"):
        model(alpha=10.0, min_alpha=10.0, objective="softmax", epochs=40).fit(topics(40))


def test_a_damaged_tree_in_a_model_file_is_refused(tmp_path):
    fitted = model(objective="hierarchical-softmax", epochs=1).fit(topics(20))
    edges, nodes, codes = fitted._paths
    damaged = [
        (edges, nodes + 1000, codes),
        (edges[:-1], nodes, codes),
        (edges[::-1].copy(), nodes, codes),
        (edges, nodes, codes + 2),
        (edges, nodes.astype(np.int64), codes),
        (edges, nodes),
    ]
    for i, paths in enumerate(damaged):
        fitted._paths = tuple(paths)
        fitted.save(tmp_path / f"{i}.safetensors")
        with pytest.raises(ModelFileError):
            tacit.load(tmp_path / f"{i}.safetensors")


def test_callbacks_see_every_pass_and_can_stop():
    seen = []
    fitted = model(callbacks=[lambda step: seen.append(step.losses[-1]) or len(seen) == 3])
    fitted.fit(topics(20))
    assert fitted.n_iter_ == 3
    assert fitted.losses_ == seen
