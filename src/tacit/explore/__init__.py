"""The main job: documents in, structure out, a report at the end.

    project = tacit.explore("letters/")     # or a list of str, a dataframe, a .csv ... path
    project.clusters, project.documents     # dataframes
    project.search("whaling voyage")
    project.report("report.html")

``tacit.explore`` is this package and can be called: a module may have a class of its own
(Python's data model, "Customizing module attribute access"), so one name serves both.
"""

import sys
from inspect import Signature, signature
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tacit.core.lazy import attach

__all__ = ["Project", "explore_documents", "plan_documents"]

if TYPE_CHECKING:
    from tacit.explore.project.plan import plan_documents
    from tacit.explore.project.project import Project, explore_documents
else:
    __getattr__, __dir__ = attach(__name__)


class CallablePackage(ModuleType):
    """This package, which explores documents when it is called."""

    def __call__(self, documents: Any, **settings: Any) -> "Project":
        """Explore documents: see ``tacit.explore.explore_documents`` for the settings."""
        from tacit.explore.project.project import explore_documents

        return explore_documents(documents, **settings)

    @property
    def __signature__(self) -> Signature:
        """That of ``explore_documents``, for help() and editors."""
        from tacit.explore.project.project import explore_documents

        return signature(explore_documents)


sys.modules[__name__].__class__ = CallablePackage
