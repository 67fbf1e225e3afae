# SPDX-License-Identifier: Apache-2.0
"""Answers: dataclasses of what is asked for most, over the whole JSON, which they hold like a dict.

    plan.searches[0].plans[0].step_time_s == plan["searches"][0]["plans"][0]["step_time_s"]
"""
import dataclasses
import importlib
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import Any, Callable, Dict, FrozenSet, Iterator, List, Mapping, Optional, Type, TypeVar

__all__ = ["Answer", "Estimate", "Launch", "Plan", "Schedule", "Score", "Search"]

A = TypeVar("A", bound="Answer")


class Answer(Mapping[str, Any]):
    """JSON with the names of its main members as attributes; a member that it lacks is None."""

    json: Dict[str, Any]

    @classmethod
    def of(cls: Type[A], json: Dict[str, Any], **more: Any) -> A:
        names = _members(cls) & json.keys() - more.keys()
        return cls(json=json, **{name: json[name] for name in names}, **more)  # type: ignore[call-arg]

    def __getitem__(self, key: str) -> Any:
        return self.json[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.json)

    def __len__(self) -> int:
        return len(self.json)


@lru_cache(maxsize=None)
def _members(cls: Any) -> FrozenSet[str]:
    return frozenset(member.name for member in dataclasses.fields(cls) if member.init)


class Drawn(Answer):
    """An answer that draws itself in notebooks: once, when it is first shown."""

    draw: Optional[Callable[[], str]]

    def _repr_svg_(self) -> Optional[str]:
        if self.draw and "_svg" not in self.__dict__:
            self.__dict__["_svg"] = self.draw()
        return self.__dict__.get("_svg")


def _digits(value: float) -> str:
    """Three of them, and all of larger numbers: 38312, not 3.83e+04."""
    text = f"{value:.3g}"
    return f"{value:.0f}" if "e+" in text else text


def _seconds(value: Optional[float]) -> str:
    return "?" if value is None else f"{_digits(value * 1e3)} ms" if value < 1 else f"{_digits(value)} s"


def _share(bubble: Any) -> str:
    return f"{100 * bubble['of_makespan']:.1f} %" if isinstance(bubble, dict) and "of_makespan" in bubble else "?"


def _frame(rows: List[Dict[str, Any]]) -> Any:
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as missing:
        raise ImportError("to_pandas() needs the package pandas") from missing
    return pandas.DataFrame(rows)


def _table(titles: List[str], rows: List[List[str]]) -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(eq=False)
class Estimate(Answer):
    """One layout: its time, its memory, and where they go. Seconds, bytes, FLOP."""

    json: Dict[str, Any] = field(repr=False)
    layout_text: Optional[str] = None
    step_time_s: Optional[float] = None
    step_low_s: Optional[float] = None
    step_high_s: Optional[float] = None
    p_oom: Optional[float] = None
    comparable_runs: Optional[int] = field(default=None, repr=False)
    pipeline_s: Optional[float] = field(default=None, repr=False)
    throughput: Optional[float] = None
    mfu: Optional[float] = None
    memory_bytes: Optional[float] = None
    fits: Optional[bool] = None
    model_flops: Optional[float] = field(default=None, repr=False)
    flops_per_gpu: Optional[float] = field(default=None, repr=False)
    parameters_per_device: Optional[float] = field(default=None, repr=False)
    rank: Optional[int] = field(default=None, repr=False)
    layout: Dict[str, Any] = field(default_factory=dict, repr=False)
    time_s: Dict[str, float] = field(default_factory=dict, repr=False)
    memory: Dict[str, float] = field(default_factory=dict, repr=False)
    pipeline: Optional[Dict[str, Any]] = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        rows = [[name, _seconds(value), f"{100 * value / self.step_time_s:.1f} %"]
                for name, value in self.time_s.items()] if self.step_time_s else []
        return (f"<p><code>{escape(self.layout_text or '')}</code>: {_seconds(self.step_time_s)} a step, "
                f"{_digits((self.memory_bytes or 0) / 1e9)} GB{'' if self.fits else ', which does not fit'}</p>"
                + _table(["part", "time", "share"], rows))

    def to_pandas(self) -> Any:
        """A row: the layout, time and memory with their parts."""
        return _frame([_row(self)])


def _row(estimate: Estimate) -> Dict[str, Any]:
    parts = {f"{name}_s": value for name, value in estimate.time_s.items()}
    parts.update({f"{name}_bytes": value for name, value in estimate.memory.items()})
    return {"layout": estimate.layout_text, "step_time_s": estimate.step_time_s, "throughput": estimate.throughput,
            "mfu": estimate.mfu, "memory_bytes": estimate.memory_bytes, "fits": estimate.fits, **parts}


@dataclass(eq=False)
class Search(Answer):
    """The layouts of one problem: the best first."""

    json: Dict[str, Any] = field(repr=False)
    model: Optional[str] = None
    system: Optional[str] = None
    gpus: Optional[int] = None
    global_batch: Optional[int] = None
    seq_length: Optional[int] = None
    candidates: Optional[int] = None
    priced: Optional[int] = None
    proved: Optional[bool] = None
    bound_s: Optional[float] = None
    strategy: Optional[str] = field(default=None, repr=False)
    cost_model: Optional[str] = field(default=None, repr=False)
    feasible: Optional[int] = field(default=None, repr=False)
    ignored: List[str] = field(default_factory=list, repr=False)
    assumed: Dict[str, Any] = field(default_factory=dict, repr=False)
    why: Optional[Dict[str, Any]] = field(default=None, repr=False)
    plans: List[Estimate] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, json: Dict[str, Any], **more: Any) -> "Search":
        return super().of(json, plans=[Estimate.of(plan) for plan in json.get("plans", [])], **more)

    @property
    def best(self) -> Optional[Estimate]:
        return self.plans[0] if self.plans else None


