"""Ctrl-C ends a command that cannot hear it, and leaves no temporary file behind."""

import signal
import subprocess
import sys

import pytest

# A command that never returns to Python, or waits for a thread which does not.
STUCK = """
import ctypes, signal, sys, threading, types, click
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have turned it off
from tacit.cli import main as m
from tacit.cli.interrupt import patience
from tacit.core.atomic import atomic_write
def block():
    mutex = ctypes.create_string_buffer(64)
    lock = ctypes.CDLL(None).pthread_mutex_lock
    lock(mutex)
    lock(mutex)  # for ever; other threads run meanwhile, as they do next to a kernel
def ready():
    print("ready", flush=True)
@click.command()
@click.argument("how")
def stuck(how):
    with atomic_write("out.txt") as file:
        file.write(b"half")
        waits[how]()
def in_a_kernel():
    threading.Timer(0.2, ready).start()
    block()
def for_a_thread():
    try:
        ready()
        threading.Event().wait()
    finally:
        block()
def in_a_callback():  # as of the compiler: exceptions in it are dropped
    @ctypes.CFUNCTYPE(None)
    def callback():
        ready()
        threading.Event().wait()
    callback()
    raise RuntimeError("there is no compiled object")
def at_exit():  # Python waits for threads when it ends
    threading.Thread(target=block).start()
    ready()
    threading.Event().wait()
def with_patience():
    with patience():
        try:
            ready()
            threading.Event().wait()
        except KeyboardInterrupt:
            print("saving", flush=True)
            block()
parts = (in_a_kernel, for_a_thread, in_a_callback, at_exit, with_patience)
waits = {each.__name__: each for each in parts}
sys.modules["stuck"] = types.SimpleNamespace(stuck=stuck)
m.COMMANDS["stuck"], m.MODULES["stuck"] = "Is stuck.", "stuck"
sys.exit(m.main())
"""


@pytest.fixture
def stuck(tmp_path):
    def start(how):
        child = subprocess.Popen(
            [sys.executable, "-c", STUCK, "stuck", how],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        )  # fmt: skip
        children.append(child)
        assert child.stdout.readline() == "ready\n"
        return child

    children: list = []
    (tmp_path / "out.txt").write_text("old")
    yield start
    for child in children:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("how", ["in_a_kernel", "for_a_thread", "in_a_callback", "at_exit"])
def test_a_command_that_does_not_hear_ctrl_c_ends_all_the_same(stuck, how, tmp_path):
    child = stuck(how)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err == "Interrupted.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
    assert (tmp_path / "out.txt").read_text() == "old"


def test_a_command_that_saves_after_ctrl_c_may_take_its_time_until_the_next(stuck):
    child = stuck("with_patience")
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "saving\n"
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(1)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (130, "Interrupted.\n")
