"""What a token is, in every script."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.data.text_block import text_of
from tacit.text import tokenize
from tacit.text.characters import characters_of_rule, lower_case
from tacit.text.tokens import Spans, TokenRule, split

some = settings(deadline=None, max_examples=60)  # no deadline: the first call compiles
LEARN = re.compile(r"(?u)\b\w\w+\b")
unicode_text = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


def strings(spans: Spans) -> list[str]:
    return [
        spans.buffer[b:e].tobytes().decode()
        for b, e in zip(spans.begin, spans.end, strict=True)
    ]


@some
@given(st.text(st.characters(max_codepoint=127, exclude_characters="\0")))
def test_ascii_text_is_split_as_scikit_learn_splits_it(text):
    assert tokenize(text) == LEARN.findall(text.lower())
    assert tokenize(text, lowercase=False) == LEARN.findall(text)
    assert tokenize(text, min_length=1) == re.findall(r"\w+", text.lower())


@pytest.mark.parametrize("atom", [r"\w", r"\S", r"[a-zé]", r"\d", r"[^\W\d_]"])
@some
@given(text=unicode_text)
def test_runs_of_a_class_are_what_the_pattern_finds_in_any_script(atom, text):
    for lowercase in (True, False):
        for least in (1, 3):
            normal = unicodedata.normalize("NFC", text)
            normal = normal.lower() if lowercase else normal
            rule = TokenRule("plain", lowercase, least, atom)
            found = strings(split(text_of([text]), rule))
            assert found == re.findall(f"(?:{atom}){{{least},}}", normal)


def test_lower_case_is_pythons_for_every_character():
    table = lower_case()
    skipped = {0x130, *range(0xD800, 0xE000)}
    wrong = [i for i in range(0x110000) if i not in skipped and chr(i).lower() != chr(table[i])]
    assert wrong == []


@some
@given(unicode_text)
def test_tokens_are_in_normal_form_and_lower_case_and_come_from_the_text(text):
    for rule in ("plain", "words"):
        tokens = tokenize(text, rule=rule)
        assert all(token == token.lower() for token in tokens)
        assert "" not in tokens
        assert tokens == tokenize(unicodedata.normalize("NFD", text), rule=rule)
        for token in tokens:
            assert tokenize(token, rule=rule)[:1] == [token] or len(token) > 1


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # combining accents: the word survives, in one form
        (unicodedata.normalize("NFD", "Étude naïve"), ["étude", "naïve"]),
        ("E\u0301tude", ["étude"]),
        # lower case
        ("STRAẞE Straße", ["straße", "straße"]),
        ("İstanbul", ["i̇stanbul"]),
        ("ΟΔΟΣ ΣΟΦΟΣ οδος", ["οδος", "σοφος", "οδος"]),
        ("ⱯⱭ ȺȾ", ["ɐɑ", "ⱥⱦ"]),
        # scripts without spaces
        ("東京都に行く", ["東京", "京都", "都に", "に行", "行く"]),
        ("我", ["我"]),
        ("iPhone手机2024年", ["iphone", "手机", "2024", "年"]),
        ("カタカナー", ["カタ", "タカ", "カナ", "ナー"]),
        ("ที่นี่", ["ที่นี่"]),
        ("ภาษาไทย", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]),
        ("𠀀𠀁𠀂", ["𠀀𠀁", "𠀁𠀂"]),
        ("大韓民國 대한민국", ["大韓", "韓民", "民國", "대한민국"]),
        # scripts with marks
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("שָׁלוֹם", [unicodedata.normalize("NFC", "שָׁלוֹם")]),
        # emoji
        ("I 👍 this 😀😀!", ["👍", "this", "😀", "😀"]),
        ("👩‍👩‍👧 👍🏽 🇫🇷🇩🇪 ❤️❤", ["👩‍👩‍👧", "👍🏽", "🇫🇷", "🇩🇪", "❤", "❤"]),
        ("1️⃣ 🏴\U000e0067\U000e0062\U000e007f", ["1⃣", "🏴\U000e0067\U000e0062\U000e007f"]),
        ("🇫", ["🇫"]),
        ("😀\u200d word", ["😀", "word"]),
        # what is not there
        ("co\u00adoperate", ["cooperate"]),
        ("a\u0301", []),
        ("\u0301 \u200d ' - \ufe0f", []),
        ("", []),
        # apostrophes and hyphens separate
        ("don't well-known l’homme", ["don", "well", "known", "homme"]),
        ("snake_case x_1 2nd", ["snake_case", "x_1", "2nd"]),
    ],
)
def test_the_plain_rule(text, tokens):
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't stop: well-known l’homme", ["don't", "stop", "well-known", "l’homme"]),
        ("rock 'n' roll", ["rock", "n", "roll"]),
        ("a -- b- -c o''k", ["a", "b", "c", "o", "k"]),
        ("state-of-the-art I", ["state-of-the-art", "i"]),
        ("東京-都", ["東京", "都"]),
    ],
)
def test_the_words_rule_keeps_apostrophes_hyphens_and_single_letters(text, tokens):
    assert tokenize(text, rule="words") == tokens


def test_never_one_giant_token_for_a_run_without_spaces():
    assert max(map(len, tokenize("漢" * 10_000))) == 2
    assert len(tokenize("ก" * 10_000)) == 9_999


def test_numbers_stop_words_and_short_words_can_be_left_out():
    text = "In 1984 the b52 flew ٣٤ miles 3_4"
    assert tokenize(text, numbers=False) == ["in", "the", "b52", "flew", "miles"]
    assert tokenize(text, stop_words=["the", "in"])[:2] == ["1984", "b52"]
    assert tokenize(text, min_length=4) == ["1984", "flew", "miles"]


def test_a_word_of_any_length_is_one_token():
    word = "ab" * 500_000
    assert tokenize(f"{word} {word}é") == [word, word + "é"]


def test_every_character_can_stand_anywhere():
    characters = [chr(i) for i in range(1, 0x110000, 7) if not 0xD800 <= i < 0xE000]
    spans = split(text_of([f"x{c}y{c}{c}" for c in characters]), TokenRule(min_length=1))
    assert len(spans.edges) == len(characters) + 1
    assert (spans.end > spans.begin).all()


def test_emoji_of_a_later_unicode_are_known():
    kinds = characters_of_rule("plain", True).codes >> 24 & 0xF
    assert (kinds[0x1FA70:0x1FB00] == kinds[0x1F600]).all()
    assert kinds[0x31350] == kinds[0x4E00]


def test_wrong_settings_say_what_is_right():
    with pytest.raises(
        ValueError, match=r"rule='x' is unknown; choose from \['plain', 'words'\]"
    ):
        tokenize("a", rule="x")
    with pytest.raises(ValueError, match="min_length=0 must be at least 1"):
        tokenize("a", min_length=0)
    with pytest.raises(TypeError, match="takes one str, but got list"):
        tokenize(["a"])


def test_many_documents_are_split_as_each_alone():
    documents = ["plain ascii", "", "naïve 東京都", None, "ΟΔΟΣ", "😀", "x" * 5000 + " é"]
    spans = split(text_of(documents), TokenRule())
    whole = strings(spans)
    for i, document in enumerate(documents):
        assert whole[spans.edges[i] : spans.edges[i + 1]] == tokenize(document or "")
    assert spans.begin.dtype == np.int32
