"""Request parameters, validated: a value of the right type in its range, or an error message.

Unknown parameters are refused, because a misspelled one would be ignored in silence.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.requests import Request

from tacit.explore.project.labels import short

__all__ = ["Refused", "Values", "check_row", "read_json"]

MOST_BODY = 2**20  # bytes
MOST_TEXT = 10_000  # characters of a query, or of a text to go on from
MOST_WORD = 100  # characters of one of a list
MISSING = object()


class Refused(Exception):
    """A request that is refused, with a status and a message."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Values:
    """The parameters of one request, from its address or its body.

    Examples
    --------
    >>> params = Values({"q": "sea", "top": "5"}, {"q", "top", "start"})
    >>> params.text("q"), params.integer("top", 20, 1, 200), params.integer("start", 0, 0, 9)
    ('sea', 5, 0)
    """

    def __init__(self, values: Mapping[str, Any], known: Iterable[str]) -> None:
        self.values, names = values, sorted(known)
        for name in values:
            if name not in names:
                there = f"there are {', '.join(names)}" if names else "there are none"
                raise Refused(400, f"There is no parameter {short(name)}; {there}.")

    @classmethod
    def of_query(cls, request: Request, known: Iterable[str]) -> "Values":
        """Those in the address, each at most once."""
        pairs = request.query_params.multi_items()
        values = dict(pairs)
        if len(values) < len(pairs):
            raise Refused(400, "A parameter is given twice; give each once.")
        return cls(values, known)

    def text(
        self, name: str, default: Any = MISSING, *, most: int = MOST_TEXT, empty: bool = False,
        exact: bool = False,
    ) -> Any:  # fmt: skip
        """A string that is not blank, unless it may be, without what no text holds, unless it
        must be ``exact``."""
        value = self.values.get(name, default)
        if value is default and default is not MISSING:
            return default
        if not isinstance(value, str):
            raise Refused(400, f"{name} must be given, as text.")
        if len(value) > most:
            raise Refused(400, f"{name} has {len(value):,} characters; give at most {most:,}.")
        if not (empty or value.strip()):
            raise Refused(400, f"{name} is empty; give some text.")
        return value if exact else value.encode("utf-8", "replace").decode().replace("\0", " ")

    def flag(self, name: str) -> bool:
        """True or false; false where it is not given."""
        value = self.values.get(name, False)
        if not isinstance(value, bool):
            raise Refused(400, f"{name}={short(value)} must be true or false.")
        return value

    def names(self, name: str) -> list[str]:
        """A list of words; the caller checks what they are."""
        value = self.values.get(name)
        if not isinstance(value, list) or not all(
            isinstance(each, str) and len(each) <= MOST_WORD for each in value
        ):
            raise Refused(400, f"{name} must be a list of names.")
        return value

    def integer(self, name: str, default: Any, low: int, high: int) -> Any:
        """A whole number from ``low`` to ``high``. MISSING: it must be there."""
        value = self.values.get(name, default)
        if value is default and default is not MISSING:
            return default
        if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit():
            value = int(value) if len(value) < 20 else None
        if not is_integer(value) or not low <= value <= high:
            shown = short(self.values.get(name, ""))
            reach = f"from {low:,} to {high:,}"
            raise Refused(400, f"{name}={shown} must be a whole number {reach}.")
        return value

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A number from ``low`` to ``high``."""
        value = self.values.get(name, default)
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                value = None
        fits = isinstance(value, int | float) and value is not True and value is not False
        if not (fits and low <= value <= high):  # which nan and infinities are not
            shown = short(self.values[name])
            raise Refused(400, f"{name}={shown} must be a number from {low:g} to {high:g}.")
        return float(value)

    def choice(self, name: str, options: tuple[str, ...], default: str | None = None) -> str:
        """One of a few words."""
        value = self.values.get(name, default)
        if not isinstance(value, str) or value not in options:
            shown = short(value if name in self.values else "")
            raise Refused(400, f"{name}={shown} is unknown; choose from {', '.join(options)}.")
        return value

    def rows(self, name: str, documents: int) -> list[int]:
        """A list of different rows, in order."""
        value = self.values.get(name)
        if not isinstance(value, list) or not value or not all(map(is_integer, value)):
            raise Refused(400, f"{name} must be a list of row numbers, with at least one.")
        return sorted({check_row(each, documents) for each in value})


def check_row(row: int, documents: int) -> int:
    """A row that is there; 404 otherwise."""
    if 0 <= row < documents:
        return row
    if documents == 0:
        raise Refused(404, f"There is no document {row}; the project has none.")
    raise Refused(404, f"There is no document {row}; they go from 0 to {documents - 1:,}.")


async def read_json(request: Request) -> dict[str, Any]:
    """The JSON object in the body of a request, of at most 1 MB."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(400, "The body must be JSON, with Content-Type: application/json.")
    too_much = Refused(413, "The body is over 1 MB; send less at a time.")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and (len(length) > 18 or int(length) > MOST_BODY):
        raise too_much
    body = bytearray()
    async for chunk in request.stream():  # Content-Length may be missing
        body += chunk
        if len(body) > MOST_BODY:
            raise too_much
    if not body:
        return {}
    try:
        value = json.loads(body, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise Refused(400, "The body is not valid JSON.") from None
    if not isinstance(value, dict):
        raise Refused(400, "The body must be a JSON object, such as {}.")
    return value


# --- Small parts ---


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
