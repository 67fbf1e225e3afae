# SPDX-License-Identifier: Apache-2.0
"""kerf tune where the program measures itself: ask for a setting, measure it, tell the result."""
import functools
import math
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._library import Asker, Error

__all__ = ["Study", "Tuned", "tuned"]

Values = Union[Sequence[Any], str]
Setting = Dict[str, Any]


def _texts(given: Union[Sequence[str], str, None]) -> Optional[List[str]]:
    """One text is a list of one, not of its letters."""
    return [given] if isinstance(given, str) else list(given) if given is not None else None


class Study:
    """Finds the setting with the least value, in few measurements.

    space: for each parameter its values (numbers, texts, booleans) or a range such as "16..2048:x2".

        study = kerf.Study({"batch": [128, 256, 512], "ubatch": "32..512:x2"}, where=["ubatch <= batch"])
        while (setting := study.ask()) is not None:
            study.tell(setting, measure(**setting))
        print(study.best)

    subject_to: limits on further numbers of a run, ["p99_ms <= 50"], which are told by name:
    study.tell(setting, tokens_per_s, p99_ms=41). A setting that broke one twice is not the answer.

    pareto: a second objective, "p99_ms" (less is better) or "more tokens_per_s", told by name as well. `front` is then the
    Pareto front of both.

    No setting comes twice before each was measured once. when={"draft": "spec"} names conditions: settings in which one does
    not hold lack the parameter. where, default, policy, prefer, within, margin, confidence, seed and max_runs are those of
    `kerf tune`; time=True says that values are times, all above 0.
    """

    def __init__(self, space: Mapping[str, Values], *, maximize: bool = False, time: bool = False,
                 where: Union[Sequence[str], str, None] = None, when: Optional[Mapping[str, str]] = None,
                 default: Optional[Setting] = None, policy: Optional[str] = None, prefer: Optional[str] = None,
                 within: Optional[float] = None, margin: Optional[float] = None, confidence: Optional[float] = None,
                 seed: Optional[int] = None, max_runs: Optional[int] = None,
                 subject_to: Union[Sequence[str], str, None] = None, pareto: Optional[str] = None) -> None:
        params = {name: values if isinstance(values, str) else list(values) for name, values in space.items()}
        request = {"params": params, "maximize": maximize, "time": time, "where": _texts(where),
                   "when": dict(when) if when else None,
                   "default": default, "policy": policy, "prefer": prefer, "within": within, "margin": margin,
                   "confidence": confidence, "seed": seed, "max_runs": max_runs,
                   "subject_to": _texts(subject_to), "pareto": pareto}
        self._values = {name: values for name, values in params.items() if not isinstance(values, str)}
        self._asker = Asker({key: value for key, value in request.items() if value is not None})
        #: Why the study ended: "confident", "too noisy", "done"; None before.
        self.stop: Optional[str] = None
        #: Why the last setting was asked for, in one line.
        self.reason = ""

    def _given(self, setting: Optional[Setting]) -> Optional[Setting]:
        """With the caller's own values: 1.0 stays 1.0."""
        if setting is None:
            return None
        return {name: next((own for own in self._values.get(name, []) if own == value and
                            isinstance(own, bool) == isinstance(value, bool)), value)
                for name, value in setting.items()}

    def ask(self) -> Optional[Setting]:
        """The setting to measure next; None where the answer is known."""
        answer = self._asker.ask()
        self.stop, self.reason = answer["stop"], answer["reason"]
        return self._given(answer["setting"])

    def tell(self, setting: Setting, value: Optional[float], **outputs: float) -> None:
        """What was measured; None: the setting failed. outputs: the numbers that subject_to limits and pareto names."""
        told: Dict[str, Any] = {"setting": setting}
        if value is None:
            told["failed"] = True
        else:
            told["value"] = float(value)
            if not math.isfinite(told["value"]):
                raise Error(f"the value {value} is not finite; tell None where a setting failed", "KERF_EINVALID")
        if outputs:
            told["outputs"] = {name: float(output) for name, output in outputs.items()}
        self._asker.tell(told)

    @property
    def answer(self) -> Dict[str, Any]:
        """What is known of each setting that was measured: mean, interval, probability of being the best."""
        return dict(self._asker.answer())

    @property
    def best(self) -> Optional[Setting]:
        """The best setting so far; None before anything was measured."""
        return self._given(self._asker.answer()["best"])

    @property
    def importance(self) -> List[Dict[str, Any]]:
        """What matters: of each parameter, then of each pair beyond what both do alone, "parameters", its "share" of the variance
        between settings, and an "interval" that holds it with 90 %."""
        return list(self._asker.importance()["importance"])

    @property
    def front(self) -> List[Dict[str, Any]]:
        """Of two objectives the Pareto front, the best by the first one first: "setting", "mean", "second", and "unbeaten", the
        probability that no setting is better in both. `answer["probability"]` is that of the whole front."""
        return [dict(one, setting=self._given(one["setting"])) for one in self._asker.answer()["front"] or []]

    @property
    def recommended(self) -> Optional[Setting]:
        """The preferred setting of those within the margin of the best; else the best."""
        return self._given(self._asker.answer()["recommended"])


class Tuned:
    """A function whose parameters are tuned: `tune` finds them, and then a call uses them."""

    def __init__(self, function: Callable[..., Any], space: Mapping[str, Values], options: Dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self._function, self._space, self._options = function, space, options
        #: The setting that calls use; None before tune().
        self.best: Optional[Setting] = None
        #: The runs of tune: (setting, value).
        self.runs: List[Tuple[Setting, float]] = []

    def _measure(self, setting: Setting, arguments: Tuple[Any, ...], named: Dict[str, Any]) -> float:
        begin = time.perf_counter()
        result = self._function(*arguments, **named, **setting)
        took = time.perf_counter() - begin
        is_one = math.prod(getattr(result, "shape", ())) == 1  # an array of several is what the function made
        is_number = is_one and hasattr(result, "__float__") and not isinstance(result, bool)
        return float(result) if is_number else took

    def tune(self, *arguments: Any, **named: Any) -> Setting:
        """Calls the function with settings of the space until the best one is known. What counts is the number that the
        function returns, else the time that it takes. If an exception ends it, Ctrl-C's too, `best` is the best so far."""
        study = Study(self._space, **self._options)
        try:
            setting = study.ask()
            while setting is not None:
                value = self._measure(setting, arguments, named)
                self.runs.append((setting, value))
                study.tell(setting, value)
                setting = study.ask()
        finally:
            self.best = study.recommended
        if self.best is None:
            raise Error(f"no setting was measured: {study.reason}")
        return self.best

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._function(*arguments, **{**(self.best or {}), **named})


def tuned(space: Mapping[str, Values], **options: Any) -> Callable[[Callable[..., Any]], Tuned]:
    """A decorator that tunes a function; options are those of Study.

        @kerf.tuned({"block": [64, 128, 256]})
        def copy(data, block): ...

        copy.tune(data)     # {"block": 128}
        copy(data)          # with block=128
    """
    return lambda function: Tuned(function, space, options)
