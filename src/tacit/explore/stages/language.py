"""A language model of the documents' own words, for the questions asked of a project."""

import re
from collections.abc import Iterable
from itertools import chain

from tacit.explore.report.clean_text import ADDRESS, CONTROLS, ESCAPES, HALVES, HIDDEN
from tacit.explore.stages.stage import Context, Output

__all__ = ["learn_language", "running_text", "spaced_sentences"]

ORDER = 3
MANY = 1_000_000  # words, past which runs of three seen once are left out


def learn_language(context: Context) -> Output:
    """Which words follow which, sentence by sentence."""
    from tacit.language import NGramModel

    if why := context.skipped("counts"):
        return Output(skipped=why)
    texts = ("\n".join(spaced_sentences(text)) for text in context.documents().texts())
    filled = (text for text in texts if text)
    first = next(filled, None)
    if first is None:
        return Output(skipped="The documents hold no sentences to learn from.")
    prune = (0, 0, 1) if context.facts("counts")["words"] > MANY else ()
    model = NGramModel(ORDER, prune=prune, memory=2**30, engine=context.engine)
    model.fit(chain([first], filled))
    return Output(
        facts={"ngrams": model.ngram_counts_, **model.input_report_}, models={"model": model}
    )


BREAK = "\x1e"  # between paragraphs; documents have no control characters left
# A word may hold apostrophes, hyphens, points and the like between its letters and digits.
# Marks that belong to code and drawings more than to sentences are left out.
TOKEN = re.compile(BREAK + r"|\w+(?:['’.,:/_&-]\w+)*|[^\w\s#*@/\\<>|^~`+=\[\]{}]")
PARAGRAPH = re.compile(r"\n\s*\n")
CODE = re.compile(r"\S{41,}")  # packed files, addresses of pages
QUOTING = re.compile(r"^[ \t>|]+", re.MULTILINE)  # of letters in answers
RULE = re.compile(r"^(?:[^\w\n]|_)+$", re.MULTILINE)
AGAIN = re.compile(r"( [^\w\s])\1+(?= |$)")
STOP = re.compile(r" [.!?…](?: [.!?…\"'”’»)])* (?=(.))")
NO_SPACE_BEFORE = frozenset(",.;:!?)]}%…”’»")
NO_SPACE_AFTER = frozenset("([{“‘«$#@")


def spaced_sentences(text: str) -> list[str]:
    """The sentences of a text, with spaces around words and marks.

    >>> spaced_sentences("Call me Ishmael. Some years\\nago (never mind) I sailed.")
    ['Call me Ishmael .', 'Some years ago ( never mind ) I sailed .']
    """
    text = HALVES.sub("", CONTROLS.sub("", HIDDEN.sub("", ESCAPES.sub("", text))))
    text = RULE.sub("", QUOTING.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    text = PARAGRAPH.sub(f" {BREAK} ", CODE.sub(" ", text))
    text = ADDRESS.sub("", text) if "@" in text else text
    spaced = AGAIN.sub(r"\1", " ".join(TOKEN.findall(text)))
    sentences = STOP.sub(end, spaced).replace(BREAK, "\n").split("\n")
    return [sentence for each in sentences if (sentence := each.strip())]


def end(found: re.Match) -> str:
    """A full stop and the like end a sentence, unless a lower-case letter follows."""
    return found[0] if found[1].islower() else found[0] + "\n"


def running_text(words: Iterable[str]) -> str:
    """Words and marks as one would write them.

    >>> running_text('" Yes , " he said ( softly ) .'.split())
    '"Yes," he said (softly).'
    """
    text, glued, quoted = "", True, False
    for word in words:
        straight = word == '"'
        close = (straight and quoted) or word in NO_SPACE_BEFORE
        text += word if glued or close else f" {word}"
        quoted ^= straight
        glued = word in NO_SPACE_AFTER or (straight and quoted)
    return text
