# SPDX-License-Identifier: Apache-2.0
"""The package as its users meet it: answers beside the command line's, errors, threads, studies, jobs of a real server.

    KERF_LIBRARY=.../libkerf.so KERF_PROGRAM=.../kerf PYTHONPATH=python python3 python/tests/test_kerf.py
"""
import ast
import contextlib
import copy
import decimal
import io
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import tracemalloc
import types
import unittest
from unittest import mock

import kerf
from kerf import _answers, _library

PROGRAM = os.environ.get("KERF_PROGRAM", "kerf")
PACKAGE = pathlib.Path(kerf.__file__).parent
ROOT = pathlib.Path(__file__).resolve().parents[2]
ENDLESS = {"schedule": "best", "devices": 8, "microbatches": 24, "placement": "v", "chunks": 2, "forward": 1, "backward_input": 1,
           "backward_weight": 1, "p2p": 0.3, "memory_cap": 7, "search_steps": 10**12}
WORK = {"model": "llama3_8b", "system": "h100", "global_batch": 512}


def command(*words):
    done = subprocess.run([PROGRAM, *map(str, words), "--format", "json"], capture_output=True, check=True)
    return json.loads(done.stdout)


class Answers(unittest.TestCase):
    def test_a_plan_is_the_command_lines(self):
        plan = kerf.plan(gpus=64, top=3, tp=[1, 2, 4], threads=1, **WORK)
        said = command("plan", "llama3_8b", "-s", "h100", "-n", 64, "-b", 512, "--top", 3, "--tp", "1,2,4", "-t", 1)
        self.assertEqual(plan, said)
        self.assertEqual(plan.best.step_time_s, said["searches"][0]["plans"][0]["step_time_s"])
        self.assertEqual(plan.best["layout"]["tp"], plan["searches"][0]["plans"][0]["layout"]["tp"])
        self.assertIs(plan.searches[0].proved, True)
        self.assertIn("step_time_s", repr(plan.best))

    def test_an_estimate_is_its_plans_row(self):
        best = kerf.plan(gpus=64, **WORK).best
        for layout in (best.layout_text, best["layout"]):
            estimate = kerf.estimate(layout=layout, **WORK)
            self.assertEqual(estimate.step_time_s, best.step_time_s)
            self.assertEqual(estimate.memory, best.memory)
        self.assertAlmostEqual(sum(estimate.time_s.values()), estimate.step_time_s, delta=1e-9 * estimate.step_time_s)

    def test_a_layout_with_a_placement_is_estimated(self):
        work = dict(model="gpt3_1t", system="a100", global_batch=4096, strategy="1d")
        best = kerf.plan(gpus=1024, **work).best
        self.assertEqual(kerf.estimate(layout=best["layout"], **work).step_time_s, best.step_time_s)

    def test_schedules_are_simulated(self):
        said = command("schedule", "zb_h1", "-p", 8, "-m", 32)
        self.assertEqual(kerf.schedule("zb_h1", devices=8, microbatches=32), said)
        both = kerf.schedule(["1f1b", "zb_h1"], devices=8, microbatches=32)
        self.assertEqual([one.schedule for one in both.schedules], ["1f1b", "zb_h1"])
        self.assertLess(both.schedules[1].makespan_s, both.schedules[0].makespan_s)

    def test_descriptions_may_be_names_files_dicts_and_objects(self):
        config = {"model_type": "llama", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 8,
                  "num_attention_heads": 16, "vocab_size": 32000, "tie_word_embeddings": False}

        class Configuration:
            def to_dict(self):
                return config

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.json"
            path.write_text(json.dumps(config))
            times = {kerf.plan(model=model, system="h100", gpus=8, global_batch=64, seq_length=2048).best.step_time_s
                     for model in (config, path, str(path), Configuration())}
        self.assertEqual(len(times), 1)

    def test_what_knows_itself_as_json_may_stand_in_a_request(self):
        class Numbers:
            def __init__(self, own):
                self.own = own

            def tolist(self):
                return self.own

        plan = kerf.plan(gpus=Numbers(64), tp=Numbers([1, 2]), pp=range(1, 3), top=1, **WORK)
        self.assertEqual(plan, kerf.plan(gpus=64, tp=[1, 2], pp=[1, 2], top=1, **WORK))
        self.assertEqual(kerf.Study({"x": [Numbers(1), Numbers(2)]}).ask().keys(), {"x"})

    def test_sweeps_have_a_search_each(self):
        plan = kerf.plan(gpus=[64, 128], **WORK)
        self.assertEqual([search.gpus for search in plan.searches], [64, 128])
        self.assertTrue(plan._repr_svg_().startswith("<svg"))
        self.assertIn("<td>128</td>", plan._repr_html_())
        self.assertNotIn("<td>h100</td>", plan._repr_html_())
        two = kerf.plan(model="llama3_8b", system=["h100", "a100-80"], gpus=64, global_batch=512, top=1)
        self.assertIn("<td>a100-80</td><td>64</td>", two._repr_html_())

    def test_nothing_fits_is_an_answer(self):
        plan = kerf.plan(model="llama3_405b", system="h100", gpus=8, global_batch=64, seq_length=8192)
        self.assertIsNone(plan.best)

    def test_runs_are_scored(self):
        score = kerf.score(worst=2)
        self.assertGreater(score.overall["n"], 60)
        self.assertLess(score.overall["mean"], 0.08)
        self.assertEqual(len(score.worst), 2)
        self.assertIn("<svg", score._repr_svg_())
        self.assertEqual(sum(line["n"] for line in score.lines), score.overall["n"])
        with self.assertRaises(kerf.Error):
            kerf.score("id,source\nx,y\n")

    def test_estimates_say_how_sure_they_are(self):
        estimate = kerf.estimate(model="llama3_8b", system="h100", layout="tp=4,dp=16", global_batch=128, stack="nemo")
        self.assertLess(estimate.step_low_s, estimate.step_time_s)
        self.assertLess(estimate.step_time_s, estimate.step_high_s)
        self.assertGreater(estimate.comparable_runs, 100)
        self.assertTrue(0 <= estimate.p_oom <= 1)

    def test_launches_are_written_and_read(self):
        plan = kerf.plan(model="llama3_8b", system="h100", gpus=32, global_batch=128, for_="megatron", top=2)
        text = kerf.write_launch("megatron", plan, rank=2)
        launch = kerf.launch(text)
        self.assertEqual(launch.framework, "megatron")
        self.assertEqual((launch.gpus, launch.global_batch, launch.invalid), (32, 128, []))
        for name in ("dp", "tp", "pp", "vpp", "zero", "micro_batch"):
            self.assertEqual(launch.layout[name], plan.searches[0].plans[1].layout[name])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "launch.toml"
            path.write_text(kerf.write_launch("torchtitan", kerf.plan(
                model="llama3_8b", system="h100", gpus=32, global_batch=128, for_="torchtitan", top=1)))
            self.assertEqual(kerf.launch(path).framework, "torchtitan")
            path = path.with_suffix(".sh")
            path.write_bytes(b"# \xe9\n" + text.encode())
            self.assertEqual(kerf.launch(str(path)).framework, "megatron")
        self.assertRaises(FileNotFoundError, kerf.launch, "no_such_launch.sh")
        with self.assertRaisesRegex(kerf.Error, "nanotron has no"):
            kerf.write_launch("nanotron", kerf.estimate(model="llama3_8b", system="h100", global_batch=128,
                                                        layout="tp=2,pp=2,vpp=2,dp=8"))

    def test_pictures(self):
        schedule = kerf.schedule("1f1b", devices=4, microbatches=8)
        self.assertTrue(schedule._repr_svg_().startswith("<svg"))
        self.assertIs(schedule._repr_svg_(), schedule._repr_svg_())
        self.assertIn("27.3 %", schedule._repr_html_())
        self.assertIn("GB", kerf.estimate(layout="tp=8", **WORK)._repr_html_())
        self.assertIn("<td>all</td>", kerf.score()._repr_html_())
        script = kerf.write_launch("megatron", kerf.estimate(layout="tp=2,dp=4", **WORK))
        self.assertIn("<td>tp</td><td>2</td>", kerf.launch(script)._repr_html_())
        self.assertIsNone(kerf.plan(gpus=64, progress=lambda done: True, threads=1, **WORK)._repr_svg_())

    def test_numbers_have_no_exponent(self):
        for seconds, shown in ((None, "?"), (0.00123456, "1.23 ms"), (0.9997, "1000 ms"), (14.67, "14.7 s"), (38312, "38312 s")):
            self.assertEqual(_answers._seconds(seconds), shown)

    def test_answers_may_be_kept(self):
        plan = kerf.plan(gpus=64, top=2, **WORK)
        for again in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):
            self.assertEqual(again, plan)
            self.assertEqual(again.best.step_time_s, plan.best.step_time_s)
            self.assertEqual(again._repr_svg_(), plan._repr_svg_())

    def test_pandas_is_optional(self):
        plan = kerf.plan(gpus=64, top=2, **WORK)
        try:
            import pandas  # noqa: F401 pylint: disable=unused-import
        except ImportError:
            self.assertRaises(ImportError, plan.to_pandas)
        else:
            self.assertEqual(len(plan.to_pandas()), 2)


