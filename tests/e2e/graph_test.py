#!/usr/bin/env python3
"""Drawings of programs: XML that stands alone, everything inside the picture, boxes apart, wires from box to box; the same graph in every form."""
import http.server
import itertools
import json
import os
import random
import re
import threading
import unittest
import xml.etree.ElementTree as ElementTree

import harness

LEVELS = ("workflow", "stage", "node", "task")
CONTROL = """error Bad = 100001 "bad";

workflow Inner(n: i64) -> (r: i64) {
  node q = n * 2;
  return (r: q);
}

workflow W(n: i64, m: i64 = 1, xs: list<i64>) -> (y: i64) {
  node first = n + 1;
  require first > 0 else fail Bad;
  stage s1 {
    node a = m * 2;
  }
  if a > 3 {
    node b = m * 3;
    return (y: b);
  }
  node c = m - 1;
  node e = for x in xs { Inner(n: x).r };
  return (y: c + len(e));
}

service S {
  workflow W;
}
"""
SVG = "{http://www.w3.org/2000/svg}"


def large_program(nodes, seed):
    """A workflow in which each node reads up to three of the seven before it."""
    draw = random.Random(seed)
    names, lines, unread = ["x"], [], set()
    for number in range(nodes):
        reads = sorted({draw.choice(names[-7:]) for _ in range(draw.randint(1, 3))})
        lines.append(f"  node step_{number} = {' + '.join(f'f({name})' for name in reads)};")
        unread = (unread | {f"step_{number}"}) - set(reads)
        names.append(f"step_{number}")
    return program_of(lines, unread)


def stages_and_controls(statements, seed):
    """A workflow in which control points and written stages stand between nodes that read any node above them."""
    draw = random.Random(seed)
    names, lines = ["x"], ["  node begin = f(x);"]

    for number in range(statements):
        kind = draw.choice(("node", "node", "node", "require", "if", "stage"))
        if kind == "node":
            lines.append(f"  node step_{len(names)} = f({draw.choice(names)});")
            names.append(f"step_{len(names)}")
        elif kind == "require":
            lines.append(f"  require {draw.choice(names)} > 0.0 else fail Bad;")
        elif kind == "if":
            lines.append(f"  if {draw.choice(names)} > {number}.0 {{")
            lines += [f"    node arm_{number} = f({draw.choice(names)});", f"    require arm_{number} > 1.0 else fail Bad;", *draw.choice(([], [f"    return (y: arm_{number});"])), "  }"]
        else:
            lines.append(f"  stage look_{number} {{")
            inside = [f"step_{len(names) + at}" for at in range(2)]
            lines += [f"    node {name} = f({draw.choice(names)});" for name in inside] + ["  }"]
            names += inside
    return program_of(lines, {"begin", *names[1:]})


def program_of(lines, results):
    body = "\n".join(lines)
    return ("error Bad = 100001 \"bad\";\n\nfn f(a: f64) -> f64 = a + 1.0;\n\n"
            f"workflow W(x: f64 = 1.0) -> (y: f64) {{\n{body}\n  return (y: {' + '.join(sorted(results))});\n}}\n\n"
            "service S {\n  workflow W;\n}\n")


BOXES = {"node", "model", "control", "node dashed", "model dashed"}


def rectangles(picture, classes):
    return [tuple(float(r.get(k)) for k in ("x", "y", "width", "height")) for r in picture.iter(SVG + "rect") if r.get("class") in classes]


