"""Korean words without the particles that are written together with them."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Stems", "is_hangul"]

PARTICLES = """
에서는 에서도 으로는 으로도 에게는 에게서 까지도 들에게 이라는 이라고 에서 에게 으로 부터
까지 이나 이란 보다 처럼 마다 조차 들이 들은 들을 들의 에는 에도 과의 와의 은 는 이 가 을
를 의 에 와 과 도 만 로
"""
VERBS = """
하는 되는 하고 되고 하여 되어 하며 되며 하게 하기 하지 하면 되면 하던 습니다 니다 이다 적인
적으로 스러운 다며 라며 다고 라고 다는 라는 지만 면서 려고 도록 는데 되지 시킨 시키는
"""
ENDINGS, VERBAL = tuple(PARTICLES.split()), tuple(VERBS.split())
ADNOMINAL = ("는", "한", "된", "할", "될", "던", "고", "운")
CLEAR = ("에서", "에게", "으로", "에", "을", "를")  # no long noun ends like these
OBJECT = ("을", "를")  # after a syllable with a consonant at its end, and after others
FIRST, LAST = 0xAC00, 0xD7A3
PAST = 20  # ㅆ at the end of a syllable, among the 28 ends: of verbs only


def is_hangul(word: str) -> bool:
    """Whether a word is written in Korean syllables alone.

    >>> is_hangul("경제"), is_hangul("sea"), is_hangul("FTA를")
    (True, False, False)
    """
    return bool(word) and not word.isascii() and all(FIRST <= ord(c) <= LAST for c in word)


def has_end(word: str) -> bool:
    """Whether the last syllable of a Korean word ends with a consonant."""
    return (ord(word[-1]) - FIRST) % 28 > 0


class Stems(NamedTuple):
    """Korean words of a collection and the particles that they stand with. A particle is taken
    off where the stem is a word of the collection, or stands with other particles too: the
    last syllable of a noun may look like one.

    >>> stems = Stems.of(["경제의", "경제를", "고양이", "문제", "문제에", "캐나다에"])
    >>> [stems.stem(word) for word in ("경제의", "고양이", "문제에", "수술을", "가을")]
    ['경제', '고양이', '문제', '수술', '가을']
    >>> [stems.is_no_noun(word) for word in ("나왔다", "캐나다", "상당한", "문제")]
    [True, False, True, False]
    """

    words: frozenset[str]
    with_particles: dict[str, int]  # how many forms of each stem there are

    @classmethod
    def of(cls, words: Iterable[str]) -> "Stems":
        known = frozenset(word for word in words if is_hangul(word))
        forms: defaultdict[str, int] = defaultdict(int)
        for word in known:
            for particle in ENDINGS:
                if word.endswith(particle) and len(word) > len(particle):
                    forms[word[: -len(particle)]] += 1
        return cls(known, dict(forms))

    def stem(self, word: str) -> str:
        """A word without its particle."""
        for particle in ENDINGS:  # the longest first
            stem = word[: -len(particle)]
            if not word.endswith(particle) or len(stem) < 2:
                continue
            clear = particle in CLEAR and len(stem) > 2
            fits = particle in OBJECT and has_end(stem) == (particle == "을")
            clear |= fits and len(stem) > 1
            if clear or stem in self.words or self.with_particles.get(stem, 0) > 1:
                return stem
        return word

    def is_no_noun(self, word: str) -> bool:
        """Whether a word looks like a form of a verb or an adjective, or is a single syllable
        with a particle."""
        if not is_hangul(word) or len(word) < 2:
            return False
        if any((ord(c) - FIRST) % 28 == PAST for c in word):
            return True
        alone = self.with_particles.get(word[0], 0) > 1 and word[1:] in ENDINGS
        if (alone and len(word) > 2) or word in self.with_particles:
            return alone and len(word) > 2
        if alone or word.endswith("다"):
            return True
        return self.stem(word) == word and word.endswith((*VERBAL, *ADNOMINAL))
