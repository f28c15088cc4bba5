"""Options that mean the same in every command."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = [
    "debug_option",
    "engine_from",
    "engine_options",
    "json_option",
    "quiet_option",
    "seed_option",
    "standard_options",
]

F = TypeVar("F", bound=Callable[..., Any])


def remember_debug(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:  # on the root, where main() looks when something goes wrong
        context.find_root().ensure_object(dict)["debug"] = True


debug_option = click.option(
    "--debug",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=remember_debug,
    help="Show a traceback when something goes wrong.",
)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="No progress and no notes on standard error."
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else."
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Same seed, same result.",
)


def engine_options(command: F) -> F:
    """--engine and --workers; ``engine_from`` makes an engine of them."""
    workers = click.option(
        "--workers",
        type=click.IntRange(1),
        help="Threads to use; all cores by default. The result does not depend on it.",
    )
    engine = click.option(
        "--engine",
        default="threads",
        show_default=True,
        metavar="NAME",
        help="serial, threads, or the address of a Dask scheduler (tcp://host:8786).",
    )
    return engine(workers(command))


def standard_options(command: F) -> F:
    """Every option that all fitting commands share."""
    for option in (debug_option, quiet_option, json_option, engine_options, seed_option):
        command = option(command)
    return command


def engine_from(engine: str, workers: int | None) -> Any:
    """The engine that --engine and --workers ask for."""
    from tacit.core.engines import Dask, Serial, Threads

    if "://" in engine:
        made: Any = Dask(engine)
    elif engine == "serial":
        made = Serial()
    elif engine == "threads":
        return Threads(workers)
    else:
        raise click.BadParameter(
            f"{engine!r} is neither serial nor threads nor the address of a Dask scheduler "
            "such as tcp://host:8786.",
            param_hint="--engine",
        )
    if workers is not None:
        raise click.BadParameter(
            f"{workers} makes sense with --engine threads, not with {engine}.",
            param_hint="--workers",
        )
    return made
