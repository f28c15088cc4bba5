"""Labels that a person gave, in SQLite next to the stages of a project.

A label belongs to a document's id and to a fingerprint of its text, not to its row: it is
there again after a new run, and stays away from a document that changed under the same id.
Every change is one transaction on the disk (journal_mode=DELETE, synchronous=FULL) before it
is answered, and can be taken back; so can the one before it. Renaming a label, merging it into
another and deleting it are such changes, of all documents that have it.

The file is untrusted. Its tables must be the ones below, word for word: a trigger
or a view that came along is damage. It is never repaired or replaced here.
"""

import contextlib
import errno
import hashlib
import json
import os
import sqlite3
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tacit.core.errors import DataError, Locked
from tacit.core.wording import count, listed
from tacit.explore.project.locks import Ownership, holder_of

__all__ = [
    "LABELS", "MOST_NAME", "Key", "Labels", "NameTaken", "NoLabel", "change_labels",
    "clean_name", "fingerprint_of", "keys_of_rows", "label_rows", "places_of", "rows_of_keys",
    "short",
]  # fmt: skip

LABELS = "labels.sqlite"
FORMAT = 1
PATIENCE = 10.0  # seconds that a change of another process may take
MOST_STEPS = 200  # that can be taken back
APPLICATION = 0x54616369  # "Taci", so that `file` and we know whose it is
TABLES = {
    "labels": "CREATE TABLE labels (id TEXT NOT NULL, print TEXT NOT NULL, "
    "name TEXT NOT NULL, PRIMARY KEY (id, print)) WITHOUT ROWID",
    "steps": "CREATE TABLE steps (step INTEGER NOT NULL, id TEXT NOT NULL, "
    "print TEXT NOT NULL, before TEXT, PRIMARY KEY (step, id, print)) WITHOUT ROWID",
    "spread": "CREATE TABLE spread (run TEXT NOT NULL PRIMARY KEY, answer TEXT NOT NULL) "
    "WITHOUT ROWID",
}
WAY_OUT = "Move it elsewhere to go on without its labels."


class Key(NamedTuple):
    """What a label belongs to."""

    id: str
    print: str


def fingerprint_of(text: str) -> str:
    """32 hexadecimal digits that stand for a text."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


class Labels:
    """Names of documents, kept. Safe to use from many threads.

    Examples
    --------
    >>> import tempfile
    >>> labels = Labels(Path(tempfile.mkdtemp()) / LABELS)
    >>> letter = Key("letter 1", fingerprint_of("the ship and the sea"))
    >>> labels.put([letter], "voyages")
    >>> labels.all()[letter]
    'voyages'
    >>> labels.undo(), labels.all(), labels.steps()
    (True, {}, 0)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        if path.is_symlink():
            raise DataError(f"is a link, and a project holds none. {WAY_OUT}", file=path)
        if path.exists():  # a damaged file is reported at once
            with self._reading():
                pass

    # --- Looking ---

    def all(self) -> dict[Key, str]:
        """Every label, whether its document is in the project at the moment or not."""
        with self._reading() as db:
            rows = db.execute("SELECT id, print, name FROM labels").fetchall()
        return {Key(id, print): name for id, print, name in rows}

    def names(self) -> dict[str, int]:
        """How many documents have each label, in the project at the moment or not."""
        with self._reading() as db:
            return names_in(db)

    def steps(self) -> int:
        """How many changes can be taken back."""
        with self._reading() as db:
            return db.execute("SELECT count(DISTINCT step) FROM steps").fetchone()[0]

    def spread(self, run: str) -> dict[str, Any] | None:
        """What was said of the rest of the documents when this run was current."""
        with self._reading() as db:
            row = db.execute("SELECT answer FROM spread WHERE run = ?", (run,)).fetchone()
        return None if row is None else json.loads(row[0])

    # --- Changing ---

    def put(self, keys: Iterable[Key], name: str | None) -> None:
        """Give documents a name, or None to take theirs away: one step."""
        with self._writing() as db:
            step = next_step(db)
            changed = False
            for id, print in keys:
                row = db.execute(
                    "SELECT name FROM labels WHERE id = ? AND print = ?", (id, print)
                ).fetchone()
                before = row[0] if row else None
                if before == name:
                    continue
                changed = True
                db.execute(
                    "INSERT OR IGNORE INTO steps VALUES (?, ?, ?, ?)", (step, id, print, before)
                )
                set_name(db, id, print, name)
            if changed:
                forget_before(db, step)

    def rename(self, name: str, to: str, *, merge: bool = False) -> int:
        """Give every document of a label another one: one step. How many there are."""
        check_rename(self.names(), name, to, merge)  # what cannot be done makes no file
        with self._writing() as db:
            check_rename(names_in(db), name, to, merge)  # as it is now
            return replace_name(db, name, to)

    def remove(self, name: str) -> int:
        """Take a label from every document: one step. How many there were."""
        check_there(self.names(), name)
        with self._writing() as db:
            check_there(names_in(db), name)
            return replace_name(db, name, None)

    def undo(self) -> bool:
        """Take the last change back; False if there is none."""
        if self.steps() == 0:
            return False
        with self._writing() as db:
            step = db.execute("SELECT max(step) FROM steps").fetchone()[0]
            if step is None:
                return False
            rows = db.execute("SELECT id, print, before FROM steps WHERE step = ?", (step,))
            for id, print, before in rows.fetchall():
                set_name(db, id, print, before)
            db.execute("DELETE FROM steps WHERE step = ?", (step,))
            return True

    def keep_spread(self, run: str, answer: Mapping[str, Any] | None) -> None:
        """Keep what was said of the rest of the documents; None forgets it."""
        with self._writing() as db:
            db.execute("DELETE FROM spread")
            if answer is not None:
                text = json.dumps(answer, allow_nan=False)
                db.execute("INSERT INTO spread VALUES (?, ?)", (run, text))

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # --- The file ---

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """The open file; empty tables while there is none, which reading does not change."""
        with self._lock, self._named():
            if self._connection is None and not self.path.exists():
                with contextlib.closing(open_file(Path(":memory:"))) as nothing:
                    yield nothing
            else:
                yield self._open()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, on the disk when the block ends and undone if it fails."""
        with self._lock, self._named():
            db = self._open()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Errors that name the file and the way out."""
        try:
            yield
        except sqlite3.OperationalError as error:
            self.close()
            if "disk is full" in str(error):
                raise OSError(28, os.strerror(28), str(self.path)) from None
            if "locked" in str(error) or "busy" in str(error):
                raise Locked(f"{self.path} is in use by another process. Try again.") from None
            if "readonly" in str(error) or "unable to open" in str(error):
                raise PermissionError(13, os.strerror(13), str(self.path)) from None
            raise DataError(f"cannot be used: {error}. {WAY_OUT}", file=self.path) from None
        except sqlite3.DatabaseError as error:
            self.close()
            raise DataError(f"is damaged: {error}. {WAY_OUT}", file=self.path) from None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_file(self.path)
        return self._connection


