"""From sentences in any form to the counts of a model: read, number the words, count."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.core.disk_array import disk_array, release
from tacit.core.engines import get_engine
from tacit.core.memory import parse_memory, resident_memory, trim_memory
from tacit.language.ngram_counts import NGramCounts, count_ngrams, join_positions, positions
from tacit.language.sentences import (
    FIRST,
    SPECIAL,
    START,
    STOP,
    UNKNOWN,
    BlockWords,
    Corpus,
    find_ids,
    read_words,
    sentence_blocks,
)
from tacit.language.smoothing import fit_mixing
from tacit.language.spilled_counts import count_spilled
from tacit.text.vocabulary import Vocabulary, unite

__all__ = ["Counted", "count_text"]

LEAST = 1 << 25  # bytes that counting takes, however low the limit
EVERY = 10  # one sentence in ten is held out to fit the weights of jelinek-mercer


class Counted(NamedTuple):
    """The input of the smoothing."""

    counts: NGramCounts
    vocabulary: Vocabulary
    report: dict[str, int]
    mixing: list[np.ndarray] | None


def count_text(
    model: Any, data: Any, held_out: Any = None, baseline: int | None = None
) -> Counted:
    """Count the n-grams of sentences with the settings of an ``NGramModel``.

    Its limit on memory comes on top of ``baseline`` bytes, by default what the process takes
    now. What it takes once the text is read, beyond that, leaves less for counting.
    """
    memory = parse_memory(model.memory)
    limit = math.inf if memory is None else memory
    if baseline is None and memory is not None:
        baseline = resident_memory()
    blocks = read_blocks(model, data, on_disk=memory is not None)
    vocabulary, ids = choose_words(model, blocks)
    report = describe(blocks, ids)
    check_text(model, report)
    v, setting = len(vocabulary) + FIRST, (model.order, model.markers)
    engine = get_engine(model.engine)
    if memory is not None:
        none = Vocabulary.of([])
        blocks = [block._replace(vocabulary=none) for block in blocks]
        trim_memory()
        limit = min(memory, memory + (baseline or 0) - resident_memory())
    if bytes_needed(report, model.order) <= limit:
        text = join_positions(blocks, ids, model.markers, engine)
        counts = count_ngrams(text, v, *setting, engine)
    else:
        parts = (join([block], [its_ids]) for block, its_ids in zip(blocks, ids, strict=True))
        counts = count_spilled(parts, v, *setting, max(LEAST, limit), engine)
    mixing = None
    if model.smoothing == "jelinek-mercer":
        if held_out is None:
            training, test = hold_out(join(blocks, ids))
            part = count_ngrams(positions(training, model.markers), v, *setting, model.engine)
        else:
            part, test = counts, encode_corpus(model, held_out, vocabulary)
        mixing = fit_mixing(part, test, open_vocabulary=model.open_vocabulary)
    return Counted(counts, vocabulary, report, mixing)


def read_blocks(model: Any, data: Any, *, on_disk: bool = False) -> list[BlockWords]:
    """The words of all blocks; the ids in disk arrays, if memory is limited."""
    source = sentence_blocks(data)
    blocks = get_engine(model.engine).map(read_words, model._reader(), source)
    if not on_disk:
        return list(blocks)
    moved = [move_to_disk(block) for block in blocks]
    trim_memory()
    return moved


def move_to_disk(block: BlockWords) -> BlockWords:
    ids = disk_array(len(block.ids), block.ids.dtype)
    ids[:] = block.ids
    release(ids)
    return block._replace(ids=ids)


def bytes_needed(report: dict[str, int], order: int) -> int:
    """The most that counting in memory takes: positions, and n-grams of every order."""
    return (report["words"] + 2 * report["sentences"]) * (20 + 20 * order)


def describe(blocks: list[BlockWords], ids: list[np.ndarray]) -> dict[str, int]:
    """Counts of what was read."""
    unknown = 0
    for block, its_ids in zip(blocks, ids, strict=True):
        unknown += int(np.count_nonzero((its_ids == UNKNOWN)[block.ids]))
        release(block.ids)
    return {
        "sentences": sum(int(np.count_nonzero(np.diff(block.edges))) for block in blocks),
        "words": sum(len(block.ids) for block in blocks),
        "unknown": unknown,
        "reserved": sum(count_reserved(block) for block in blocks),
    }


def choose_words(model: Any, blocks: list[BlockWords]) -> tuple[Vocabulary, list[np.ndarray]]:
    """The words of the model, and their ids by the numbers that each block gave them."""
    seen, places = unite([block.vocabulary for block in blocks])
    if model.vocabulary is None:
        counts = np.zeros(len(seen), np.int64)
        for block, place in zip(blocks, places, strict=True):
            counts[place] += np.bincount(block.ids, minlength=len(place))
            release(block.ids)
        keep = counts > model.unk_cutoff
        at = seen.find(Vocabulary.of_sorted(sorted(SPECIAL)))
        keep[at[at >= 0]] = False
        vocabulary = seen.take(keep)
    else:
        words = check_words(model.vocabulary)
        vocabulary = Vocabulary.of(words)
    ids = find_ids(vocabulary, seen)
    ids[ids < 0] = UNKNOWN
    return vocabulary, [ids[place] for place in places]


def check_words(vocabulary: Any) -> list[str]:
    if isinstance(vocabulary, str):
        raise TypeError(
            f"NGramModel(vocabulary={vocabulary[:40]!r}) must be a list of words, not one str."
        )
    words = list(vocabulary)
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"NGramModel(vocabulary=...) must hold str, but {word!r} is not.")
    return [word for word in words if word not in SPECIAL]


def count_reserved(block: BlockWords) -> int:
    """Start and stop tokens written out in the text, which are read as unknown words."""
    at = block.vocabulary.find(Vocabulary.of_sorted([SPECIAL[STOP], SPECIAL[START]]))
    return sum(int(np.count_nonzero(block.ids == place)) for place in at if place >= 0)


def check_text(model: Any, report: dict[str, int]) -> None:
    if report["sentences"] == 0:
        raise ValueError(
            "NGramModel.fit found no sentence with a word in it. Give some text, or another "
            "tokenizer."
        )
    if not model.open_vocabulary and report["unknown"]:
        raise ValueError(
            f"NGramModel(open_vocabulary=False) met words outside the vocabulary, "
            f"{report['unknown']:,} times. Add them to vocabulary, or leave it open."
        )


def join(blocks: Sequence[BlockWords], ids: Sequence[np.ndarray]) -> Corpus:
    """Blocks as one corpus, without empty sentences."""
    words = [its[block.ids] for block, its in zip(blocks, ids, strict=True) if len(its)]
    release(*(block.ids for block in blocks))
    starts = np.cumsum([0, *(len(block.ids) for block in blocks)])
    shifted = [block.edges[1:] + at for block, at in zip(blocks, starts, strict=False)]
    ends = np.concatenate([np.zeros(1, np.int64), *shifted])
    ends = ends[np.concatenate([[True], np.diff(ends) > 0])]
    return Corpus(np.concatenate([np.empty(0, np.int32), *words]), ends)


def encode_corpus(model: Any, data: Any, vocabulary: Vocabulary) -> Corpus:
    """Other sentences in the ids of a vocabulary."""
    blocks = read_blocks(model, data)
    ids = [np.maximum(find_ids(vocabulary, block.vocabulary), UNKNOWN) for block in blocks]
    return join(blocks, ids)


def hold_out(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """The corpus without every tenth sentence, and those."""
    n = len(corpus.edges) - 1
    held_out = np.arange(n) % EVERY == EVERY - 1
    return take_sentences(corpus, ~held_out), take_sentences(corpus, held_out)


def take_sentences(corpus: Corpus, keep: np.ndarray) -> Corpus:
    lengths = np.diff(corpus.edges)
    ids = corpus.ids[np.repeat(keep, lengths)]
    return Corpus(ids, np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64))
