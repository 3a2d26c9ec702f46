"""The simulated driver itself: cards, memory and faults, as a real one answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from diorama.scene_specs.errors import UsageError
from tests.tools.simulated_gpu.conftest import Machine
from tools.simulated_gpu import atomic_folder, environment

COUNT = (
    "n = ctypes.c_int(-1); started = cuda.cuInit(0); cuda.cuDeviceGetCount(ctypes.byref(n)); show([started, n.value])"
)
# Kernel launches on the first visible card; what each returns.
LAUNCH = """
cuda.cuInit(0)
kernel, context = ctypes.create_string_buffer(200), ctypes.c_void_p()
opened = cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxPushCurrent_v2(context)
launch = lambda: cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None)
"""
# Sizes in MiB to allocate one after the other.
ALLOCATE = """
def allocate(size):
    block = ctypes.c_ulonglong()
    return cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(size << 20)), block
"""


@pytest.mark.parametrize(
    ("visible", "answer"),
    [(None, [0, 4]), ("2", [0, 1]), ("3,1", [0, 2]), ("0,9,1", [0, 1]), ("-1", [100, 0]), ("", [100, 0])],
)
def test_cuda_visible_devices_selects_cards(tmp_path: Path, visible: str | None, answer: list[int]) -> None:
    variables = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    assert Machine(tmp_path, 4).python(COUNT, **variables) == answer


def test_programs_see_the_same_cards_as_the_driver(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 3)
    assert machine.run(["nvidia-smi", "-L"]).count("(UUID: ") == 3
    nvml = "import ray._private.accelerators.nvidia_gpu as g; print(g.NvidiaGPUAcceleratorManager"
    assert machine.run([sys.executable, "-c", f"{nvml}.get_current_node_num_accelerators())"]) == "3\n"


def test_each_card_has_its_own_memory(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 2, memory="64MB,1GB")
    both = (
        "(first, block), (second, _) = allocate(40), allocate(40); cuda.cuMemFree_v2(block); third, _ = allocate(40)\n"
    )
    text = LAUNCH + ALLOCATE + both + "show([first, second, third])"
    assert machine.python(text) == [0, 2, 0]
    assert machine.python(text, CUDA_VISIBLE_DEVICES="1") == [0, 0, 0]


def test_a_fault_begins_after_so_many_calls_and_ends_the_context(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 1, fail="cuLaunchKernel=719:2")
    text = LAUNCH + ALLOCATE + "show([launch(), launch(), launch(), allocate(1)[0], cuda.cuCtxSynchronize()])"
    assert machine.python(text) == [0, 0, 719, 719, 719]
    machine = Machine(tmp_path, 1, fail="cuMemAlloc=2:1")
    assert machine.python(LAUNCH + ALLOCATE + "show([allocate(1)[0], allocate(1)[0], launch()])") == [0, 2, 0]


def test_a_fault_may_be_of_one_card_or_of_one_process(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 2, fail="cuLaunchKernel=700@1,cuCtxSynchronize=702x1")
    first = LAUNCH + "show(launch())"
    assert [machine.python(first, CUDA_VISIBLE_DEVICES=card) for card in ("0", "1", "1")] == [0, 700, 700]
    assert [machine.python(LAUNCH + "show(cuda.cuCtxSynchronize())") for _ in range(3)] == [702, 0, 0]


# Copies of ones from the card after so many launches; a fault may change those of 2 KiB, not those of 8 bytes.
COPY = """
block, bytes_ = ctypes.c_ulonglong(), (ctypes.c_ubyte * 2048)()
def copied(launches, size):
    for _ in range(launches): launch()
    cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(2048))
    cuda.cuMemcpyHtoD_v2(block, bytes([1]) * 2048, ctypes.c_size_t(2048))
    result = cuda.cuMemcpyDtoH_v2(bytes_, block, ctypes.c_size_t(size))
    return [result, len({*bytes_[:size]}), bytes_[0]]
"""


@pytest.mark.parametrize(("rule", "kinds", "first"), [("zero", 1, 0), ("0xff", 1, 255), ("random", 256, None)])
def test_copies_are_wrong_without_an_error(tmp_path: Path, rule: str, kinds: int, first: int | None) -> None:
    machine = Machine(tmp_path, 2, fail=f"{rule}:2@1")
    text = LAUNCH + COPY + "show([copied(2, 2048), copied(1, 2048), copied(0, 8)])"
    assert machine.python(text, CUDA_VISIBLE_DEVICES="0") == [[0, 1, 1]] * 3
    good, wrong, small = machine.python(text, CUDA_VISIBLE_DEVICES="1")
    assert (good, small) == ([0, 1, 1], [0, 1, 1])
    assert wrong[:2] == [0, kinds] and first in (None, wrong[2])


@pytest.mark.slow
def test_a_launch_that_hangs_never_returns(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 1, fail="hang:1")
    machine.limit = 3.0
    with pytest.raises(subprocess.TimeoutExpired):
        machine.python(LAUNCH + "launch(); launch(); show(1)")
    assert machine.python(LAUNCH + "launch(); show(1)") == 1
    assert [*machine.calls("fault hang").values()] == [1]


def test_a_card_that_vanishes_is_gone_for_every_process(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 3, fail="vanish=999:1@1")
    assert machine.python(LAUNCH + "show([launch(), launch()])", CUDA_VISIBLE_DEVICES="0") == [0, 0]
    assert machine.python(LAUNCH + "show([launch(), launch(), launch()])", CUDA_VISIBLE_DEVICES="1") == [0, 999, 999]
    assert machine.python(COUNT, CUDA_VISIBLE_DEVICES="1") == [100, 0]
    assert machine.python(COUNT) == [0, 2] and machine.run(["nvidia-smi", "-L"]).count("GPU-") == 2


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"fail": "cuInit"}, "--fail cuInit"),
        ({"fail": "cuInit=999x1"}, "--log"),
        ({"fail": "zerox1"}, "--log"),
        ({"fail": "vanish"}, "or hang, zero, 0xff, random"),
        ({"memory": "much"}, "--memory much"),
        ({"cards": 65}, "--cards 65"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        environment(**{"cards": 1, **options})  # type: ignore[arg-type]


def test_a_folder_appears_complete_and_once(tmp_path: Path) -> None:
    for content in ("first", "second"):
        with atomic_folder(tmp_path / "made") as folder:
            assert not (folder / "file").exists()
            (folder / "file").write_text(content)
    assert (tmp_path / "made" / "file").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
