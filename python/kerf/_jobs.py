# SPDX-License-Identifier: Apache-2.0
"""A client of `kerf serve`: each run of a recurring training job gets its batch size, and reports by itself.

    jobs = kerf.Jobs("http://127.0.0.1:8000")
    job = jobs.job("nightly", batch_sizes=[64, 128, 256], default_batch_size=128, target_metric=0.96, max_epochs=10,
                   max_power=300)
    with job.run() as batch_size:
        for epoch in range(10):
            metric = train_one_epoch(int(batch_size))
            if batch_size.report(metric):
                break
"""
import http.client
import json
import math
import operator
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import warnings
from types import TracebackType
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Type, TypeVar, cast

from ._energy import Meter
from ._library import Error, json_of

__all__ = ["BatchSize", "Job", "Jobs", "Run"]

T = TypeVar("T")


# ---- Processes that train together ----


def _processes() -> Any:
    """torch.distributed, where several processes train together; else None."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed if distributed.get_world_size() > 1 else None


def _is_first() -> bool:
    processes = _processes()
    return processes is None or processes.get_rank() == 0


def _shared(work: Callable[[], T]) -> T:
    """What work gives in the first process, or its failure, in all of them."""
    processes = _processes()
    if processes is None:
        return work()
    told: List[Any] = [None, None]  # the result, the failure
    if _is_first():
        try:
            told[0] = work()
        except Exception as failure:  # pylint: disable=broad-except
            told[1] = failure
    processes.broadcast_object_list(told, src=0)
    if told[1] is not None:
        raise told[1]
    return cast(T, told[0])


def _finite(name: str, value: float, instead: str) -> float:
    """What the first process tells; the numbers of others are not looked at."""
    if not math.isfinite(float(value)):
        raise Error(f"the {name} is {float(value)}, which the service does not take; {instead}")
    return float(value)


def _sum(joules: Dict[str, float]) -> float:
    """Over the GPUs of all processes, each once."""
    processes = _processes()
    if processes is None:
        return sum(joules.values())
    each: List[Any] = [None] * processes.get_world_size()
    processes.all_gather_object(each, joules)
    return float(sum({name: value for one in each for name, value in one.items()}.values()))


# ---- Runs ----


class BatchSize(int):
    """The batch size of a run: a number, and where the run reports."""

    run: "Run"

    def report(self, metric: float, energy_j: Optional[float] = None) -> bool:
        """After an epoch. True: the run shall stop, because it converged or costs too much."""
        return self.run.report(metric, energy_j)


class Run:
    """One run of a job, as a context: entering it asks for the batch size, leaving it early gives the run up.

    Where torch.distributed runs, each process enters and reports; the first one asks and tells the service for all.
    """

    def __init__(self, job: "Job", energy: Optional[Callable[[], float]], clock: Callable[[], float]) -> None:
        self._job, self._energy, self._clock = job, energy, clock
        self._epoch, self._began_s, self._began_j = 0, 0.0, 0.0
        self._meter: Optional[Meter] = None
        self._unmeasured = ""
        self.batch_size: Optional[int] = None
        self.trial_number: Optional[int] = None
        self.stopped, self.converged, self.message = False, False, ""

    def __enter__(self) -> BatchSize:
        self._epoch, self._meter, self._unmeasured = 0, None, ""
        self.stopped, self.converged, self.message = False, False, ""
        counts_energy = _shared(lambda: bool(self._job.state["spec"]["eta_knob"] > 0))
        answer = _shared(lambda: self._job.jobs.request(
            "GET", "/jobs/batch_size?" + urllib.parse.urlencode({"job_id": self._job.id})))
        self.batch_size, self.trial_number = answer["batch_size"], answer["trial_number"]
        if self._energy:
            self._began_j = self._energy()
        elif counts_energy:
            self._open_meter()
        self._began_s = self._clock()
        size = BatchSize(answer["batch_size"])
        size.run = self
        return size

    def _open_meter(self) -> None:
        try:
            self._meter = Meter()
        except Error as failure:
            self._unmeasured = (f"the job counts energy (eta_knob is not 0), and it cannot be measured here: {failure}; "
                                "run(energy=...) or report(metric, energy_j) must tell it")
            warnings.warn(self._unmeasured, RuntimeWarning, stacklevel=4)

    def _joules(self) -> float:
        if self._energy:
            energy = self._energy
            return _shared(lambda: energy() - self._began_j)
        if self._unmeasured:
            raise Error(self._unmeasured)
        return _sum(self._meter.joules()) if self._meter else 0.0

    def _trial(self) -> Dict[str, Any]:
        return {"job_id": self._job.id, "batch_size": self.batch_size, "trial_number": self.trial_number}

    def report(self, metric: float, energy_j: Optional[float] = None) -> bool:
        """energy_j: since the run began; else what the meter of run(energy=...) counts, else what NVIDIA's GPUs count,
        where the job's eta_knob is not 0."""
        if self.stopped:
            raise Error("this run has ended: report() said so")
        energy = self._joules() if energy_j is None else energy_j
        answer = _shared(lambda: self._job.jobs.request("POST", "/report", {
            **self._trial(), "time": self._clock() - self._began_s, "current_epoch": self._epoch + 1,
            "energy": _finite("energy", energy, "energy_j is in joules, since the run began"),
            "metric": _finite("metric", metric, "a run that diverged reports a finite metric that is far from its target, "
                              "or raises")}))
        self._epoch += 1
        self.stopped, self.converged, self.message = answer["stop_train"], answer["converged"], answer["message"]
        return bool(self.stopped)

    def epochs(self, loader: Iterable[Any]) -> Iterator[Iterable[Any]]:
        """For training loops: the data loader once for each epoch, until a report says that the run shall stop. A
        DistributedSampler of torch is told the epoch.

            for batches in run.epochs(loader):
                for batch in batches: ...
                batch_size.report(evaluate())
        """
        while not self.stopped:
            before = self._epoch
            set_epoch = getattr(getattr(loader, "sampler", None), "set_epoch", None)
            if set_epoch:
                set_epoch(before)
            yield loader
            if self._epoch == before:
                raise Error("an epoch ended without report()")

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        if self.stopped or not _is_first():
            return
        try:
            self._job.jobs.request("PATCH", "/trials", {**self._trial(), "status": "Failed"})
        except Error:
            if kind is None:
                raise


