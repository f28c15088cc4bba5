"""Which language a document is in, or that it cannot be told."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

from tacit.explore.stages import languages
from tacit.explore.stages.languages import (
    CODES,
    NAMES,
    UNKNOWN,
    language_of_each,
    languages_of,
    settle_scripts,
)
from tacit.explore.stages.stop_lists import stop_languages, stop_list
from tacit.text import CountVectorizer
from tests.explore.test_pipeline import explore, look

TEN = ("de", "en", "es", "fi", "fr", "it", "nl", "pl", "pt", "sv")
SAMPLES = {
    "en": "The cat is on the mat and it was not there when I came to see what they did.",
    "de": "Der Hund ist nicht in dem Haus, und ich weiß auch nicht, wo er mit den Kindern war.",
    "fr": "Le chien n'est pas dans la maison, et je ne sais pas où il est avec les enfants.",
    "es": "El perro no está en la casa, y yo no sé dónde está con los niños de la calle.",
}


def told(texts, guess=languages_of):
    """The codes of the languages of some texts."""
    vectorizer = CountVectorizer(rule="words")
    counts = vectorizer.fit_transform(texts)
    names = dict(enumerate(CODES)) | {UNKNOWN: "unknown"}
    return [names[int(i)] for i in guess(counts, vectorizer.get_feature_names_out())]


def alone(counts, words):
    return language_of_each(counts, words, np.asarray(counts.sum(axis=1)).ravel())


def guesses(folder):
    context = look(folder)
    facts = context.facts("language_guess")
    names = dict(enumerate(facts["codes"])) | {UNKNOWN: "unknown"}
    return [names[int(i)] for i in context.arrays("language_guess")["language"]], facts


def test_function_words_tell_languages_apart(tmp_path):
    folder, _ = explore(tmp_path, list(SAMPLES.values()))
    found, facts = guesses(folder)
    assert found == list(SAMPLES)
    assert sorted(facts["languages"]) == sorted([code, NAMES[code], 1] for code in SAMPLES)
    assert facts["unknown"] == 0


@pytest.mark.parametrize(
    "text",
    ["", "xyzzy plugh", "1 2 3 4", "\x00\x1b[31m \u202e", "import numpy as np; x = f(y)"],
)  # fmt: skip
def test_what_cannot_be_told_is_unknown(tmp_path, text):
    folder, _ = explore(tmp_path, [text, SAMPLES["en"]])
    found, facts = guesses(folder)
    assert found == ["unknown", "en"]
    assert facts["unknown"] == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Корабль, море, хлеб", "cyrl"),
        ("海と船の手紙", "ja"),
        ("轮船在海洋中航行", "zh"),
        ("바다와 배에 대한 편지", "ko"),
        ("رسالة عن البحر والسفينة", "arab"),
        ("ένα γράμμα για τη θάλασσα", "el"),
        ("समुद्र जहाज पत्र", "deva"),
        ("წერილი ზღვისა და გემის შესახებ", "ka"),
        ("նամակ ծովի և նավի մասին", "hy"),
        ("সমুদ্র জাহাজ চিঠি", "bn"),
        ("கடல் கப்பல் கடிதம்", "ta"),
        ("సముద్రం ఓడ ఉత్తరం", "te"),
        ("ים ואונייה ומכתב", "he"),
        ("a Greek word, λόγος, in an English sentence that is about the sea", "en"),
    ],
)
def test_scripts_tell_languages_without_function_words(tmp_path, text, code):
    folder, _ = explore(tmp_path, [text, SAMPLES["en"]])
    assert guesses(folder)[0] == [code, "en"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Привет, это письмо о море и о хлебе", "ru"),
        ("Це лист про море і про хліб, але не про корабель", "uk"),
        ("این نامه در مورد دریا و کشتی است که با آن رفتند", "fa"),
        ("समुद्र और जहाज के बारे में पत्र", "hi"),
        ("Skibet lå i havnen, men det var ikke der, da vi blev hentet af dem", "da"),
        ("Denizde bir gemi var ama bu gemi için çok daha fazla ekmek gerek", "tr"),
    ],
)
def test_function_words_tell_languages_of_one_script_apart(tmp_path, text, code):
    folder, _ = explore(tmp_path, [text, SAMPLES["en"]])
    assert guesses(folder)[0] == [code, "en"]


def test_short_documents_in_a_script_are_in_the_one_language_that_others_there_are_in():
    guess = np.array([CODES.index("ru")] * 12 + [CODES.index("cyrl")] * 40)
    assert (settle_scripts(guess) == CODES.index("ru")).all()
    few = np.array([CODES.index("ru")] * 12 + [CODES.index("cyrl")] * 60)
    assert (settle_scripts(few) == few).all()


NEW = {
    "af": "Die skip het nie in die hawe gelê nie, want hulle was almal op see met hom.",
    "az": "Bu gəmi üçün çörək yox idi, ancaq onlar həmin limanda daha bir gün qaldılar.",
    "be": "Гэта карабель, які быў у моры, але хлеба на ім ужо не было.",
    "bg": "Корабът не беше в пристанището, защото те вече са били в морето със своите хора.",
    "cy": "Nid oedd y llong yn y porthladd, ond roedd hi wedi bod yno gyda nhw.",
    "eo": "La ŝipo ne estis en la haveno, ĉar ili jam estas sur la maro kun sia pano.",
    "et": "Laev ei olnud enam sadamas, sest nad olid juba merel ja neil ei ole leiba.",
    "eu": "Itsasontzia ez zen portuan izan, baina haiek ere bertan egon dira eta ogia dute.",
    "ga": "Ní raibh an long sa chuan, ach bhí siad ar an bhfarraige agus arán acu féin.",
    "gl": "O barco non estaba no porto, pero eles xa foran ao mar coas súas redes.",
    "is": "Skipið var ekki í höfninni, en þeir voru á sjó og höfðu brauð með sér.",
    "la": "Navis in portu non erat, sed nautae iam cum suis in mare profecti sunt.",
    "lt": "Laivas nebuvo uoste, nes jie jau yra jūroje ir turi duonos su savimi.",
    "lv": "Kuģis nebija ostā, jo viņi jau ir jūrā un viņiem ir maize.",
    "mk": "Бродот не беше во пристаништето, затоа што тие веќе се на море со својот леб.",
    "ms": "Kapal itu tidak berada di pelabuhan kerana mereka boleh belayar bahawa laut tenang.",
    "sh": "Brod nije bio u luci, jer su oni već na moru sa svojim kruhom.",
    "sk": "Loď nebola v prístave, pretože už sú na mori a majú so sebou chlieb.",
    "sl": "Ladje ni bilo v pristanišču, ker so bili že na morju in so imeli kruh s seboj.",
    "sq": "Anija nuk ishte në port, sepse ata janë tashmë në det dhe kanë bukë me vete.",
    "sr": "Брод није био у луци, јер су они већ на мору са својим хлебом.",
    "sw": "Meli haikuwa katika bandari kwa sababu wao walikuwa baharini na mkate wao.",
    "tl": "Wala sa daungan ang barko dahil sila ay nasa dagat na at mayroon silang tinapay.",
    "ur": "جہاز بندرگاہ میں نہیں تھا کیونکہ وہ سمندر پر تھے اور ان کے پاس روٹی تھی",
}


@pytest.mark.parametrize("code", NEW)
def test_languages_of_fewer_speakers_are_told_from_their_relatives(code):
    assert told([NEW[code]]) == [code]
    assert told([*NEW.values(), *SAMPLES.values()], alone) == [*NEW, *SAMPLES]


def test_function_words_may_be_written_with_either_apostrophe():
    welsh = "Mae’r llong sy’n hwylio i’r môr o’r porthladd"
    assert told([welsh, welsh.replace("’", "'")]) == ["cy", "cy"]


def test_every_listed_language_has_a_name_and_enough_words():
    assert len(stop_languages()) == len({NAMES[code] for code in stop_languages()})
    assert [code for code in stop_languages() if len(stop_list(code)) < 100] == []


def test_two_languages_in_one_document_are_unknown():
    both = "Der Hund ist nicht da, und der Hund war auch nicht da. The dog was not here and it "
    both += "is not there."
    assert told([both, SAMPLES["de"], SAMPLES["en"]]) == ["unknown", "de", "en"]


def strange(known, n, seed=0):
    """Documents of 14 words, most of them of no language, with words from ``known``."""
    rng = np.random.default_rng(seed)
    syllables = np.array(["xu", "qol", "wex", "yqa", "zwi", "oxx"])
    invented = ["".join(rng.choice(syllables, 3)) for _ in range(14 * n)]
    return [" ".join([*invented[14 * i + len(known) : 14 * (i + 1)], *known]) for i in range(n)]


def test_a_language_that_shares_some_words_with_a_listed_one_is_unknown():
    several, few = strange(["jsem", "jsou", "které"], 8), strange(["jsem"], 20, seed=1)
    assert told(several) == ["cs"] * 8
    assert told([*several, *few]) == ["unknown"] * 28
    czech = ["Loď nebyla v přístavu, protože už jsou na moři a mají u sebe chléb."] * 20
    assert told([*czech, *several]) == ["cs"] * 28


def test_what_is_not_clear_alone_is_guessed_among_the_languages_of_the_collection():
    short = "Kapal besar ada di pelabuhan."  # Indonesian or Malay
    indonesian = "Kapal itu bisa berlayar karena mereka tahu bahwa laut tenang saja."
    malay = "Kapal itu boleh belayar kerana mereka tahu bahawa laut tenang sahaja."
    assert told([short]) == ["unknown"]
    assert told([short] + [indonesian] * 20)[0] == "id"
    assert told([short] + [malay] * 20)[0] == "ms"
    assert told([short] + [indonesian] * 20 + [malay] * 20)[0] == "unknown"


def test_documents_that_are_placed_one_by_one_do_not_depend_on_each_other():
    several, few = strange(["jsem", "jsou", "které"], 8), strange(["jsem"], 20, seed=1)
    assert told([*several, *few], alone) == ["cs"] * 8 + ["unknown"] * 20


def test_documents_without_a_word_have_no_languages(tmp_path):
    folder, _ = explore(tmp_path, ["", " "])
    assert look(folder).skipped("language_guess")


def test_sentences_in_ten_languages_are_seldom_mistaken(tmp_path):
    """Sentences of 28 languages: of those named, nearly all are named rightly."""
    if "TACIT_DATA" not in os.environ:
        pytest.skip("TACIT_DATA does not say where the data is")
    path = Path(os.environ["TACIT_DATA"], "langid", "sentences.jsonl.gz")
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if row["split"] == "test" and row["lang"] in TEN]
    guess = np.array(told([row["text"] for row in rows]))
    known = guess != "unknown"
    assert known.mean() > 0.75
    assert (guess[known] == np.array([row["lang"] for row in rows])[known]).mean() > 0.995


def test_documents_compared_in_parts_have_the_languages_they_have_together(monkeypatch):
    texts = [
        "the cat is on the mat and it is not here",
        "der Hund ist nicht in dem Haus und er ist alt",
        "le chat est dans la maison et il ne sort pas",
    ] * 9
    together = told(texts)
    monkeypatch.setattr(languages, "SPAN", 4)
    assert told(texts) == together
    assert set(together) == {"en", "de", "fr"}