class Mistakes(unittest.TestCase):
    def error(self, **options):
        with self.assertRaises(kerf.Error) as raised:
            kerf.plan(**{"model": "gpt3", "system": "h100", "gpus": 64, "global_batch": 64, **options})
        return raised.exception

    def test_they_are_those_of_the_command_line(self):
        self.assertEqual(str(self.error(model="no_such_model")),
                         "no model or file 'no_such_model'; `kerf models` lists the names")
        self.assertEqual(str(self.error(tpp=3)), "unknown option --tpp; did you mean --top?")
        self.assertEqual(self.error(gpus=0).code, "KERF_EINVALID")

    def test_they_have_a_place(self):
        error = self.error(model={"hidden_size": 0})
        self.assertEqual((error.line, error.column), (1, 16))

    def test_values_that_json_lacks_are_refused(self):
        with self.assertRaisesRegex(ValueError, "gpus must be finite: nan"):
            kerf.plan(model="gpt3", system="h100", gpus=float("nan"), global_batch=8)
        self.assertRaises(TypeError, kerf.plan, model="gpt3", system="h100", gpus=object(), global_batch=8)
        model = {"hidden_size": 8}
        model["text_config"] = model
        self.assertRaisesRegex(ValueError, "model must not hold itself", kerf.plan, model=model, system="h100", gpus=8,
                               global_batch=8)

    def test_nothing_is_ignored(self):
        schedule = {"schedule": "1f1b", "devices": 4, "microbatches": 8}
        for ask, options, part in ((kerf.plan, {**WORK, "gpus": 8, "seq_length": False}, '"seq_length" must be a number'),
                                   (kerf.plan, {**WORK, "gpus": 8, "tpp": False}, "unknown option --tpp"),
                                   (kerf.plan, {**WORK, "gpus": 8, "help": True}, "unknown option --help"),
                                   (kerf.schedule, {**schedule, "model": {"hidden_size": 8}}, 'unknown option --model'),
                                   (kerf.launch, {"source": "a launch", "rank": 2}, '"rank" is for a launch that is written'),
                                   (kerf.write_launch, {"framework": "megatron", "plan": "{}", "gpus": 8}, '"gpus" is for'),
                                   (kerf.score, {"help": True}, "unknown option --help")):
            with self.subTest(part=part), self.assertRaisesRegex(kerf.Error, part):
                ask(**options)
        self.assertRaisesRegex(TypeError, "tp is given twice, as tp_ too", kerf.plan, gpus=8, tp=1, tp_=2, **WORK)
        self.assertIsNone(kerf.plan(gpus=64, why=False, top=1, **WORK).searches[0].why)

    def test_progress_may_end_the_work_or_fail(self):
        work = {"model": "gpt3_1t", "system": "h100", "gpus": 1024, "global_batch": 4096, "threads": 1}
        self.assertIs(kerf.plan(progress=lambda done: True, **work).searches[0].proved, False)

        def fail(_done):
            raise KeyError("mine")

        self.assertRaises(KeyError, kerf.plan, progress=fail, **work)


