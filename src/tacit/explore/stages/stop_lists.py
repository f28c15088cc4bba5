"""Function words of 55 languages, which no name of a group and no list of keywords holds.

The lists of ``tacit.classify`` tell ten languages apart, so they are short and leave out words
that two languages share. Those here (``function_words.txt``) are for leaving words out. A word
belongs to the list of its language only: "war" is a function word of German and not of English.
"""

from functools import cache
from importlib.resources import files
from unicodedata import combining, normalize

from tacit.text.stop_words import ENGLISH

__all__ = ["NAMES", "stop_characters", "stop_languages", "stop_list"]

NAMES = {
    "af": "Afrikaans", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian",
    "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "cy": "Welsh",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto",
    "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "ga": "Irish", "gl": "Galician", "he": "Hebrew", "hi": "Hindi",
    "hu": "Hungarian", "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ko": "Korean",
    "la": "Latin", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "mr": "Marathi",
    "ms": "Malay", "nb": "Norwegian", "ne": "Nepali", "nl": "Dutch", "pl": "Polish",
    "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sh": "Serbo-Croatian",
    "sk": "Slovak", "sl": "Slovene", "sq": "Albanian", "sr": "Serbian", "sv": "Swedish",
    "sw": "Swahili", "ta": "Tamil", "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian",
    "ur": "Urdu", "vi": "Vietnamese",
}  # fmt: skip
# Often written without accents: "si" for "și", "pana" for "până".
UNACCENTED = frozenset((
    "az", "ca", "cs", "el", "es", "et", "fr", "gl", "hu", "it", "la", "lt", "lv", "pl", "pt",
    "ro", "sh", "sk", "sl", "sq", "tr",
))  # fmt: skip


@cache
def listed_words() -> dict[str, frozenset[str]]:
    """The lines of ``function_words.txt``, by their codes."""
    path = files("tacit.explore") / "stages" / "function_words.txt"
    text = path.read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {code: frozenset(words) for code, *words in lines}


@cache
def stop_characters() -> frozenset[str]:
    """Particles and the like of Chinese and Japanese, which are written without spaces."""
    return listed_words()["han"]


def stop_languages() -> list[str]:
    """The codes of the languages that have a list.

    >>> "de" in stop_languages(), len(stop_languages())
    (True, 55)
    """
    return sorted(NAMES)


@cache
def stop_list(language: str) -> frozenset[str]:
    """The function words of a language, in lower case; for English also common words with
    little meaning of their own, months and numerals.

    >>> "der" in stop_list("de"), "war" in stop_list("en"), "said" in stop_list("en")
    (True, False, True)

    Chinese and Japanese share one list of single characters; a language without a list has no
    function words here.
    """
    code = "han" if language in ("ja", "zh") else language
    words = set(listed_words().get(code, ())) | (ENGLISH if language == "en" else set())
    short = files("tacit.classify") / "lists" / "languages" / f"{language}.txt"
    if short.is_file():
        lines = [line.strip() for line in short.read_text(encoding="utf-8").splitlines()]
        words |= {line for line in lines if line and not line.startswith("#")}
    if language in UNACCENTED:
        words |= {without_accents(word) for word in words}
    return frozenset(words)


def without_accents(word: str) -> str:
    return "".join(c for c in normalize("NFD", word) if not combining(c)).replace("ł", "l")