def open_file(path: Path) -> sqlite3.Connection:
    """Open and check the file; make it if it is not there."""
    db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA cell_size_check = ON")
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA synchronous = FULL")
        there = dict(db.execute("SELECT name, sql FROM sqlite_master").fetchall())
        if not there:
            make_tables(db)
        else:
            check_tables(db, there, path)
    except BaseException:
        db.close()
        raise
    return db


def make_tables(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    if not db.execute("SELECT 1 FROM sqlite_master").fetchone():  # nobody was faster
        for statement in TABLES.values():
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {FORMAT}")
    db.execute("COMMIT")


def check_tables(db: sqlite3.Connection, there: dict[str, str], path: Path) -> None:
    """Refuse what is damaged, foreign, or from the future."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    owner = db.execute("PRAGMA application_id").fetchone()[0]
    if owner == APPLICATION and version > FORMAT:
        raise DataError(
            f"has format {version}, and this Tacit reads up to {FORMAT}. Install a newer one.",
            file=path,
        )
    if owner != APPLICATION or there != TABLES:
        raise DataError(f"does not hold labels of Tacit. {WAY_OUT}", file=path)
    said = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if said != "ok":
        raise DataError(f"is damaged: {said}. {WAY_OUT}", file=path)
    bad = db.execute(
        "SELECT count(*) FROM labels WHERE typeof(name) != 'text' OR length(name) > ?",
        (MOST_NAME,),
    ).fetchone()[0]
    if bad:
        raise DataError(f"is damaged: {bad:,} labels are not names. {WAY_OUT}", file=path)


def names_in(db: sqlite3.Connection) -> dict[str, int]:
    return dict(db.execute("SELECT name, count(*) FROM labels GROUP BY name").fetchall())


def replace_name(db: sqlite3.Connection, name: str, to: str | None) -> int:
    """Change a label wherever it is, and note what it was; how many documents had it."""
    step = next_step(db)
    db.execute(
        "INSERT INTO steps SELECT ?, id, print, name FROM labels WHERE name = ?", (step, name)
    )
    if to is None:
        done = db.execute("DELETE FROM labels WHERE name = ?", (name,))
    else:
        done = db.execute("UPDATE labels SET name = ? WHERE name = ?", (to, name))
    forget_before(db, step)
    return done.rowcount


def next_step(db: sqlite3.Connection) -> int:
    return (db.execute("SELECT max(step) FROM steps").fetchone()[0] or 0) + 1


def forget_before(db: sqlite3.Connection, step: int) -> None:
    db.execute("DELETE FROM steps WHERE step <= ?", (step - MOST_STEPS,))


def set_name(db: sqlite3.Connection, id: str, print: str, name: str | None) -> None:
    if name is None:
        db.execute("DELETE FROM labels WHERE id = ? AND print = ?", (id, print))
    else:
        db.execute("INSERT OR REPLACE INTO labels VALUES (?, ?, ?)", (id, print, name))


MOST_NAME = 200  # characters


class NoLabel(ValueError):
    """A label that no document has."""


class NameTaken(ValueError):
    """A new name that another label has, or nearly."""


def clean_name(name: Any, what: str = "name") -> str:
    """A name as it is kept: with single spaces, and nothing that cannot be shown.

    >>> clean_name("  sea \\n letters ")
    'sea letters'
    """
    check_text(name, what)
    if len(name) > MOST_NAME:
        raise ValueError(f"{what} has {len(name):,} characters; give at most {MOST_NAME:,}.")
    clean = " ".join(name.split())
    if not clean:
        raise ValueError(f"{what} is empty; give some text.")
    if not clean.isprintable():
        raise ValueError(f"{what} holds characters that cannot be shown; use plain text.")
    return clean


def check_text(name: Any, what: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{what} must be text, not {type(name).__name__}.")


def check_there(names: Mapping[str, int], name: str) -> None:
    """Refuse a label that no document has; ``names`` are those there are, with how many."""
    check_text(name, "name")
    if name in names:
        return
    there = f"there are {listed(map(short, sorted(names)), 5)}"
    raise NoLabel(
        f"There is no label {short(name)}; {there if names else 'no document has one'}."
    )


def check_rename(names: Mapping[str, int], name: str, to: str, merge: bool) -> None:
    """Refuse a new name that is the old one, another label's unless they are to be merged,
    or nearly another label's: they would be confused.

    >>> check_rename({"sea": 3, "Bread": 2}, "sea", "bread", False)
    Traceback (most recent call last):
    ...
    tacit.explore.project.labels.NameTaken: A label 'Bread' is there already ...
    """
    check_there(names, name)
    if to == name:
        raise ValueError(f"The label is called {short(to)} already; give another name.")
    if to in names:
        if not merge:
            raise NameTaken(
                f"A label {short(to)} is there already ({count(names[to], 'document')}). "
                f"Choose another name, or merge: {count(names[name], 'document')} would change "
                f"from {short(name)} to {short(to)}."
            )
        return
    like = next((n for n in sorted(names) if n != name and folded(n) == folded(to)), None)
    if like is not None:
        how = "case" if like.casefold() == to.casefold() else "how its letters are coded"
        raise NameTaken(
            f"A label {short(like)} is there already ({count(names[like], 'document')}), and "
            f"{short(to)} differs from it only in {how}. Merge into it under its own name, "
            "or choose another."
        )


def folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


@contextlib.contextmanager
def change_labels(project: Path) -> Iterator[Labels]:
    """The labels, to change; an error while a server keeps them."""
    owner = Ownership(project)
    reason = owner.take()
    if reason is not None and holder_of(owner.path) is None:
        raise PermissionError(errno.EACCES, f"Labels cannot be changed: {reason}", str(project))
    if reason is not None:
        raise Locked(
            f"The labels of {project} cannot be changed: {reason}. Change them in its page, or "
            "end it first."
        )
    try:
        with contextlib.closing(Labels(project / LABELS)) as labels:
            yield labels
    finally:
        owner.close()


def label_rows(project: Path, reader: Any) -> dict[int, str]:
    """The label of every row that has one."""
    with contextlib.closing(Labels(project / LABELS)) as labels:
        names = labels.all()
    rows = rows_of_keys(reader, places_of(reader), names)
    return {row: names[key] for key, row in sorted(rows.items(), key=lambda each: each[1])}


def keys_of_rows(reader: Any, rows: list[int]) -> list[Key]:
    """What labels of these rows belong to."""
    texts = reader.texts(rows)
    return [
        Key(reader.id_of(row), fingerprint_of(text))
        for row, text in zip(rows, texts, strict=True)
    ]


def places_of(reader: Any) -> dict[str, int]:
    """The row of every id."""
    return {str(id): row for row, id in enumerate(reader.table["id"].to_pylist())}


def rows_of_keys(reader: Any, places: Mapping[str, int], keys: Iterable[Key]) -> dict[Key, int]:
    """The rows of these keys, without those whose document is gone or changed."""
    there = [key for key in keys if key.id in places]
    rows = [places[key.id] for key in there]
    return {
        key: row
        for key, row, text in zip(there, rows, reader.texts(rows), strict=True)
        if fingerprint_of(text) == key.print
    }


def short(value: Any) -> str:
    """What was given, as far as it fits a sentence."""
    text = value if isinstance(value, str) else json.dumps(value)
    text = "".join(c if c.isprintable() else "?" for c in text)
    return repr(text if len(text) <= 40 else text[:39] + "…")
