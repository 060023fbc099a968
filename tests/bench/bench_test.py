#!/usr/bin/env python3
"""What bench.py says of rows, groups and peers that are missing; what is measured of wfc is wfc's own; what one leaves out of the runtime is there; programs are
what their rows say."""
import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

import bench


class OfRows(unittest.TestCase):
    def run_with(self, benchmarks, *args, groups=()):
        """(exit status, what is printed) of bench.py where these are the benchmarks."""
        modules = {"rows": types.SimpleNamespace(BENCHMARKS=benchmarks, GROUPS=dict(groups))}
        printed = io.StringIO()
        with mock.patch.dict(sys.modules, modules), mock.patch.object(sys, "argv", ["bench.py", *args]), contextlib.redirect_stdout(printed):
            return bench.main(), printed.getvalue()

    def rates(self, *peers):
        """A benchmark whose rows have these peers."""
        def rates(_options):
            """Rows against these."""
            return [bench.Row("rate", 1.0, peer, "1/s", "a peer", goal=1.0) for peer in peers]
        return {"rates": rates}

    def test_a_row_below_its_goal_fails_the_run(self):
        self.assertEqual(self.run_with(self.rates(1.0, 0.5))[0], 0)
        self.assertEqual(self.run_with(self.rates(0.5, 1.1, 0.5))[0], 1)

    def test_a_row_without_a_goal_says_so(self):
        verdict_at = lambda goal: bench.Row("rate", 1.0, 2.0, "1/s", "a peer", goal).verdict
        self.assertEqual([verdict_at(goal) for goal in (0, 0.5, 0.8)], ["no goal", "goal met (0.5)", "BELOW GOAL (0.8)"])

    def test_a_row_without_its_peer_has_no_figure_for_it_and_fails_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            status, printed = self.run_with(self.rates(None), "--json", f"{folder}/rows.json")
            row = json.loads(Path(f"{folder}/rows.json").read_text())["rows"][0]
        self.assertEqual(status, 1)
        self.assertRegex(printed, r"(?m)^rate +1 +- +- .*NO PEER")
        self.assertEqual((row["peer"], row["ratio"], row["met"]), (None, None, False))

    def test_a_file_that_cannot_be_written_is_told_before_anything_runs(self):
        ran = []
        with contextlib.redirect_stderr(io.StringIO()) as told, self.assertRaises(SystemExit):
            self.run_with({"rates": lambda _options: ran.append(1) or []}, "--json", "/proc/none/rows.json")
        self.assertRegex(told.getvalue(), r"--json /proc/none/rows\.json: \w+")
        self.assertEqual(ran, [])

    def test_a_group_runs_its_benchmarks_each_once(self):
        ran = []
        benchmarks = {name: lambda _options, name=name: ran.append(name) or [] for name in ("a", "b", "c")}
        for benchmark in benchmarks.values():
            benchmark.__doc__ = "One that is run."
        groups = {"some": ("c", "a")}
        self.run_with(benchmarks, "some", "a", "some", groups=groups)
        self.assertEqual(ran, ["c", "a"])
        ran.clear()
        self.run_with(benchmarks, groups=groups)
        self.assertEqual(ran, ["a", "b", "c"])
        self.assertIn("some         c a", self.run_with(benchmarks, "--list", groups=groups)[1])

    def test_groups_are_of_benchmarks(self):
        import rows
        for name, members in rows.GROUPS.items():
            self.assertNotIn(name, rows.BENCHMARKS)
            self.assertLessEqual(set(members), set(rows.BENCHMARKS))

    def test_what_serving_is_to_reach_has_what_observing_it_costs(self):
        import rows
        self.assertIn("observed", rows.GROUPS["runtime"])

    def test_sides_take_turns(self):
        turns, answers = [], {"a": iter((5, 1, 3)), "b": iter((2, 2, 9))}
        found = bench.in_turns(3, {name: lambda name=name: turns.append(name) or next(answers[name]) for name in answers})
        self.assertEqual(turns, ["a", "b"] * 3)
        self.assertEqual(found, {"a": 3, "b": 2})


class MissingPeer(unittest.TestCase):
    def test_one_that_cannot_be_installed_is_told_with_the_reason(self):
        import installed
        import wire

        def fails():
            raise subprocess.CalledProcessError(1, ["pip"], stderr=b"looking\nno such package\n\n")

        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertIsNone(wire.started(installed.made, "Triton", fails))
        self.assertEqual(printed.getvalue(), "# Triton cannot be installed: no such package\n")

    def test_one_that_ends_is_told_with_its_last_line(self):
        import installed
        with self.assertRaisesRegex(installed.Missing, "Triton does not start: no model"):
            installed.Peer("Triton", ["sh", "-c", "echo no model; exit 1"], 1)

    def test_its_row_has_no_peer(self):
        import oip
        row = oip.row_beside_triton("oip", {"ours": (100.0, 16)}, 20)
        self.assertEqual((row.peer, row.verdict), (None, "NO PEER"))
        row = oip.row_beside_triton("oip", {"ours": (100.0, 16), "Triton": (5.0, 1)}, 20)
        self.assertEqual((row.ratio, row.verdict, row.peer_name), (20.0, "goal met (20)", "Triton at 1, ours at 16"))


