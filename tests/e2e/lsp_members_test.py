#!/usr/bin/env python3
"""wfc lsp: members of results, what is offered where, and files that the editor watches."""
import asyncio
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment()

from lsprotocol import types as lsp  # noqa: E402

from lsp_editor import Editor, Session  # noqa: E402

MEMBERS = """type Box {
  left: f32;
  top: f32;
}

error Empty = 100001 "nothing given";

model Scores(x: f32[1, 4]) -> (heat: f32[1, 2], tags: f32[1, 3]) = onnx("missing.onnx");

fn ends(n: i64) -> (lo: i64, hi: i64) = (lo: n, hi: n + 1);

workflow W(n: i64, boxes: list<Box>) -> (text: string, m: i64) {
  require n > 0 else fail Empty;
  let pair = ends(n);
  let label = "x {pair.lo} {boxes[0].left}";
  node top = boxes[0].top {
    priority high;
  } else f32(err.code);
  node other = ends(n: 1).hi;
  node scores = Scores(x: [i < 1, j < 4] => top);
  node warm = scores.heat[0, 0];
  return (text: "{label} {warm} {pair.hi}", m: pair.hi + other);
}

workflow V(n: i64) -> (text: string) {
  node m = W(n, boxes: []).m;
  return (text: "{m}");
}

test "first" {
  stub Scores(x: f32[1, 4]) = (heat: [i < 1, j < 2] => x[i, j], tags: [i < 1, j < 3] => x[i, j]);
  let q = W(n: 1, boxes: [Box(left: 1.0, top: 2.0)]);
  expect q.text == "x 1 1 2 2";
  expect W(n: 0, boxes: [Box(left: 1.0, top: 2.0)]) fails Empty;
}

service S {
  workflow W;
  workflow V;
}
"""


