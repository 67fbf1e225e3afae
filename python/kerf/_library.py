# SPDX-License-Identifier: Apache-2.0
"""libkerf's one door: a verb and a JSON request in, an answer out. ctypes gives the interpreter's lock back meanwhile."""
import ctypes
import ctypes.util
import json
import os
from typing import Any, Callable, Mapping, Optional

__all__ = ["Error", "call", "library_version"]


class Error(Exception):
    """What libkerf says of a request: one line, and where it knows that, the place in a file or in the request."""

    def __init__(self, message: str, code: str = "", file: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.code, self.file, self.line, self.column = code, file, line, column


class CError(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("line", ctypes.c_int32), ("column", ctypes.c_int32),
                ("file", ctypes.c_char * 256), ("message", ctypes.c_char * 512)]


PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_double)


class CallOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("files", ctypes.c_int32), ("progress", PROGRESS),
                ("progress_context", ctypes.c_void_p), ("format", ctypes.c_char_p)]


def _open() -> ctypes.CDLL:
    """$KERF_LIBRARY, or the library within the package, or the installed one."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_lib", "libkerf.so")
    named = os.environ.get("KERF_LIBRARY")
    name = named or (own if os.path.exists(own) else ctypes.util.find_library("kerf"))
    if not name:
        raise ImportError("libkerf is not there: install the package libkerf0, or set KERF_LIBRARY to libkerf.so")
    return ctypes.CDLL(name)


_lib = _open()
_ERROR = ctypes.POINTER(CError)
_ANSWER = ctypes.POINTER(ctypes.c_void_p)
for _name, _result, _arguments in (
        ("kerf_call", ctypes.c_int32,
         [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(CallOptions), _ANSWER, _ERROR]),
        ("kerf_call_free", None, [ctypes.c_void_p]),
        ("kerf_asker_create", ctypes.c_int32, [ctypes.c_char_p, ctypes.c_size_t, _ANSWER, _ERROR]),
        ("kerf_asker_free", ctypes.c_void_p, [ctypes.c_void_p]),
        ("kerf_asker_ask", ctypes.c_int32, [ctypes.c_void_p, _ANSWER, _ERROR]),
        ("kerf_asker_tell", ctypes.c_int32, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, _ERROR]),
        ("kerf_asker_answer", ctypes.c_int32, [ctypes.c_void_p, _ANSWER, _ERROR]),
        ("kerf_error_name", ctypes.c_char_p, [ctypes.c_int32]),
        ("kerf_error_format", None, [_ERROR, ctypes.c_char_p, ctypes.c_size_t]),
        ("kerf_version", ctypes.c_char_p, [])):
    _function = getattr(_lib, _name)
    _function.restype, _function.argtypes = _result, _arguments


def library_version() -> str:
    return _lib.kerf_version().decode()


def check(code: int, err: CError) -> None:
    if code == 0:
        return
    line = ctypes.create_string_buffer(1024)
    _lib.kerf_error_format(ctypes.byref(err), line, len(line))
    raise Error(line.value.decode(errors="replace"), _lib.kerf_error_name(code).decode(), err.file.decode(errors="replace"),
                err.line, err.column)


def text_of(answer: ctypes.c_void_p) -> str:
    """Takes the answer over."""
    try:
        return ctypes.string_at(answer.value).decode()
    finally:
        _lib.kerf_call_free(answer)


def call(verb: str, request: Mapping[str, Any], format: Optional[str] = None,
         progress: Optional[Callable[[float], Any]] = None) -> str:
    """The answer to a request in libkerf's own words: JSON, or a picture with format="svg".

    progress is told shares between 0 and 1; a true value from it ends the work with what is known so far.
    """
    failures = []

    def tell(_context: Optional[int], done: float) -> int:
        try:
            return 1 if progress(done) else 0  # type: ignore[misc]
        except BaseException as failure:  # pylint: disable=broad-except
            failures.append(failure)
            return 1

    text = json.dumps(request, allow_nan=False).encode()
    options = CallOptions(ctypes.sizeof(CallOptions), 1, PROGRESS(tell) if progress else PROGRESS(), None,
                          format.encode() if format else None)
    answer, err = ctypes.c_void_p(), CError()
    code = _lib.kerf_call(verb.encode(), text, len(text), ctypes.byref(options), ctypes.byref(answer), ctypes.byref(err))
    if failures:
        if code == 0:
            _lib.kerf_call_free(answer)
        raise failures[0]
    check(code, err)
    return text_of(answer)


class Asker:
    """kerf_asker of kerf/call.h."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._asker, err = ctypes.c_void_p(), CError()
        text = json.dumps(request, allow_nan=False).encode()
        check(_lib.kerf_asker_create(text, len(text), ctypes.byref(self._asker), ctypes.byref(err)), err)

    def __del__(self) -> None:
        if getattr(self, "_asker", None) and _lib is not None:
            _lib.kerf_asker_free(self._asker)
            self._asker = ctypes.c_void_p()

    def _answer_of(self, function: Any) -> Any:
        answer, err = ctypes.c_void_p(), CError()
        check(function(self._asker, ctypes.byref(answer), ctypes.byref(err)), err)
        return json.loads(text_of(answer))

    def ask(self) -> Any:
        return self._answer_of(_lib.kerf_asker_ask)

    def answer(self) -> Any:
        return self._answer_of(_lib.kerf_asker_answer)

    def tell(self, observation: Mapping[str, Any]) -> None:
        text, err = json.dumps(observation, allow_nan=False).encode(), CError()
        check(_lib.kerf_asker_tell(self._asker, text, len(text), ctypes.byref(err)), err)
