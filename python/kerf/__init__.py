# SPDX-License-Identifier: Apache-2.0
"""kerf finds how to cut a large-model job - batch, micro-batches, shards, pipeline stages - so that the least is wasted.

    plan = kerf.plan(model="llama3_70b", system="h100", gpus=512, global_batch=1024)
    plan.best.layout_text, plan.best.step_time_s

The names of options are those of the command line, with _ for -; answers hold the JSON of `kerf VERB --format json`.
Functions may be called from several threads: the interpreter's lock is free while libkerf computes.
"""
import json
import os
from functools import partial
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

from ._answers import Answer, Estimate, Launch, Plan, Schedule, Score, Search
from ._jobs import BatchSize, Job, Jobs, Run
from ._library import Error, call, library_version
from ._study import Study, Tuned, tuned

__all__ = ["Answer", "BatchSize", "Error", "Estimate", "Job", "Jobs", "Launch", "Plan", "Run", "Schedule", "Score", "Search",
           "Study", "Tuned", "call", "estimate", "launch", "plan", "schedule", "score", "tuned", "write_launch"]
__version__ = library_version()

Description = Union[str, "os.PathLike[str]", Mapping[str, Any], Any]
Progress = Optional[Callable[[float], Any]]


def _request(**options: Any) -> Dict[str, Any]:
    request: Dict[str, Any] = {}
    for name, value in options.items():
        key = name.rstrip("_")  # for_="megatron": a word of Python's own has _ behind it
        if value is None:
            continue
        if key in request:
            raise TypeError(f"{key} is given twice, as {name} too")
        request[key] = value
    return request


def _asked(verb: str, request: Dict[str, Any], progress: Progress) -> Tuple[Any, Optional[Callable[[], str]]]:
    """The answer, and what draws it; nothing does where progress ended the work, as drawing would be all of it."""
    ended = []

    def tell(done: float) -> bool:
        if progress and progress(done):
            ended.append(done)
        return bool(ended)

    answer = json.loads(call(verb, request, progress=tell if progress else None))
    return answer, None if ended else partial(call, verb, request, "svg")


def plan(*, model: Union[Description, Sequence[Description]], system: Union[Description, Sequence[Description]],
         gpus: Union[int, str, Sequence[int]], global_batch: Union[int, str, Sequence[int]],
         progress: Progress = None, **options: Any) -> Plan:
    """The best layouts of a model over accelerators, as `kerf plan`: seq_length=8192, top=10, tp=[4, 8], why=True, ...

    model and system: a name of the catalogue, a file, a dict, or a configuration object of transformers.
    """
    request = _request(model=model, system=system, gpus=gpus, global_batch=global_batch, **options)
    answer, draw = _asked("plan", request, progress)
    return Plan.of(answer, draw=draw)


def estimate(*, model: Description, system: Description, layout: Union[str, Mapping[str, Any]], global_batch: int,
             **options: Any) -> Estimate:
    """Time and memory of one layout, as `kerf estimate`. layout: "tp=8,pp=4,dp=16", or a dict of the same."""
    if isinstance(layout, Mapping):
        layout = _layout_text(layout)
    request = _request(model=model, system=system, layout=layout, global_batch=global_batch, **options)
    return Estimate.of(json.loads(call("estimate", request)))


def _layout_text(layout: Mapping[str, Any]) -> str:
    """The text of a layout as estimates hold it."""
    words = []
    for name, value in layout.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            words.extend(f"{name}.{part}={number}" for part, number in value.items())
            continue
        if isinstance(value, (list, tuple)):
            value = "/".join(str(one) for one in value)
        words.append(f"{name}={value}")
    return ",".join(words)


def schedule(schedule: Union[str, Sequence[str]], *, devices: Optional[int] = None,
             microbatches: Union[int, str, None] = None, progress: Progress = None, **options: Any) -> Schedule:
    """A pipeline schedule, simulated, as `kerf schedule`; a list of names compares them.

        kerf.schedule("zb_h1", devices=8, microbatches=32).makespan_s
    """
    request = _request(schedule=schedule, devices=devices, microbatches=microbatches, **options)
    answer, draw = _asked("schedule", request, progress)
    return Schedule.of(answer, draw=draw)


def _is_name(text: str) -> bool:
    """Of a file: one word, though no JSON, or a line that names one."""
    return len(text.split()) == 1 and text[:1] != "{" or "\n" not in text and os.path.isfile(text)


def launch(source: Union[str, "os.PathLike[str]"], *, framework: Optional[str] = None, gpus: Optional[int] = None,
           **options: Any) -> Launch:
    """What a launch script or config says, as `kerf launch read`: the text itself, or the path of its file.

        kerf.launch("train.sh", gpus=64).layout["tp"]
    """
    name = None
    if isinstance(source, os.PathLike) or _is_name(source):
        name = os.fspath(source)
        with open(name, encoding="utf-8", errors="replace") as file:
            source = file.read()
    request = _request(text=source, name=name, framework=framework, gpus=gpus, **options)
    return Launch.of(json.loads(call("launch", request)))


def score(runs: Union[str, "os.PathLike[str]", None] = None, *, by: Optional[str] = None, worst: Optional[int] = None,
          **options: Any) -> Score:
    """How far off predictions of measured runs are, as `kerf score`: runs is the path of a table, or its text. Without it, of
    the published runs that come with kerf.

        kerf.score("runs.csv", by="gpu").overall["mean"]
    """
    request = _request(runs=runs, by=by, worst=worst, **options)
    answer, draw = _asked("score", request, None)
    return Score.of(answer, draw=draw)


def write_launch(framework: str, plan: Union[Answer, Mapping[str, Any], str], *, rank: int = 1,
                 **options: Any) -> str:
    """The launch of a layout, as `kerf launch write`: a script or a config for megatron, deepspeed, torchtitan, nanotron or
    megatron-bridge. plan: an answer of kerf.plan (rank: which of its layouts) or of kerf.estimate, or its JSON.
    """
    request = _request(write=framework, plan=plan, rank=rank, **options)
    return str(json.loads(call("launch", request))["text"])
