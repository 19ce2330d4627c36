"""The report: one self-contained HTML page drawn from saved results.

Every plot is a pure function of the results; nothing is measured here and nothing is fetched: styles,
charts and drawings are inside the page.
"""

from ringmill.report.page import render, write

__all__ = ["render", "write"]
