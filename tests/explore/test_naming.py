"""Names of groups are words that people would say."""

from itertools import combinations

import numpy as np

import tacit
from tacit.data import Documents
from tacit.explore.stages.naming import NAMELESS, name_groups
from tacit.explore.stages.wording import Wording
from tacit.text import CountVectorizer


def names_of(texts, labels):
    documents = Documents.of(texts)
    vectorizer = CountVectorizer(rule="words", dtype=np.int32)
    counts = vectorizer.fit_transform(documents)
    words = np.asarray(vectorizer.get_feature_names_out(), object)
    wording = Wording.of(counts, words, documents)
    return [named.name for named in name_groups(wording, np.asarray(labels))]


def mixed(first, second, each=20):
    """Documents of two groups, a few words of their own in each."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.permutation(part)) for part in (first, second) for _ in range(each)]
    return texts, np.repeat([0, 1], each)


def test_names_hold_no_function_words_numbers_letters_markup_or_addresses():
    texts = [
        f"the ship and the sea he said 1984 x &lt;b&gt; see http://harbor.example.com/q?{i}"
        for i in range(20)
    ] + [f"this oven with its bread they ask 42 y joe@bakery.org {i}" for i in range(20)]
    sea, bread = names_of(texts, np.repeat([0, 1], 20))
    assert set(sea) == {"ship", "sea"}
    assert set(bread) == {"oven", "bread"}


def test_words_that_belong_together_are_one_phrase_written_as_people_write_it():
    rates = ["The Fed raised interest rates and Wall Street fell.",
             "Higher interest rates hurt the banks on Wall Street."]  # fmt: skip
    other = ["The orchestra played a symphony.", "A violin and the symphony."]
    first, second = names_of(rates * 10 + other * 10, np.repeat([0, 1], 20))
    assert "interest rates" in first
    assert "Wall Street" in first
    assert "symphony" in second


def test_plurals_and_possessives_are_one_term():
    texts = ["the whale dived", "whales sang", "the whale's song"] * 8 + ["an oven glows"] * 24
    first, _ = names_of(texts, np.repeat([0, 1], 24))
    assert sum(word.lower().startswith("whale") for word in first) == 1


def test_plurals_that_could_end_otherwise_are_those_of_a_word_that_is_there():
    texts = ["a movie of the hero in a harbor"] * 20 + ["heroes of movies in an orchard"] * 20
    first, second = names_of(texts, np.repeat([0, 1], 20))
    assert (first, second) == (["harbor"], ["orchard"])


def test_capitals_are_kept_where_they_are_usual():
    texts = ["the NASA probe left. Orbit is near", "NASA and the orbit"] * 10
    texts += ["flour and yeast", "yeast rises"] * 10
    first, _ = names_of(texts, np.repeat([0, 1], 20))
    assert "NASA" in first
    assert "orbit" in first


def test_siblings_share_no_word():
    rng = np.random.default_rng(1)
    vocabulary = [
        f"{a}{b}" for a in ("sal", "tor", "mer", "lin", "bor") for b in ("ima", "ube", "ote")
    ]
    texts = [" ".join(rng.choice(vocabulary, 6)) for _ in range(120)]
    names = names_of(texts, rng.integers(0, 6, 120))
    said = [word for name in names for word in name]
    assert len(said) == len(set(said))


def test_groups_without_words_of_their_own_are_told_apart():
    names = names_of(["the same words here"] * 40, np.repeat([0, 1], 20))
    assert names == [[NAMELESS], [f"{NAMELESS} (2)"]]


def test_function_words_are_left_out_in_the_language_of_the_group_alone():
    german = ["Die Lieferung ist zu spät und der Kunde ist nicht zufrieden"] * 20
    english = ["the war was long and they were of the war for it"] * 20
    first, second = names_of(german + english, np.repeat([0, 1], 20))
    assert set(first) <= {"German-language", "Lieferung", "Kunde", "zufrieden", "spät"}
    assert "war" in second


def test_function_words_of_a_few_documents_in_another_language_name_nothing():
    english = [f"we saw the film and it was a good film for all of us {i}" for i in range(40)]
    spanish = ["que una historia que no es para los que aman una historia"] * 2
    other = [f"they have the oven and this bread is from it {i}" for i in range(42)]
    first, _ = names_of(english + spanish + other, np.repeat([0, 1], 42))
    assert first[0] == "film"
    assert {"que", "una", "para"}.isdisjoint(first)


def test_a_word_that_is_a_function_word_elsewhere_names_english_documents():
    dice = [f"he had to cast the die and the die was in the box {i}" for i in range(40)]
    german = ["die Katze und die Maus sind in der Stadt, und das ist nicht gut"] * 2
    other = [f"they have the oven and this bread is from it {i}" for i in range(42)]
    first, _ = names_of(dice + german + other, np.repeat([0, 1], 42))
    assert "die" in first


def test_subjects_of_long_texts_come_before_rare_words_that_no_other_group_has():
    rng = np.random.default_rng(4)
    common = [f"wort{chr(97 + i)}{chr(97 + j)}" for i in range(10) for j in range(10)]
    texts = []
    for group in range(6):
        for _ in range(8):
            words = [*rng.choice(common, 1500), *["harbor"] * 4, *["meadow"] * 4]
            words += ["harbor"] * 40 if group == 0 else ["meadow"] * 40
            words += ["imbittered", "celerity", "florins"] if group == 0 else []
            texts.append(" ".join(rng.permutation(words)))
    assert names_of(texts, np.repeat(np.arange(6), 8))[0][0] == "harbor"


def test_phrases_of_long_texts_come_from_all_over_them(monkeypatch):
    monkeypatch.setattr("tacit.explore.stages.wording.SAMPLE_CHARACTERS", 40 * 6000)
    rng = np.random.default_rng(5)
    common = [f"wort{chr(97 + i)}{chr(97 + j)}" for i in range(10) for j in range(10)]
    texts = []
    for own in ("Muscle Shoals", "Harbor Meadow"):
        for _ in range(20):
            words = [*rng.choice(common, 1600), *[own] * 40]
            texts.append(" ".join([*rng.choice(common, 1600), *rng.permutation(words)]))
    first, second = names_of(texts, np.repeat([0, 1], 20))
    assert first[0] == "Muscle Shoals"
    assert second[0] == "Harbor Meadow"


def test_long_texts_are_named_by_frequency_and_one_document_does_not_decide():
    rng = np.random.default_rng(2)
    common = [f"wort{chr(97 + i)}{chr(97 + j)}" for i in range(10) for j in range(10)]
    texts = []
    for group, own in ((0, "harbor"), (1, "meadow")):
        for i in range(12):
            words = list(rng.choice(common, 900)) + [own] * 60
            words += ["harbor", "meadow"] * 5  # all documents hold both
            words += ["burst"] * 400 if i == 0 and group == 0 else []
            texts.append(" ".join(rng.permutation(words)))
    first, second = names_of(texts, np.repeat([0, 1], 12))
    assert first[0] == "harbor"
    assert second[0] == "meadow"


def test_chinese_names_are_words_and_not_pairs_across_borders():
    sea = ["轮船在海洋中航行", "海洋的轮船很大", "我们看见海洋和轮船", "轮船离开了海洋"]
    bread = ["面包师在烤面包", "烤箱里的面包师", "面包师打开烤箱", "这个烤箱很好"]
    first, second = names_of(sea * 6 + bread * 6, np.repeat([0, 1], 24))
    assert set(first) == {"轮船", "海洋"}
    assert set(second) <= {"面包师", "面包", "烤箱"}


def test_words_of_a_form_that_is_filled_in_name_nothing():
    tickers = ["ABCD", "EFGH", "IJKL", "MNOP"]
    firms = ["profits rose", "shares fell", "the merger failed", "dividends grew"]
    texts = [
        f"{firms[i % 4]} ({tickers[i % 4]}.O: Quote, Profile, Research) on a day of trade {i}"
        for i in range(20)
    ]
    texts += ["rain and wind over hills", "a storm of rain"] * 10
    first, _ = names_of(texts, np.repeat([0, 1], 20))
    assert not {"quote", "profile", "research"} & {word.lower() for word in first}


def test_korean_names_are_nouns_without_particles():
    sea = [
        "바다에서 고래를 보았다",
        "고래가 바다를 건넌다",
        "바다의 고래는 크다",
        "고래와 바다",
    ]
    bread = [
        "오븐에서 식빵을 구웠다",
        "식빵이 오븐에 있다",
        "오븐은 식빵의 집이다",
        "식빵과 오븐",
    ]
    first, second = names_of(sea * 6 + bread * 6, np.repeat([0, 1], 24))
    assert set(first) - {"Korean-language"} <= {"바다", "고래"}
    assert set(second) - {"Korean-language"} <= {"오븐", "식빵"}


def test_elided_articles_are_no_part_of_a_name():
    texts = ["les images d'avions", "l'avion et l'image", "d'images et des avions"] * 8
    texts += ["le pain du four", "un four à pain"] * 12
    first, _ = names_of(texts, np.repeat([0, 1], 24))
    assert not any("'" in word for word in first)


def test_japanese_names_hold_no_part_of_a_word_in_katakana():
    tower = ["東京タワーとホテル", "ホテルは東京タワー", "タワーのホテル", "ホテルからタワーへ"]
    bread = ["パン屋のオーブン", "オーブンとパン屋", "パン屋はオーブン", "オーブンのパン屋"]
    names = names_of(tower * 6 + bread * 6, np.repeat([0, 1], 24))
    parts = {"タワ", "ワー", "ホテ", "テル", "オー", "ーブ", "ブン"}
    assert not parts & {word for name in names for word in name}


def test_the_same_name_is_in_python_the_summary_and_the_exports(tmp_path):
    sea, bread = "whale ship harbor wave gull crew", "flour oven yeast dough crust rye"
    subjects = [words.split() for words in (sea, bread)]
    texts = [" ".join(some) for words in subjects for some in combinations(words, 3)]
    project = tacit.explore(texts, k=2, effort="quick")
    names = project.clusters["name"].tolist()
    assert all(name in str(project) for name in names)
    path = project.export("documents.csv", tmp_path / "documents.csv")
    lines = path.read_text(encoding="utf8").splitlines()
    assert "group_name" in lines[0]
    assert sum(names[0] in line for line in lines[1:]) == 20
    assert project.clusters["title"].iloc[0] in texts


def test_a_group_in_several_languages_is_named_by_them():
    danish = ["Skibet lå i havnen, men det var ikke der, da vi blev hentet af dem"] * 10
    polish = ["Statek był w porcie, ale nie było go tam, kiedy przyszli po nas"] * 10
    english = ["The ship was in the port but it was not there when they came for us"] * 40
    first, _ = names_of(danish + polish + english, np.repeat([0, 1], [20, 40]))
    assert sorted(first) == ["Danish-language", "Polish-language"]


def test_a_group_in_many_languages_is_named_by_two_and_the_number_of_the_others():
    samples = {
        "Danish": "Skibet lå i havnen, men det var ikke der, da vi blev hentet af dem",
        "Polish": "Statek był w porcie, ale nie było go tam, kiedy przyszli po nas",
        "German": "Das Schiff war nicht in dem Hafen, und wir haben es auch nicht gesehen",
        "Finnish": "Laiva oli satamassa, mutta se ei ollut siellä, kun he tulivat ja me",
        "Spanish": "El barco no estaba en el puerto y nosotros no sabemos cuando los vio",
    }
    english = ["The ship was in the port but it was not there when they came for us"] * 40
    texts = [text for text in samples.values() for _ in range(10)]
    first, _ = names_of(texts + english, np.repeat([0, 1], [50, 40]))
    languages = {f"{name}-language" for name in samples}
    assert set(first[:2]) < languages
    assert first[2:] == ["3 other languages"]


def test_a_function_word_of_one_language_is_no_plural_of_that_of_another():
    indonesian = ["kapal itu dan pelabuhan yang tidak ada di sini untuk kami"] * 30
    french = ["le bateau est dans le port, dans la ville, et nous ne le savons pas"] * 12
    _, second = names_of(indonesian + french, np.repeat([0, 1], [30, 12]))
    assert "dans" not in second


def test_words_that_recur_in_a_document_name_it_before_those_that_do_not():
    rng = np.random.default_rng(0)
    texts = []
    for subject in ("anchor", "oven"):
        manner = {"anchor": "allows", "oven": "easier"}[subject]
        for i in range(40):
            words = [manner, *[subject] * (3 if i % 5 else 0), *rng.choice(list("xyz"), 9)]
            texts.append(" ".join(rng.permutation(words)))
    first, second = names_of(texts, np.repeat([0, 1], 40))
    assert (first[0], second[0]) == ("anchor", "oven")


def test_a_phrase_takes_the_place_of_its_word():
    texts = ["the class is a class. A base class of the class", "the base class, a class"] * 10
    texts += [f"an oven {i} is an oven" for i in range(20)]
    first, _ = names_of(texts, np.repeat([0, 1], 20))
    assert first == ["base class"]


def test_forms_of_a_word_with_endings_are_named_once():
    game = ["игра началась, а игры и игроков нет", "в игре игры, и игра про замок"] * 10
    oven = ["печь и хлеб", "хлеб из печи"] * 10
    first, _ = names_of(game + oven, np.repeat([0, 1], 20))
    assert sum(word.lower().startswith("игр") for word in first) == 1


def test_capitals_of_speakers_and_headings_are_not_how_a_name_is_written():
    play = ["SICINIUS\tWhat says the tribune?", "MENENIUS\tHear me, tribune, hear."] * 10
    other = ["an oven full of bread", "bread from the oven"] * 10
    first, _ = names_of(play + other, np.repeat([0, 1], 20))
    assert {"Sicinius", "Menenius"} <= set(first)


def test_short_words_of_a_name_in_capitals_are_written_as_elsewhere():
    def scenes(name):
        return [f"{name}\tIt is the end of them all, sir.", f"{name}\tWe have come.",
                f"[Enter {name} and others]\n\n{name}\tIt is late, sir."] * 7  # fmt: skip

    other = ["an oven full of bread", "bread from the oven of a house"] * 10
    texts = [*scenes("SIR TOBY BELCH"), *scenes("DUKE OF AUMERLE"), *scenes("US TROOPS")]
    names = names_of(texts + other, np.repeat([0, 1, 2, 3], [21, 21, 21, 20]))
    assert "Sir Toby Belch" in names[0]
    assert "Duke of Aumerle" in names[1]
    assert "US Troops" in names[2]


def test_abbreviations_with_points_are_words_written_as_people_write_them():
    news = ["the U.S. sent ships", "ships of the U.S. left", "a U.S. port has ships"] * 8
    oven = ["the oven bakes bread, e.g. rye", "bread from the oven, e.g. wheat"] * 12
    first, second = names_of(news + oven, np.repeat([0, 1], 24))
    assert "U.S." in first
    assert not any("." in word for word in second)


def test_headings_of_a_form_and_greetings_name_nothing():
    form = "SYNOPSIS\n{0} the anchor {1}\n\nERRORS\nno anchor at {1}\n\nSEE ALSO\nanchor {1}"
    letter = "Hello team,\n\nthe oven {1} is {0} and hot.\n\nKind regards\nAnn {1}"
    texts = [form.format("drop", i) for i in range(20)]
    texts += [letter.format("big", i) for i in range(20)]
    first, second = names_of(texts, np.repeat([0, 1], 20))
    assert "anchor" in first
    words = {word.lower() for name in (*first, *second) for word in name.split()}
    assert not words & {"synopsis", "errors", "hello", "team", "regards"}


def test_abbreviations_sources_and_ends_of_names_name_nothing_where_there_is_more():
    news = [
        f"WASHINGTON (AP) AP - Sen. {who} spoke about taxes in New York on day {i}."
        for i, who in enumerate(("Lee", "Ray", "Kim", "Fox") * 6)
    ]
    other = ["the oven bakes bread"] * 24
    first, _ = names_of(news + other, np.repeat([0, 1], 24))
    assert not {"AP", "Sen", "York"} & set(first)
    assert "taxes" in first


def test_paths_of_files_and_words_of_mixed_scripts_name_nothing():
    texts = ["the archive is in /pub/tools/zip and pub/tools/tar, facebookΚοινοποίηση"] * 20
    texts += ["the oven bakes bread"] * 20
    first, _ = names_of(texts, np.repeat([0, 1], 20))
    assert first == ["archive"]


OVEN = ["the oven bakes bread and rolls", "yeast and flour for the bread"] * 12


def test_a_name_keeps_the_function_words_that_belong_to_it():
    town = ["play", "said", "won", "bought", "lost", "left", "visited", "saw"]
    cases = {
        "New York Yankees": "Yesterday they {0} against the New York Yankees at {1} again.",
        "Bank of England": "Rates {0} as the Bank of England {0} in {1} rooms.",
        "United States of America": "He {0} to the United States of America with {1} friends.",
        "El Salvador": "The {0} president of El Salvador gave {1} speeches.",
    }
    for name, sentence in cases.items():
        texts = [sentence.format(town[i % 8], 100 + i) for i in range(24)]
        texts[::3] = [f"In a hall {name} {town[i]} much." for i in range(8)]
        first, _ = names_of(texts + OVEN, np.repeat([0, 1], 24))
        assert name in first
        alone = {name.split()[0], name.split()[-1]}
        assert not alone & set(first)


def test_a_word_before_most_places_is_no_part_of_a_name_unless_it_has_a_capital():
    texts = [f"{who} repaired the harbor {i}. The harbor was {how}" for i, (who, how) in
             enumerate([("Ann", "deep"), ("Joe", "busy"), ("Kim", "loud")] * 8)]  # fmt: skip
    first, _ = names_of(texts + OVEN, np.repeat([0, 1], 24))
    assert "harbor" in first


def test_of_a_name_and_its_initials_one_is_kept_and_the_place_goes_to_another_word():
    news = [
        "The European Union met. The EU wants tariffs, and the EU will vote.",
        "Envoys of the European Union left the EU summit on tariffs and steel.",
        "Tariffs on steel: the EU and the European Union argue in Brussels.",
    ] * 8
    first, _ = names_of(news + OVEN, np.repeat([0, 1], 24))
    assert ("European Union" in first) != ("EU" in first)
    assert len(first) == 3


def test_contractions_without_apostrophe_name_nothing_where_that_is_usual():
    chat = [
        f"ill come to class {i}, it didnt rain and thats fine, class doesnt start, ill wait"
        for i in range(24)
    ]
    first, _ = names_of(chat + OVEN, np.repeat([0, 1], 24))
    assert "class" in first
    assert "ill" not in first
    ward = [f"Ill patients in ward {i}. The ill man didn't leave the ward." for i in range(24)]
    first, _ = names_of(ward + OVEN, np.repeat([0, 1], 24))
    assert "ill" in " ".join(first)


def test_interjections_and_fused_verbs_name_nothing():
    chat = [f"lol gonna see the movie {i} haha, omg the movie, wanna come" for i in range(24)]
    first, _ = names_of(chat + OVEN, np.repeat([0, 1], 24))
    assert "movie" in first
    assert not {"lol", "gonna", "haha", "omg", "wanna"} & set(" ".join(first).split())


def test_words_of_one_repeated_sentence_are_no_phrase():
    sea = ["The pilot repaired a broken radar.", "A trawler landed fresh sardines quickly.",
           "Fog delayed the pilot and the trawler."]  # fmt: skip
    texts = [" ".join(sea[:2] if i % 2 else sea[1:]) for i in range(24)]
    first, _ = names_of(texts + OVEN, np.repeat([0, 1], 24))
    assert first
    assert all(" " not in part for part in first)


def test_a_language_in_several_groups_names_none_of_them():
    rng = np.random.default_rng(3)
    french = "le bateau est dans le port et nous ne le voyons pas avec les"
    english = "the ship is in the port and we do not see it with them"
    groups = [(french, "voile marin quai"), (french, "farine pain levure")]
    groups += [(english, own) for own in ("sail rope", "oven rye", "vine grape", "wool sheep")]
    texts = [f"{common} {' '.join(rng.permutation(own.split()))}"
             for common, own in groups for _ in range(15)]  # fmt: skip
    names = names_of(texts, np.repeat(range(6), 15))
    assert not any(part.endswith("-language") for name in names for part in name)
    assert "levure" in " ".join(names[1])


def test_korean_objects_lose_their_particle():
    rng = np.random.default_rng(4)
    words = ["수술을", "환자를", "백신을", "의사가"]
    texts = [" ".join([*rng.permutation(words), f"병원에서 {i}"]) for i in range(24)]
    first, _ = names_of(texts + OVEN, np.repeat([0, 1], 24))
    assert {"수술", "환자", "백신"} & set(first)
    assert not {"수술을", "환자를", "백신을"} & set(first)


def test_french_articles_are_no_part_of_a_name_even_if_the_word_has_no_other_form():
    texts = [
        f"Dans l'hôpital, l'infirmière et l'épidémie sont ici pour nous {i}" for i in range(24)
    ]
    first, _ = names_of(texts + OVEN, np.repeat([0, 1], 24))
    assert set(first) <= {"French-language", "hôpital", "infirmière", "épidémie"}


def test_contrast_words_of_scripts_without_spaces_are_whole():
    places = ("東京", "大阪", "京都", "広島")
    bank = [f"{a}の日本銀行は{b}で金利を上げた" for a in places for b in places]
    oven = [f"{a}のパンは{b}で人気がある" for a in places for b in places]
    documents = Documents.of(bank + oven)
    vectorizer = CountVectorizer(rule="words", dtype=np.int32)
    counts = vectorizer.fit_transform(documents)
    words = np.asarray(vectorizer.get_feature_names_out(), object)
    first, _ = name_groups(Wording.of(counts, words, documents), np.repeat([0, 1], 16))
    said = [word for word, *_ in first.words]
    assert "日本銀行" in said
    assert not {"本銀", "日本", "銀行"} & set(said)
