"""``tacit serve``: a project in the browser."""

import socket
import threading
import webbrowser

import click

from tacit.cli.inputs import check_exists
from tacit.cli.interrupt import patience
from tacit.cli.options import command, debug_option, quiet_option
from tacit.cli.output import clean, note, say

__all__ = ["serve"]


@command()
@click.argument("project")
@click.option("--port", type=click.IntRange(0, 65535), default=0,
              help="Port; 0 takes a free one")
@click.option("--host", default="127.0.0.1",
              help="Network address; any other than the default lets other machines connect")
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
@debug_option
@quiet_option
def serve(project: str, port: int, host: str, no_browser: bool, quiet: bool) -> None:
    """Open PROJECT, a folder that tacit explore wrote, in the browser.

    In the page you can search, compare, and assign, rename, merge, delete and spread labels.

    The address printed on standard output contains a key: whoever has it can read the
    documents and change labels while the server runs. Ctrl-C stops the server, with exit code
    130.
    """
    check_exists(project)
    from tacit.explore.server.app import run_server
    from tacit.explore.server.security import Access, is_loopback
    from tacit.explore.server.state import ServerState

    state = ServerState(project)
    try:
        listening = listen(host, port)
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
        say(f"Note: the project is open for reading only: {reason}.")

    def ready() -> None:
        state.prepare()
        click.echo(access.address)
        note(f"{clean(project)} is open at this address. Ctrl-C stops the server.")
        if not no_browser:
            threading.Thread(
                target=webbrowser.open, args=(access.once_address,), daemon=True
            ).start()

    with patience(signals=3):  # the server ends its connections and jobs
        code = run_server(state, access, listening, ready)
    if code:
        note("Stopped.")
        raise click.exceptions.Exit(code)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, or a usage error."""
    from tacit.explore.server.app import bound_socket

    try:
        return bound_socket(host, port)
    except OverflowError:
        message = f"{port} is not a port; ports are from 0 to 65535."
        raise click.BadParameter(message, param_hint="--port") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.BadParameter(
            f"cannot listen at {host}, port {port}: {reason}. Use another port, or --port 0.",
            param_hint="--host/--port",
        ) from None
