#!/usr/bin/env python3
"""wfc breaking: what each kind of change means to clients, from the source and from a built server."""
import json
import unittest

import harness

# Before, after, the impact of the worst change, and words of a line of the report. A row's texts stand in the program below.
PROGRAM = """
type Box {{ left: f32; label: string?; }}
error Empty = 100001 "nothing given";
{errors}
workflow W({params}) -> ({results}) {{
  {body}
  return ({values});
}}
workflow Other(text: string = "a") -> (text: string) {{
  return (text: text);
}}
service S {{
  {service}
}}
{more}
"""
DEFAULTS = {"errors": "", "params": "x: f32[n]", "results": "y: f32[n]", "body": "", "values": "y: x", "service": "workflow W; workflow Other;", "more": ""}


def program(**parts):
    return PROGRAM.format(**{**DEFAULTS, **parts})


def params(text, **more):
    return {"params": text, "results": "n: i64", "values": "n: 1", **more}


def results(text, values, **more):
    return {"params": "x: f32[n], i: i64", "results": text, "values": values, **more}


BREAKING, ADDITION, DETAIL, SAME = "breaking", "addition", "detail", None
ROWS = [
    ({}, {}, SAME, "the interface is the same: patch"),
    # parameters
    (params("a: i64, b: i64 = 1"), params("a: i64"), BREAKING, "parameter `b` is gone: calls that send it are refused"),
    (params("a: i64"), params("a: i64, b: i64"), BREAKING, "parameter `b` is new and required"),
    (params("a: i64"), params("a: i64, b: i64 = 2"), ADDITION, "parameter `b` is new"),
    (params("a: i64"), params("a: i64, b: i64?"), ADDITION, "parameter `b` is new"),
    (params("a: i64 = 1"), params("a: i64"), BREAKING, "parameter `a` is now required"),
    (params("a: i64"), params("a: i64 = 1"), ADDITION, "parameter `a` may now be left out"),
    (params("a: i64 = 1"), params("a: i64 = 2"), BREAKING, "the default of `a` was `1`, is `2`"),
    (params("a: i64, b: i64"), params("b: i64, a: i64"), SAME, "patch"),
    (params("a: i32"), params("a: i64"), BREAKING, "parameter `a` was `i32`, is `i64`"),
    (params("a: i64"), params("a: i64?"), ADDITION, 'parameter `a` may now be null: `{"a":null}` is taken'),
    (params("a: i64?"), params("a: i64"), BREAKING, 'parameter `a` may no longer be null: `{"a":null}` is refused'),
    (params("a: list<i64>"), params("a: list<i64?>"), BREAKING, "`a` was i64 of rank 1 on the Open Inference Protocol, is BYTES with JSON"),
    # shapes
    (params("x: f32[n]"), params("x: f32[m]"), SAME, "patch"),
    (params("x: f32[n]"), params("x: f32[n, 1]"), BREAKING, "was `f32[n]`, is `f32[n, 1]`"),
    (params("x: f32[n]"), params("x: f32[8]"), BREAKING, "shapes that were taken are refused"),
    (params("x: f32[8]"), params("x: f32[n]"), ADDITION, "more shapes are taken"),
    (params("x: f32[8]"), params("x: f32[2*n]"), ADDITION, "more shapes are taken"),
    (params("x: f32[7]"), params("x: f32[2*n]"), BREAKING, "shapes that were taken are refused"),
    (params("x: f32[n]"), params("x: f32[2*n]"), BREAKING, "shapes that were taken are refused"),
    (params("x: f32[4*n]"), params("x: f32[2*n]"), ADDITION, "more shapes are taken"),
    (params("x: f32[n], z: f32[m]"), params("x: f32[n], z: f32[n]"), BREAKING, "parameter `z` was `f32[m]`, is `f32[n]`"),
    (params("x: f32[n], z: f32[n]"), params("x: f32[n], z: f32[m]"), ADDITION, "more shapes are taken"),
    (params("x: f32[n], z: f32[2*n]"), params("x: f32[m], z: f32[2*m]"), SAME, "patch"),
    (results("y: f32[n]", "y: x"), results("y: f32[m]", "y: tensor.reshape(x, i)", params="x: f32[n], i: i64"), BREAKING, "result `y` was `f32[n]`, is `f32[m]`"),
    (results("y: f32[m]", "y: tensor.reshape(x, i)"), results("y: f32[n]", "y: x"), SAME, "patch"),
    (results("y: f32[k, 1]", "y: tensor.reshape(x, i, 1)"), results("y: f32[3, 1]", "y: tensor.reshape(x, 3, 1)"), SAME, "patch"),
    (results("y: f32[3, 1]", "y: tensor.reshape(x, 3, 1)"), results("y: f32[k, 1]", "y: tensor.reshape(x, i, 1)"), BREAKING, "shapes that calls relied on no longer hold"),
    # results
    (results("y: f32[_, _]", "y: tensor.reshape(x, i, i)"), results("y: f32[_, _]", "y: tensor.reshape(x, i, i)"), SAME, "patch"),
    (results("y: f32[_, _]", "y: tensor.reshape(x, i, i)"), results("y: f32[a, b]", "y: tensor.reshape(x, i, i)"), SAME, "patch"),
    (results("y: f32[a, a]", "y: tensor.reshape(x, i, i)"), results("y: f32[_, _]", "y: tensor.reshape(x, i, i)"), BREAKING, "shapes that calls relied on no longer hold"),
    (results("y: i64, z: i64", "y: 1, z: 2"), results("y: i64", "y: 1"), BREAKING, "result `z` is gone"),
    (results("y: i64", "y: 1"), results("y: i64, z: i64", "y: 1, z: 2"), ADDITION, "result `z` is new"),
    (results("y: i64", "y: 1"), results("y: i64?", "y: i"), BREAKING, "result `y` may now be null"),
    (results("y: list<i64>?", "y: none"), results("y: list<i64>", "y: [i]"), BREAKING, "on the Open Inference Protocol"),
    (results("y: Box?", "y: none"), results("y: Box", "y: Box(left: 1.0, label: none)"), DETAIL, "result `y` is never null now"),
    # members of records
    (params("b: (left: f32)"), params("b: Box"), ADDITION, "member `label` of parameter `b` is new"),
    (params("b: Box"), params("b: (left: f32)"), BREAKING, "member `label` of parameter `b` is gone"),
    (params("b: Box"), params("b: (left: f32, label: string?)"), SAME, "patch"),
    (params("b: list<(left: f32)>"), params("b: list<(left: f32, top: f32)>"), BREAKING, "member `top` of an element of parameter `b` is new and required"),
    (results("b: (left: f32)", "b: (left: 1.0)"), results("b: Box", "b: Box(left: 1.0, label: none)"), ADDITION, "member `label` of result `b` is new"),
    (params("b: (label: string)"), params("b: (label: string?)"), ADDITION, '`label` of parameter `b` may now be null or left out: `{"b":{"label":null}}` is taken'),
    (params("b: (label: string?)"), params("b: (label: string)"), BREAKING, '`label` of parameter `b` may no longer be null or left out: `{"b":{"label":null}}` is refused'),
    (params("b: list<(label: string)>"), params("b: list<(label: string?)>"), ADDITION, '`label` of an element of parameter `b` may now be null or left out: `{"b":[{"label":null}]}` is taken'),
    (params("b: map<Box>"), params("b: map<(left: f32?, label: string?)>"), ADDITION, '`left` of an element of parameter `b` may now be null or left out: `{"b":{"a":{"left":null}}}`'),
    (params("b: (label: i64?)"), params("b: (label: string)"), BREAKING, "`label` of parameter `b` was `i64`, is `string`"),
    (results("b: (label: i64)", "b: (label: i)"), results("b: (label: i64?)", "b: (label: i)"), BREAKING,
     '`label` of result `b` may now be null: clients that rely on a value may get `{"b":{"label":null}}`'),
    (results("b: list<(label: i64?)>", "b: [(label: i)]"), results("b: list<(label: i64)>", "b: [(label: i)]"), DETAIL,
     '`label` of an element of result `b` is never null now: no answer is `{"b":[{"label":null}]}`'),
    (params("a: f32[8]? = none"), params("a: f32[4]? = none"), BREAKING, "parameter `a` was `f32[8]`, is `f32[4]`: shapes that were taken are refused"),
    # raw bodies
    (params("a: bytes"), params("a: bytes = empty", errors='const empty = file("empty");'), BREAKING, "the body is no longer taken as `a`"),
    (params("a: bytes, b: bytes"), params("a: bytes, b: bytes = empty", errors='const empty = file("empty");'), ADDITION, "a body that is not JSON is now taken as `a`"),
    # errors
    ({"body": "require n > 0 else fail Empty;"}, {"body": "require n > 0 else fail Empty;", "errors": "", "more": ""}, SAME, "patch"),
    ({}, {"body": "require n > 0 else fail Empty;"}, ADDITION, "S/W: it may fail with 100001 `Empty`, HTTP 400"),
    ({"body": "require n > 0 else fail Empty;"}, {}, DETAIL, "S/W: it no longer fails with 100001 `Empty`"),
    ({"errors": 'error E = 100002 "a";', "body": "require n > 0 else fail E;"}, {"errors": 'error E = 100003 "a";', "body": "require n > 0 else fail E;"}, BREAKING,
     "the code of error `E` was 100002, is 100003"),
    ({"errors": 'error E = 100002 "a";', "body": "require n > 0 else fail E;"}, {"errors": 'error E = 100002 "a" as not_found;', "body": "require n > 0 else fail E;"}, BREAKING,
     "error 100002 `E` was HTTP 400"),
    ({"errors": 'error E = 100002 "a";', "body": "require n > 0 else fail E;"}, {"errors": 'error E = 100002 "b";', "body": "require n > 0 else fail E;"}, DETAIL,
     "says something else"),
    ({"errors": 'fn f(n: i64) -> i64 { require n > 0 else fail Empty; n }', "body": "node a = f(n); require a > 0;"},
     {"errors": 'fn f(n: i64) -> i64 { require n > 0 else fail Empty; n }', "body": "node a = f(n) else 1; require a > 0;"}, DETAIL, "it no longer fails with 100001"),
    # metadata
    ({"body": 'let k = meta("k", 1); annotate("a", k);'}, {"body": 'let k = 1; annotate("a", k);'}, BREAKING, "metadata `k` is no longer read"),
    ({"body": 'let k = meta("k", 1); annotate("a", k);'}, {"body": 'let k = meta("k", 1.5); annotate("a", k);'}, BREAKING, "metadata `k` was `i64`, is `f32`"),
    ({"body": 'let k = meta("k", 1); annotate("a", k);'}, {"body": 'let k = meta("k", 2); annotate("a", k);'}, BREAKING, "the default of metadata `k` was `1`, is `2`"),
    ({"body": 'let k = 1; annotate("a", k);'}, {"body": 'let k = meta("k", 2); annotate("a", k);'}, ADDITION, "metadata `k` is read"),
    ({"body": 'annotate("a", n);'}, {}, BREAKING, "annotation `a` no longer comes"),
    ({}, {"body": 'annotate("a", n);'}, ADDITION, "annotation `a` is new"),
    # routes
    ({}, {"service": "workflow W;"}, BREAKING, "`POST /S/Other` is gone"),
    ({}, {"service": 'workflow W; workflow Other as "Else";'}, BREAKING, "`POST /S/Else` is new"),
    ({"service": "workflow W;"}, {}, ADDITION, "`POST /S/Other` is new"),
    ({}, {"service": "workflow Other; workflow W;"}, BREAKING, "model name `S` of the Open Inference Protocol was `S/W`, is `S/Other`"),
    ({}, {"more": "service T { workflow W; }"}, BREAKING, "model name `W` of the Open Inference Protocol was `S/W`, is no call"),
    ({}, {"more": 'service T { workflow W as "Again"; }'}, ADDITION, "service `T` is new"),
    ({"more": 'service T { workflow W as "Again"; }'}, {}, BREAKING, "service `T` is gone"),
    # limits of a service
    ({}, {"service": "workflow W; workflow Other; body 1MiB;"}, BREAKING, "`body` was 64MiB, is 1MiB"),
    ({}, {"service": "workflow W; workflow Other; body 65MiB;"}, ADDITION, "`body` was 64MiB, is 65MiB"),
    ({"service": "workflow W; workflow Other; rows 100;"}, {"service": "workflow W; workflow Other; rows 10;"}, BREAKING, "`rows` was 100, is 10"),
    ({}, {"service": "workflow W; workflow Other; timeout 1s;"}, DETAIL, "`timeout` was 30s, is 1s"),
]

