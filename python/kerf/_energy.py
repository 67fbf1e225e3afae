# SPDX-License-Identifier: Apache-2.0
"""The joules that the GPUs of this process took, as they count them themselves since Volta: NVML, which comes with NVIDIA's driver.

Which GPUs: those of $CUDA_VISIBLE_DEVICES, else all. One that cannot be measured is an error, as the energy would lack its part.
"""
import ctypes
import os
from typing import Any, Dict

from ._library import Error

__all__ = ["Meter"]

NVML = "libnvidia-ml.so.1"
_HIDDEN = ("", "NoDevFiles")  # no GPU: CUDA's word, and Slurm's


class Meter:
    """Opened when it is made; kerf.Error says why nothing can be measured."""

    def __init__(self) -> None:
        try:
            self._nvml = ctypes.CDLL(NVML)
        except OSError:
            raise Error(f"there is no {NVML}") from None
        self._nvml.nvmlErrorString.restype = ctypes.c_char_p
        self._do("nvmlInit_v2")
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if visible is not None and (visible.strip() in _HIDDEN or visible.startswith("-")):
            raise Error("CUDA_VISIBLE_DEVICES hides all GPUs")
        names = [str(index) for index in range(self._count())] if visible is None else visible.replace(" ", "").split(",")
        self._devices = {}
        for name in names:
            device = self._device(name)
            self._devices[self._uuid(device)] = device
        if not self._devices:
            raise Error("there is no GPU")
        self._began_mj = {name: self._read_mj(device) for name, device in self._devices.items()}

    def _do(self, name: str, *arguments: Any) -> None:
        status = getattr(self._nvml, name)(*arguments)
        if status != 0:
            raise Error(f"{name}: {self._nvml.nvmlErrorString(status).decode()}")

    def _count(self) -> int:
        count = ctypes.c_uint()
        self._do("nvmlDeviceGetCount_v2", ctypes.byref(count))
        return count.value

    def _device(self, name: str) -> ctypes.c_void_p:
        device = ctypes.c_void_p()
        if name.isdigit():
            self._do("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(int(name)), ctypes.byref(device))
        else:
            self._do("nvmlDeviceGetHandleByUUID", name.encode(), ctypes.byref(device))
        return device

    def _uuid(self, device: ctypes.c_void_p) -> str:
        uuid = ctypes.create_string_buffer(96)
        self._do("nvmlDeviceGetUUID", device, uuid, ctypes.c_uint(len(uuid)))
        return uuid.value.decode()

    def _read_mj(self, device: ctypes.c_void_p) -> int:
        millijoules = ctypes.c_ulonglong()
        self._do("nvmlDeviceGetTotalEnergyConsumption", device, ctypes.byref(millijoules))
        return millijoules.value

    def joules(self) -> Dict[str, float]:
        """Of each GPU, by its UUID, since the meter was opened."""
        return {name: (self._read_mj(device) - self._began_mj[name]) / 1000 for name, device in self._devices.items()}
