#!/usr/bin/env python3
"""Functions in C++: built by the user's compiler, called with values of every kind, failing in every way; and what wfc says when they do not build."""
import base64
import os
import re
import resource
import shutil
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import harness

PROGRAM = harness.ROOT / "tests/e2e/externs/externs.wf"


class Externs(harness.ServerCase):
    source = PROGRAM

    def call(self, workflow, **parameters):
        reply = self.server.post(f"/Externs/{workflow}", parameters)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def test_tensors_with_gaps_between_rows_and_shapes_of_the_arguments(self):
        answer = self.call("Scale", x=[[1, 2, 3], [4, 5, 6]], rows=1)
        self.assertEqual(answer, {"y": [[20, 30]], "halves": [[0.5, 1, 1.5], [2, 2.5, 3]], "twice": [1, 1, 2, 2, 3, 3]})
        self.assertEqual(self.call("Scale", x=[[1]], rows=0)["halves"], [[0.5]])

    def test_results_that_are_arguments(self):
        answer = self.call("Itself", x=[1, 2, 3], rows=3)
        self.assertEqual(answer["rows"], [[1, 2, 3], [2, 3, 4], [3, 4, 5]])
        self.assertEqual(answer["small"], [[0, 1], [1, 2], [2, 3]])
        self.assertEqual(answer["last"], [6, 5, 4])

    def test_text_and_optionals(self):
        self.assertEqual(self.call("Shout", text="söme"), {"text": "SöME!"})
        self.assertEqual(self.call("Shout", text="", mark="?"), {"text": "?"})

    def test_scalars_and_elements_of_every_width(self):
        answer = self.call("Widen", b=True, i=-3, half=[0.5, 2])
        self.assertEqual(answer, {"b": False, "i": -3000 + 65533, "half": [0.5, 2], "d": 1})

    def test_records_lists_maps_and_bytes(self):
        answer = self.call("Boxes", count=3, ranks={"one": 1, "nine": 9}, data={"b64": base64.b64encode(b"abc").decode()})
        self.assertEqual(answer["boxes"], [{"x": 0, "class": "first", "corner": None}, {"x": 0.5, "class": "box 1", "corner": 1},
                                           {"x": 1, "class": "box 2", "corner": None}])
        self.assertEqual(answer["ranks"], {"nine": 10, "one": 2, "zero": 1})
        self.assertEqual(list(answer["ranks"]), sorted(answer["ranks"]))
        self.assertEqual(answer["areas"], [0, 1, 4])
        self.assertEqual(answer["first"], {"b64": base64.b64encode(b"ab").decode()})
        empty = self.call("Boxes", count=0, ranks={}, data={"b64": ""})
        self.assertEqual(empty, {"boxes": [], "ranks": {"zero": -1}, "areas": [], "first": {"b64": ""}})

    def test_a_result_that_is_not_what_was_declared(self):
        self.assertEqual(self.call("Wrong", how=0, x=[1, 2]), {"total": 6})
        for how, code, message in ((1, 7004, "axis 0 of `a` of the result is 3, wanted 2"), (2, 7004, "axis 0 of an item of `rows` of the result is 3, wanted 2"),
                                   (3, 7006, "`text` of the result is not UTF-8"), (4, 7000, "`ranks` of the result has the key `a` twice"),
                                   (5, 7004, "a tensor with an extent below 0")):
            reply = self.server.post("/Externs/Wrong", {"how": how, "x": [1, 2]})
            self.assertEqual((reply.error["code"], reply.error["message"], reply.error["path"]), (code, message, "Wrong/made"))

    def test_extents_that_only_the_result_knows_agree(self):
        self.assertEqual(self.call("Halves", x=[1, 2, 3, 4, 5], more=0), {"a": [0, 0], "b": [0, 0, 0, 0], "rows": 2, "whole": [0, 0]})
        for more, message in ((1, "axis 0 of `b` of the result is 5, wanted 4"), (2, "axis 0 of an item of `rows` of the result is 3, wanted 2"),
                              (3, "axis 0 of `whole` of the result is 3, wanted 2")):
            reply = self.server.post("/Externs/Halves", {"x": [1, 2, 3, 4], "more": more})
            self.assertEqual((reply.error["code"], reply.error["message"]), (7004, message))

    def test_exceptions_become_failures_of_the_node(self):
        for how, status, code, message in ((1, 400, 100001, "it is cold"), (2, 500, 9000, "no such table"), (3, 500, 9000, "an exception that is no std::exception"),
                                           (4, 429, 3012, "out of memory"), (5, 500, 9000, "no code"), (6, 500, 9000, "a message that is not UTF-8"),
                                           (8, 500, 9000, "an exception without a text")):
            reply = self.server.post("/Externs/Fails", {"how": how})
            self.assertEqual((reply.status, reply.error["code"], reply.error["message"], reply.error["path"]), (status, code, message, "Fails/text"))
            self.assertEqual(self.call("Caught", how=how), {"text": f"{code} {message} at Caught/text"})
        self.assertEqual(self.server.post("/Externs/Fails", {"how": 7}).error["code"], 9000)  # std::length_error
        self.assertEqual(self.call("Fails", how=0), {"text": "fine"})

    @unittest.skipIf(harness.IS_SANITIZED, "the sanitizer's own `new` ends the process")
    def test_new_throws_and_mmap_says_why_in_externs(self):
        reply = self.server.post("/Externs/Fails", {"how": 9})
        self.assertEqual((reply.status, reply.error["code"], reply.error["message"]), (429, 3012, "out of memory"))
        self.assertEqual(self.call("Fails", how=10), {"text": "refused"})
        self.assertEqual(self.call("Fails", how=11), {"text": "caught"})
        self.assertEqual(self.call("Fails", how=0), {"text": "fine"})

    @unittest.skipIf(harness.IS_SANITIZED, "addresses cannot be limited")
    def test_an_extern_that_has_taken_all_memory_may_ask_for_values(self):
        server = harness.Server.of(PROGRAM)  # no thread has called before: what it keeps for itself is still to be made
        with open(f"/proc/{server.process.pid}/statm", encoding="utf-8") as pages:
            taken = int(pages.read().split()[0]) * resource.getpagesize()
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (taken + (64 << 20), resource.RLIM_INFINITY))
        reply = server.post("/Externs/Fails", {"how": 12})
        self.assertIn((reply.status, (reply.json.get("error") or {}).get("code")), ((200, None), (429, 3012)), reply)
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        deadline = time.monotonic() + 20
        while server.post("/Externs/Fails", {"how": 0}).status != 200:
            self.assertLess(time.monotonic(), deadline, "memory stays short")
            time.sleep(0.1)
        self.assertEqual(server.stop(), 0)

    def test_the_memory_of_a_request_is_bounded(self):
        self.assertEqual(self.call("Memory", mib=100), {"size": 100 << 20})
        self.assertEqual(self.server.post("/Externs/Memory", {"mib": 300}).error["code"], 3012)
        self.assertEqual(self.server.post("/Externs/Memory", {"mib": 1 << 42}).error["code"], 3012)

    def test_a_timeout_leaves_a_call_that_blocks_behind(self):
        for listens, ms in ((True, 60_000), (False, 4000)):
            started = time.monotonic()
            self.assertEqual(self.call("Sleeps", ms=ms, listens=listens), {"slept": -1})
            self.assertLess(time.monotonic() - started, 3)
        self.assertEqual(self.call("Sleeps", ms=1, listens=False), {"slept": 1})
        self.assertEqual(self.server.settled("wf_abandoned_inflight"), 0)

    def test_a_call_that_blocks_does_not_stop_the_loop(self):
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(self.call, "Each", ms=[3000])
            time.sleep(0.05)
            started = time.monotonic()
            self.assertEqual(self.server.call("GET", "/livez").status, 200)
            self.assertLess(time.monotonic() - started, 2)
            self.assertEqual(slow.result(), {"slept": [3000]})

    def test_elements_run_in_the_pool(self):
        self.assertEqual(self.call("Each", ms=[5, 0, 3, 1]), {"slept": [5, 0, 3, 1]})

    def test_retry_calls_again(self):
        self.assertEqual(self.call("Flaky", key="none", failures=0), {"attempts": 1})
        self.assertEqual(self.call("Flaky", key="two", failures=2), {"attempts": 3})
        reply = self.server.post("/Externs/Flaky", {"key": "four", "failures": 4})
        self.assertEqual((reply.error["code"], reply.error["message"], reply.error["path"]), (8001, "call 3 of four", "Flaky/attempts"))

    def test_retry_repeats_the_call_that_failed_and_no_other(self):
        self.assertEqual(self.call("FlakyParts", key="parts", failures=2), {"attempts": 13, "each": [3, 3]})

    def test_a_draining_server_waits_for_a_call(self):
        server = harness.Server.of(PROGRAM)
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(server.post, "/Externs/Each", {"ms": [500]})
            time.sleep(0.2)
            self.assertEqual(server.stop(), 0)
            self.assertEqual(slow.result().json, {"slept": [500]})