MODEL = """model M(x: f32[batch, n]) -> f32[batch, {out}] = onnx("m.onnx") {{ {settings} }}
workflow W(x: f32[n]) -> (y: f32[{out}]) {{
  node y = M(x);
  return (y: y);
}}
service S {{ {member}; }}
"""
MODEL_ROWS = [
    ("versions latest 1;", "model M", "versions latest 2;", "model M", ADDITION),
    ("versions latest 10;", "model M", "versions latest 9;", "model M", BREAKING),
    ("versions latest 2;", "model M", "versions all;", "model M", ADDITION),
    ("versions all;", "model M", "versions latest 2;", "model M", BREAKING),
    ("versions specific 1 2;", "model M", "versions specific 2 3 1;", "model M", ADDITION),
    ("versions specific 1 2;", "model M", "versions specific 2;", "model M", BREAKING),
    ("", "model M", "", 'workflow W as "M"', BREAKING),
]


class Breaking(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = harness.scratch() / "breaking"
        cls.folder.mkdir(exist_ok=True)
        (cls.folder / "empty").write_bytes(b"")

    def file(self, name, text):
        path = self.folder / name
        path.write_text("import std.tensor;\n" + text if "tensor." in text else text, encoding="utf-8")
        return path

    def compare(self, old, new, *flags):
        done = harness.wfc("breaking", "--against", old, new, *flags, check=False)
        self.assertNotIn("error", done.stderr, "\n".join(one.read_text() for one in (old, new) if one.suffix))
        return done

    def expect(self, old, new, impact, words):
        done = self.compare(old, new)
        self.assertIn(words, done.stdout)
        impacts = {line.split(": ")[1] for line in done.stdout.splitlines()[:-1]}
        worst = next((word for word in (BREAKING, ADDITION, DETAIL) if word in impacts), SAME)
        self.assertEqual((worst, done.returncode), (impact, 1 if impact == BREAKING else 0), done.stdout)
        verdict = {BREAKING: "major", ADDITION: "minor"}.get(impact, "patch")
        self.assertTrue(done.stdout.endswith(f": {verdict}\n"), done.stdout)

    def test_each_change(self):
        for number, (before, after, impact, words) in enumerate(ROWS):
            with self.subTest(number=number, words=words):
                self.expect(self.file("old.wf", program(**before)), self.file("new.wf", program(**after)), impact, words)

    def test_published_models(self):
        for before, member, after, other, impact in MODEL_ROWS:
            with self.subTest(before=before, after=after, other=other):
                old = self.file("old.wf", MODEL.format(out="n", settings=before, member=member))
                self.expect(old, self.file("new.wf", MODEL.format(out="n", settings=after, member=other)), impact, "versions")
        old = self.file("old.wf", MODEL.format(out="10", settings="", member="model M"))
        self.expect(old, self.file("new.wf", MODEL.format(out="11", settings="", member="model M")), BREAKING, "was `f32[10]`, is `f32[11]`")

    def test_a_server_is_as_good_as_its_source(self):
        parts = {"params": "x: f32[n], z: f32[2*n], b: Box, m: map<list<i64?>> , t: string = \"\u00e9\\\"\"", "body": 'require n > 0 else fail Empty; annotate("a", n);'}
        old, new = self.file("old.wf", program(**parts)), self.file("new.wf", program(params="x: f32[8]"))
        server = self.folder / "server"
        harness.wfc("build", old, "-o", server)
        self.assertIn("the interface is the same", self.compare(server, old).stdout)
        from_source, from_server = (json.loads(self.compare(one, new, "--format=json").stdout) for one in (old, server))
        self.assertEqual(from_source, from_server)
        self.assertEqual(from_source["verdict"], "major")
        self.assertIn({"impact": "breaking", "where": "S/W", "message": "parameter `b` is gone: calls that send it are refused", "file": str(new), "line": 5, "column": 10},
                      from_source["changes"])
        self.assertEqual(json.loads(harness.wfc("inspect", "--format=json", server).stdout)["interface"]["services"][0]["name"], "S")

    def test_defaults_of_a_server_are_those_of_its_source(self):
        """Types of parameters and of metadata, with values whose text is one thing and whose number, or order, another."""
        values = [("f32", "0.4"), ("f32", "-0.1"), ("f32", "1.0"), ("f32", "-0.0"), ("f32", "16777216.0"), ("f32", "3.4028235e38"), ("f32", "1e-45"),
                  ("f32", "1e16"), ("f64", "0.1"), ("f64", "1e308"), ("f64", "5e-324"), ("f64", "1e19"), ("f64", "123456789012345680.0"), ("f64", "2.0"),
                  ("i64", "-9223372036854775807"), ("i64", "9223372036854775807"), ("u64", "18446744073709551615"), ("i8", "-128"), ("bool", "true"),
                  ("string", '"a\\"\\\\b\\n\\t/é\u2028🙂"'), ("string", '""'), ("list<f32>", "[0.1, -0.0, 3.0]"), ("list<string>", '["a", "\\""]'),
                  ("Box", "Box(left: 0.3, label: none)"), ("Box", 'Box(left: 0.3, label: "x")'), ("list<Box>", '[Box(left: -0.7, label: "x")]'),
                  ("f32[2, 2]", "[[0.1, 0.2], [0.3, 0.4]]"), ("i64?", "none"), ("f32?", "0.6"), ("bytes", 'file("bytes")'), ("map<f32>", 'json("map.json")')]
        (self.folder / "bytes").write_bytes(bytes(range(256)))
        (self.folder / "map.json").write_text('{"z": 0.1, "a": -0.0, "\u00e9": 3, "B": 1e30}')
        consts = "".join(f"const c{i}: {type} = {value};\n" for i, (type, value) in enumerate(values))
        params = ", ".join(f"p{i}: {type} = c{i}" for i, (type, value) in enumerate(values))
        read = "".join(f'let m{i} = meta("k{i}", {value}); annotate("a{i}", m{i});\n' for i, (type, value) in enumerate(values)
                       if type in ("f32", "i64", "string", "bool") and "9223" not in value)
        source = self.file("defaults.wf", program(errors=consts, body=read, params=params, results="n: i64", values="n: 1"))
        server = self.folder / "defaults"
        harness.wfc("build", source, "-o", server)
        for old, new in ((server, source), (source, server), (server, server)):
            self.assertIn("the interface is the same: patch", self.compare(old, new).stdout)
        for form in ("openapi", "proto"):
            of_source, of_server = (harness.wfc("export", f"--format={form}", one).stdout for one in (source, server))
            self.assertEqual(of_source, of_server)
        self.assertEqual(harness.wfc("doc", source).stdout.split("# std.")[0].strip(), harness.wfc("doc", server).stdout.strip())
        other = self.file("other.wf", source.read_text().replace("const c0: f32 = 0.4", "const c0: f32 = 0.5"))
        self.assertIn("the default of `p0` was `0.4`, is `0.5`", self.compare(server, other).stdout)


if __name__ == "__main__":
    unittest.main()
