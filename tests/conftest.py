"""Settings that all tests share."""

import os

from hypothesis import settings

# The note on compiling would come between the messages that tests compare.
os.environ.setdefault("TACIT_ANNOUNCE", "0")

# No deadline: the first example of a test may compile a kernel. The same examples every time
# where nobody is watching.
settings.register_profile("tacit", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("tacit")
