"""The oracles that folders of engines carry, as modules."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from ringmill import project

_FILES = Path(project.__file__).with_name("files")


def self_test(place: str) -> ModuleType:
    """One of `files/`, with what its folder has beside it."""
    sys.path.insert(0, str(_FILES / "oracle"))
    try:
        spec = importlib.util.spec_from_file_location(
            place.replace("/", "_").removesuffix(".py"), _FILES / place
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)
