"""Which slips of spelling are likely: a table made by rule, for when there are no examples.

Costs are negative natural logarithms of rough probabilities, given that a word is misspelt.
The groups are what any teacher of English and any typist knows: letters that sound alike,
vowels in unstressed syllables, letters that double or fail to, silent letters, keys that are
neighbours, two letters in the wrong order. A first letter is seldom wrong.
"""

from itertools import permutations

from tacit.text.edit_costs import EditCosts

__all__ = ["ACCENT_ADDED", "ACCENT_LEFT_OFF", "ENGLISH", "FIRST_LETTER", "uniform_costs"]

LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOWELS = "aeiou"
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # each starts half a key further right
SOUND_ALIKE = (
    "aeiou", "iy", "ey", "cks", "sz", "cq", "kq", "ckx", "dt", "fv", "gj", "mn", "bp", "uw",
    "lr", "cz", "ou", "vw",
)  # fmt: skip
SWAPPED = ("ie", "ei", "ua", "au", "ia", "ai", "le", "el", "re", "er", "io", "oi", "eu", "ue")
# A letter that is not heard, and the letter before it; "" is the start of the word.
SILENT = {
    "h": ("", "c", "g", "r", "t", "w", "p", "s", "x"),
    "e": tuple("bcdfgklmnprstvz"),
    "c": ("s", "x"),
    "d": ("a", "e", "i"),
    "g": ("i", "n", "u"),
    "k": ("", "c"),
    "n": ("m",),
    "p": ("", "m"),
    "t": ("s", "a", "i"),
    "u": ("g", "q", "o"),
    "w": ("", "a", "o"),
    "b": ("m", "e"),
    "a": ("e", "i"),
    "i": ("a", "e", "u"),
    "o": ("u",),
    "l": ("a",),
    "r": ("a", "e", "o"),
}

# Settled on lists of misspellings, rounded; see docs/spelling.md.
ORDINARY = 8.0  # a letter replaced by any other
ADDED, LEFT_OUT = 8.0, 5.5  # a letter too many, a letter missing
KEYS, SOUNDS, VOWEL = 6.5, 4.5, 4.7
DOUBLED = 3.0  # a letter twice that stands once, and the other way round
UNHEARD = 3.5
VOWEL_LEFT_OUT, VOWEL_ADDED = 4.0, 6.5
ORDER, ORDER_KNOWN = 4.0, 3.3
ACCENT_LEFT_OFF, ACCENT_ADDED = 2.5, 4.5
FIRST_LETTER = 2.5  # besides the edit itself
ANY = 6.0  # where no rule is known


def neighbour_keys() -> set[tuple[str, str]]:
    """Pairs of letters whose keys touch, both ways round.

    >>> sorted(b for a, b in neighbour_keys() if a == "g")
    ['b', 'f', 'h', 't', 'v', 'y']
    """
    place = {
        letter: (x + 0.5 * y, y) for y, row in enumerate(ROWS) for x, letter in enumerate(row)
    }
    return {
        (a, b)
        for a, b in permutations(place, 2)
        if abs(place[a][0] - place[b][0]) <= 1.0 and abs(place[a][1] - place[b][1]) <= 1
        if place[a][1] == place[b][1] or abs(place[a][0] - place[b][0]) <= 0.5
    }


def english_costs() -> EditCosts:
    """The table, for an intended word as the source and the typed one as the target."""
    keys = neighbour_keys()
    substitute = dict.fromkeys(permutations(LETTERS, 2), ORDINARY)
    substitute |= dict.fromkeys(keys, KEYS)
    for group in SOUND_ALIKE:
        cost = VOWEL if set(group) <= set(VOWELS) else SOUNDS
        for pair in permutations(group, 2):
            substitute[pair] = min(cost, substitute[pair])
    insert: dict = dict.fromkeys(LETTERS, ADDED)
    insert |= dict.fromkeys(VOWELS, VOWEL_ADDED)
    insert |= dict.fromkeys(keys, KEYS)
    insert |= {(letter, letter): DOUBLED for letter in LETTERS}
    delete: dict = dict.fromkeys(LETTERS, LEFT_OUT)
    delete |= dict.fromkeys(VOWELS, VOWEL_LEFT_OUT)
    for letter, before in SILENT.items():
        delete |= {(other, letter): UNHEARD for other in before}
        insert |= {(other, letter): UNHEARD + 0.5 for other in before if other}
    delete |= {(letter, letter): DOUBLED for letter in LETTERS}
    delete |= {("", letter): LEFT_OUT + FIRST_LETTER for letter in LETTERS}
    delete |= {("", letter): UNHEARD + 1 for letter, b in SILENT.items() if "" in b}
    insert |= {("", letter): ADDED + FIRST_LETTER for letter in LETTERS}
    # Apostrophes and hyphens are forgotten, added and moved more than any letter.
    for mark in "'’-":
        insert[mark] = delete[mark] = 4.0
    transpose = dict.fromkeys(permutations(LETTERS, 2), ORDER)
    transpose |= {(pair[0], pair[1]): ORDER_KNOWN for pair in SWAPPED}
    return EditCosts(insert, delete, substitute, transpose, other=ORDINARY)


def uniform_costs() -> EditCosts:
    """Every edit alike, for a language about which nothing is known."""
    return EditCosts(ANY, ANY, ANY, ANY, other=ANY)


ENGLISH = english_costs()