class Building(unittest.TestCase):
    def setUp(self):
        self.folder = harness.scratch() / self.id().split(".")[-1]
        self.folder.mkdir()

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def program(self, declarations, source, body="node y = area(2.0);"):
        self.write("area.cc", source)
        return self.write("main.wf", f"""{declarations}
workflow Main() -> (y: f32) {{
  {body}
  return (y: y);
}}

service S {{
  workflow Main;
}}
""")

    AREA = 'extern node area(side: f32) -> f32 = cpp("area.cc");\n'
    FINE = "float externs::area(wf::Context&, float side) { return side * side; }\n"

    def build(self, program, *arguments, status=0, **environment):
        command = [harness.WFC, "build", program.name, "-o", "server", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env={**os.environ, **environment}, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def test_both_compilers_and_the_flags_of_the_user(self):
        program = self.program(self.AREA, "#ifndef SIDES\n#error no flags\n#endif\n" + self.FINE)
        for compiler in ("g++", "clang++-19"):
            if shutil.which(compiler) is None:
                self.fail(f"{compiler} is missing; scripts/setup installs it")
            self.build(program, CXX=compiler, CXXFLAGS="-DSIDES=2 -Wall -Wextra -Werror")
            server = harness.Server(self.folder / "server")
            server.wait_ready()
            self.assertEqual(server.post("/S/Main", {}).json, {"y": 4})
            self.assertEqual(server.stop(), 0)

    def test_a_compiler_that_is_missing(self):
        program = self.program(self.AREA, self.FINE)
        self.assertIn("error[WF8008]: `area` needs a compiler of C++: `no-such-compiler`, which CXX names, is not there",
                      self.build(program, status=1, CXX="no-such-compiler"))
        self.assertIn("error[WF8008]: `area` needs a compiler of C++: there is no c++, g++ or clang++", self.build(program, status=1, CXX="", PATH="/nowhere"))
        self.assertIn("error[WF8002]: cannot write `/nowhere`: no such file", self.build(program, status=1, TMPDIR="/nowhere"))
        plain = self.write("plain.wf", "workflow Main() -> (y: f32) { return (y: 1); }\nservice S { workflow Main; }\n")
        self.build(plain, CXX="", PATH="/nowhere", TMPDIR="/nowhere")  # needs none

    def test_a_source_that_does_not_compile(self):
        text = self.build(self.program(self.AREA, "float externs::area(wf::Context&, float side) { return sides; }\n"), status=1)
        self.assertIn("error[WF8009]: `area.cc` does not compile: \narea.cc: In function", text)
        self.assertIn("main.wf:1:13", text)
        wrong_result = self.build(self.program(self.AREA, "namespace externs { double area(wf::Context&, float) { return 1; } }\n"), status=1)
        self.assertIn("error[WF8009]", wrong_result)

    def test_a_function_that_is_missing_or_another(self):
        text = self.build(self.program(self.AREA, "float area_of(float side) { return side; }\n"), status=1)
        self.assertIn("error[WF8010]: `area.cc` does not define `area`", text)
        self.assertIn("it is `float externs::area(wf::Context& context, float side)`", text)
        text = self.build(self.program(self.AREA, "namespace externs { float area(wf::Context&, double side) { return 1; } }\n"), status=1)
        self.assertIn("error[WF8011]: `area.cc` defines `externs::area(wf::Context&, double)`, the program declares `externs::area(wf::Context&, float)`", text)

    def test_equal_programs_are_equal_bytes_wherever_they_lie(self):
        program = self.program(self.AREA, self.FINE + 'const char* file() { return __FILE__; }\nconst char* (*where)() = file;\n')
        self.build(program)
        first = (self.folder / "server").read_bytes()
        other = self.folder / "other"
        other.mkdir()
        for name in ("main.wf", "area.cc"):
            shutil.copy(self.folder / name, other)
        self.folder = other
        self.build(program)
        self.assertEqual((other / "server").read_bytes(), first)
        self.write("area.cc", self.FINE + "// a comment is part of the source\n")
        self.build(program)
        self.assertNotEqual((other / "server").read_bytes(), first)

    def test_the_header_compiles_alone_and_is_the_one_that_counts(self):
        program = self.program(self.AREA, '#include "main.wf.h"\n' + self.FINE)
        header = subprocess.run([harness.WFC, "build", program, "--emit=header"], capture_output=True, text=True, check=True).stdout
        self.write("main.wf.h", header)
        subprocess.run(["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "area.cc"], cwd=self.folder, check=True)
        self.build(program)
        self.write("main.wf.h", header.replace("float area", "double area"))  # an old one beside the source
        self.build(program)

    def test_externs_of_a_module_and_words_of_cpp(self):
        self.write("shapes.wf", 'type Register { int: i64; }\n\n/// Twice.\nextern fn double(x: Register) -> f32 = cpp("area.cc");\n')
        program = self.program("import shapes;\n", '#include "shapes.wf.h"\n#include "main.wf.h"\n'
                               "float externs::double_(wf::Context&, const externs::shapes_Register& x) { return x.int_ * 2.0f; }\n",
                               "node y = shapes.double(shapes.Register(int: 4));")
        self.build(program)
        server = harness.Server(self.folder / "server")
        server.wait_ready()
        self.assertEqual(server.post("/S/Main", {}).json, {"y": 8})
        self.assertEqual(server.stop(), 0)

    def test_the_source_of_a_module_is_the_same_alone_and_imported(self):
        """Records and errors have the module's name in front in both, a tuple that of each place where it stands."""
        self.write("shapes.wf", """
            type Box { x: f32; range: (lo: f32, hi: f32); }
            error Cold = 100 "cold";
            extern fn warm(b: Box, range: (lo: f32, hi: f32)) -> Box = cpp("shapes.cc");
            workflow Warm(x: f32) -> (y: f32) { node b = warm(Box(x: x, range: (lo: 0.0, hi: 1.0)), (lo: 2.0, hi: 3.0)); return (y: b.x); }
            service Shapes { workflow Warm; }
        """)
        self.write("shapes.cc", """
            externs::shapes_Box externs::warm(wf::Context&, const externs::shapes_Box& b, const externs::warm_range& range) {
              const externs::warm_b_range& own = b.range;
              if (own.hi > range.lo) throw wf::Failure(externs::errors::shapes_Cold, "it is cold");
              return {b.x + range.lo, own};
            }
        """)
        self.build(self.folder / "shapes.wf")
        program = self.program("""
            import shapes;
            type Box { i: i64; }
            error Cold = 101 "colder";
            extern fn own(bounds: (lo: f32, hi: f32), b: Box) -> Box = cpp("area.cc");
        """, "externs::Box externs::own(wf::Context&, const own_bounds& bounds, const main_Box& b) {\n"
             "  if (bounds.lo > bounds.hi) throw wf::Failure(externs::errors::main_Cold, \"it is cold\");\n  return {b.i + 1};\n}\n",
            """node b = shapes.warm(shapes.Box(x: 4.0, range: (lo: 0.0, hi: 1.0)), (lo: 2.0, hi: 3.0));
               node i = own((lo: 0.0, hi: 1.0), Box(i: 1));
               node y = b.x + f32(i.i);""")
        self.build(program)
        server = harness.Server(self.folder / "server")
        server.wait_ready()
        self.assertEqual(server.post("/S/Main", {}).json, {"y": 8})
        self.assertEqual(server.stop(), 0)

    def test_names_that_mean_something_to_the_compiler(self):
        """Whatever the headers define, or C++ has a word for, is a name here: an error, a field, a type, a parameter and an extern."""
        header = subprocess.run([harness.WFC, "build", self.program(self.AREA, self.FINE), "--emit=header"], capture_output=True, text=True, check=True).stdout
        self.write("all.h", header)
        names = {"NAN", "INFINITY", "assert", "INT_MAX", "int64_t", "uint8_t", "externs", "errors", "std", "wf", "double", "int_", "NULL_", "__x", "_X", "linux"}
        for compiler in ("g++", "clang++-19"):
            macros = subprocess.run([compiler, "-std=c++20", "-x", "c++", "-dM", "-E", "all.h"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
            names |= set(re.findall(r"^#define ([A-Za-z]\w*|_[A-Z]+_)\b", macros, re.MULTILINE))
        self.assertLessEqual({"NULL", "EOF", "errno", "stdin", "EINVAL", "INT64_MAX"}, names)
        names = sorted(names)
        self.write("kinds.wf", "".join(f"type {name} {{ {name}: f32; }}\n" for name in names))
        self.write("codes.wf", "".join(f'error {name} = {100001 + i} "no {name}";\n' for i, name in enumerate(names)))
        self.write("calls.wf", "".join(f'extern fn {name}(x: i64) -> i64 = cpp("all.cc");\n' for name in names))
        uses = "".join(f'extern fn use_{i}({name}: list<f32>, kind: kinds.{name}) -> kinds.{name} = cpp("all.cc");\n' for i, name in enumerate(names))
        program = self.program(f"import kinds;\nimport codes;\nimport calls;\n{uses}", "", "node y = f32(calls.NULL(1));")
        header = subprocess.run([harness.WFC, "build", program, "--emit=header"], capture_output=True, text=True, check=True).stdout
        declared = re.findall(r"^(?!struct|inline)(.* (?:\w+)\(wf::Context&.*\));$", header, re.MULTILINE)
        self.assertEqual(len(declared), 2 * len(names))
        bodies = (re.sub(r" (\w+)\(wf::Context&", r" externs::\1(wf::Context&", one, count=1) + " { return {}; }\n" for one in declared)
        self.write("all.cc", "#include <cassert>\n#include <cmath>\n#include <cstdio>\n" + "".join(bodies))
        self.build(program, CXXFLAGS="-O0")
        subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-include", "cmath", "-include", "cassert", "-include", "cinttypes", "-x", "c++", "-"], input=header,
                       text=True, check=True)  # as an editor reads it, behind other headers

    def test_make_knows_what_a_server_is_made_of(self):
        self.write("side.h", "inline float side_of(float side) { return side; }\n")
        program = self.program(self.AREA, '#include "side.h"\n#include "main.wf.h"\nfloat externs::area(wf::Context&, float side) { return side_of(side); }\n')
        self.build(program, "-MMD")
        self.write("Makefile", "server:\n\ttouch built\n-include server.d\n")
        def makes():
            return subprocess.run(["make", "-q", "server"], cwd=self.folder, capture_output=True, check=False).returncode == 1
        self.assertFalse(makes())
        for name in ("main.wf", "area.cc", "side.h"):
            os.utime(self.folder / name, (time.time() + 60,) * 2)
            self.assertTrue(makes(), name)
            os.utime(self.folder / name, (1, 1))
        self.assertFalse(makes())
        (self.folder / "side.h").unlink()
        self.assertTrue(makes())

    def test_tasks_that_block_are_marked(self):
        self.assertIn("blocking", harness.wfc("graph", PROGRAM, "--level=task").stdout)

    def test_tests_call_externs(self):
        self.assertIn("1 passed", harness.wfc("test", PROGRAM).stdout)

    def test_tests_of_several_programs_link_one_after_the_other(self):
        folders = [shutil.copytree(PROGRAM.parent, self.folder / f"again{n}") for n in range(3)]
        self.assertIn("3 passed", harness.wfc("test", *[folder / PROGRAM.name for folder in folders]).stdout)

    def test_a_remote_is_not_built(self):
        remote = 'remote area(side: f32) -> f32 = oip("shapes:8001") { balance least; retry 2; }\n'
        program = self.program(remote, "")
        self.assertIn("warning[WF9001]", harness.wfc("check", program).stderr)
        self.assertIn("remote", harness.wfc("graph", program, "--level=task").stdout)
        self.assertIn("error[WF9000]: `remote` is not built yet", self.build(program, status=1))
        self.write("main.wf", program.read_text() + '\ntest "unstubbed" { expect Main().y == 1.0; }\n')
        done = harness.wfc("test", program, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED unstubbed", done.stdout)
        self.assertIn("WF9000", done.stdout)
        self.assertIn("stub area(..) = ..", done.stdout)


if __name__ == "__main__":
    harness.main()
