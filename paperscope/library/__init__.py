"""The library of papers: the one surface that the command line, batch runs, the service and notebooks call."""

from paperscope.library.adding import Added
from paperscope.library.estimating import Estimate, Estimator
from paperscope.library.facade import Library
from paperscope.library.neighbourhood import Neighbourhood
from paperscope.library.progress import OnStage, Stage
from paperscope.library.view import View

__all__ = ["Added", "Estimate", "Estimator", "Library", "Neighbourhood", "OnStage", "Stage", "View"]
