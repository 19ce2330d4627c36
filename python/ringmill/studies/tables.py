"""Tables of real people, offline: the package islp is read for its data, from build/data.

James, Witten, Hastie, Tibshirani and Taylor, *An Introduction to Statistical Learning* (2023).
"""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ringmill.errors import FileFormatError, fail

FOLDER = Path(__file__).resolve().parents[3] / "build" / "data"


def fetched(pattern: str, folder: Path, what: str, how: str) -> Path:
    """The newest file of a name that ``scripts/data.sh`` fetched; ``what`` and ``how`` are for the message.

    Raises
    ------
        FileFormatError: code ``NoData``, where nothing was fetched.
    """
    found = sorted(folder.glob(pattern))
    if not found:
        fail(FileFormatError, "NoData", f"{what} are not in {folder}. Run {how}.", path=str(folder))
    return found[-1]


def table(name: str, folder: Path = FOLDER) -> tuple[list[str], Any]:
    """Names of columns, and rows as text.

    Raises
    ------
        FileFormatError: code ``NoData``, where the package was not fetched.
    """
    wheel = fetched("islp-*.whl", folder, "The tables", "scripts/data.sh, which fetches them")
    with zipfile.ZipFile(wheel) as package:
        text = package.read(f"ISLP/data/{name}.csv").decode("utf-8")
    head, *rows = csv.reader(io.StringIO(text))
    return head, np.array(rows, dtype=object)


def default(folder: Path = FOLDER) -> tuple[Any, Any]:
    """10,000 holders of credit cards: student ("Yes" or "No"), balance, income; and who did not pay."""
    head, rows = table("Default", folder)
    x = rows[:, [head.index(name) for name in ("student", "balance", "income")]]
    x[:, 1:] = x[:, 1:].astype(float)
    return x, (rows[:, head.index("default")] == "Yes").astype(int)


def caravan(folder: Path = FOLDER) -> tuple[Any, Any, list[str]]:
    """5,822 households in 85 whole numbers, who insured a caravan, and names of the numbers."""
    head, rows = table("Caravan", folder)
    return rows[:, :-1].astype(float), (rows[:, -1] == "Yes").astype(int), head[:-1]