class Job:
    """A recurring job of a service."""

    def __init__(self, jobs: "Jobs", job_id: str) -> None:
        self.jobs, self.id = jobs, job_id

    def run(self, energy: Optional[Callable[[], float]] = None, clock: Callable[[], float] = time.monotonic) -> Run:
        """energy: tells the joules that the accelerators used so far, of any beginning, in the first process for all. Without it
        NVIDIA's GPUs are asked, unless the job's eta_knob is 0."""
        return Run(self, energy, clock)

    @property
    def state(self) -> Dict[str, Any]:
        """The job with its settings and arms."""
        return self.jobs.request("GET", "/api/v1/jobs/" + urllib.parse.quote(self.id, safe=""))

    def delete(self) -> None:
        self.jobs.request("DELETE", "/jobs?" + urllib.parse.urlencode({"job_id": self.id}))


class Jobs:
    """The jobs of one service; token as `kerf token add` prints it."""

    def __init__(self, url: str = "http://127.0.0.1:8000", token: Optional[str] = None, timeout_s: float = 60) -> None:
        if not url.startswith(("http://", "https://")):
            raise Error(f"'{url}' is no address such as http://127.0.0.1:8000")
        self.url, self._token, self._timeout_s = url.rstrip("/"), token, timeout_s

    def request(self, method: str, path: str, body: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """The service's answer, a JSON object; {} where it says nothing."""
        headers = {"Accept": "application/json"}
        data = None
        if body is not None:
            data, headers["Content-Type"] = json_of(body), "application/json"
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as refusal:
            raise Error(_reason(refusal)) from None
        except (urllib.error.URLError, OSError, ValueError, http.client.HTTPException) as failure:
            raise Error(f"{self.url} does not answer: {getattr(failure, 'reason', failure)}") from None
        try:
            return cast(Dict[str, Any], json.loads(text)) if text else {}
        except ValueError:
            raise Error(f"{self.url} is no kerf serve: its answer to {method} {path} is not JSON") from None

    def _check_names(self, settings: Dict[str, Any]) -> None:
        """POST /jobs ignores settings that it does not know, as Zeus's server does."""
        if not settings:
            return
        schemas = self.request("GET", "/api/v1/openapi.json")["components"]["schemas"]
        known = schemas["Job"]["properties"] if "Job" in schemas else settings  # a server without /jobs says so itself
        unknown = ", ".join(sorted(settings.keys() - known.keys()))
        if unknown:
            raise Error(f"a job has no {unknown}; it has {', '.join(known)}")

    def job(self, job_id: str, *, batch_sizes: Optional[Sequence[int]] = None, **settings: Any) -> Job:
        """Registers the job with these settings (those of POST /jobs), or names one that is known."""
        if batch_sizes is None:
            if settings:
                raise Error(f"a new job needs batch_sizes beside {', '.join(sorted(settings))}")
            job = Job(self, job_id)
            job.state  # is it known? pylint: disable=pointless-statement
            return job
        self._check_names(settings)
        body = {"job_id": job_id, "job_id_prefix": job_id, "batch_sizes": [operator.index(size) for size in batch_sizes],
                "number_of_gpus": 1, "gpu_model": "none", **settings}
        self.request("POST", "/jobs", body)
        return Job(self, job_id)

    def __iter__(self) -> Iterator[Job]:
        after: Optional[str] = ""
        while True:
            page = self.request("GET", "/api/v1/jobs?" + urllib.parse.urlencode({"after": after} if after else {}))
            for job in page["jobs"]:
                yield Job(self, job["job_id"])
            after = page.get("next")
            if not after:
                return


def _reason(refusal: urllib.error.HTTPError) -> str:
    text = refusal.read().decode(errors="replace")
    try:
        detail = json.loads(text)
        detail = detail.get("detail", detail.get("error", detail)) if isinstance(detail, dict) else detail
    except ValueError:
        detail = text
    return f"{refusal.code} {detail if isinstance(detail, str) else json.dumps(detail)}"
