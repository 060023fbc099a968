#!/usr/bin/env python3
"""Each check finds what it is for, and is silent about the same thing done right."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import lint  # noqa: E402

LAYERS = "runtime/base:\nruntime/loop: runtime/base\nruntime/protocol: runtime/base\n<uv.h> -> runtime/loop\n"


class Lint(unittest.TestCase):
    def findings(self, check, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"tests/lint/layers.txt": LAYERS, **files}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return [f"{name}:{line}: {message}" for name, line, message in lint.CHECKS[check](lint.Tree(folder))]

    def assert_finds(self, check, wrong, right, message):
        self.assertTrue(any(message in finding for finding in self.findings(check, wrong)), self.findings(check, wrong))
        self.assertEqual(self.findings(check, right), [])

    def test_includes_follow_the_layers(self):
        self.assert_finds("layers", {"runtime/protocol/http.cc": '#include "runtime/loop/loop.h"\n'},
                          {"runtime/loop/loop.cc": '#include "runtime/base/status.h"\n#include <uv.h>\n'}, "may not include `runtime/loop`")

    def test_headers_stand_at_the_head(self):
        head = '#pragma once\n// What it is.\n#include "runtime/base/status.h"\n#include <vector>\n'
        table = '#define OP(x) int x;\n#include "runtime/base/ops.def"\n'
        for below in ('#include "runtime/base/check.h"\n', "#include <string>\n"):
            self.assert_finds("includes", {"runtime/base/a.cc": head + "int F() {\n" + table + below + "}\n"},
                              {"runtime/base/a.cc": head + below + 'extern "C" {\n#include <c.h>\n}\nint F() {\n' + table + "}\n"}, "below the first declaration")

    def test_includes_stand_in_groups(self):
        own, others, ours = '#include "runtime/base/a.h"\n\n', "#include <fmt/format.h>\n\n#include <set>\n\n", '#include "runtime/base/b.h"\n'
        right = {"runtime/base/a.cc": own + others + ours, "runtime/base/c.cc": others + ours + "\n#include <c.h>  // knows what b.h does\n"}
        self.assert_finds("include-groups", {"runtime/base/a.cc": own + others + "#include <algorithm>\n\n" + ours}, right, "one kind")
        self.assert_finds("include-groups", {"runtime/base/a.cc": own + ours + "\n#include <set>\n"}, right, "stand behind all others")

    def test_a_use_needs_the_header_beside_it(self):
        headers = {"runtime/base/a.h": "#pragma once\nint Add(int a, int b);\ninline constexpr int kMost = 3;\n", "runtime/base/b.h": '#pragma once\n#include "runtime/base/a.h"\n'}
        call = "int Three() { return Add(1, 2); }\n"
        self.assert_finds("neighbours", {**headers, "runtime/base/c.cc": call}, {**headers, "runtime/base/c.cc": '#include "runtime/base/b.h"\n' + call},
                          "uses `Add` and does not include runtime/base/a.h")
        self.assertEqual(len(self.findings("neighbours", {**headers, "runtime/base/d.cc": "int Four() { return kMost + 1; }\n"})), 1)

    def test_foreign_headers_have_one_home(self):
        self.assert_finds("layers", {"runtime/protocol/http.cc": "#include <uv.h>\n"}, {"runtime/loop/a.cc": "#include <uv.h>\n"}, "<uv.h> belongs to")

    def test_every_folder_has_a_row(self):
        self.assert_finds("layers", {"runtime/new/a.cc": "\n"}, {"runtime/base/a.cc": "\n"}, "has no row")

    def test_cmake_agrees_with_the_layers(self):
        self.assert_finds("cmake-deps", {"runtime/loop/CMakeLists.txt": "wf_library(wf_loop)", "runtime/protocol/CMakeLists.txt": "wf_library(wf_protocol DEPS wf_loop)"},
                          {"runtime/base/CMakeLists.txt": "wf_library(wf_base)", "runtime/loop/CMakeLists.txt": "wf_library(wf_loop SRCS a.cc DEPS wf_base)"},
                          "may not depend on `runtime/loop`")

    def test_includes_need_a_dependency(self):
        files = {"runtime/base/CMakeLists.txt": "wf_library(wf_base)", "runtime/loop/a.cc": '#include "runtime/base/status.h"\n'}
        self.assert_finds("cmake-deps", {**files, "runtime/loop/CMakeLists.txt": "wf_library(wf_loop)"},
                          {**files, "runtime/loop/CMakeLists.txt": "wf_library(wf_loop DEPS wf_base)"}, "without depending on it")

    def test_sizes(self):
        self.assert_finds("sizes", {"runtime/base/a.h": "\n" * 201}, {"runtime/base/a.h": "\n" * 200, "runtime/base/a.cc": "\n" * 600}, "201 lines")
        self.assert_finds("sizes", {"runtime/base/a.cc": "\n" * 601}, {}, "601 lines")
        self.assert_finds("sizes", {"CMakeLists.txt": "\n" * 101}, {"CMakeLists.txt": "\n" * 100}, "more than 100")

    def test_the_top_of_the_tree_is_fixed(self):
        self.assert_finds("top-level", {"-": "v\n"}, {"runtime/base/a.cc": "\n", "LICENSE": "\n"}, "no place at the top")

    def test_what_a_mutex_guards_is_touched_under_it(self):
        header = '#pragma once\n#include "runtime/base/mutex.h"\nstruct A {\n  int Get();\n  wf::base::Mutex mutex;\n  int n WF_GUARDED_BY(mutex) = 0;\n};\n'
        real = Path(__file__).resolve().parents[2] / "runtime/base"
        files = {f"runtime/base/{name}": (real / name).read_text() for name in ("mutex.h", "clock.h")}
        def body(lock):
            return {**files, "runtime/loop/a.h": header, "runtime/loop/a.cc": f'#include "runtime/loop/a.h"\nint A::Get() {{\n  {lock}return n;\n}}\n'}
        self.assert_finds("thread-safety", body(""), body("wf::base::MutexLock lock(mutex); "), "requires holding mutex 'mutex'")

    def test_functions(self):
        def function(lines, head="int"):
            return {"runtime/base/a.cc": f"namespace wf {{\n{head} F() {{\n" + "  x();\n" * (lines - 2) + "}\n}  // namespace wf\n"}
        def member(lines):
            return {"runtime/base/a.h": "class A {\n public:\n  int F(int x,\n        int y) const {\n" + "    x();\n" * (lines - 3) + "  }\n};\n"}
        self.assert_finds("functions", function(71), function(70), "a function of 71 lines")
        self.assert_finds("functions", member(71), member(70), "a function of 71 lines")
        self.assert_finds("functions", function(71, "double"), function(70, "format::Text"), "a function of 71 lines")
        table = {"runtime/base/a.cc": "constexpr int kTable[] = {\n" + "    1,\n" * 100 + "};\n"}
        self.assertEqual(self.findings("functions", table), [])

    def test_parameters(self):
        five, six = ("int a, const std::map<int, int>& b, std::function<void(int, int)> c, int d = F(1, 2), int e" + more for more in ("", ",\n       int f"))
        for text in ("namespace wf {\nvoid F(LIST);\n}\n", "template <typename T>\nstatic T F(LIST) {\n  F(1, 2, 3, 4, 5, 6);\n}\n",
                     "class A {\n public:\n  explicit A(LIST);\n};\n", "struct A {\n  int F(LIST) const;\n  int x;\n};\n"):
            wrong, right = ({"runtime/base/a.h": text.replace("LIST", params)} for params in (six, five))
            self.assert_finds("parameters", wrong, right, "has 6 parameters")
        self.assertEqual(self.findings("parameters", {"runtime/base/a.cc": "void F() {\n  G(1, 2, 3, 4, 5, 6);\n}\nTABLE(1, 2, 3, 4, 5, 6)\n"}), [])
        known = {"compiler/parse/a.cc": f"void syntaxError({six}) {{\n}}\n"}
        self.assertEqual(self.findings("parameters", known), [])
        self.assertRegex("\n".join(self.findings("parameters", {"compiler/parse/a.cc": "void syntaxError(int a) {\n}\n"})), "no longer too many")

    def test_exceptions_stay_behind_their_walls(self):
        self.assert_finds("exceptions", {"runtime/base/a.cc": "void F() { throw 1; }\n"},
                          {"runtime/base/a.cc": '// never throw\nconst char* kText = "catch (";\nint n = 1\'000;\n', "compiler/parse/a.cc": "try {} catch (...) {}\n"}, "walls")

    def test_folders_explain_themselves(self):
        self.assert_finds("readmes", {"runtime/base/a.cc": "\n"}, {"runtime/base/a.cc": "\n", "runtime/base/README.md": "a\nb\nc\n", "tests/lint/README.md": "a\nb\nc\n"}, "no README")
        outer = {"tests/lint/README.md": "a\nb\nc\n", "runtime/kernels/a.cc": "\n", "runtime/kernels/README.md": "a\nb\nc\n", "runtime/kernels/cast/cast.h": "\n"}
        self.assert_finds("readmes", {**outer, "runtime/kernels/onednn/a.cc": "\n"}, outer, "no README")

    def test_diagnostics_have_pages_and_tests(self):
        row = {"compiler/diag/sema.def": 'DIAG(kUnknownName, 3001, Error,\n     "unknown name `{0}`")\n'}
        right = {**row, "docs/errors/WF3001.md": "x\n", "tests/lang/sema/fail_name.wf": "// error: WF3001\n"}
        self.assert_finds("diagnostics", row, right, "has no page")
        self.assert_finds("diagnostics", {**row, "docs/errors/WF3001.md": "x\n"}, right, "not exercised")
        self.assert_finds("diagnostics", {**right, "docs/errors/WF3002.md": "x\n"}, right, "no diagnostic has this code")
        self.assert_finds("diagnostics", {"compiler/diag/sema.def": 'DIAG(kA, 3001, Error, "Invalid name.")\n'}, right, "lower case")
        self.assert_finds("diagnostics", {"compiler/diag/sema.def": 'DIAG(kA, 3001, Error, "a")\nDIAG(kB, 3001, Error, "b")\n'}, right, "is also kA")

    def test_error_codes_are_named(self):
        table = {"runtime/base/error_codes.def": 'CODE(5000, 5999, kInputParams, "InputParams", kInvalidArgument, "a")\nPART(7004, kDimension, "b")\n'}
        right = {**table, "runtime/base/a.cc": "int n = 5'000 + 7007;  // never 7004\nint m = kInputParams;\n"}
        for code in ("5000", "7004"):
            self.assert_finds("codes", {**table, "runtime/base/a.cc": f"int n = F({code});\n"}, right, "a bare " + code)

    def test_statuses_of_error_codes_are_told(self):
        tables = {"runtime/base/error_codes.def": 'CODE(7000, 7999, kType, "Type", kInternal, "a")\nCODE(50, 999, kProduct, "Product", kInvalidArgument, "b")\n',
                  "runtime/base/status_codes.def": 'STATUS(kInternal, "internal", 13, 500)\nSTATUS(kInvalidArgument, "invalid_argument", 3, 400)\n'}
        right = {**tables, "docs/protocols.md": "| 7000-7999 | Type | 500 | 500 | INTERNAL 13 | wrong data |\n"}
        self.assert_finds("statuses", {**tables, "docs/protocols.md": "| 7000-7999 | Type | 400 | 400 | INTERNAL 13 | wrong data |\n"}, right, "`Type` is answered with 500")
        self.assert_finds("statuses", {**tables, "docs/protocols.md": "x\n"}, right, "says nothing")

    def test_words(self):
        self.assert_finds("words", {"runtime/base/a.cc": "// TO" + "DO: later\n"}, {"runtime/base/a.cc": "// do it later, or today\n"}, "unfinished")
        self.assert_finds("words", {"runtime/base/a.cc": "// see /wor" + "k/main\n"}, {"runtime/base/a.cc": "// see docs/work/main\n"}, "one machine")
        skip = "  GTEST_SK" + "IP() << \"this CPU has no AVX-512\";\n"
        self.assert_finds("words", {"tests/a.cc": skip.replace("CPU", "test")}, {"tests/a.cc": skip}, "does not run")

    def test_pages_that_are_named_exist(self):
        self.assert_finds("links", {"runtime/base/a.h": "// docs/ir.md has the rules\n"}, {"runtime/base/a.h": "// docs/ir.md has the rules\n", "docs/ir.md": "x\n"}, "does not exist")
        self.assert_finds("links", {"runtime/base/a.h": "// ir.md has the rules\n"}, {"runtime/base/a.h": 'int x;  // docs/ir.md\nauto a = "a.md";\n', "docs/ir.md": "x\n"}, "ir.md does not")
        self.assert_finds("links", {"README.md": "[a](docs/a.md#b)\n"}, {"README.md": "[a](docs/a.md#b) [b](https://example.org)\n", "docs/a.md": "x\n"}, "does not exist")

    def test_every_rule_of_the_grammar_has_a_row(self):
        page = {"grammar/README.md": "# grammar\n\n| rule | node |\n| --- | --- |\n| file | `File` and decl |\n"}
        wrong = {**page, "grammar/WfParser.g4": "file : decl* ;\ndecl\n  : fnDecl\n  ;\n"}
        right = {**page, "grammar/WfParser.g4": "file : DECL* ; // decl : comes later\n"}
        self.assert_finds("grammar", wrong, right, "`decl` has no row")

    def test_every_rule_is_shown_and_broken(self):
        home = "tests/lang/rules/"
        page = "docs/semantics.md"
        right = {f"{home}{how}r{rule}_x.wf": "x\n" for rule in lint.RULES for how in ("", "fail_")}
        right[page] = "".join(f"### {rule.lstrip('0')} A rule\n" for rule in lint.RULES)
        fewer = {name: text for name, text in right.items() if name != home + "fail_r05_x.wf"}
        self.assert_finds("rules", fewer, right, "rule 05 is broken by nothing")
        elsewhere = {**fewer, home + "elsewhere.txt": "# rule 5\nbroken 05 tests/e2e/a_test.py\n"}
        self.assert_finds("rules", elsewhere, {**elsewhere, "tests/e2e/a_test.py": "x\n"}, "no such test")
        self.assert_finds("rules", {**right, home + "limits.wf": "x\n"}, right, "says no rule")
        self.assert_finds("rules", {**right, page: right[page].replace("### 18a ", "### 18 ")}, right, "rule 18a is missing")

    @unittest.skipIf(lint.shutil.which("clang-format-19") is None, "scripts/setup installs clang-format-19")
    def test_format(self):
        self.assert_finds("format", {".clang-format": "BasedOnStyle: Google\n", "runtime/base/a.cc": "int  a ;\n"},
                          {".clang-format": "BasedOnStyle: Google\n", "runtime/base/a.cc": "int a;\n"}, "clang-format-19")


if __name__ == "__main__":
    unittest.main()
