"""The form of a data set, and the catalog: what their folders hold, where they come from.

The folder that TACIT_DATA names has one folder for each set, with the files listed here. Text
is UTF-8, .gz files are gzip, .jsonl files hold one JSON object a line. Fields and columns are
described with the loaders, which have the names of the sets.
"""

import hashlib
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.core.errors import DataError
from tacit.core.wording import did_you_mean

if TYPE_CHECKING:
    import numpy as np

__all__ = ["VARIABLE", "Dataset", "Entry", "available", "checksum_of", "data_folder", "load"]

VARIABLE = "TACIT_DATA"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Documents or rows, with targets and metadata.

    Attributes
    ----------
    name : str
    documents : list of str, or None where the set is of numbers or word pairs
    data : array or None
        Rows of numbers; or of words, for word pairs.
    target : array or None
        For each document or row an index into ``target_names``, or a number to predict.
    target_names : list of str
        The names of the classes; empty where the target is a number.
    metadata : dict of str to list
        Further columns, one value per document or row, such as "id".
    extra : dict
        Data about the set as a whole, such as a word list or the names of columns.
    description : str
    licence : str
        The terms of use, as far as known. Check them before you republish anything.

    Examples
    --------
    >>> import numpy as np
    >>> Dataset("toy", ["good", "bad"], target=np.array([1, 0]), target_names=["no", "yes"])
    Dataset 'toy': 2 documents, 2 classes
    """

    name: str
    documents: list[str] | None = None
    data: "np.ndarray | None" = None
    target: "np.ndarray | None" = None
    target_names: list[str] = field(default_factory=list)
    metadata: dict[str, list] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    description: str = ""
    licence: str = ""

    def __post_init__(self) -> None:
        if self.documents is None and self.data is None:
            raise ValueError(f"The data set {self.name!r} has neither documents nor data.")
        columns: dict[str, Any] = {"data": self.data, "target": self.target, **self.metadata}
        for column, values in columns.items():
            if values is not None and len(values) != len(self):
                raise ValueError(
                    f"The data set {self.name!r} has {len(values)} values of {column} for "
                    f"{len(self)} documents or rows."
                )

    def __len__(self) -> int:
        return len(self.documents if self.documents is not None else self.data)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        what = "documents" if self.documents is not None else "rows"
        parts = [f"{len(self):,} {what}"]
        if self.data is not None and self.data.ndim > 1:
            parts[0] += " of " + " x ".join(f"{size:,}" for size in self.data.shape[1:])
        if self.target_names:
            parts.append(f"{len(self.target_names)} classes")
        return f"Dataset {self.name!r}: {', '.join(parts)}"

    def take(self, places: Any) -> "Dataset":
        """Some of the documents or rows, with their targets and metadata.

        >>> Dataset("toy", ["a", "b", "c"], metadata={"id": [1, 2, 3]}).take([2, 0]).metadata
        {'id': [3, 1]}
        """
        places = [int(place) for place in places]

        def pick(values: Any) -> Any:
            return [values[i] for i in places] if isinstance(values, list) else values[places]

        return replace(
            self,
            documents=None if self.documents is None else pick(self.documents),
            data=None if self.data is None else pick(self.data),
            target=None if self.target is None else pick(self.target),
            metadata={name: pick(values) for name, values in self.metadata.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """A summary in plain values, without the documents and rows."""
        return {
            "name": self.name,
            "rows": len(self),
            "documents": self.documents is not None,
            "shape": None if self.data is None else list(self.data.shape),
            "target_names": self.target_names,
            "metadata": list(self.metadata),
            "extra": list(self.extra),
            "description": self.description,
            "licence": self.licence,
        }


@dataclass(frozen=True)
class Entry:
    """A data set that can be loaded; ``here`` if its files are in the folder of TACIT_DATA."""

    name: str
    about: str
    origin: str
    licence: str
    files: tuple[str, ...]
    parts: tuple[str, ...] = ()  # the first is the default
    here: bool = False

    @property
    def sha256(self) -> str:
        """The ``checksum_of`` the files on which the figures of the documentation were
        measured."""
        return CHECKSUMS[self.name]

    @property
    def load_call(self) -> str:
        """How to load it in Python."""
        part = f", part={self.parts[0]!r}" if self.parts else ""
        return f"tacit.datasets.load({self.name!r}{part})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "sha256": self.sha256, "load": self.load_call}


def available() -> list[Entry]:
    """List the data sets that ``load`` knows; ``here`` marks those it can read now.

    Examples
    --------
    >>> [entry.name for entry in available()][:3]
    ['bodyfat', 'brown_tagged', 'enwiki_text8style']
    """
    folder = data_folder()
    return [replace(entry, here=is_here(entry, folder)) for entry in CATALOG.values()]


def load(name: str, *, part: str | None = None) -> Dataset:
    """Load a public data set from the folder that the variable TACIT_DATA names.

    Parameters
    ----------
    name : str
        One of ``available()``; or "docstrings", which needs no folder.
    part : str or None
        Which part of a set that has several, such as "train" or "test".

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        The folder or the set is missing, or a file is damaged. Says which, and what to do.
    """
    if name == "docstrings":
        from tacit.datasets.docstring_set import docstrings

        if part is not None:
            raise ValueError(f"docstrings has no parts, so part={part!r} means nothing.")
        return docstrings()
    if name not in CATALOG:
        known = [*CATALOG, "docstrings"]
        raise ValueError(
            f"There is no data set {name!r}.{did_you_mean(name, known)} Choose from "
            f"{', '.join(known)}."
        )
    entry = CATALOG[name]
    if part is not None and part not in entry.parts:
        choice = f"choose from {list(entry.parts)}" if entry.parts else "leave it out"
        raise ValueError(f"load({name!r}, part={part!r}) is unknown; {choice}.")
    folder = data_folder()
    if folder is None:
        raise DataError(
            f"The data set {name!r} is not part of Tacit. Set the environment variable "
            f"{VARIABLE} to the folder that holds it, as {name}/{entry.files[0]}."
        )
    if not is_here(entry, folder):
        missing = next(file for file in entry.files if not (folder / name / file).exists())
        raise DataError(
            f"The data set {name!r} is not in the folder that {VARIABLE} names: there is no "
            f"{name}/{missing}. Put it there ({entry.origin}), or set {VARIABLE} to another "
            "folder.",
            file=folder,
        )
    from tacit.datasets import loaders

    read = getattr(loaders, name)
    chosen = part or (entry.parts[0] if entry.parts else "")
    full = f"{name} ({chosen})" if chosen else name
    about = f"{entry.about} From {entry.origin}."
    return Dataset(
        full, **read(folder / name, chosen), description=about, licence=entry.licence
    )


def checksum_of(folder: Path) -> str:
    """The checksum of the files of a data set: the SHA-256 of the lines that ``sha256sum``
    prints for them, in the order of their names. Notes called README do not count.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("whale")
    >>> checksum_of(folder)[:16]
    '72f9b5446261da7c'
    """
    files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    combined = hashlib.sha256()
    for name in sorted(files):
        if not files[name].name.upper().startswith("README"):
            with open(files[name], "rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            combined.update(f"{digest}  {name}\n".encode())
    return combined.hexdigest()


def data_folder() -> Path | None:
    """The folder that TACIT_DATA names, or None."""
    path = os.environ.get(VARIABLE)
    return Path(path) if path else None


def is_here(entry: Entry, folder: Path | None) -> bool:
    return folder is not None and all((folder / entry.name / f).exists() for f in entry.files)


NLTK = "NLTK's data collection (nltk/nltk_data)"

ENTRIES = (
    Entry("bodyfat", "252 men: percentage of body fat, age, weight, height and ten girths.",
        "StatLib (A. Garth Fisher), as in the R package faraway",
        "Not checked; the R package is GPL.", ("bodyfat.csv",)),
    Entry("brown_tagged",
        "The Brown corpus: 500 texts of 15 kinds, every word with its part of speech.", NLTK,
        "Not checked; research use.", ("brown.jsonl.gz",)),
    Entry("enwiki_text8style",
        "5,601 Wikipedia articles in lower case letters and spaces; or a start of text8.",
        "English Wikipedia, by WikiExtractor", "CC BY-SA 3.0.",
        ("enwiki.txt.gz", "text8_prefix.txt.gz"), ("enwiki", "text8_prefix")),
    Entry("federalist", "The 85 Federalist Papers, 12 of disputed and 3 of joint authorship.",
        "Project Gutenberg 1404", "Public domain.", ("federalist.csv.gz",)),
    Entry("langid", "27,141 sentences in 28 languages.",
        "the test data of lingua (pemistahl/lingua-py)",
        "Apache-2.0; origin of the sentences not checked.", ("sentences.jsonl.gz",),
        ("all", "train", "test")),
    Entry("mnist", "70,000 handwritten digits, 28 x 28 gray values.",
        "LeCun, Cortes and Burges", "Not checked.", ("mnist.npz",), ("all", "train", "test")),
    Entry("movie_reviews",
        "2,000 film reviews, for or against; or 10,662 sentences of reviews; or 10,000 "
        "sentences, objective or subjective. With lists of good and bad words.",
        f"Pang and Lee; Hu and Liu; by {NLTK}",
        "Sentences and word lists CC BY 4.0; reviews with the authors' permission.",
        ("movie_reviews.jsonl.gz", "rt_polarity.jsonl.gz", "subjectivity.jsonl.gz",
        "opinion_lexicon_positive.txt", "opinion_lexicon_negative.txt"),
        ("reviews", "sentences", "subjectivity")),
    Entry("movielens_100k", "100,000 ratings of 1,682 films by 943 people.",
        "GroupLens, University of Minnesota",
        "Research use; not to be redistributed without permission.",
        ("u.data.gz", "u.item.gz", "u.user", "u.genre")),
    Entry("names", "7,944 first names, male and female.", f"Mark Kantrowitz, by {NLTK}",
        "Free, with the original README.", ("male.txt", "female.txt")),
    Entry("newsgroups", "18,846 posts in 20 newsgroups, with headers, split by date.",
        "20 Newsgroups, the version called bydate",
        "None stated: public posts, long used for research.",
        ("train.jsonl.gz", "test.jsonl.gz"), ("all", "train", "test")),
    Entry("olivetti", "400 faces of 40 people, 64 x 64 gray values.",
        "AT&T Laboratories Cambridge, in Sam Roweis' file", "Not stated; credit asked for.",
        ("olivetti.npz",)),
    Entry("oz",
        "30 books by L. Frank Baum and Ruth Plumly Thompson, 28 of them of the land of Oz.",
        "Project Gutenberg, by ContextLab/llm-stylometry",
        "Public domain in the USA, not checked book by book.", ("index.csv",)),
    Entry("ptb", "Sentences of the Penn Treebank, 10,000 words and <unk>, for language models.",
        "Marcus et al., in Mikolov's preparation",
        "The Treebank is the LDC's; not to be republished.",
        ("ptb.train.txt.gz", "ptb.valid.txt.gz", "ptb.test.txt.gz"),
        ("train", "valid", "test")),
    Entry("senseval",
        "15,225 sentences with hard, interest, line or serve, and its sense in each.",
        f"Leacock et al., Bruce and Wiebe, by {NLTK}", "Distributed with permission.",
        ("hard.jsonl.gz", "interest.jsonl.gz", "line.jsonl.gz", "serve.jsonl.gz"),
        ("line", "hard", "interest", "serve")),
    Entry("shakespeare", "The works of Shakespeare, one by one; or a megabyte of speeches.",
        "martin-gorner/tensorflow-rnn-shakespeare; karpathy/char-rnn", "Public domain.",
        ("works", "tinyshakespeare.txt.gz"), ("works", "tiny")),
    Entry("sms_spam", "5,574 text messages, 747 of them spam.",
        "Almeida and Gomez Hidalgo, UCI repository", "Not checked.",
        ("SMSSpamCollection.tsv.gz",)),
    Entry("spelling",
        "Misspellings and what was meant, four collections; and text to learn words from.",
        "Peter Norvig's essay; Roger Mitton's files",
        "Birkbeck CC BY-NC-SA 3.0, the rest not stated. Research use.", ("norvig_testset1.csv",
        "norvig_testset2.csv", "birkbeck.csv.gz", "aspell.csv", "big.txt.gz"),
        ("norvig_testset1", "norvig_testset2", "birkbeck", "aspell", "big")),
    Entry("word_similarity",
        "Pairs of words with how alike people find them, and 19,544 analogies.",
        "WordSim-353, SimLex-999, Rubenstein and Goodenough, Miller and Charles, Mikolov",
        "Not stated; used for research.",
        ("wordsim353.tsv", "simlex999.txt", "EN-RG-65.txt", "EN-MC-30.txt",
        "questions-words.txt"),
        ("wordsim353", "simlex999", "rg65", "mc30", "analogies")),
)  # fmt: skip
CATALOG = {entry.name: entry for entry in ENTRIES}
CHECKSUMS = {
    "bodyfat": "06f8c2f6f7bec376992ca3f5102ef6b3e833afb9fbb6234447545a7b68765c10",
    "brown_tagged": "5b1f2e5ff6da5b275932e0e404e4a7a144f37ed91f0340c91b357babba1cff4e",
    "enwiki_text8style": "6489c0596fc367955da9a8165efb61469f5a722b6ea09ad2b3e69b23df807604",
    "federalist": "cea297c3e794c5c71eecbf490e33b15dd8cc701df7720b3de0ef7ae857e7cfb0",
    "langid": "e1757eae848bb34d16c2e65347eaf50cfcfd2a74bf77f14b688144b7723ac12f",
    "mnist": "fee6992f8107643b1e419fde2722ff7211edd27f9326e3161dff12923b63e398",
    "movie_reviews": "6f6891d0c5b667ebf2014443f0223624731bf938d6eb11821a81e9ca6e6e621b",
    "movielens_100k": "1ae3cd4916288230cbf5e693f050f70c47e0655d9bf519662a6aa7d65f70895b",
    "names": "f4aeaf5bd60ee19ed80b56add273c321cc49074f529c33755e44bd8c30f7e3f8",
    "newsgroups": "71d78c617ced708f0f170cf4b14ce14562632e83cc2de6d3261101c22d6d5910",
    "olivetti": "441314ad2d79da86fe4e30816e60f13a61664fced566fa720ff10b7ba91b9a04",
    "oz": "ae3ae84c8e0bd5c6654d447ced6d9c0adfc2841d289acd88b96fdd1aaa721b8e",
    "ptb": "25da81fe10ff189f5e3e589039a74f9ee2b83252c9144cc4aca7ef2b3c33f6a9",
    "senseval": "241a1d29fb3848daffc2dd8da3faa01503b9219a7a22dbc171db48cad7d76b6d",
    "shakespeare": "38b6a9a1ac928c2bb220259585ce180ae0d0db7053ac6fd6fa603edf0b3135f6",
    "sms_spam": "a2f3f3f1dd315e39ddc0385e7abb1488de7e3354f736526523d1b05a53e266a0",
    "spelling": "e18a5846865f6950efc0af4e3bf990bb3cee7926729039e52fe0f937c746271c",
    "word_similarity": "df79da0cbc4bec2eac930ac5a0ca58a1cc5d009c6ab5ea1a84b6b72ec702ed32",
}
