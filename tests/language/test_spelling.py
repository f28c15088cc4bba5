"""Spelling correction: candidates, context, what is kept and what is said."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.core import ModelFileError
from tacit.language import NGramModel, SpellingCorrector
from tacit.language.correction_search import LN10, Lattice, best_path, score_candidates_at
from tacit.language.sentences import FIRST, UNKNOWN
from tacit.language.spelling_text import match_case, sentences_of, tokens_of

TEXT = """
The committee will receive the letter before Tuesday. I believe that their house is over there.
They have a lot of time to read, and they read a letter from the committee. He heard of her
from there. I have never heard of him; we heard a lot from their house. A herd of cows is a lot
to see. We see the sea, and we went to the sea. They went to see their house. It is too late to
go there. I went from there to the house. The form of the letter is too long. A letter came from
the house. He came from the sea. She came from there. I don't believe it.
"""


@pytest.fixture(scope="module")
def speller():
    return SpellingCorrector().fit([TEXT])


# --- Words alone ---


def test_the_right_word_comes_first_for_misspellings_of_many_kinds(speller):
    meant = {
        "comittee": "committee",
        "recieve": "receive",
        "beleive": "believe",
        "tuesdai": "tuesday",
        "hous": "house",
        "hoouse": "house",
        "lettre": "letter",
        "nevr": "never",
        "bfore": "before",
    }
    assert speller.predict(list(meant)) == list(meant.values())
    for typed, word in meant.items():
        assert speller.suggest(typed)[0].word == word


def test_suggestions_have_probabilities_that_fall_and_say_where_they_come_from(speller):
    found = speller.suggest("hause", top=100)
    shares = [each.probability for each in found]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert (found[0].word, found[0].distance, found[0].count) == ("house", 1, 5)
    assert found[0].to_dict()["cost"] == found[0].cost > 0
    assert speller.suggest("hause", top=0) == []


def test_a_word_that_exists_is_its_own_best_suggestion(speller):
    best = speller.suggest("house")[0]
    assert (best.word, best.distance) == ("house", 0)
    assert best.probability > 0.9


def test_case_is_kept(speller):
    assert speller.predict(["Hous", "HOUS", "hous"]) == ["House", "HOUSE", "house"]
    assert speller.suggest("Recieve")[0].word == "Receive"


def test_what_is_near_nothing_stays(speller):
    words = ["zzzzzzzz", "", "x" * 200, "東京都庁舎前", "\U0001f600"]
    assert speller.predict(words) == words
    assert speller.suggest("zzzzzzzz") == []


def test_a_dictionary_adds_words_and_min_count_takes_them_away():
    model = SpellingCorrector(min_count=2).fit([TEXT], dictionary=["Zymurgy", "R2D2"])
    assert "zymurgy" in model.vocabulary_
    assert "tuesday" not in model.vocabulary_
    assert "r2d2" not in model.vocabulary_  # words with digits are never corrected
    assert model.counts_[model.vocabulary_.index("zymurgy")] == 0
    assert model.predict(["zymurgi"]) == ["zymurgy"]


def test_terms_of_a_dictionary_are_taken_word_by_word_and_nothing_else_is():
    odd = ["ice-cream", "New York", "<unk>", "</s>", "\ud800", "", "3rd", "Don’t", "café"]
    model = SpellingCorrector().fit([TEXT], dictionary=odd)
    added = set(model.vocabulary_) - set(SpellingCorrector().fit([TEXT]).vocabulary_)
    assert added == {"ice", "cream", "new", "york", "unk", "s", "café"}
    assert model.language_model_.words_[FIRST:] == model.vocabulary_
    assert model.predict(["creem", "cafe"]) == ["cream", "café"]  # an accent is soon lost


@given(st.lists(st.text(max_size=40), max_size=4))
def test_any_documents_can_be_learned_from(documents):
    model = SpellingCorrector(order=2, engine="serial").fit(documents, dictionary=["word"])
    assert model.language_model_.words_[FIRST:] == model.vocabulary_
    assert model.predict(model.vocabulary_) == model.vocabulary_
    assert "".join(model.correct(each).original for each in documents) == "".join(documents)


def test_examples_teach_slips_that_no_rule_knows():
    words = ["qat quiz"] * 3 + ["cat"] * 4
    plain = SpellingCorrector(order=1).fit(words)
    taught = SpellingCorrector(order=1).fit(words, pairs=[("xxz", "qqz")] * 200)
    assert plain.predict(["xat"]) == ["cat"]
    assert taught.predict(["xat"]) == ["qat"]


def test_more_edits_reach_further():
    assert SpellingCorrector(1).fit([TEXT]).predict(["cmmitte"]) == ["cmmitte"]
    assert SpellingCorrector(2).fit([TEXT]).predict(["cmmitte"]) == ["committee"]
    model = SpellingCorrector(2).fit([TEXT])
    assert model.predict(["cmmtte"]) == ["cmmtte"]
    model.set_params(max_distance=3)  # takes effect without another fit
    assert model.predict(["cmmtte"]) == ["committee"]


# --- Words in sentences ---


def test_context_decides_between_words_that_are_as_near(speller):
    assert str(speller.correct("I believe that thier house is over ther")) == (
        "I believe that their house is over there"
    )
    alone = {each.word for each in speller.suggest("ther", top=3)}
    assert {"the", "there", "their"} >= alone


def test_words_that_exist_but_do_not_fit_are_corrected(speller):
    done = speller.correct("A letter came form the house.")
    assert str(done) == "A letter came from the house."
    (change,) = done.changes
    assert (change.before, change.after, change.kind) == ("form", "from", "real word")
    assert "does not fit here" in change.reason
    assert "swapped" in change.reason
    unchanged = SpellingCorrector(real_words=False).fit([TEXT]).correct(done.original)
    assert unchanged.changes == ()


def test_what_changed_is_said_with_its_place(speller):
    text = "The COMITTEE  will (recieve) it,\n\nI beleive."
    done = speller.correct(text)
    assert str(done) == "The COMMITTEE  will (receive) it,\n\nI believe."
    for change in done.changes:
        assert text[change.start : change.stop] == change.before
        assert 0 < change.probability <= 1
        assert change.after not in change.alternatives
    assert [change.kind for change in done.changes] == ["unknown word"] * 3
    assert done.to_dict()["changes"][0]["after"] == "COMMITTEE"
    assert done.marked().startswith("The [COMITTEE -> COMMITTEE]  will")
    assert "<ins" in done._repr_html_()


def test_words_run_together_are_parted(speller):
    done = speller.correct("They have alot of time.")
    assert str(done) == "They have a lot of time."
    assert done.changes[0].reason == "unknown word; space left out"


def test_names_numbers_addresses_and_strange_words_are_left_alone(speller):
    text = (
        "We see Kutuzov and NASA, and the 7th house: see www.hous.org, to me@hous.org, #hous, "
        "/usr/hous, XMLHttp, R2D2. 東京. I don’t see the committee's house."
    )
    assert speller.correct(text).changes == ()


def test_an_unknown_word_with_a_capital_inside_a_sentence_may_be_a_name(speller):
    assert str(speller.correct("We see cowes.")) == "We see cows."
    assert str(speller.correct("We see Cowes.")) == "We see Cowes."
    assert str(speller.correct("WE SEE COWES.")) == "WE SEE COWS."  # all are capitals


def test_a_strange_word_that_a_text_repeats_is_rather_new_than_wrong(speller):
    once = "We see the kommittey there."
    often = " ".join([once] * 12)
    kept = speller.correct_many([often, once])
    assert str(kept[0]) == often
    assert str(kept[1]) == "We see the committee there."  # no text learns from another
    # Where the right word is near and frequent, repeating does not help.
    assert "lettre" not in str(speller.correct("We see the lettre there. " * 12))


def test_punctuation_case_and_curly_apostrophes_stay(speller):
    done = speller.correct("I dont’t beleive… “THIER” house!")
    assert str(done) == "I don’t believe… “THEIR” house!"


@given(st.text(max_size=60))
def test_any_text_comes_back_with_only_its_changes(text):
    done = _shared().correct(text)
    at, rebuilt = 0, []
    for change in done.changes:
        assert at <= change.start < change.stop
        rebuilt += [text[at : change.start], change.after]
        at = change.stop
    assert "".join([*rebuilt, text[at:]]) == done.text
    assert done.original == text


_made = {}


def _shared():
    if not _made:
        _made["model"] = SpellingCorrector().fit([TEXT])
    return _made["model"]


def test_texts_together_are_corrected_as_they_would_be_alone(speller):
    texts = ["He herd of thier house.", "", "See teh sea", "form there. Form there."]
    together = speller.correct_many(texts)
    assert [done.text for done in together] == [speller.correct(each).text for each in texts]


# --- The search ---


def lattice_of(model, rng, words=5, candidates=3):
    ids = rng.integers(FIRST, len(model.words_), words * candidates).astype(np.int32)
    ids[rng.random(len(ids)) < 0.1] = UNKNOWN
    seconds = np.where(rng.random(len(ids)) < 0.2, FIRST + 1, -1).astype(np.int32)
    return Lattice(
        np.array([0, 2, words]), np.arange(words + 1) * candidates, ids, seconds,
        rng.normal(size=len(ids)),
    )  # fmt: skip


def score_path(lattice, tables_model, path, weight):
    """The score of a path by the model's own scoring, word by word."""
    total = 0.0
    for s in range(len(lattice.sentences) - 1):
        said = []
        for t in range(lattice.sentences[s], lattice.sentences[s + 1]):
            c = path[t]
            said.append(lattice.ids[c])
            if lattice.seconds[c] >= 0:
                said.append(lattice.seconds[c])
            total += lattice.scores[c]
        words = [tables_model.words_[i] for i in said]
        for i in range(len(words)):
            if said[i] != UNKNOWN:  # those are free
                p = tables_model.distribution(words[:i])[said[i]]
                total += weight * np.log(p)
    return total


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_wide_beam_finds_the_best_of_all_paths(order):
    model = NGramModel(order).fit(["a b c d", "b c a d", "c a b", "d d a b c"])
    rng = np.random.default_rng(order)
    lattice = lattice_of(model, rng)
    path = best_path(lattice, model._tables, weight=0.8, beam=300)
    every = [
        np.array([t * 3 + pick for t, pick in enumerate(picks)])
        for picks in product(range(3), repeat=5)
    ]
    scores = [score_path(lattice, model, each, 0.8) for each in every]
    assert score_path(lattice, model, path, 0.8) == pytest.approx(max(scores), abs=1e-6)
    narrow = best_path(lattice, model._tables, weight=0.8, beam=1)
    assert score_path(lattice, model, narrow, 0.8) <= max(scores) + 1e-6