class Members(Session):
    async def test_words_that_nothing_declares_are_told_of(self):
        editor = self.edit(
            "fn f(n: i64) -> f32 {\n  require n > 0 else fail Refused(\"no\");\n  f32(n)\n}\n\n"
            "workflow W(n: i64) -> (y: f32, code: i32) {\n  node y = f(n) else if err.code == 6000 { 1.0 } else { 2.0 };\n"
            "  node code = i32(y);\n  return (y: y, code: code);\n}\n\ntest \"t\" {\n  expect f(0) fails Timeout;\n}\n")
        self.assertIn("fn f32(x: T) -> f32", await self.hover(editor, "f3|2(n)"))
        self.assertIn("0 for NaN", await self.hover(editor, "i3|2(y)"))
        self.assertIsNone(await self.hover(editor, "-> f3|2 {"))
        self.assertIn("err: (code: i32, message: string, node: string)", await self.hover(editor, "er|r.code"))
        self.assertIn('error Refused = 3010 "the server has no room"', await self.hover(editor, "Refu|sed"))
        self.assertIn('error Timeout = 6000 "the time is over"', await self.hover(editor, "Time|out"))

    async def test_completion_of_members(self):
        editor = self.edit(MEMBERS)
        self.assertEqual(await self.labels(editor, '"x {|pair'), ["n", "boxes", "pair"])
        self.assertNotIn("label", await self.labels(editor, 'let label = |"x'))
        self.assertNotIn("top", await self.labels(editor, "top = boxes[|0]"))
        self.assertEqual(await self.labels(editor, "x {pair.|lo"), ["lo", "hi"])
        self.assertEqual(await self.labels(editor, "{boxes[0].|left"), ["left", "top"])
        self.assertEqual(await self.labels(editor, "boxes[0].|top"), ["left", "top"])
        self.assertEqual(await self.labels(editor, "err.|code"), ["code", "message", "node"])
        self.assertEqual(await self.labels(editor, "ends(n: 1).|hi"), ["lo", "hi"])
        self.assertEqual(await self.labels(editor, "q.|text"), ["text", "m"])
        self.assertEqual(await self.labels(editor, "boxes: []).|m"), ["text", "m"])
        self.assertEqual(await self.labels(editor, 'return (|text: "{label'), ["text:", "m:", *await self.labels(editor, "m: |pair.hi +")])
        self.assertIn("m:", await self.labels(editor, 'hi}", |m:'))
        self.assertNotIn("text:", await self.labels(editor, 'hi}", |m:'))
        self.assertEqual(await self.labels(editor, "priority |high"), ["high", "normal", "low"])
        self.assertEqual((await self.labels(editor, "fails |Empty"))[0], "Empty")
        self.assertEqual(await self.labels(editor, "stub |Scores"), ["Scores", "meta"])
        await self.client.diagnostics(editor)
        editor.change(MEMBERS.replace("expect q.text", "expect q."))
        self.assertEqual(await self.labels(editor, "expect q.|"), ["text", "m"])

    async def test_what_the_library_has_for_itself_is_not_offered(self):
        editor = self.edit("import std.image;\n\nfn f(px: u8[h, w, 3]) -> i64 = image.decode(px);\n")
        offered = await self.labels(editor, "image.|decode")
        self.assertIn("decode", offered)
        self.assertNotIn("centre", offered)

    async def test_members_in_a_text_that_is_not_closed(self):
        head = MEMBERS[:MEMBERS.index("  let label")]
        rows = [("  node z = boxes[0].", ["left", "top"]), ("  let z = pair.", ["lo", "hi"]), ("  node z = ends(pair.", ["lo", "hi"]), ('  let z = "{pair.', ["lo", "hi"]),
                ("  node z = for box in boxes { box.", ["left", "top"]), ("  node z = if n > 0 { pair.", ["lo", "hi"]),
                ("  let z = fold sum = 0.0 for box in boxes { sum + box.", ["left", "top"])]
        for typed, wanted in rows:
            for rest in ("", "\n" + MEMBERS[len(head):]):  # the file ends there, or goes on
                for opened in (head + typed + rest, MEMBERS):  # it is so when opened, or becomes so
                    with self.subTest(typed=typed, rest=bool(rest), sound=opened == MEMBERS):
                        editor = Editor(self.client, (self.folder / "open.wf").as_uri(), opened)
                        editor.open()
                        editor.change(head + typed + rest)
                        self.assertEqual(await self.labels_at(editor, editor.position(len(head + typed))), wanted)
                        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=editor.document))

    async def test_members_are_those_of_the_type_that_is_meant(self):
        (self.folder / "aa.wf").write_text("type Box {\n  p: i64;\n}\n", encoding="utf-8")
        editor = self.edit("import aa;\ntype Box { q: i64; }\nworkflow W(z: list<aa.Box>) -> (r: i64) {\n  return (r: z[0].p);\n}\n")
        self.assertEqual(await self.labels(editor, "z[0].|p"), ["p"])
        editor.change(editor.text.replace("z[0].p", "z[0]."))
        self.assertEqual(await self.labels(editor, "z[0].|"), ["p"])

    async def test_members_of_any_expression(self):
        head = "type Box {\n  x: f32;\n  y: f32;\n}\n\n"
        rows = ["fn g(bs: list<Box>) -> list<f32> = [q.| for q in bs];", "fn g(bs: list<Box>) -> list<f32> = [1.0 for q in bs if q.|];",
                "fn g(o: Box?) -> f32 = match o { none => 0.0, v => v.| };", "fn g(o: Box?) -> f32 = match o { none => 0.0, v => v.|",
                "fn first(bs: list<Box>, n: i64) -> list<Box> = bs;\nfn g(bs: list<Box>) -> f32 = (bs |> first(3))[0].|;",
                "fn g(o: Box?, b: Box) -> f32 = (o ?? b).|;", "fn g(b: Box) -> f32 = b.|;", "fn g(b: Box) -> f32 = b.|", "fn g(b: Box) -> f32 {\n  let c = b;\n  c.|\n}",
                "fn g(b: Box) -> f32 {\n  let c = b;\n  c.|", "fn g(b: Box) -> f32 = b.|\n\nfn last(b: Box) -> Box = b;",
                "fn g(b: Box) -> f32 = (if true { b } else { b }).|;", "fn g(b: Box) -> f32 = [Box(x: 1.0, y: 2.0), b][1].|;"]
        for row in rows:
            for typed in ("", "x"):
                with self.subTest(row=row, typed=typed):
                    before, after = (head + row).split("|") if row.count("|") == 1 else (head + row).rsplit("|", 1)
                    editor = Editor(self.client, (self.folder / "any.wf").as_uri(), before + typed + after + "\n")
                    editor.open()
                    self.assertEqual(await self.labels_at(editor, editor.position(len(before + typed))), ["x", "y"])
                    self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=editor.document))

    async def test_members_behind_a_wrong_call(self):
        head = ("type Box {\n  x: f32;\n  y: f32;\n}\n\nfn box(n: i64, side: f32) -> Box = Box(x: f32(n), y: side);\nfn boxes(n: i64) -> list<Box> = [];\n"
                "workflow V(n: i64) -> (x: f32, y: f32) {\n  return (x: f32(n), y: 1.0);\n}\n\n")
        rows = ["fn g(n: i64) -> f32 = box(n).|;", "fn g(n: i64) -> f32 = box(n, 1.0, 2.0).|;", "fn g(n: i64) -> f32 = box(n, \"a\").|;", "fn g(n: i64) -> f32 = box(n, sid: 1.0).|;",
                "fn g(n: i64) -> f32 = Box(x: 1.0).|;", "fn g(n: i64) -> f32 {\n  let b = box(n);\n  b.|\n}", "fn g(n: i64) -> f32 = boxes()[0].|;",
                "fn g(n: i64) -> list<f32> = [b.| for b in boxes()];", "fn g(n: i64) -> list<f32> = [b.| for i, b in enumerate(boxes(1.0))];",
                "fn g(n: i64) -> f32 = box(n, box(n).|);", "workflow W(n: i64) -> (z: f32) {\n  node v = V();\n  return (z: v.|);\n}",
                "workflow W(n: i64) -> (z: f32) {\n  let v = V(n);\n  return (z: v.|);\n}", "workflow W(n: i64) -> (z: f32) {\n  node v = V(n, 2);\n  node w = v.| else 0.0;\n  return (z: w);\n}",
                "test \"t\" {\n  let v = V(\"a\");\n  expect v.| == 1.0;\n}"]
        for row in rows:
            for typed in ("", "x"):
                with self.subTest(row=row, typed=typed):
                    before, after = (head + row).split("|")
                    editor = Editor(self.client, (self.folder / "wrong.wf").as_uri(), before + typed + after + "\n")
                    editor.open()
                    self.assertEqual(await self.labels_at(editor, editor.position(len(before + typed))), ["x", "y"])
                    self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=editor.document))

    async def test_names_are_those_in_reach(self):
        text = ("fn g(secret: i64) -> i64 {\n  let hidden = secret + 1;\n  hidden\n}\n\n"
                "workflow W(names: list<i64>, c: bool) -> (q: i64) {\n"
                "  node firsts = for elem in names { let half = g(elem); half };\n"
                "  if c {\n    node inner = g(2);\n    return (q: inner);\n  }\n"
                "  node last = sum[k < 3](k);\n  return (q: firsts[0] + last);\n}\n")
        editor = self.edit(text)
        self.assertEqual(await self.client.diagnostics(editor), [])
        local = {"secret", "hidden", "names", "c", "firsts", "elem", "half", "inner", "last", "k"}
        rows = [("firsts[0] + |last", ["names", "c", "firsts", "last"]), ("|half }", ["names", "c", "elem", "half"]), ("inner = |g(2)", ["names", "c", "firsts"]),
                ("(q: |inner", ["names", "c", "firsts", "inner"]), ("(|k);", ["names", "c", "firsts", "k"]), ("  |hidden\n", ["secret", "hidden"])]
        for words, wanted in rows:
            with self.subTest(words=words):
                self.assertEqual([label for label in await self.labels(editor, words) if label in local], wanted)
        # Also where it does not parse: what stands below is known, and out of reach.
        for was, words, wanted in (("inner = g(2);", "inner = |\n", ["names", "c", "firsts"]), ("firsts[0] + last);", "firsts[0] + |\n", ["names", "c", "firsts", "last"])):
            editor.change(text.replace(was, words.replace("|", "").rstrip("\n")))
            self.assertEqual([label for label in await self.labels(editor, words) if label in local], wanted)
        found = await self.client.text_document_completion_async(lsp.CompletionParams(text_document=editor.document, position=editor.at("firsts[0] + |\n")))
        self.assertEqual({item.label: item.detail for item in found}["firsts"], "list<i64>")  # as it was when it parsed

    async def test_completion_in_a_service(self):
        head = "workflow W(n: i64) -> (m: i64) {\n  return (m: n);\n}\n\nservice S {\n  workflow W;\n  "
        for typed, wanted in (("body ", []), ("timeout ", []), ("body 1", []), ("workflow ", ["W"]), ("model ", [])):
            for end in ("", ";"):
                with self.subTest(typed=typed, end=end):
                    editor = Editor(self.client, (self.folder / "service.wf").as_uri(), head + typed + end + "\n}\n")
                    editor.open()
                    self.assertEqual(await self.labels_at(editor, editor.position(len(head + typed))), wanted)
                    self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=editor.document))

    async def test_completion_of_patterns_extents_and_values_of_settings(self):
        head = "model D(x: f32[batch, 4, w]) -> (y: f32[batch, w]) = onnx(\"q.onnx\");\n"
        workflow = head + "workflow W(x: f32[4, n], o: i64?) -> (m: i64) {\n  "
        patterns = ["none", "true", "false", "_"]
        for typed, wanted in (("node k = match o { ", patterns), ("node k = match o { none => min(1, 2), ", patterns), ("node k = match o { 1 | ", patterns),
                              ("node k = D(x) { batch 3 ", ["within"]), ("node k = D(x) { pad ", ["batch", "w"]), ("node k = D(x) { pad w ", ["to"]),
                              ("let k: f32[", ["n", "_"]), ("let k: f32[n, 2 * ", ["n", "_"])):
            with self.subTest(typed=typed):
                editor = Editor(self.client, (self.folder / "places.wf").as_uri(), workflow + typed)
                editor.open()
                self.assertEqual(await self.labels_at(editor, editor.position(len(workflow + typed))), wanted)
                self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=editor.document))
        for typed, first in (("node k = match o { none => ", "x"), ("return (", "m:")):
            with self.subTest(typed=typed):
                editor = Editor(self.client, (self.folder / "places.wf").as_uri(), workflow + typed)
                editor.open()
                self.assertEqual((await self.labels_at(editor, editor.position(len(workflow + typed))))[0], first)
                self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=editor.document))

    async def test_members_of_results(self):
        editor = self.edit(MEMBERS)
        async def errors(one):
            return [d for d in await self.client.diagnostics(one) if d.severity == lsp.DiagnosticSeverity.Error]
        self.assertEqual(await errors(editor), [])
        async def definition(words):
            found = await self.client.text_document_definition_async(lsp.DefinitionParams(text_document=editor.document, position=editor.at(words)))
            return editor.offset(found.range.start)
        self.assertEqual(await definition("ends(n: 1).|hi"), MEMBERS.index("hi: i64"))
        self.assertEqual(await definition("x {pair.|lo"), MEMBERS.index("lo: i64"))
        self.assertEqual(await definition("q.|text"), MEMBERS.index("text: string"))
        self.assertEqual(await definition("scores.|heat"), MEMBERS.index("heat: f32"))
        self.assertEqual(len(await self.references(editor, "lo: i64, |hi: i64")), 5)
        for words, name in (("lo: i64, |hi: i64", "highest"), ("-> (|text: string, m", "line"), ("(|heat: f32", "warmth")):
            answer = await self.rename(editor, words, name)
            [(_, edits)] = answer.changes.items()
            renamed = Editor(self.client, (self.folder / f"{name}.wf").as_uri(), editor.edited(edits))
            renamed.open()
            self.assertEqual(await errors(renamed), [])

    async def test_files_are_watched(self):
        text = 'const words = lines("words.txt");\n\nfn first() -> string = words[0];\n'
        (self.folder / "words.txt").write_text("one\n")
        editor = self.edit(text)
        self.assertEqual(await self.client.diagnostics(editor), [])
        async with asyncio.timeout(60):
            while len(self.client.watched) < 3:
                await asyncio.sleep(0.01)
        self.assertEqual(sorted(self.client.watched), ["**/*.onnx", "**/*.wf", "**/words.txt"])
        (self.folder / "words.txt").unlink()
        self.client.published.clear()
        self.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(
            changes=[lsp.FileEvent(uri=(self.folder / "words.txt").as_uri(), type=lsp.FileChangeType.Deleted)]))
        self.assertNotEqual(await self.client.diagnostics(editor), [])


if __name__ == "__main__":
    harness.main()
