"""Names of the groups of every collection at hand hold nothing that people would not say.

The groups are those of spherical k-means: what matters here is how they are named.
"""

import gzip
import html
import json
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tacit.cluster import SphericalKMeans
from tacit.data import Documents
from tacit.explore.stages.cleaning import Cleaned
from tacit.explore.stages.naming import name_groups
from tacit.explore.stages.stop_lists import stop_list
from tacit.explore.stages.wording import Wording
from tacit.text import CountVectorizer, TfidfTransformer

HOME = os.environ.get("TACIT_DATA")
pytestmark = [
    pytest.mark.skipif(HOME is None, reason="TACIT_DATA names no folder with data"),
    pytest.mark.slow,
]
MOST, K = 400, 10
ENGLISH = {
    "newsgroups/train.jsonl.gz": "text",
    "ag_news/ag_news.jsonl.gz": "text",
    "movie_reviews/movie_reviews.jsonl.gz": "text",
    "movie_reviews/rt_polarity.jsonl.gz": "text",
    "sms_spam/SMSSpamCollection.tsv.gz": None,
    "enwiki_text8style/enwiki.txt.gz": None,
    "senseval/line.jsonl.gz": "tokens",
    "senseval/interest.jsonl.gz": "tokens",
    "brown_tagged/brown.jsonl.gz": "sents",
    "oz/thompson__1922__kabumpo_in_oz.txt.gz": None,
    "shakespeare/tinyshakespeare.txt.gz": None,
}
MARKUP = {
    "lt",
    "gt",
    "amp",
    "quot",
    "nbsp",
    "href",
    "http",
    "https",
    "www",
    "html",
    "com",
    "br",
}


def texts_of(path, column):
    with gzip.open(Path(HOME) / path, "rt", encoding="utf8") as file:
        lines = [line for line in file if len(line) > 20]
    lines = lines[:: max(1, len(lines) // MOST)][:MOST]
    if column is None:
        return [line.rpartition("\t")[2] for line in lines]
    values = [json.loads(line)[column] for line in lines]
    if column == "sents":
        return [" ".join(word for sentence in each for word, _ in sentence) for each in values]
    return [" ".join(each) if isinstance(each, list) else each for each in values]


def names_of(texts, clean):
    cleaned = list(Cleaned(Documents.of(texts), on=clean).texts())
    documents = Documents.of(cleaned)
    counter = CountVectorizer(rule="words", dtype=np.int32)
    counts = counter.fit_transform(documents)
    rows = TfidfTransformer().fit_transform(counts)
    labels = SphericalKMeans(K, random_state=0, n_init=1).fit(rows).labels_
    words = np.asarray(counter.get_feature_names_out(), object)
    return [named.name for named in name_groups(Wording.of(counts, words, documents), labels)]


def faults(names, language):
    stops = stop_list(language)
    for phrase in (phrase for name in names for phrase in name):
        for part in phrase.split():
            lower = part.lower()
            # "New York" and "Bank of England" hold some
            if lower in stops and not (phrase.istitle() or re.search(r"\w \w+ [A-Z]", phrase)):
                yield f"function word {part}"
            if sum(c.isalpha() for c in part) < 2:
                yield f"number or letter {part}"
            if lower in MARKUP or html.unescape(part) != part or re.search(r"[<>&@/=;]", part):
                yield f"markup {part}"


@pytest.mark.parametrize("clean", [True, False], ids=["cleaned", "raw"])
@pytest.mark.parametrize("path", ENGLISH)
def test_names_are_words_that_people_would_say(path, clean):
    names = names_of(texts_of(path, ENGLISH[path]), clean)
    assert [*faults([n for n in names if not n[0].startswith("no words")], "en")] == []
    said = [word for name in names for word in name]
    assert len(said) == len(set(said))  # siblings share none


@pytest.fixture(scope="module")
def sentences():
    """Sentences of the collection of languages, by language."""
    found = {}
    with gzip.open(Path(HOME) / "langid/sentences.jsonl.gz", "rt", encoding="utf8") as file:
        for row in map(json.loads, file):
            found.setdefault(row["lang"], []).append(row["text"])
    return found


LANGUAGES = """
ar ca cs da de el en es fa fi fr hi hu id it ja ko nb nl pl pt ro ru sv tr uk vi zh
"""


@pytest.mark.parametrize("language", LANGUAGES.split())
def test_names_in_every_language_hold_none_of_their_function_words(language, sentences):
    names = names_of(sentences[language][:400], True)
    assert [*faults([n for n in names if not n[0].startswith("no words")], language)] == []
    said = [word for name in names for word in name]
    assert len(said) == len(set(said))


# Words with a meaning among the twenty most common of a language here, looked at one by one.
SUBJECTS = "الحلقة مسلسل الله مباشرة suomen marino san 미국 türkiye üniversitesi"
WORD = r"(?:[^\W\d_][\u0900-\u0903\u093a-\u094f]*){2,}"  # letters, with the signs of Hindi


@pytest.mark.parametrize("language", sorted({*LANGUAGES.split()} - {"ja", "zh"}))
def test_the_most_common_words_of_a_language_are_known_as_function_words(language, sentences):
    common = Counter()
    for text in sentences[language]:
        common.update(set(re.findall(WORD, text.lower())))
    first = [word for word, _ in common.most_common(20) if word not in SUBJECTS.split()]
    assert [word for word in first if word not in stop_list(language)] == []