def test_the_weights_of_a_word_are_differences_of_whole_paths():
    model = NGramModel(3).fit(["a b c d", "b c a d", "c a b", "d d a b c"])
    lattice = lattice_of(model, np.random.default_rng(7))
    path = best_path(lattice, model._tables, weight=1.3, beam=50)
    for t in range(5):
        weights = score_candidates_at(lattice, path, t, model._tables, weight=1.3)
        whole = []
        for pick in range(3):
            other = path.copy()
            other[t] = 3 * t + pick
            whole.append(score_path(lattice, model, other, 1.3))
        np.testing.assert_allclose(weights - weights[0], np.array(whole) - whole[0], atol=1e-5)


# --- Sentences to choose from ---


def test_choose_ranks_sentences_by_the_language_model_and_other_evidence(speller):
    guesses = ["We went two the sea", "We went to the sea", "We went to the see"]
    ranked = speller.choose(guesses)
    assert ranked[0].sentence == guesses[1]
    assert ranked[0].index == 1
    assert sum(each.probability for each in ranked) == pytest.approx(1)
    model = speller.language_model_
    assert ranked[0].score == pytest.approx(model.logprob(["we", "went", "to", "the", "sea"]))
    swayed = speller.choose(guesses, scores=[0.0, -100.0, 0.0])
    assert swayed[0].sentence != guesses[1]
    assert abs(LN10 - np.log(10)) < 1e-15


