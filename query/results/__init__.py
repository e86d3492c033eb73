"""Results as data: the values of tables by dataset, metric and method, over all papers."""

from query.results.leaderboards import Leaderboard, leaderboards, results_csv
from query.results.result_cells import Result

__all__ = ["Leaderboard", "Result", "leaderboards", "results_csv"]