class Interrupts(unittest.TestCase):
    def tearDown(self):
        while any(thread.name == "kerf" for thread in threading.enumerate()):
            time.sleep(0.01)  # if the work had no end, the test has none

    def test_ctrl_c_ends_a_search(self):
        def press():
            while not any(thread.name == "kerf" for thread in threading.enumerate()):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        presser = threading.Thread(target=press)
        presser.start()
        self.assertRaises(KeyboardInterrupt, kerf.schedule, **ENDLESS)
        presser.join()

    def test_ctrl_c_comes_through_progress_too(self):
        pressed = []

        def press(done):
            if not pressed:
                pressed.append(done)
                os.kill(os.getpid(), signal.SIGINT)

        self.assertRaises(KeyboardInterrupt, kerf.schedule, progress=press, **ENDLESS)

    def test_two_threads_may_end_what_a_third_computes(self):
        watch, answers = _library._Watch(None), []
        worker = threading.Thread(target=lambda: answers.append(
            _library._answer("schedule", json.dumps(ENDLESS).encode(), None, watch)))
        worker.start()  # and the interpreter's lock is free, or nobody would come to the next line
        for ender in [threading.Thread(target=watch.end) for _ in range(2)]:
            ender.start()
        worker.join()
        self.assertIn('"schedule":"best"', answers[0])

    def test_a_fork_may_ask(self):
        before = kerf.schedule("1f1b", devices=4, microbatches=8)
        child = os.fork()
        if child == 0:
            os._exit(0 if kerf.schedule("1f1b", devices=4, microbatches=8) == before else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Threads(unittest.TestCase):
    def test_eight_may_ask(self):
        answers = []

        def ask():
            answers.append(kerf.schedule("1f1b", devices=4, microbatches=8).makespan_s)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [33] * 8)