# --- Files, errors ---


def test_a_saved_corrector_comes_back_the_same(speller, tmp_path):
    path = tmp_path / "speller.safetensors"
    speller.save(path)
    again = tacit.load(path)
    text = "The comittee came form thier hous."
    assert again.correct(text) == speller.correct(text)
    assert again.suggest("hous") == speller.suggest("hous")
    speller.save(tmp_path / "twice")
    assert path.read_bytes() == (tmp_path / "twice").read_bytes()
    assert pickle.loads(pickle.dumps(speller)).correct(text) == speller.correct(text)


def test_a_damaged_file_is_refused(speller, tmp_path):
    path = tmp_path / "speller.safetensors"
    speller.save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelFileError):
        tacit.load(path)


def test_a_file_whose_parts_do_not_belong_together_is_refused(speller, tmp_path):
    odd = pickle.loads(pickle.dumps(speller))
    odd.vocabulary_ = [*odd.vocabulary_, "zzz"]
    odd.counts_ = np.append(odd.counts_, 1)
    odd.save(tmp_path / "odd")
    with pytest.raises(ModelFileError, match="not a model of the vocabulary"):
        tacit.load(tmp_path / "odd")


def test_the_engine_does_not_change_the_model(tmp_path):
    documents = [TEXT, "More text. Some of it", "again and again"] * 5
    for engine in ("serial", "threads"):
        model = SpellingCorrector(engine=engine).fit(documents)
        model.set_params(engine="serial")
        model.language_model_.set_params(engine="serial")
        model.save(tmp_path / engine)
    assert (tmp_path / "serial").read_bytes() == (tmp_path / "threads").read_bytes()


