"""Pairs of characters are shown as the words that they are from."""

from tacit.data import Documents
from tacit.explore.stages.unspaced import whole_words, with_whole_words

TEXTS = ["新しいライブラリです", "古いライブラリの本", "このライブラリは速い"]
TEXTS += ["同じライブラリを使う"]


def test_pairs_of_one_word_are_shown_as_the_word():
    pairs = ["ライ", "イブ", "ブラ", "ラリ"]
    whole = whole_words(Documents.of(TEXTS), [*pairs, "sea"])
    assert whole == dict.fromkeys(pairs, "ライブラリ")


def test_pairs_across_the_border_of_two_words_are_left_out():
    texts = [f"{a}海洋{b}" for a in ("轮船在", "去", "看") for b in ("航行", "很大", "深")] * 3
    whole = whole_words(Documents.of(texts), ["海洋", "洋航", "洋很"])
    assert whole["海洋"] == "海洋"
    assert whole["洋航"] is None or whole["洋航"].startswith("海洋")


def test_a_list_of_nothing_but_borders_stays_as_it_is():
    assert with_whole_words([["ブル", 1]], {"ブル": None}) == [["ブル", 1]]
    assert whole_words(Documents.of(["sea"]), ["sea"]) == {}


def test_particles_are_borders_of_words_and_repeated_runs_count_once():
    texts = ["病院の医師が", "病院は広い", "大きな病院の庭"] * 5 + ["病院の庭"] * 20
    assert whole_words(Documents.of(texts), ["病院"]) == {"病院": "病院"}
    texts = [f"{a}银行{b}" for a, b in zip("去看问找", "提宣提提", strict=True)]
    assert whole_words(Documents.of(texts), ["银行"])["银行"] is not None
