"""Small parts of messages: numbers with their nouns, lists, and what a typo may have meant."""

import difflib
from collections.abc import Iterable

__all__ = ["count", "did_you_mean", "listed", "shortened"]

SHOWN = 20  # names in a message
LONGEST = 100  # characters of one
CLOSE = 0.65  # similarity from which a name may have been meant, of 1


def count(n: int, noun: str, many: str | None = None) -> str:
    """A number with its noun in the right form.

    >>> count(1, "word"), count(2000, "word"), count(2, "entry", "entries")
    ('1 word', '2,000 words', '2 entries')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {many or noun + 's'}"


def listed(names: Iterable[object], most: int = SHOWN) -> str:
    """Names separated by commas; of many the first, of long ones the beginning.

    >>> listed(["a", "b"]), listed("abcd", most=2)
    ('a, b', 'a, b and 2 more')
    """
    known = list(names)
    more = f" and {len(known) - most:,} more" if len(known) > most else ""
    return ", ".join(map(shortened, known[:most])) + more


def shortened(name: object) -> str:
    """A name that fits a message.

    >>> shortened("a" * 200) == "a" * 100 + "..."
    True
    """
    text = str(name)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def did_you_mean(word: str, known: Iterable[object]) -> str:
    """A question after a message about an unknown name; "" where no name is close.

    >>> did_you_mean("kmeens", ["kmeans", "ward"])
    " Did you mean 'kmeans'?"
    """
    names = {str(name).casefold(): str(name) for name in known}
    close = difflib.get_close_matches(str(word).casefold(), names, n=1, cutoff=CLOSE)
    return f" Did you mean {names[close[0]]!r}?" if close else ""
