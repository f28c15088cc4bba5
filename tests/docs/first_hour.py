"""Follow README.md word for word as a newcomer would: `make first-hour`.

Builds the wheel, makes an empty home folder, and runs the commands of the README there, in
their order, with small files of the names that it uses; then its Python examples. Prints each
command with its time and stops at the first that fails.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.docs.pages import ROOT, shell_lines
from tests.docs.sample_files import write_sample_files

# make demo and make test set up a checkout of their own; everything else is run as it stands.
LEFT_OUT = ("make ",)


def build_wheel(folder: Path) -> Path:
    wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder)]
    subprocess.run([*wheel, str(ROOT)], check=True)
    return next(folder.glob("*.whl"))


def newcomer(home: Path, wheels: Path) -> dict[str, str]:
    """The environment of someone who has never run Tacit: only the way to packages is kept."""
    network = ("PIP_", "SSL_", "HTTP", "http")
    kept = {key: value for key, value in os.environ.items() if key.startswith(network)}
    return {
        **kept,
        "HOME": str(home),
        "PATH": "/usr/local/bin:/usr/bin:/bin:" + str(Path(sys.executable).resolve().parent),
        "PIP_FIND_LINKS": " ".join([str(wheels), *kept.get("PIP_FIND_LINKS", "").split()]),
        "LANG": "C.UTF-8",
    }


def main() -> int:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [line for _, line in shell_lines(readme) if not line.startswith(LEFT_OUT)]
    folder = Path(tempfile.mkdtemp(prefix="first-hour-"))
    try:
        home = folder / "home"
        home.mkdir()
        write_sample_files(home)
        wheel = build_wheel(folder)
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        examples = doctest.DocTestParser().get_examples(readme)
        code = "\n".join(example.source for example in examples)
        (home / "examples.py").write_text(re.sub(r"\n+", "\n", code), encoding="utf-8")
        return follow([*commands, "python examples.py"], home, newcomer(home, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def follow(commands: list[str], home: Path, environment: dict[str, str]) -> int:
    """Run the commands one by one in one shell, so that activating an environment lasts."""
    shell = subprocess.Popen(
        ["bash"], cwd=home, env=environment, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    for command in commands:
        start = time.perf_counter()
        shell.stdin.write(f'{command}\necho "[code $?]"\n')
        shell.stdin.flush()
        said = []
        for line in shell.stdout:
            if line.startswith("[code "):
                break
            said.append(line)
        code = int(line[6:-2])
        print(f"{time.perf_counter() - start:6.1f} s  {command}")
        if code:
            print("".join(said[-40:]), f"exit code {code}", sep="\n")
            shell.stdin.close()
            return code
    shell.stdin.close()
    print("Every command of README.md worked in an empty environment.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
