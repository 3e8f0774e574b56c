"""Programs that come with Python packages."""

import os
import shutil
import sysconfig

from acervoctl.stack.errors import PartMissing


def find_tool(name: str) -> str:
    """The path of a program of this environment, else of the PATH. Raises `PartMissing`."""
    places = (sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath))
    path = shutil.which(name, path=os.pathsep.join(places))
    if path is None:
        raise PartMissing(f"{name} is not installed", "Install the extra `local`.")
    return path
