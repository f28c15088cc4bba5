"""The forms of a word: its plural, possessive, article and capitals; and which of two terms are
forms of one, or the initials of the other."""

import re
from collections import Counter

__all__ = ["abbreviates", "forms_of_one", "plain_form", "singular", "without_article"]

ELIDED = re.compile(
    r"^(?:[cdjlmnst]|qu|lorsqu|puisqu|jusqu|dell|nell|sull|dall|all|quell|un)['’ʼ](?=\w{2})",
    re.I,
)
POSSESSIVE = re.compile("(?:(?<=..)['’]s|(?<=s)['’])$")
PLURALS = {"news", "series", "species", "means", "arms", "always", "mars", "physics", "texas"}
ENDINGS_CHANGE = re.compile("[\u0370-\u052f]")  # Greek and Cyrillic
LOWER = 0.05  # of the places in capitals that are written otherwise


def singular(word: str) -> str:
    """A word without possessive and plural endings, where these are plain to see.

    >>> [singular(w) for w in ("rates", "company's", "companies", "classes", "news", "glass")]
    ['rate', 'company', 'company', 'class', 'news', 'glass']
    """
    word = without_possessive(word)
    if len(word) < 4 or word in PLURALS or not word.endswith("s"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is", "ous")) else word[:-1]


def without_possessive(word: str) -> str:
    return POSSESSIVE.sub("", word) if "'" in word or "’" in word else word


def without_article(word: str) -> str:
    """A word without the article or preposition that lost its vowel.

    >>> without_article("d'images"), without_article("L’isola"), without_article("o'clock")
    ('images', 'isola', "o'clock")
    """
    return ELIDED.sub("", word)


def plain_form(forms: Counter[str]) -> str | None:
    """The most common way of writing, without a possessive ending; not in capitals if it is
    written otherwise too.

    >>> plain_form(Counter({"ROMEO": 30, "Romeo's": 20})), plain_form(Counter({"NASA": 9}))
    ('Romeo', 'NASA')
    """
    ranked = sorted(forms, key=lambda form: (-forms[form], form))
    best = ranked[0]
    if best.isupper() and len(best) > 3:
        best = next(
            (f for f in ranked if not f.isupper() and forms[f] >= LOWER * forms[best]), best
        )
    return without_possessive(best) or None


def abbreviates(short: str, long: str) -> bool:
    """Whether a word of the first, in capitals, has the initials of the second; one letter
    more may stand for a word that was left out.

    >>> abbreviates("EU", "European Union"), abbreviates("U.S. troops", "United States")
    (True, True)
    >>> abbreviates("CEO", "chief executive"), abbreviates("BoE", "Bank of England")
    (True, True)
    >>> abbreviates("NATO", "North Korea"), abbreviates("Intel", "Internet")
    (False, False)
    """
    words = re.split(r"[\s-]+", long)
    initials = {
        "".join(word[0] for word in some).casefold()
        for some in (words, [word for word in words if word[0].isupper()])
        if len(some) > 1
    }
    for word in short.split():
        letters = word.replace(".", "")
        if sum(map(str.isupper, letters)) < 2 or letters.casefold() == long.casefold():
            continue
        letters = letters.removesuffix("s").casefold()
        if letters in initials or letters[:-1] in initials:
            return True
    return False


def forms_of_one(a: str, b: str) -> bool:
    """Whether two words begin alike for most of the shorter one; in Cyrillic and Greek, where
    short words change their endings too, whether they differ in these alone.

    >>> forms_of_one("window", "windows"), forms_of_one("car", "card")
    (True, False)
    >>> forms_of_one("игра", "игры"), forms_of_one("мир", "море")
    (True, False)
    """
    a, b = a.casefold(), b.casefold()
    shorter = min(len(a), len(b))
    most = max(4, shorter - 3)
    if ENDINGS_CHANGE.match(a) and max(len(a), len(b)) - shorter < 2:
        most = max(3, shorter - 2)
    return a == b or (shorter >= min(4, most) and a[:most] == b[:most])
