"""N-gram models: how likely a sentence is, and which word comes next.

    collect   the words of a block (``sentences``), then n-grams level by level
              (``ngram_counts``)
    update    the smoothing, once (``smoothing``)

Counts grow with the text, the named exception to the law of size; past ``memory`` they spill.
All counts are integers, so the model does not depend on the blocks, the engine or the memory.
The notes' chapter on language models.

Chen and Goodman (1998), An empirical study of smoothing techniques for language modeling.
Heafield, Pouzyrevsky, Clark and Koehn (2013), Scalable modified Kneser-Ney language model
estimation. ACL.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.engines import get_engine
from tacit.core.estimator import Estimator
from tacit.kernels.sorting import highest
from tacit.language.backoff_model import BackoffModel, train
from tacit.language.backoff_tables import (
    check_tables,
    distribution,
    index_bigrams,
    score_sentence,
)
from tacit.language.generate import Completion, complete_text, generate_words
from tacit.language.scoring import (
    LN10,
    Perplexity,
    Scorer,
    Surprisal,
    sum_block,
    sums_by_sentence,
    word_scores,
)
from tacit.language.sentences import (
    SPECIAL,
    START,
    STOP,
    UNKNOWN,
    filled_blocks,
    make_word_finder,
    read_words,
    sentence_blocks,
    spelled,
    split_text,
)
from tacit.language.smoothing import SMOOTHINGS

__all__ = ["NGramModel"]


class NGramModel(Estimator, BackoffModel):
    """Learn from text how likely a sentence is, and which word comes next.

    Sentences stand between a start and a stop token. Words that the model does not know are
    <unk>, which has a probability like any other word unless the vocabulary is closed.

    Parameters
    ----------
    order : int
        The longest n-gram: a word depends on the ``order - 1`` words before it.
    smoothing : str
        "modified-kneser-ney" (the best in nearly every comparison), "kneser-ney", "absolute",
        "witten-bell", "katz", "jelinek-mercer", "backoff", "add-k" or "mle".
    vocabulary : iterable of str or None
        The words of the model. None takes those of the text.
    unk_cutoff : int
        Words seen no more often than this become <unk>.
    k : float
        What "add-k" adds to every count.
    backoff_weight : float
        The probability that "backoff" reserves for the words unseen after a history.
    prune : sequence of int
        Per order, n-grams seen no more often than this are left out; the last number holds for
        the orders above. Single words always stay. (0, 0, 1) drops trigrams seen once.
    open_vocabulary : bool
        Whether <unk> may occur. If not, other words have probability zero.
    markers : bool
        Whether sentences have start and stop tokens.
    tokenizer : {"whitespace", "words", "plain", "char"} or function
        What a word is: text between white space, a token of the package's tokenizer
        (``tacit.text.tokenize``), or every character.
    lowercase : bool
        Whether to convert the text to lower case first.
    memory : int, str such as "2GB", or None
        About how much memory ``fit`` may take, on top of what the process takes when it
        begins; 32 MB are always used for counting. A text that would need more is counted by
        way of temporary files, and the model's arrays are in such files too. None always
        works in memory.
    engine : {"serial", "threads", "dask"} or Engine
        Where blocks are read and scored.

    Attributes
    ----------
    ngram_counts_ : list of int, how many n-grams of each order the model has
    discounts_ : list of lists, what was taken from counts of 0, 1, 2, ... in each order
    discount_fallbacks_ : list of int, the orders whose discounts could not be estimated
    mixing_ : list of lists, the weights of "jelinek-mercer", else empty
    input_report_ : dict of counts: sentences, words, unknown words, reserved words in the text

    Examples
    --------
    >>> text = ["Yee Haw", "Haw Yee Yee", "Yee Haw Yee"]
    >>> model = NGramModel(order=2, smoothing="mle").fit(text)
    >>> 10 ** model.score("Yee Haw Yee")
    0.0711...
    >>> [(word, round(p, 2)) for word, p in model.next_words("Yee", top=2)]
    [('</s>', 0.4), ('Haw', 0.4)]
    """

    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "order": [Interval(Integral, 1, 100, closed="both")],
        "smoothing": [StrOptions(set(SMOOTHINGS))],
        "unk_cutoff": [Interval(Integral, 0, None, closed="left")],
        "k": [Interval(Real, 0, None, closed="neither")],
        "backoff_weight": [Interval(Real, 0, 1, closed="neither")],
        "open_vocabulary": ["boolean"],
        "markers": ["boolean"],
        "tokenizer": [str, callable, None],
        "lowercase": ["boolean"],
        "memory": [Interval(Real, 0, None, closed="neither"), str, None],
    }

    def fit(self, X: Any, y: Any = None, *, held_out: Any = None) -> "NGramModel":
        """Learn from sentences.

        X is a list of str (a sentence each; line ends separate more), a list of lists of
        words, Documents, a dataframe, the path of a file or folder, or several ``Path``s.
        ``held_out`` are more sentences, to fit the weights of "jelinek-mercer" on; without
        them every tenth sentence is set apart for that, and counted afterwards.
        """
        self._validate_params()
        return train(self, X, held_out)

    # --- Scores ---

    def score(
        self, sentence: Any, y: Any = None, *, bos: bool = True, eos: bool = True
    ) -> float:
        """log10 of the probability of one sentence, a str or a list of words, as in KenLM.

        ``bos`` and ``eos``: whether the sentence begins and ends there.
        """
        ids = self._ids(self._split(sentence))
        first = 0
        if self.markers and bos:
            ids, first = [START, *ids], 1
        if self.markers and eos:
            ids.append(STOP)
        return float(score_sentence(self._tables, np.array(ids, np.int32), first))

    def logprob(self, sentence: Any, *, bos: bool = True, eos: bool = True) -> float:
        """The natural logarithm of the probability of one sentence."""
        return self.score(sentence, bos=bos, eos=eos) * LN10

    def score_sentences(self, sentences: Any) -> np.ndarray:
        """log10 of the probability of each of many sentences, on the model's engine."""
        blocks = sentence_blocks(sentences)
        params = self._scorer(lines=False)
        sums = list(get_engine(self.engine).map(sums_by_sentence, params, blocks))
        return np.concatenate(sums) if sums else np.empty(0)

    def perplexity(self, sentences: Any) -> Perplexity:
        """How well the model predicts a text; see ``Perplexity`` for the conventions."""
        blocks = filled_blocks(sentences, "NGramModel.perplexity")
        return Perplexity.of(get_engine(self.engine).reduce(sum_block, self._scorer(), blocks))

    def surprisal(self, text: Any) -> list[Surprisal]:
        """The surprisal of each word of a text, in bits, stop tokens included."""
        text = [text] if isinstance(text, str) else text
        out: list[Surprisal] = []
        for block in sentence_blocks(text):
            loaded = block.load()
            scored = word_scores(self._scorer(), loaded)
            words = read_words(self._reader(), loaded)
            spelling = iter([words.vocabulary[i] for i in words.ids.tolist()])
            for id, bits in zip(scored.ids, -scored.scores * np.log2(10), strict=True):
                word = SPECIAL[STOP] if id == STOP else next(spelling)
                out.append(Surprisal(word, float(bits), bool(id < 0)))
        return out

    # --- What comes next ---

    def distribution(self, history: Any = "") -> np.ndarray:
        """The probabilities of all words (``words_``) after a history, a str or words."""
        return distribution(self._tables, self._history(history))

    def next_words(self, history: Any = "", *, top: int = 10) -> list[tuple[str, float]]:
        """The likeliest next words and their probabilities; ties in order of id."""
        p = self.distribution(history)
        best = highest(p, top)
        return [(spelled(self._vocabulary, int(i)), float(p[i])) for i in best if p[i] > 0]

    def generate(
        self,
        seed: Any = None,
        *,
        prefix: Any = "",
        temperature: float = 1.0,
        max_words: int = 100,
    ) -> str:
        """Draw a sentence, one word after the other, until the stop token.

        The same seed gives the same sentence. A ``temperature`` below 1 prefers likely words.
        """
        words = self._split(prefix)
        drawn = generate_words(
            self._tables, self._history(words), seed, temperature, max_words, self.markers
        )
        return self._join([*words, *(spelled(self._vocabulary, i) for i in drawn)])

    def complete(
        self, prefix: str, *, top: int = 5, max_words: int = 1, beam: int = 20
    ) -> list[Completion]:
        """The likeliest continuations of a text, up to ``max_words`` or the stop token.

        A prefix that does not end with white space may end within a word; probabilities are
        then those of the words that begin so. The probability of a completion is that of all
        words that were added.
        """
        return complete_text(self, prefix, top, max_words, beam)

    # --- The model itself ---

    @property
    def words_(self) -> list[str]:
        """All words by id, special tokens first."""
        return [*SPECIAL, *self._vocabulary.strings]

    @cached_property
    def _lookup(self) -> tuple:
        """What a scorer finds bigrams and words by."""
        return index_bigrams(self._tables), make_word_finder(self._vocabulary)

    @cached_property
    def _index(self) -> dict[str, int]:
        known = dict(zip(self._vocabulary.strings, range(len(SPECIAL), 2**31), strict=False))
        return {SPECIAL[UNKNOWN]: UNKNOWN, **known}

    def _scorer(self, *, lines: bool = True) -> Scorer:
        return Scorer(
            self._tables, self._vocabulary, self._reader(lines), self.markers, *self._lookup
        )

    def _split(self, sentence: Any) -> list[str]:
        return split_text(self._reader(), sentence)

    def _join(self, words: Sequence[str]) -> str:
        return ("" if self.tokenizer == "char" else " ").join(words)

    def _ids(self, words: Iterable[str]) -> list[int]:
        index = self._index
        return [index.get(word, UNKNOWN) for word in words]

    def _history(self, history: Any) -> np.ndarray:
        """Ids of what comes before, after the start token."""
        ids = self._ids(self._split(history))
        return np.array([START, *ids] if self.markers else ids, np.int32)

    def _after_load(self) -> None:
        if len(self._sizes) != self.order:
            raise ValueError("its order is not that of its tables")
        # Memory-mapped arrays are trusted, as documented in tacit.load.
        values = self._tables.words.flags.writeable
        check_tables(self._tables, self._word_bytes, self._word_offsets, values=values)