def slowness(setting):
    return 1 + abs(setting["x"] - 4) + setting["y"]


class Studies(unittest.TestCase):
    def run_study(self, study, most=100):
        asked = []
        while len(asked) < most and (setting := study.ask()) is not None:
            asked.append(setting)
            study.tell(setting, slowness(setting))
        return asked

    def test_the_best_is_found(self):
        study = kerf.Study({"x": [1, 2, 4, 8], "y": [1, 2]})
        self.assertIsNone(study.best)
        asked = self.run_study(study, 12)
        self.assertEqual(len({tuple(one.items()) for one in asked[:8]}), min(8, len(asked)))
        self.assertEqual(study.best, {"x": 4, "y": 1})

    def test_more_may_be_better(self):
        study = kerf.Study({"x": [1, 2, 4, 8], "y": [1, 2]}, maximize=True)
        self.run_study(study)
        self.assertEqual(study.best, {"x": 8, "y": 2})
        self.assertIsNotNone(study.stop)

    def test_values_are_the_callers(self):
        study = kerf.Study({"x": [2.0, 1.0], "y": [True, False], "z": ["a,b", "c"]}, where=["x < 2"])
        setting = study.ask()
        self.assertIsInstance(setting["x"], float)
        self.assertIsInstance(setting["y"], bool)
        self.assertIn(setting["z"], ["a,b", "c"])

    def test_what_has_no_effect_is_not_asked(self):
        study = kerf.Study({"spec": ["off", "on"], "draft": [4, 8]}, when={"draft": 'spec == "on"'}, policy="exhaustive")
        asked = [study.ask() for _ in range(3)]
        self.assertIn({"spec": "off"}, asked)
        for setting in asked:
            study.tell(setting, 8 / setting["draft"] if "draft" in setting else 5)
        self.assertEqual(study.best, {"spec": "on", "draft": 8})

    def test_failures_are_told(self):
        study = kerf.Study({"x": [1, 2]}, policy="exhaustive")
        study.tell({"x": 1}, None)
        study.tell({"x": 2}, 5)
        self.assertEqual(study.best, {"x": 2})
        self.assertRaises(kerf.Error, study.tell, {"x": 3}, 1)
        self.assertRaises(kerf.Error, kerf.Study, {"x": []})

    def test_a_function_is_tuned(self):
        @kerf.tuned({"x": [1, 2, 4, 8], "y": [1, 2]})
        def work(x=0, y=0):
            """Documented."""
            return slowness({"x": x, "y": y})

        self.assertEqual(work.__doc__, "Documented.")
        self.assertEqual(work(), 5)
        self.assertEqual(work.tune(), {"x": 4, "y": 1})
        self.assertEqual(work(), 2)
        self.assertGreaterEqual(len(work.runs), 8)

    def test_any_number_counts(self):
        @kerf.tuned({"block": [64, 128]})
        def work(block=0):
            return decimal.Decimal(block)

        self.assertEqual(work.tune(), {"block": 64})

    def test_an_array_is_no_number(self):
        class Array:
            def __init__(self, *shape):
                self.shape = shape

            def __float__(self):
                if self.shape not in ((), (1,)):
                    raise TypeError("only length-1 arrays can be converted")
                return 5.0

        for shape, is_number in (((), True), ((1,), True), ((2, 3), False)):
            work = kerf.tuned({"block": [1, 2]}, max_runs=2)(lambda block, shape=shape: Array(*shape))
            work.tune()
            self.assertEqual(work.runs[0][1] == 5, is_number)

    def test_a_tune_that_measures_nothing_says_so(self):
        work = kerf.tuned({"x": [1, 2]}, policy="null")(lambda x: x)
        self.assertRaisesRegex(kerf.Error, "no setting was measured: this policy measures the default", work.tune)

    def test_what_an_interrupted_tune_found_is_kept(self):
        @kerf.tuned({"x": [1, 2, 4, 8]})
        def work(x=0):
            if len(work.runs) == 4:
                raise KeyboardInterrupt
            return abs(x - 4)

        self.assertRaises(KeyboardInterrupt, work.tune)
        self.assertEqual(work.best, {"x": 4})

    def test_several_may_measure_at_once(self):
        study = kerf.Study({"x": [1, 2, 4, 8], "y": [1, 2]})
        asked = [study.ask() for _ in range(8)]
        self.assertEqual(len({tuple(one.items()) for one in asked}), 8)
        for setting in asked:
            study.tell(setting, slowness(setting))
        self.assertEqual(study.best, {"x": 4, "y": 1})

    def test_threads_share_a_study(self):
        study, told = kerf.Study({"x": [1, 2, 4, 8], "y": [1, 2]}), []

        def work():
            while (setting := study.ask()) is not None and len(told) < 200:
                study.tell(setting, slowness(setting))
                told.append(setting)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(study.answer["observations"], len(told))
        self.assertEqual(study.best, {"x": 4, "y": 1})

    def test_what_is_no_number_is_refused(self):
        study = kerf.Study({"x": [1, 2]})
        for value in (float("nan"), float("inf")):
            with self.assertRaisesRegex(kerf.Error, "is not finite; tell None"):
                study.tell({"x": 1}, value)
        self.assertRaises(ValueError, study.tell, {"x": 1}, "fast")
        self.assertRaises(kerf.Error, study.tell, {"x": "\0"}, 1)
        self.assertRaises(kerf.Error, study.tell, {"x": 10**400}, 1)

    def test_numbers_that_json_would_change_are_refused(self):
        self.assertEqual(kerf.Study({"x": [2**53 - 1]}, seed=2**53 - 1).ask(), {"x": 2**53 - 1})
        for values in ([2**53 + 1, 1], [-2**60], f"{2**53}..{2**53 + 3}"):
            self.assertRaisesRegex(kerf.Error, f"between {1 - 2**53} and {2**53 - 1}; give others", kerf.Study, {"x": values})
        self.assertRaisesRegex(kerf.Error, '"seed" must lie between 0', kerf.Study, {"x": [1]}, seed=2**53 + 1)

    def test_one_constraint_may_be_a_text(self):
        self.assertEqual(kerf.Study({"x": [1, 2]}, where="x > 1", policy="exhaustive").ask(), {"x": 2})
        study = kerf.Study({"x": [1, 2]}, subject_to="p99 <= 5")
        self.assertRaisesRegex(kerf.Error, "must have .p99.", study.tell, {"x": 1}, 1)
        self.assertRaisesRegex(kerf.Error, "that failed has no .outputs.", study.tell, {"x": 1}, None, p99=3)

    def test_limits(self):
        study = kerf.Study({"x": [1, 2, 4, 8]}, maximize=True, subject_to=["p99_ms <= 30"])
        while (setting := study.ask()) is not None:
            study.tell(setting, setting["x"], p99_ms=10 * setting["x"])
        self.assertEqual(study.best, {"x": 2})
        with self.assertRaisesRegex(kerf.Error, "must have .p99_ms."):
            study.tell({"x": 1}, 1)
        with self.assertRaisesRegex(kerf.Error, "is of .p95_ms."):
            study.tell({"x": 1}, 1, p99_ms=1, p95_ms=2)

    def test_importance(self):
        study = kerf.Study({"x": [1, 2, 4, 8], "flag": [False, True]})
        self.assertEqual(study.importance, [])
        for setting in ({"x": x, "flag": flag} for x in (1, 2, 4, 8) for flag in (False, True)):
            study.tell(setting, 10 + setting["x"])
        first, second = study.importance[:2]
        self.assertEqual((first["parameters"], second["parameters"]), (["x"], ["flag"]))
        self.assertGreater(first["share"], 0.8)
        self.assertLess(second["share"], 0.1)

    def test_front(self):
        study = kerf.Study({"x": [1.0, 2.0, 4.0, 8.0]}, maximize=True, pareto="p99_ms")
        while (setting := study.ask()) is not None:
            study.tell(setting, setting["x"], p99_ms=10 if setting["x"] < 4 else 10 * setting["x"])
        self.assertEqual([point["setting"] for point in study.front], [{"x": 8.0}, {"x": 4.0}, {"x": 2.0}])
        self.assertEqual(study.front[0]["second"], 80)
        self.assertGreaterEqual(study.answer["probability"], 0.95)
        self.assertEqual(study.stop, "confident")
        self.assertEqual(kerf.Study({"x": [1, 2]}).front, [])

    def test_nothing_leaks(self):
        def cycles(studies):
            for _ in range(studies):
                study = kerf.Study({"x": [1, 2, 3, 4]}, policy="exhaustive")
                while (setting := study.ask()) is not None:
                    study.tell(setting, 1.5)

        tracemalloc.start()
        cycles(10)
        before = tracemalloc.get_traced_memory()[0]
        cycles(5000)  # of 20 questions each
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        self.assertLess(grown, 20000)


