"""Reports, of the main job and of one exploration: a self-contained HTML page each, from saved results.

Every plot is a pure function of the results; nothing is measured here and nothing is fetched: styles,
charts and drawings are inside the page.
"""

from ringmill.report.page import render, render_exploration, render_simulation, write

__all__ = ["render", "render_exploration", "render_simulation", "write"]