class Pipelines(unittest.TestCase):
    def test_results_are_read_out_of_an_answer_as_they_were_put_in(self):
        import grpc_call
        names = grpc_call.field(5, grpc_call.field(1, b"a")) + grpc_call.field(5, grpc_call.field(1, b"b") + grpc_call.field(2, b"FP32"))
        long = b"x" * 300
        self.assertEqual(grpc_call.results(grpc_call.framed(names + grpc_call.field(6, long) + grpc_call.field(6, b""))), {"a": long, "b": b""})

    def test_lines_are_those_that_do_something(self):
        import pipelines
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.wf").write_text('/// Text.\nfn f() -> i64 {\n  // more\n  1\n}\n\ntest "of it" {\n  if true {\n  }\n}\nfn g() -> i64 = 2;\n')
            (Path(folder) / "model.py").write_text('"""Text."""\nimport numpy\n\n# why\nx = 1\n')
            (Path(folder) / "config.pbtxt").write_text('backend: "python"\n')
            (Path(folder) / "model.onnx").write_text("x\ny\n")
            self.assertEqual(pipelines.lines_of_wf([Path(folder) / "a.wf"]), 4)
            self.assertEqual(pipelines.lines_of_models(Path(folder)), 3)

    def test_each_calls_the_steps_that_are_there(self):
        import pipelines
        for name in pipelines.PIPELINES:
            folder = pipelines.MODELS / name.removesuffix("-bf16")
            told = "".join(path.read_text() for path in (folder / "pipeline").rglob("*") if path.suffix in (".py", ".pbtxt"))
            steps = set(re.findall(r'(?:model_name: |model_name=|called\()"(\w+)"', told))
            self.assertEqual(steps | {"pipeline"}, {path.name for path in folder.iterdir()})

    def test_a_memory_is_that_of_a_process_and_its_children(self):
        import os
        import peers
        with subprocess.Popen(["sh", "-c", "cat; true"], stdin=subprocess.PIPE) as shell:
            alone, both = (peers.proportional_bytes(pid) for pid in (shell.pid, os.getpid()))
            shell.stdin.close()
        self.assertGreater(both, alone)


class Alone(unittest.TestCase):
    FOLDER = Path(bench.__file__).resolve().parent

    def test_peers_take_the_kernels_for_this_cpu_on_one_thread(self):
        import os
        told = "import os, alone; print([os.environ.get(name) for name in ('OPENBLAS_CORETYPE', 'OPENBLAS_L2_SIZE', 'OPENBLAS_NUM_THREADS')])"
        set_elsewhere = {**os.environ, "OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_L2_SIZE": "256", "OPENBLAS_NUM_THREADS": "8"}
        done = subprocess.run([sys.executable, "-B", "-c", told], cwd=self.FOLDER, env=set_elsewhere, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), "[None, None, '1']")

    def test_it_is_what_peers_import_first(self):
        for path in (*self.FOLDER.glob("std_*peers.py"), self.FOLDER / "kernels/measure.py"):
            imported = re.findall(r"(?m)^import (\w+)", path.read_text())
            self.assertLess(imported.index("alone"), imported.index("numpy"), path)


class Programs(unittest.TestCase):
    def test_chains_have_as_many_nodes_as_their_names_say(self):
        import harness
        import oip
        import programs
        source = programs.written("chains.wf", programs.trivial_chains(oip.CHAINS))
        plan = harness.wfc("plan", source).stdout
        for nodes in oip.CHAINS:
            self.assertRegex(plan, rf"Chains/Nodes{nodes}: .* {nodes} nodes?, {nodes + 1} tasks")

    def test_batches_are_of_the_same_work_as_rows(self):
        import batching
        import harness
        import onnx_file
        for rows in (1, 4):
            file = onnx_file.square_layers(8, 2, rows)
            several = {"row": rows} if rows > 1 else {}
            harness.wfc("check", batching.program(f"rows-{rows}", file, batching.workflow("Score", {**several, "i": 8, "j": 8})))
        harness.wfc("check", batching.program("rows", onnx_file.square_layers(8, 2), batching.workflow("Score", {"i": 8, "j": 8}, " { batch 4 within 2ms; }")))


class WfcRun(unittest.TestCase):
    def test_its_memory_is_not_that_of_who_starts_it(self):
        import rows
        held = b"x" * (400 << 20)
        self.assertLess(rows.wfc_run("--version")[1], 200)
        self.assertEqual(len(held), 400 << 20)


class LeftOut(unittest.TestCase):
    def test_the_runtime_has_all_that_is_left_out_to_see_what_it_costs(self):
        import observing
        with tempfile.TemporaryDirectory() as folder:
            observing.write_left_out(Path(folder))
            for name in observing.LEFT_OUT:
                self.assertNotEqual((Path(folder) / name).read_text(), (observing.harness.ROOT / name).read_text(), name)


if __name__ == "__main__":
    unittest.main()
