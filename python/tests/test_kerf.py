# SPDX-License-Identifier: Apache-2.0
"""The package as its users meet it: answers beside the command line's, errors, threads, studies, jobs of a real server.

    KERF_LIBRARY=.../libkerf.so KERF_PROGRAM=.../kerf PYTHONPATH=python python3 python/tests/test_kerf.py
"""
import ast
import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import tracemalloc
import unittest

import kerf

PROGRAM = os.environ.get("KERF_PROGRAM", "kerf")
PACKAGE = pathlib.Path(kerf.__file__).parent
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
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

    def test_sweeps_have_a_search_each(self):
        plan = kerf.plan(gpus=[64, 128], **WORK)
        self.assertEqual([search.gpus for search in plan.searches], [64, 128])
        self.assertTrue(plan._repr_svg_().startswith("<svg"))
        self.assertIn("<td>128</td>", plan._repr_html_())

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
        with self.assertRaisesRegex(kerf.Error, "nanotron has no"):
            kerf.write_launch("nanotron", kerf.estimate(model="llama3_8b", system="h100", global_batch=128,
                                                        layout="tp=2,pp=2,vpp=2,dp=8"))

    def test_pictures(self):
        self.assertTrue(kerf.schedule("1f1b", devices=4, microbatches=8)._repr_svg_().startswith("<svg"))
        self.assertIn("GB", kerf.estimate(layout="tp=8", **WORK)._repr_html_())

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
        self.assertRaises(ValueError, kerf.plan, model="gpt3", system="h100", gpus=float("nan"), global_batch=8)
        self.assertRaises(TypeError, kerf.plan, model="gpt3", system="h100", gpus=object(), global_batch=8)

    def test_progress_may_end_the_work_or_fail(self):
        work = {"model": "gpt3_1t", "system": "h100", "gpus": 1024, "global_batch": 4096, "threads": 1}
        self.assertIs(kerf.plan(progress=lambda done: True, **work).searches[0].proved, False)

        def fail(_done):
            raise KeyError("mine")

        self.assertRaises(KeyError, kerf.plan, progress=fail, **work)


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

    def test_limits(self):
        study = kerf.Study({"x": [1, 2, 4, 8]}, maximize=True, subject_to=["p99_ms <= 30"])
        while (setting := study.ask()) is not None:
            study.tell(setting, setting["x"], p99_ms=10 * setting["x"])
        self.assertEqual(study.best, {"x": 2})
        with self.assertRaisesRegex(kerf.Error, "must have .p99_ms."):
            study.tell({"x": 1}, 1)
        with self.assertRaisesRegex(kerf.Error, "is of .p95_ms."):
            study.tell({"x": 1}, 1, p99_ms=1, p95_ms=2)

    def test_nothing_leaks(self):
        study = kerf.Study({"x": [1, 2]}, policy="null")
        tracemalloc.start()
        before = None
        for cycle in range(2000):
            setting = study.ask()
            if setting is not None:
                study.tell(setting, 1.5)
            if cycle == 200:
                before = tracemalloc.get_traced_memory()[0]
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        self.assertLess(grown, 20000)


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

    def test_a_run_that_fails_is_given_up(self):
        job = self.jobs.job("broken", **self.SETTINGS)
        with self.assertRaises(RuntimeError), job.run():
            raise RuntimeError("out of memory")
        trials = self.jobs.request("GET", "/api/v1/jobs/broken/trials")
        self.assertEqual(trials["trials"][0]["status"], "Failed")

    def test_refusals_are_told(self):
        self.assertRaisesRegex(kerf.Error, "^404", self.jobs.job, "unknown")
        self.assertRaisesRegex(kerf.Error, "^422", self.jobs.job, "bad", batch_sizes=[0])
        nobody = kerf.Jobs("http://127.0.0.1:9", timeout_s=5)
        self.assertRaisesRegex(kerf.Error, "does not answer", nobody.job, "any")


class Package(unittest.TestCase):
    def test_python_3_9_can_read_it(self):
        for path in PACKAGE.glob("*.py"):
            ast.parse(path.read_text(), feature_version=(3, 9))
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_the_documents_examples_run(self):
        blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.S)
        self.assertGreater(len(blocks), 3)
        names = {}
        with contextlib.redirect_stdout(io.StringIO()):
            for block in blocks:
                exec(compile(block, str(DOCS), "exec"), names)  # pylint: disable=exec-used


if __name__ == "__main__":
    unittest.main()
