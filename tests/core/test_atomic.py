"""A file is replaced as a whole or not at all."""

import errno
import fcntl
import os
import resource
import stat
import subprocess
import sys
import textwrap

import pytest

from tacit.core import atomic
from tacit.core.atomic import atomic_write


def write(path, content):
    with atomic_write(path) as file:
        file.write(content)


def write_half(path, error):
    with atomic_write(path) as file:
        file.write(b"half")
        raise error


def test_a_new_file_appears_with_its_content(tmp_path):
    write(tmp_path / "a", b"one")
    assert (tmp_path / "a").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["a"]


def test_an_old_file_is_there_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with atomic_write(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")]
)
def test_an_exception_keeps_the_old_file_and_leaves_nothing_behind(tmp_path, error):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(type(error)):
        write_half(path, error)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_disk_keeps_the_old_file(tmp_path, monkeypatch, step):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.os, step, fail)
    with pytest.raises(OSError, match="No space"), atomic_write(path) as file:
        file.write(b"half")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_running_into_a_real_size_limit_keeps_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(OSError) as caught:
            write(path, bytes(1_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.errno == errno.EFBIG
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_permissions_stay_and_a_new_file_obeys_the_umask(tmp_path):
    path = tmp_path / "a"
    before = os.umask(0o027)
    try:
        write(path, b"one")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        write(path, b"two")
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(before)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_read_only_file_is_refused(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="a"):
        write(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "real", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_folders_devices_and_missing_folders_are_refused_by_name(tmp_path):
    with pytest.raises(IsADirectoryError) as caught:
        write(tmp_path, b"x")
    assert caught.value.filename == str(tmp_path)
    with pytest.raises(OSError, match="Not a regular file"):
        write("/dev/null", b"x")
    missing = tmp_path / "none" / "a"
    with pytest.raises(FileNotFoundError) as caught:
        write(missing, b"x")
    assert caught.value.filename == str(missing)


def test_a_name_as_long_as_names_may_be_works(tmp_path):
    path = tmp_path / ("é" * 127)
    write(path, b"x")
    assert path.read_bytes() == b"x"


def test_a_killed_writer_leaves_the_old_file_and_the_next_write_sweeps(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    program = """
        import os, signal, sys
        from tacit.core.atomic import atomic_write
        with atomic_write(sys.argv[1]) as file:
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    """
    code = subprocess.run([sys.executable, "-c", textwrap.dedent(program), path]).returncode
    assert code == -9
    assert path.read_bytes() == b"old"
    assert len(os.listdir(tmp_path)) == 2
    write(path, b"new")
    assert os.listdir(tmp_path) == ["a"]


def test_a_living_writer_is_not_swept(tmp_path):
    path = tmp_path / "a"
    with atomic_write(path) as slow:
        slow.write(b"slow")
        write(path, b"quick")
        assert path.read_bytes() == b"quick"
    assert path.read_bytes() == b"slow"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("moment", ["before the lock", "while it is locked"])
def test_a_writer_that_is_swept_before_it_holds_its_file_opens_another(
    tmp_path, monkeypatch, moment
):
    path, opened, stored = tmp_path / "a", atomic.open_temporary, []

    def interrupted(target):
        descriptor, temporary = opened(target)
        if not stored:
            stored.append(os.open(temporary, os.O_RDONLY))
            if moment == "before the lock":
                atomic.sweep(target)
                assert not temporary.exists()
            else:  # a sweeper that is about to remove it
                fcntl.flock(stored[0], fcntl.LOCK_EX)
                temporary.unlink()
        return descriptor, temporary

    monkeypatch.setattr(atomic, "open_temporary", interrupted)
    write(path, b"kept")
    os.close(stored[0])
    assert path.read_bytes() == b"kept"
    assert os.listdir(tmp_path) == ["a"]


def test_other_peoples_files_are_never_swept(tmp_path):
    others = [".a.tmp", ".a.tacit-1.tmp", "a.tmp", ".b.tacit-0123456789abcdef.tmp"]
    for name in others:
        (tmp_path / name).write_bytes(b"mine")
    write(tmp_path / "a", b"x")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "a"])
