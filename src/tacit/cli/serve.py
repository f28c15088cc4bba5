"""``tacit serve``: a project in the browser, live."""

import click

from tacit.cli.options import debug_option, quiet_option
from tacit.cli.terminal import clean, say

__all__ = ["serve"]

LOCAL = "127.0.0.1"


@click.command()
@click.argument("project")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Where to listen; 0 finds a free port.",
)
@click.option(
    "--host",
    default=LOCAL,
    show_default=True,
    help="Address to listen at. Any but this machine's own opens the project to others.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@debug_option
@quiet_option
def serve(project: str, port: int, host: str, no_browser: bool, quiet: bool) -> None:
    """Open PROJECT, a folder that tacit explore made, in the browser.

    The page searches, compares, gives, renames, merges, deletes and spreads labels, and
    explores again, by the --stages and within the --memory that the project was made with.

    The address that is printed on standard output holds a key: whoever has it may read the
    documents and change labels while the server runs. Ctrl-C ends it, with exit code 130.
    """
    from tacit.explore.server.app import bound_socket, run_server
    from tacit.explore.server.security import Access, is_loopback
    from tacit.explore.server.state import ServerState

    state = ServerState(project)
    try:
        listening = listen(bound_socket, host, port)
    except BaseException:
        state.close()
        raise
    access = Access.new(host, listening.getsockname()[1])
    if not is_loopback(host):
        say(
            f"Warning: --host {host} lets other machines reach this server, and nothing is "
            "encrypted; whoever sees the address can read the documents."
        )
    reason = state.owner.take()
    if reason is not None:
        say(f"Note: this server only reads the project: {reason}.")

    def ready() -> None:
        state.prepare()
        click.echo(access.address)
        say(f"{clean(project)} is open at this address. Ctrl-C ends it.", quiet=quiet)
        if not no_browser:
            open_browser(access.once_address)

    code = run_server(state, access, listening, ready)
    if code:
        say("Stopped.", quiet=quiet)
        raise click.exceptions.Exit(code)


def listen(bound_socket, host: str, port: int):
    """A socket, or a sentence that says why there is none."""
    try:
        return bound_socket(host, port)
    except OverflowError:
        raise click.BadParameter(f"{port} is no port.", param_hint="--port") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.BadParameter(
            f"cannot listen at {host}, port {port}: {reason}. Choose another, or --port 0.",
            param_hint="--host/--port",
        ) from None


def open_browser(address: str) -> None:
    """Ask the desktop for its browser; where there is none the address is printed anyway."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
