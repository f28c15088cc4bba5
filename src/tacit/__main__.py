"""``python -m tacit`` is ``tacit``."""

from tacit.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
