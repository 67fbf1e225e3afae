# SPDX-License-Identifier: Apache-2.0
"""libkerf's one door: a verb and a JSON request in, an answer out. ctypes gives the interpreter's lock back meanwhile."""
import ctypes
import json
import os
import threading
from collections.abc import Mapping as AnyMapping
from typing import Any, Callable, List, Mapping, Optional

__all__ = ["Error", "call", "library_version"]

SONAME = "libkerf.so.0"  # of the versions that this package knows
GRACE_S = 1.0  # for work to end after Ctrl-C; then it is left alone


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
    name = os.environ.get("KERF_LIBRARY") or (own if os.path.exists(own) else SONAME)
    try:
        return ctypes.CDLL(name)
    except OSError as failure:
        raise ImportError(f"{failure}: install kerf's wheel or the package libkerf0, or set KERF_LIBRARY to the "
                          "place of libkerf.so") from None


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
        ("kerf_asker_importance", ctypes.c_int32, [ctypes.c_void_p, _ANSWER, _ERROR]),
        ("kerf_error_name", ctypes.c_char_p, [ctypes.c_int32]),
        ("kerf_progress_flag", ctypes.c_int32, [ctypes.c_void_p, ctypes.c_double]),
        ("kerf_error_format", None, [_ERROR, ctypes.c_char_p, ctypes.c_size_t]),
        ("kerf_version", ctypes.c_char_p, [])):
    _function = getattr(_lib, _name, None)
    if _function is None:
        raise ImportError(f"{_lib._name} is older than this package: it has no {_name}")  # pylint: disable=protected-access
    _function.restype, _function.argtypes = _result, _arguments


_FLAG = PROGRESS(("kerf_progress_flag", _lib))
_OPTIONS_SIZE = ctypes.sizeof(CallOptions)


def library_version() -> str:
    return str(_lib.kerf_version().decode())


def check(code: int, err: CError) -> None:
    if code == 0:
        return
    line = ctypes.create_string_buffer(1024)
    _lib.kerf_error_format(err, line, len(line))
    raise Error(line.value.decode(errors="replace"), _lib.kerf_error_name(code).decode(), err.file.decode(errors="replace"),
                err.line, err.column)


def text_of(answer: ctypes.c_void_p) -> str:
    """Takes the answer over."""
    try:
        return ctypes.string_at(answer.value or 0).decode()
    finally:
        _lib.kerf_call_free(answer)


def _plain(value: Any) -> Any:
    """What JSON lacks: paths, mappings, other sequences, configurations of transformers, numbers and arrays of NumPy."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, AnyMapping):
        return dict(value)
    if isinstance(value, range):
        return list(value)
    for name in ("tolist", "to_dict"):
        if callable(getattr(value, name, None)):
            return getattr(value, name)()
    raise TypeError(f"a {type(value).__name__} has no form in JSON: {value!r}")


_encoder = json.JSONEncoder(allow_nan=False, default=_plain)


def json_of(request: Mapping[str, Any]) -> bytes:
    try:
        return _encoder.encode(request).encode()
    except ValueError:  # it does not say which
        for name, value in request.items():
            try:
                _encoder.encode(value)
            except ValueError as failure:
                must = "not hold itself" if "Circular" in str(failure) else "be finite"
                raise ValueError(f"{name} must {must}: {value!r}") from None
        raise


class _Watch:
    """Is told how far the work is, and says whether it shall end. Without progress the library looks at a flag alone."""

    def __init__(self, progress: Optional[Callable[[float], Any]]) -> None:
        self._progress, self._flag = progress, ctypes.c_int32()
        self.context = ctypes.cast(ctypes.pointer(self._flag), ctypes.c_void_p)
        self.function = PROGRESS(self._tell) if progress else _FLAG
        self.failure: Optional[BaseException] = None

    def end(self) -> None:
        self._flag.value = 1

    def _tell(self, _context: Optional[int], done: float) -> int:
        try:
            if not self._flag.value and self._progress and self._progress(done):
                self.end()
        except BaseException as failure:  # pylint: disable=broad-except
            self.failure = failure
            self.end()
        return int(self._flag.value)


def _answer(verb: str, text: bytes, format: Optional[str], watch: Optional[_Watch]) -> str:
    options = CallOptions(_OPTIONS_SIZE, 1)
    if watch:
        options.progress, options.progress_context = watch.function, watch.context
    if format:
        options.format = format.encode()
    answer, err = ctypes.c_void_p(), CError()
    code = _lib.kerf_call(verb.encode(), text, len(text), options, answer, err)
    if watch and watch.failure:
        _lib.kerf_call_free(answer)
        raise watch.failure
    check(code, err)
    return text_of(answer)


def _interruptible(verb: str, text: bytes, format: Optional[str], watch: _Watch) -> str:
    """The work on a thread of its own, while this one waits: Python runs the handler of Ctrl-C on its main thread alone,
    and not within a call of the library."""
    answers: List[str] = []
    failures: List[BaseException] = []
    is_done = threading.Event()  # Thread.join, interrupted, takes the thread for ended

    def work() -> None:
        try:
            answers.append(_answer(verb, text, format, watch))
        except BaseException as failure:  # pylint: disable=broad-except
            failures.append(failure)
        is_done.set()

    worker = threading.Thread(target=work, name="kerf", daemon=True)
    try:
        try:
            worker.start()
        except RuntimeError:  # no more threads, or the interpreter ends
            return _answer(verb, text, format, watch)
        is_done.wait()
    except BaseException:
        watch.end()
        is_done.wait(GRACE_S)
        raise
    if failures:
        raise failures[0]
    return answers[0]


def call(verb: str, request: Mapping[str, Any], format: Optional[str] = None,
         progress: Optional[Callable[[float], Any]] = None) -> str:
    """The answer to a request in libkerf's own words: JSON, or a picture with format="svg".

    progress is told shares between 0 and 1, on any thread; a true value from it ends the work with what is known so far.
    Ctrl-C ends it without an answer.
    """
    text = json_of(request)
    if verb in ("plan", "schedule") and threading.current_thread() is threading.main_thread():
        return _interruptible(verb, text, format, _Watch(progress))
    return _answer(verb, text, format, _Watch(progress) if progress else None)


class Asker:
    """kerf_asker of kerf/call.h, for one thread after the other."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._lock, self._asker, err = threading.Lock(), ctypes.c_void_p(), CError()
        text = json_of(request)
        check(_lib.kerf_asker_create(text, len(text), self._asker, err), err)

    def __del__(self) -> None:
        if getattr(self, "_asker", None) and _lib is not None:
            _lib.kerf_asker_free(self._asker)
            self._asker = ctypes.c_void_p()

    def _answer_of(self, function: Any) -> Any:
        answer, err = ctypes.c_void_p(), CError()
        with self._lock:
            code = function(self._asker, answer, err)
        check(code, err)
        return json.loads(text_of(answer))

    def ask(self) -> Any:
        return self._answer_of(_lib.kerf_asker_ask)

    def answer(self) -> Any:
        return self._answer_of(_lib.kerf_asker_answer)

    def importance(self) -> Any:
        return self._answer_of(_lib.kerf_asker_importance)

    def tell(self, observation: Mapping[str, Any]) -> None:
        text, err = json_of(observation), CError()
        with self._lock:
            code = _lib.kerf_asker_tell(self._asker, text, len(text), err)
        check(code, err)
