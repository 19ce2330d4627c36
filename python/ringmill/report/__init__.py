"""The page of an exploration, and what other pages share: charts, drawings, the layout.

A page is a self-contained HTML file, and every plot a pure function of the results: nothing is measured here
and nothing is fetched.
"""

from ringmill.report.page import render_exploration, render_simulation

__all__ = ["render_exploration", "render_simulation"]
