"""Diorama's exception tree, below `DioramaError`.

    DioramaError              1
    ├── PluginError           2  a plug-in is unknown, provided twice, or can't be imported
    ├── SpecError             2  a spec file is wrong; nothing was rendered
    ├── UsageError            2  options contradict each other or the store
    │   └── ConflictError     2  an id is stored already, made from something else
    ├── AssetError            2  an asset is missing, damaged or not the one a Scene was compiled with
    ├── MissingError          1  episodes that a copy has to be complete with are in none of the stores
    ├── CompileError          1  no layout satisfies a frame's constraints within the bound
    ├── RenderError           1  Cycles failed on an episode
    │   ├── RayFailedError    5  Ray did not start, or was lost
    │   ├── DeviceError       3  the requested device is not available, or every GPU of a run failed
    │   └── GpuError          1  a GPU failed; the process can't render on it any more
    │       ├── GpuMemoryError 1 a GPU ran out of memory
    │       └── ImplausibleError 1 a renderer returned an image that can't be of its Scene
    ├── ChatError             1  a chat model gave no usable reply; its own errors are in `diorama.render.chat.asking`
    └── StoreError            4  the dataset store cannot be read or written

The numbers are exit codes. If some episodes failed and the others are done, `render-batch` exits with 1; with 75
if its time was over before all were done.
"""

from __future__ import annotations

from diorama.scene_specs.language.errors import Diagnostic, DioramaError, SpecError, UsageError
from diorama.scene_specs.language.tables import counted

# fmt: off
__all__ = [
    "AssetError", "ChatError", "CompileError", "ConflictError", "DeviceError", "Diagnostic", "DioramaError", "GpuError",
    "GpuMemoryError", "ImplausibleError", "MissingError", "RayFailedError", "RenderError", "SpecError", "StoreError",
    "UsageError",
]
# fmt: on


class ConflictError(UsageError):
    """An episode id is stored already, made from another spec, profile, size, asset, plug-in or version."""


class AssetError(DioramaError):
    """An asset is missing, damaged, outside the asset roots, or not the one that the Scene was compiled with."""

    exit_code = 2


class MissingError(DioramaError):
    """Episodes that a copy has to be complete with are in none of the stores."""


class CompileError(DioramaError):
    """No layout was found within the bound.

    Attributes:
        problem: what failed, without its frame.
        broke: constraint -> number of tries that it refused.
        episode: id of the episode.
        frame: name of the frame.
    """

    episode = frame = ""

    def __init__(self, problem: str, broke: dict[str, int] | None = None) -> None:
        super().__init__(problem, broke)
        self.problem, self.broke = problem, dict(broke or {})

    def __str__(self) -> str:
        ranked = sorted(self.broke.items(), key=lambda pair: (-pair[1], pair[0]))
        counts = ", ".join(f"{name} ({counted(n, 'time')})" for name, n in ranked)
        located = f"episode {self.episode}: frame {self.frame}: {self.problem}"
        return f"{located}; rejected by: {counts}" if counts else located


class ContrastError(DioramaError):
    """No edit of an episode makes the contrast that was asked for."""


class RenderError(DioramaError):
    """Cycles could not render an episode; the message holds its output."""


class RayFailedError(RenderError):
    """Ray, which manages the workers, did not start or was lost; what was committed is stored."""

    exit_code = 5


class DeviceError(RenderError):
    """The requested device is not available, another one rendered, or every GPU of a run failed."""

    exit_code = 3


class GpuError(RenderError):
    """A GPU failed while it rendered. After most such errors the driver refuses all further work of the process."""


class GpuMemoryError(GpuError):
    """A GPU ran out of memory."""


class ImplausibleError(GpuError):
    """A renderer returned an image that can't be of its Scene, and no error: black, constant, noise or other ids."""


class ChatError(DioramaError):
    """A chat model gave no usable reply."""


class StoreError(DioramaError):
    """The dataset store cannot be opened, read or written."""

    exit_code = 4


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message that is not blank, or the name of its class."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