class Graph(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.programs = [path for path in sorted(harness.EXAMPLES.glob("*/*.wf")) if "\nservice " in path.read_text()]
        for seed in (1, 2):
            program = harness.scratch() / f"large{seed}.wf"
            program.write_text(large_program(30, seed))
            cls.programs.append(program)

        for seed in range(3, 9):
            program = harness.scratch() / f"control{seed}.wf"
            program.write_text(stages_and_controls(20, seed))
            cls.programs.append(program)
        control = harness.scratch() / "control.wf"
        control.write_text(CONTROL)
        cls.programs.append(control)

    def pictures(self):
        for program, level in itertools.product(self.programs, LEVELS):
            with self.subTest(program=program.name, level=level):
                yield program, level, ElementTree.fromstring(harness.wfc("graph", "--format=svg", f"--level={level}", program).stdout)

    def test_everything_is_inside(self):
        for _, _, picture in self.pictures():
            width, height = float(picture.get("width")), float(picture.get("height"))
            for x, y, w, h in rectangles(picture, BOXES | {"stage", "inferred"}):
                self.assertTrue(0 <= x and x + w <= width and 0 <= y and y + h <= height, (x, y, w, h))
            for text in picture.iter(SVG + "text"):
                self.assertLessEqual(float(text.get("x")) + 6.5 * len(text.text), width, text.text)

    def test_a_name_that_is_no_text_is_told_as_one(self):
        name = os.fsdecode(os.fsencode(harness.scratch()) + b"/bad\xff\x1b.wf")
        with open(name, "w", encoding="utf-8") as file:
            file.write(CONTROL)
        svg, dot = (harness.wfc("graph", f"--format={form}", name).stdout for form in ("svg", "dot"))
        self.assertEqual(ElementTree.fromstring(svg).find(SVG + "title").text, "bad\ufffd\ufffd.wf")
        self.assertTrue(dot.startswith('digraph "bad\ufffd\ufffd.wf" {'), dot)

    def test_boxes_are_apart_and_labels_in_them(self):
        for _, _, picture in self.pictures():
            boxes = rectangles(picture, BOXES)
            for (ax, ay, aw, ah), (bx, by, bw, bh) in itertools.combinations(boxes, 2):
                self.assertFalse(ax < bx + bw and bx < ax + aw and ay < by + bh and by < ay + ah)
            names = [t for t in picture.iter(SVG + "text") if t.get("class") == "name"]
            self.assertEqual(len(names), len(boxes))
            for text in names:
                x, y = float(text.get("x")), float(text.get("y"))
                self.assertTrue(any(bx < x and x + 7.2 * len(text.text) < bx + bw and by < y < by + bh for bx, by, bw, bh in boxes), text.text)

    def test_wires_end_at_boxes(self):
        for _, _, picture in self.pictures():
            boxes = rectangles(picture, BOXES)
            for path in picture.iter(SVG + "path"):
                if path.get("class") not in ("wire", "wait"):
                    continue
                numbers = [float(n) for n in re.findall(r"-?[\d.]+", path.get("d"))]
                (x0, y0), (x1, y1) = numbers[:2], numbers[-2:]
                self.assertTrue(any(abs(x0 - bx - bw) < 0.2 and by <= y0 <= by + bh for bx, by, bw, bh in boxes))
                self.assertTrue(any(abs(x1 - bx) < 0.2 and by <= y1 <= by + bh for bx, by, bw, bh in boxes))

    def test_calls_of_workflows_are_connected(self):
        program = harness.scratch() / "calls.wf"
        program.write_text("""
workflow Inner(x: i64, y: i64) -> (z: i64) {
  node first = x + y;
  node last = first * 2;
  return (z: last);
}

workflow Middle(x: i64) -> (z: i64) {
  node once = Inner(x, 1).z;
  node again = Inner(once, x).z;
  return (z: again);
}

workflow Outer(x: i64) -> (zs: list<i64>) {
  node start = x + 1;
  node both = Inner(start, x).z + Inner(x, start + 1).z;
  node deep = Middle(both).z;
  node each = for i in [deep, both] {
    Inner(i, start).z
  };
  return (zs: each);
}

service S {
  workflow Outer;
}
""")
        workflow, = json.loads(harness.wfc("graph", "--format=json", program).stdout)["workflows"]
        reads = {node["name"]: set(node["reads"]) for stage in workflow["stages"] for node in stage["nodes"]}
        self.assertEqual(reads, {
            "start": set(),
            "both": {"start", "both/Inner/last", "both/Inner.2/last"},
            "both/Inner/first": {"start"}, "both/Inner/last": {"both/Inner/first"},
            "both/Inner.2/first": {"start"}, "both/Inner.2/last": {"both/Inner.2/first"},
            "deep": {"both", "deep/Middle/again"},
            "deep/Middle/once": {"both", "deep/Middle/once/Inner/last"},
            "deep/Middle/once/Inner/first": {"both"}, "deep/Middle/once/Inner/last": {"deep/Middle/once/Inner/first"},
            "deep/Middle/again": {"both", "deep/Middle/once", "deep/Middle/again/Inner/last"},
            "deep/Middle/again/Inner/first": {"both", "deep/Middle/once"}, "deep/Middle/again/Inner/last": {"deep/Middle/again/Inner/first"},
            "each": {"start", "deep", "both", "each/Inner/last"},
            "each/Inner/first": {"start", "deep", "both"}, "each/Inner/last": {"each/Inner/first"},
        })
        after = {stage["name"]: stage["after"] for stage in workflow["stages"]}
        self.assertIn("both/Inner/s2", next(iter(after.values())) + after["s2"])

    def test_controls_and_blocks_are_shown(self):
        program = harness.scratch() / "control.wf"
        workflow, = json.loads(harness.wfc("graph", "--format=json", program).stdout)["workflows"]
        nodes = {node["name"]: node for stage in workflow["stages"] for node in stage["nodes"]}
        stages = {stage["name"]: stage for stage in workflow["stages"]}
        self.assertEqual([(c["name"], c["reads"]) for c in workflow["controls"]], [("require line 10", ["first"]), ("if line 14", ["a"])])
        self.assertEqual({name: node["after"] for name, node in nodes.items() if "/" not in name},
                         {"first": [], "a": ["require line 10"], "b": ["if line 14"], "c": ["if line 14"], "e": ["if line 14"]})
        self.assertEqual((nodes["b"]["inside"], nodes["e/Inner/q"]["inside"], nodes["c"]["inside"]), (["if line 14"], ["for line 19"], []))
        self.assertEqual(stages["s1"]["waits"], [next(name for name, stage in stages.items() if any(n["name"] == "first" for n in stage["nodes"]))])
        text = harness.wfc("graph", program).stdout
        for line in ("    a  ⇠ require line 10\n", "  in if line 14\n", "  require line 10  ← first\n"):
            self.assertIn(line, text)
        self.assertIn("stage s1  ⇠ ", text)
        self.assertIn("m: i64 = 1", harness.wfc("graph", "--format=svg", program).stdout)

    def test_a_control_of_a_call_reads_what_the_call_is_given(self):
        program = harness.scratch() / "called_control.wf"
        program.write_text("""
workflow Clip(x: i64, most: i64) -> (y: i64) {
  if x > most {
    return (y: most);
  }
  return (y: x);
}

workflow Sheet(xs: list<i64>) -> (ys: list<i64>) {
  node twice = [x * 2 for x in xs];
  node clipped = for x in twice { Clip(x, 3).y };
  return (ys: clipped);
}

service S {
  workflow Sheet;
}
""")
        workflow, = json.loads(harness.wfc("graph", "--format=json", program).stdout)["workflows"]
        self.assertEqual(workflow["controls"], [{"name": "clipped/Clip/if line 3", "line": 3, "reads": ["twice"], "after": [], "inside": ["for line 11"]}])

    def test_blocks_hang_on_the_tasks_that_enter_them(self):
        program = harness.scratch() / "control.wf"
        workflow, = json.loads(harness.wfc("graph", "--level=task", "--format=json", program).stdout)["workflows"]
        tasks = {t["id"]: t for t in workflow["tasks"] + [t for s in workflow["stages"] for n in s["nodes"] for t in n["tasks"]]}
        inside = {name: task["inside"] for name, task in tasks.items() if task["inside"]}
        self.assertEqual({tasks[outer]["kind"] for outer in inside.values()}, {"select", "each", "enter"})
        begins = [name for name in inside if not any(tasks[read]["inside"] == inside[name] for read in tasks[name]["reads"])]
        form = lambda name: harness.wfc("graph", "--level=task", f"--format={name}", program).stdout  # noqa: E731
        self.assertEqual(form("dot").count("[style=dashed]"), len(begins))
        self.assertEqual(form("mermaid").count(" -.-> "), len(begins))
        self.assertEqual(form("svg").count('class="wait"'), len(begins))

    def test_stages_stand_behind_those_that_they_read_or_wait_for(self):
        for program in self.programs:
            for workflow in json.loads(harness.wfc("graph", "--format=json", program).stdout)["workflows"]:
                names = [stage["name"] for stage in workflow["stages"]]
                for stage in workflow["stages"]:
                    for before in stage["after"] + stage["waits"]:
                        self.assertLess(names.index(before), names.index(stage["name"]), (program.name, workflow["name"], stage))

    def test_every_form_shows_the_same_wires(self):
        for program in self.programs:
            with self.subTest(program=program.name):
                form = lambda name: harness.wfc("graph", f"--format={name}", program).stdout  # noqa: E731
                workflows = json.loads(form("json"))["workflows"]
                boxes = [one for w in workflows for one in w["controls"] + [n for s in w["stages"] for n in s["nodes"]]]
                wires, waits = (sum(len(one[name]) for one in boxes) for name in ("reads", "after"))
                self.assertEqual((form("svg").count('class="wire"'), form("svg").count('class="wait"')), (wires, waits))
                self.assertEqual((form("mermaid").count(" --> "), form("mermaid").count(" -.-> ")), (wires, waits))
                self.assertEqual((form("dot").count(" -> "), form("dot").count("[style=dashed]")), (wires + waits, waits))


class Settings(unittest.TestCase):
    """Rules 12 and 15, in their programs of tests/lang/rules."""

    def settings(self, program):
        """the settings of each node, by workflow and name"""
        graph = harness.wfc("graph", "--level=node", harness.ROOT / "tests/lang/rules" / program).stdout
        found = {}
        for block in graph.split("\n\n"):
            workflow = re.match(r"S/(\w+)", block)[1]
            for node, line in re.findall(r"^    (\w+)  .*\n      (.*)$", block, re.MULTILINE):
                found[workflow, node] = line
        return found

    def test_what_is_written_out_with_the_defaults_values_is_the_same_program(self):
        found = self.settings("r12_defaults.wf")
        self.assertEqual(found["Plain", "y"], "batch auto · queue 256 · instances 1 · precision f32 · priority normal")
        self.assertEqual(found["Same", "y"], found["Plain", "y"])

    def test_a_node_overrides_what_its_model_says_and_nothing_else(self):
        found = self.settings("r15_node_overrides.wf")
        self.assertEqual({name: line for name, line in found.items() if name[0] != "Agreed"}, {
            ("W", "first"): "batch 16 within 1ms · queue 64 · instances 2 · precision f32 · priority normal",
            ("W", "second"): "batch 4 · queue 8 · instances 2 · precision f32 · priority normal",
            ("InLoop", "y"): "batch 8 · queue 64 · instances 1 · precision f32 · priority normal · limit 1024",
        })


def served(metrics):
    """an admin address where these are the metrics"""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = metrics.encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Times(unittest.TestCase):
    def drawn(self, program, metrics, form="json"):
        path = harness.scratch() / "measured.wf"
        path.write_text(program)
        server = served(metrics)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        out = harness.wfc("graph", "--format", form, "--from", "{}:{}".format(*server.server_address), path).stdout
        return json.loads(out) if form == "json" else out

    def metrics(self, calls_of_s, calls_of_t):
        metrics = "".join(f'wf_request_duration_seconds_{what}{{service="{service}",workflow="{name}",protocol="plain"}} {calls}\n'
                          for service, name, calls in (("S", "W", calls_of_s), ("T", "t", calls_of_t)) for what in ("sum", "count"))
        for labels in ('wf_stage_duration_seconds_{}{{workflow="W",stage="s1"}} 3\n', 'wf_node_compute_seconds_{}{{workflow="W",node="W/a"}} 3\n'):
            metrics += labels.format("sum") + labels.format("count")
        return metrics

    TWO = """workflow W(n: i64) -> (r: i64) {\n  node a = n + 1;\n  return (r: a);\n}\n
service S {\n  workflow W;\n}\n\nservice T {\n  workflow W as "t";\n}\n"""

    def measured(self, *calls):
        graph = self.drawn(self.TWO, self.metrics(*calls))
        return [[(one["what"], one.get("of")) for part in (flow, flow["stages"][0], flow["stages"][0]["nodes"][0]) for one in part.get("measured", [])] for flow in graph["workflows"]]

    def test_stages_and_nodes_that_two_services_share_have_the_times_of_both_together(self):
        alone = [("request", None), ("stage", None), ("compute", None)]
        self.assertEqual(self.measured(3, 0), [alone, []])
        self.assertEqual(self.measured(0, 3), [[], alone])
        both = [("request", None), ("stage", ["S/W", "T/t"]), ("compute", ["S/W", "T/t"])]
        self.assertEqual(self.measured(3, 3), [both, both])
        for form in ("text", "dot", "mermaid", "svg"):
            self.assertEqual(self.drawn(self.TWO, self.metrics(3, 3), form).count("compute 1.00 s x 3 of S/W, T/t"), 2, form)

    def test_of_a_called_workflow_the_stages_have_times_too(self):
        program = """workflow Inner(n: i64) -> (r: i64) {\n  node b = n * 2;\n  return (r: b);\n}
workflow W(n: i64) -> (r: i64) {\n  node c = Inner(n);\n  return (r: c.r);\n}\n\nservice S {\n  workflow W;\n}\n"""
        calls = "".join(f'wf_request_duration_seconds_{what}{{service="S",workflow="W",protocol="plain"}} 2\n'
                        f'wf_stage_duration_seconds_{what}{{workflow="W/c/Inner",stage="s1"}} 2\n' for what in ("sum", "count"))
        stages = self.drawn(program, calls)["workflows"][0]["stages"]
        self.assertEqual([(stage["name"], len(stage.get("measured", []))) for stage in stages if "/" in stage["name"]], [("c/Inner/s1", 1)], stages)


if __name__ == "__main__":
    harness.main()
