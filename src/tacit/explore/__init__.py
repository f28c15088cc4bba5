"""The main job: documents in, structure out, a report at the end.

    project = tacit.explore("letters/")     # or a list of str, a dataframe, a .csv ... path
    project.clusters, project.documents     # dataframes
    project.search("whaling voyage")
    project.report("report.html")

``tacit.explore`` is this package and can be called: a module may have a class of its own
(Python's data model, "Customizing module attribute access"), so one name serves both.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tacit.core.lazy import attach

if TYPE_CHECKING:
    from tacit.explore.project.project import Project

__all__ = ["Project", "explore_documents", "plan_documents"]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "Project": "tacit.explore.project.project",
        "explore_documents": "tacit.explore.project.project",
        "plan_documents": "tacit.explore.project.plan",
    },
)


class CallablePackage(ModuleType):
    """This package, which explores documents when it is called."""

    def __call__(self, documents: Any, **settings: Any) -> "Project":
        """Explore documents: see ``tacit.explore.explore_documents`` for the settings."""
        from tacit.explore.project.project import explore_documents

        return explore_documents(documents, **settings)


sys.modules[__name__].__class__ = CallablePackage