@pytest.mark.parametrize("documents", [[], [""], ["12 34"], [None]])
def test_text_without_words_is_an_error_that_says_so(documents):
    with pytest.raises(ValueError, match="needs words"):
        SpellingCorrector().fit(documents)
    assert SpellingCorrector().fit(documents, dictionary=["word"]).predict(["wrod"]) == ["word"]


def test_wrong_arguments_are_named(speller):
    with pytest.raises(ValueError, match="max_distance"):
        SpellingCorrector(4).fit([TEXT])
    with pytest.raises(ValueError, match=r"pairs\[1\] is 'teh'"):
        SpellingCorrector().fit([TEXT], pairs=[("teh", "the"), "teh"])
    with pytest.raises(TypeError, match="correct_many"):
        speller.correct(["a", "b"])
    with pytest.raises(ValueError, match="Put it in a list"):
        speller.predict("word")
    with pytest.raises(ValueError, match="2 sentences, but 1 scores"):
        speller.choose(["a", "b"], scores=[0.0])
    with pytest.raises(TypeError, match="one str"):
        speller.suggest(None)


# --- Its parts ---


def test_sentences_end_at_stops_and_empty_lines_not_at_line_ends():
    text = "One two\nthree. Four five? “Six!” Seven e.g.\n\neight 3.14"
    assert sentences_of(text) == [
        ["one", "two", "three"], ["four", "five"], ["six"], ["seven", "e", "g"],
        ["eight", "3", "14"],
    ]  # fmt: skip
    firsts = [token.key for token in tokens_of(text) if token.first]
    assert firsts == ["one", "four", "six", "seven", "eight"]


def test_titles_and_initials_end_no_sentence():
    text = "Mr. Smith met Dr. J. Watson. So did I. They left."
    assert [len(each) for each in sentences_of(text)] == [6, 3, 2]


def test_accents_apart_from_their_letters_are_one_word():
    assert [t.key for t in tokens_of("cafe\u0301 noir")] == ["café", "noir"]


def test_capitals_of_one_letter_words_are_first_letters():
    assert match_case("a", "I") == "A"
    assert match_case("au lait", "Aulait") == "Au lait"


def test_a_word_longer_than_any_is_left_as_it_is_and_not_cut_in_two():
    model = SpellingCorrector().fit(["a" * 40 + " " + "b" * 40] * 50)
    assert model.correct("a" * 20 + "x").text == "a" * 20 + "x"
    for word in ("a" * 40 + "b" * 40, "c" * 300_000):
        assert model.correct(word).text == word
