"""Words that are in almost every document and carry little information.

``ENGLISH`` is a list of function words: articles, pronouns, prepositions, conjunctions,
auxiliary verbs, and adverbs that only connect. Words with a meaning of their own are not in it,
whatever their frequency. The parts that apostrophes separate ("don", "ll", "ve") are in the
list, and so are the whole forms, so that it fits both token rules.

``derive_stop_words`` finds them in the documents at hand, in any language.
"""

from typing import Any

import numpy as np

__all__ = ["ENGLISH", "LISTS", "built_in", "derive_stop_words"]

LISTS = ("english", "english-function-words")

LIST = """
a an the this that these those such same other another each every either neither both all
any some none no nor not only own few fewer fewest less least many more most much several
enough half

i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
himself she her hers herself it its itself they them their theirs themselves one ones
oneself who whom whose which what whatever whichever whoever whomever someone somebody
something anyone anybody anything everyone everybody everything nobody nothing

about above across after against along alongside amid among amongst around as at before
behind below beneath beside besides between beyond by despite down during except for from
in inside into like near of off on onto opposite out outside over past per since than
through throughout till to toward towards under underneath unlike until up upon versus via
with within without

and but or so yet if because although though unless while whilst whereas whether once when
whenever where wherever why how however therefore thus hence thereby therefore moreover
furthermore nevertheless nonetheless otherwise instead meanwhile

am is are was were be been being have has had having do does did doing done can could may
might must shall should will would ought cannot

again almost already also always anyhow anyway away back else elsewhere ever even first
further here indeed just last later latter maybe mostly namely never next now nowhere often
perhaps quite rather really seldom sometimes somewhere soon still then there thereafter
therein too very well yes

aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren
won wouldn ain ll ve re im ive id youre youve hes shes theyre theyve weve dont doesnt didnt
let isnt arent wasnt werent cant couldnt wont wouldnt shouldnt hasnt havent hadnt thats

aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't
needn't shan't shouldn't wasn't weren't won't wouldn't ain't i'm i've i'd i'll you're
you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll we're we've we'd
we'll they're they've they'd they'll who's what's that's there's here's let's
"""
ENGLISH = frozenset(LIST.split())


def built_in(name: str) -> frozenset[str]:
    """The list of this name: "english" is scikit-learn's, "english-function-words" ours."""
    if name == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return ENGLISH_STOP_WORDS
    if name == "english-function-words":
        return ENGLISH
    raise ValueError(
        f"stop_words={name!r} is not a built-in list; {' and '.join(map(repr, LISTS))} are. "
        "Give a list of words, or derive_stop_words(documents)."
    )


def derive_stop_words(
    documents: Any, *, min_share: float = 0.5, top: int | None = None, **settings: Any
) -> list[str]:
    """Find the words that are in most of the documents, most common first.

    Parameters
    ----------
    documents : list of str, Documents
    min_share : float
        The least proportion of the documents with words that a stop word is in.
    top : int or None
        At most this many.
    **settings
        Of CountVectorizer: which words there are (rule, lowercase, ...).

    Examples
    --------
    >>> derive_stop_words(["the cat and the dog", "the sea", "a ship and the sea"])
    ['the', 'and', 'sea']
    """
    from tacit.text.counts import CountVectorizer

    if not 0 < min_share <= 1:
        raise ValueError(f"min_share={min_share} must be above 0 and at most 1.")
    stats = CountVectorizer(**settings)._term_stats(documents)
    worded = stats.documents - stats.wordless
    common = np.flatnonzero(stats.document_counts >= max(1.0, min_share * worded))
    order = np.lexsort((common, -stats.document_counts[common]))
    return [stats.vocabulary[i] for i in common[order][:top]]
