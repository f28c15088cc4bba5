"""``tacit serve``: a project in the browser."""

import click

from tacit.cli.options import debug_option
from tacit.cli.output import clean, say

__all__ = ["serve"]

LOCAL = "127.0.0.1"


@click.command()
@click.argument("project")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True,
              help="Port; 0 chooses a free one")
@click.option("--host", default=LOCAL, show_default=True,
              help="Network address; any but the default opens the project to other machines")
@click.option("--no-browser", is_flag=True, help="Print the address; do not open a browser.")
@debug_option
@click.option("-q", "--quiet", is_flag=True, help="Hide progress and notes.")
def serve(project: str, port: int, host: str, no_browser: bool, quiet: bool) -> None:
    """Open PROJECT, a folder that tacit explore wrote, in the browser.

    The page can search and compare; assign, rename, merge, delete and spread labels; and
    explore again with the --stages and --memory of the project.

    The address printed on standard output contains a key: whoever has it can read the
    documents and change labels while the server runs. Ctrl-C stops it, with exit code 130.
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
    """A listening socket, or an error that says why there is none."""
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
    """Open the browser of the desktop, if there is one."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