class FakeGroup:
    """torch.distributed as far as a run needs it, with threads for processes."""

    def __init__(self, size):
        self._size, self._ranks, self._told = size, threading.local(), [None] * size
        self._barrier = threading.Barrier(size)

    def enter(self, rank):
        self._ranks.own = rank

    def is_available(self):
        return True

    def is_initialized(self):
        return True

    def get_world_size(self):
        return self._size

    def get_rank(self):
        return self._ranks.own

    def _exchange(self, value):
        self._told[self._ranks.own] = value
        self._barrier.wait()
        told = list(self._told)
        self._barrier.wait()
        return told

    def broadcast_object_list(self, objects, src):
        objects[:] = self._exchange(list(objects))[src]

    def all_gather_object(self, objects, value):
        objects[:] = self._exchange(value)


class Jobs(unittest.TestCase):
    SETTINGS = {"batch_sizes": [64, 128], "default_batch_size": 64, "target_metric": 0.9, "max_epochs": 5,
                "max_power": 100, "eta_knob": 0}

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = subprocess.Popen(
            [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--store", os.path.join(self.folder.name, "jobs.db")],
            stderr=subprocess.PIPE, text=True)
        address = re.search(r"http://[0-9.:]+", self.server.stderr.readline())
        self.jobs = kerf.Jobs(address.group(0))

    def tearDown(self):
        self.server.terminate()
        self.server.wait()
        self.server.stderr.close()
        self.folder.cleanup()

    def test_a_run_reports_by_itself(self):
        job = self.jobs.job("nightly", **self.SETTINGS)
        with job.run() as batch_size:
            self.assertEqual(batch_size, 64)
            self.assertFalse(batch_size.report(0.5))
            self.assertRaisesRegex(kerf.Error, "the metric is nan", batch_size.report, float("nan"))
            self.assertTrue(batch_size.report(0.95))
            self.assertTrue(batch_size.run.converged)
        self.assertEqual([one.id for one in self.jobs], ["nightly"])
        self.assertEqual(self.jobs.job("nightly").state["job_id"], "nightly")

    def test_epochs_end_when_the_service_says_so(self):
        job = self.jobs.job("loop", **self.SETTINGS)
        run = job.run()
        seen = 0
        with run as batch_size:
            for batches in run.epochs([1, 2, 3]):
                seen += sum(batches)
                batch_size.report(0.95)
        self.assertEqual(seen, 6)
        with self.assertRaises(kerf.Error), job.run() as batch_size:
            for _ in batch_size.run.epochs([1]):
                pass

    def test_a_run_may_be_entered_again(self):
        run = self.jobs.job("again", **self.SETTINGS).run()
        for trial in (1, 2):
            with run as batch_size:
                self.assertEqual(run.trial_number, trial)
                self.assertTrue(batch_size.report(0.95))

    def test_a_run_that_fails_is_given_up(self):
        job = self.jobs.job("broken", **self.SETTINGS)
        with self.assertRaises(RuntimeError), job.run():
            raise RuntimeError("out of memory")
        trials = self.jobs.request("GET", "/api/v1/jobs/broken/trials")
        self.assertEqual(trials["trials"][0]["status"], "Failed")

    def trials(self, name):
        return self.jobs.request("GET", f"/api/v1/jobs/{name}/trials")["trials"]

    def test_energy_that_counts_is_told_or_refused(self):
        job = self.jobs.job("green", **{**self.SETTINGS, "eta_knob": 0.5})
        used = iter([100.0, 350.0])
        with job.run(energy=lambda: next(used)) as batch_size:
            batch_size.report(0.95)
        self.assertEqual(self.trials("green")[-1]["energy_j"], 250)
        with mock.patch("kerf._energy.NVML", "no_such_library.so"):
            with self.assertWarnsRegex(RuntimeWarning, "there is no no_such_library.so"), job.run() as batch_size:
                self.assertRaisesRegex(kerf.Error, "must tell it$", batch_size.report, 0.95)
                self.assertRaisesRegex(kerf.Error, "the energy is inf", batch_size.report, 0.95, float("inf"))
                self.assertTrue(batch_size.report(0.95, energy_j=40))

    @unittest.skipUnless("KERF_FAKE_NVML" in os.environ, "no stand-in for NVML was built")
    def test_gpus_count_their_energy(self):
        gpus = pathlib.Path(self.folder.name)
        for gpu in (0, 1):
            (gpus / f"gpu{gpu}.mj").write_text("1000")
        job = self.jobs.job("metered", **{**self.SETTINGS, "eta_knob": 1})
        visible = {"FAKE_NVML": str(gpus), "CUDA_VISIBLE_DEVICES": "GPU-1, 0"}
        with mock.patch("kerf._energy.NVML", os.environ["KERF_FAKE_NVML"]), mock.patch.dict(os.environ, visible):
            with job.run() as batch_size:
                (gpus / "gpu0.mj").write_text("8000")
                (gpus / "gpu1.mj").write_text("6000")
                batch_size.report(0.95)
            self.assertEqual(self.trials("metered")[-1]["energy_j"], 12)
            for hidden, reason in (("-1", "hides all"), ("7", "Not Found"), ("MIG-1", "Not Supported")):
                os.environ["CUDA_VISIBLE_DEVICES"] = hidden
                with self.assertRaises(RuntimeError), self.assertWarnsRegex(RuntimeWarning, reason), job.run():
                    raise RuntimeError("enough")

    def test_processes_of_torch_are_one_run(self):
        group = FakeGroup(3)
        job = self.jobs.job("together", **self.SETTINGS)

        class Sampler:
            epochs = []

            def set_epoch(self, epoch):
                self.epochs.append(epoch)

        seen = []

        def train(rank):
            group.enter(rank)
            loader, metrics = types.SimpleNamespace(sampler=Sampler()), iter([0.5, 0.95])
            with job.run() as batch_size:
                for _ in batch_size.run.epochs(loader):
                    batch_size.report(next(metrics) if rank == 0 else float("nan"))
                seen.append((int(batch_size), batch_size.run.trial_number))

        with mock.patch.dict(sys.modules, {"torch": types.SimpleNamespace(distributed=group)}):
            threads = [threading.Thread(target=train, args=(rank,)) for rank in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(seen, [seen[0]] * 3)
            self.assertEqual(len(self.trials("together")), 1)
            self.assertEqual(sorted(Sampler.epochs), [0, 0, 0, 1, 1, 1])
            failures = []

            def fail(rank):
                group.enter(rank)
                try:
                    kerf.Job(kerf.Jobs("http://127.0.0.1:9"), "nobody").run().__enter__()
                except kerf.Error as error:
                    failures.append(str(error))

            threads = [threading.Thread(target=fail, args=(rank,)) for rank in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len(failures), 3)
            self.assertIn("does not answer", failures[2])

    def test_refusals_are_told(self):
        self.assertRaisesRegex(kerf.Error, "^404", self.jobs.job, "unknown")
        self.assertRaisesRegex(kerf.Error, "^422", self.jobs.job, "bad", batch_sizes=[0])
        self.assertRaises(TypeError, self.jobs.job, "bad", batch_sizes="12")
        self.assertRaisesRegex(kerf.Error, "a job has no eta_nob; it has .*eta_knob", self.jobs.job, "typed",
                               **{**self.SETTINGS, "eta_nob": 0})
        self.assertRaisesRegex(kerf.Error, "^404", self.jobs.job, "typed")
        self.assertRaisesRegex(ValueError, "target_metric must be finite", self.jobs.job, "nan",
                               **{**self.SETTINGS, "target_metric": float("nan")})
        for address in ("ftp://127.0.0.1", "127.0.0.1:8000"):
            self.assertRaisesRegex(kerf.Error, "is no address such as", kerf.Jobs, address)
        nobody = kerf.Jobs("http://127.0.0.1:9", timeout_s=5)
        self.assertRaisesRegex(kerf.Error, "does not answer", nobody.job, "any")


class Package(unittest.TestCase):
    def test_python_3_9_can_read_it(self):
        for path in PACKAGE.glob("*.py"):
            ast.parse(path.read_text(), feature_version=(3, 9))
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_the_documents_examples_run(self):
        for document, least in (("docs/python.md", 8), ("python/README.md", 3)):
            blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.S)
            self.assertGreaterEqual(len(blocks), least)
            names = {}
            for block in blocks:
                shown = re.findall(r"^print\(.*# ([\[{\d].*)", block, re.M)
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(block, document, "exec"), names)  # pylint: disable=exec-used
                for line in shown:
                    self.assertIn(line + "\n", printed.getvalue())

    def test_a_missing_library_is_explained(self):
        def said(code, **more):
            script = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), **more},
                                    capture_output=True, text=True, check=False)
            return script.stderr.splitlines()[-1]

        self.assertRegex(said("import kerf", KERF_LIBRARY="/no/libkerf.so"), "^ImportError: /no/libkerf.so: .*KERF_LIBRARY")
        with tempfile.NamedTemporaryFile(suffix=".so") as other:
            self.assertRegex(said("import kerf", KERF_LIBRARY=other.name), "^ImportError: .*file too short")
        libc = said("import ctypes.util, sys; sys.exit(ctypes.util.find_library('c'))")
        self.assertRegex(said("import kerf", KERF_LIBRARY=libc), "^ImportError: libc.so.6 is older .* no kerf_call")

    def test_types_are_checked(self):
        try:
            import mypy.api
        except ImportError:
            self.skipTest("no mypy")
        example = textwrap.dedent("""\
            import kerf
            best = kerf.plan(model={"hidden_size": 8}, system="h100", gpus=[8], global_batch=8).best
            seconds: float = 0 if best is None or best.step_time_s is None else best.step_time_s
            study = kerf.Study({"x": [1, 2], "y": "1..4"}, maximize=True)
            setting = study.ask()
            if setting is not None:
                study.tell(setting, seconds, p99_ms=3)
            @kerf.tuned({"x": [1, 2]})
            def work(x: int = 1) -> int:
                return x
            work.tune()
            with kerf.Jobs().job("nightly").run() as batch_size:
                stop: bool = batch_size.report(0.5)
            """)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "example.py"
            path.write_text(example)
            paths = [str(path)] + [str(path) for path in PACKAGE.glob("*.py")]
            with mock.patch.dict(os.environ, {"MYPYPATH": str(PACKAGE.parent)}):
                told, _, status = mypy.api.run(["--strict", "--cache-dir", folder, *paths])
            self.assertEqual(status, 0, told)
            path.write_text("import kerf\nkerf.Study({'x': [1]}).best + 1\n")
            with mock.patch.dict(os.environ, {"MYPYPATH": str(PACKAGE.parent)}):
                self.assertEqual(mypy.api.run(["--strict", "--cache-dir", folder, str(path)])[2], 1)


if __name__ == "__main__":
    unittest.main()