@dataclass(eq=False)
class Plan(Drawn):
    """The answer of kerf.plan: a search for each model, system and number of accelerators."""

    json: Dict[str, Any] = field(repr=False)
    searches: List[Search] = field(default_factory=list)
    draw: Optional[Callable[[], str]] = field(default=None, repr=False)

    @classmethod
    def of(cls, json: Dict[str, Any], **more: Any) -> "Plan":
        return super().of(json, searches=[Search.of(search) for search in json.get("searches", [])], **more)

    @property
    def best(self) -> Optional[Estimate]:
        """The best layout of the first search; None where nothing fits."""
        return self.searches[0].best if self.searches else None

    def to_pandas(self) -> Any:
        """A row for each layout of each search."""
        keys = ("model", "system", "gpus", "global_batch", "seq_length")
        return _frame([{**{key: search.json.get(key) for key in keys}, **_row(plan)}
                       for search in self.searches for plan in search.plans])

    def _repr_html_(self) -> str:
        names = [name for name in ("model", "system") if len({search.json.get(name) for search in self.searches}) > 1]
        rows = [[*(str(search.json.get(name)) for name in names), str(search.gpus), _seconds(plan.step_time_s),
                 f"{100 * (plan.mfu or 0):.1f} %", f"{_digits((plan.memory_bytes or 0) / 1e9)} GB", plan.layout_text or ""]
                for search in self.searches for plan in search.plans]
        return _table([*names, "accelerators", "step", "MFU", "memory", "layout"], rows)


@dataclass(eq=False)
class Schedule(Drawn):
    """A simulated pipeline schedule, or several beside each other (`schedules`)."""

    json: Dict[str, Any] = field(repr=False)
    schedule: Optional[str] = None
    devices: Optional[int] = None
    stages: Optional[int] = None
    microbatches: Optional[int] = None
    makespan_s: Optional[float] = None
    span_s: Optional[float] = field(default=None, repr=False)
    bubble: Optional[Any] = field(default=None, repr=False)
    schedules: List["Schedule"] = field(default_factory=list, repr=False)
    draw: Optional[Callable[[], str]] = field(default=None, repr=False)

    @classmethod
    def of(cls, json: Dict[str, Any], **more: Any) -> "Schedule":
        return super().of(json, schedules=[Schedule.of(one) for one in json.get("schedules", [])], **more)

    def _repr_html_(self) -> str:
        rows = [[str(one.schedule), str(one.devices), str(one.microbatches), _seconds(one.makespan_s), _share(one.bubble)]
                for one in self.schedules or [self]]
        return _table(["schedule", "devices", "micro-batches", "makespan", "bubble"], rows)

    def to_pandas(self) -> Any:
        """A row for each schedule, without its operations."""
        rows = self.schedules or [self]
        return _frame([{key: value for key, value in one.items() if not isinstance(value, (list, dict))} for one in rows])


@dataclass(eq=False)
class Launch(Answer):
    """What a launch says of a job; what it does not say is None."""

    json: Dict[str, Any] = field(repr=False)
    framework: Optional[str] = None
    gpus: Optional[int] = None
    global_batch: Optional[int] = None
    seq_length: Optional[int] = None
    precision: Optional[str] = None
    gradients: Optional[str] = field(default=None, repr=False)
    model: Dict[str, Any] = field(default_factory=dict, repr=False)
    layout: Dict[str, Any] = field(default_factory=dict, repr=False)
    ignored: List[str] = field(default_factory=list, repr=False)
    assumed: Dict[str, str] = field(default_factory=dict)
    invalid: List[str] = field(default_factory=list)

    def _repr_html_(self) -> str:
        rows = [[name, str(value)] for part in (self.model, self.layout) for name, value in part.items()
                if value is not None and not isinstance(value, (dict, list))]
        return f"<p>{escape(str(self.framework))} on {self.gpus or '?'} accelerators</p>" + _table(["", ""], rows)


@dataclass(eq=False)
class Score(Drawn):
    """How far off predictions of measured runs are: a line for each data set (or what `by` says) and one for all."""

    json: Dict[str, Any] = field(repr=False)
    rows: Optional[int] = None
    by: Optional[str] = None
    overall: Dict[str, Any] = field(default_factory=dict)
    lines: List[Dict[str, Any]] = field(default_factory=list, repr=False)
    refused: List[Dict[str, Any]] = field(default_factory=list, repr=False)
    worst: List[Dict[str, Any]] = field(default_factory=list, repr=False)
    draw: Optional[Callable[[], str]] = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        rows = [[str(line["name"]), str(line["n"]), *(f"{100 * line[key]:+.1f} %"[key != "bias":] if line[key] is not None
                                                      else "?" for key in ("mean", "p90", "bias"))]
                for line in [*self.lines, {**self.overall, "name": "all"}]]
        return _table(["runs of", "runs", "mean error", "90th percentile", "bias"], rows)

    def to_pandas(self) -> Any:
        """A row for each line."""
        return _frame([{key: value for key, value in line.items() if not isinstance(value, dict)} for line in self.lines])
