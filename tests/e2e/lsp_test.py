#!/usr/bin/env python3
"""wfc lsp as an editor sees it: driven by pygls, the client and server library of LSP in Python, which comes from PyPI into the build folder."""
import asyncio
import json
import os
import subprocess
import time
import unittest

import harness
import lsp_wire
from lsp_wire import frame

if __name__ == "__main__":
    harness.in_environment()

from lsprotocol import types as lsp  # noqa: E402

from lsp_editor import Editor, Session  # noqa: E402

PROGRAM = """import std.nn;
import std.tensor;

/// One box.
type Box {
  left: f32;
  top: f32;
}

error Empty = 100001 "nothing given";

const most = 5;

/// Doubles.
fn twice(x: f32[n], by: f32 = 2.0) -> f32[n] = [i] => x[i] * by;

workflow Best(values: list<f32>, box: Box) -> (best: list<i64>, text: string) {
  require len(values) > 0 else fail Empty;
  node xs = tensor.stack(values);
  node doubled = twice(xs, by: box.left) {
    timeout 20ms;
  }
  node best = nn.softmax(doubled) |> tensor.top_k(most);
  let text = "\U0001F600 {box.left}, {most}";
  return (best: list(best.indices), text: text);
}

service S {
  workflow Best;
}
"""


class Lsp(Session):
    async def test_diagnostics_follow_the_text(self):
        editor = self.edit(PROGRAM)
        self.assertEqual(await self.client.diagnostics(editor), [])
        editor.change(PROGRAM.replace('{most}"', '{mots}"'))
        [wrong] = await self.client.diagnostics(editor)
        self.assertEqual((wrong.code, wrong.severity, wrong.source), ("WF3001", lsp.DiagnosticSeverity.Error, "wfc"))
        self.assertEqual(editor.slice(wrong.range), "mots")  # behind a character of two units of UTF-16
        self.assertIn("did you mean `most`?", wrong.message)
        self.assertTrue(wrong.code_description.href.endswith("/WF3001.md"))
        self.assertTrue(os.path.exists(wrong.code_description.href.removeprefix("file://")))
        editor.change(PROGRAM)
        self.assertEqual(await self.client.diagnostics(editor), [])

    async def test_keystrokes_as_they_are_typed(self):
        self.assertEqual(self.answer.capabilities.text_document_sync.change, lsp.TextDocumentSyncKind.Incremental)
        editor = self.edit("")
        for start in range(0, len(PROGRAM), 3):
            editor.write(start, start, PROGRAM[start:start + 3])
        self.assertEqual(await self.client.diagnostics(editor), [])
        place = editor.text.index("{most}")  # behind a character of two units of UTF-16
        editor.write(place + 2, place + 4, "so")
        [wrong] = await self.client.diagnostics(editor)
        self.assertEqual(editor.slice(wrong.range), "msot")
        begin, end = editor.text.index("  let text"), editor.text.index("  return")
        editor.write(begin, end, '  let text = "one";\n')  # lines go
        self.assertEqual(await self.client.diagnostics(editor), [])
        # Several changes of one message come one after the other, each in the text that those before it left.
        editor.version += 1
        first, last = lsp.Position(0, 0), editor.position(len(editor.text))
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(
            text_document=lsp.VersionedTextDocumentIdentifier(uri=editor.uri, version=editor.version),
            content_changes=[lsp.TextDocumentContentChangePartial(range=lsp.Range(first, last), text="fn f() -> i64 = 1"),
                             lsp.TextDocumentContentChangePartial(range=lsp.Range(lsp.Position(0, 17), lsp.Position(0, 17)), text=";\n"),
                             lsp.TextDocumentContentChangePartial(range=lsp.Range(lsp.Position(0, 3), lsp.Position(0, 4)), text="good")]))
        editor.text = "fn good() -> i64 = 1;\n"
        self.assertEqual(await self.client.diagnostics(editor), [])
        self.assertIn("fn good() -> i64", await self.hover(editor, "fn go|od"))

    async def test_related_places(self):
        editor = self.edit(PROGRAM.replace("const most = 5;", "const most = 5;\nconst most = 6;"))
        [wrong] = await self.client.diagnostics(editor)
        [related] = wrong.related_information
        self.assertEqual((related.location.uri, editor.slice(related.location.range)), (editor.uri, "most"))

    async def test_every_prefix_of_a_program_is_answered(self):
        editor = self.edit("")
        self.assertIn("workflow", [i.label for i in await self.client.text_document_completion_async(
            lsp.CompletionParams(text_document=editor.document, position=lsp.Position(0, 0)))])
        for end in range(0, len(PROGRAM), 37):
            editor.change(PROGRAM[:end])
            place = lsp.Position(PROGRAM.count("\n", 0, end), 1000)
            await self.client.text_document_completion_async(lsp.CompletionParams(text_document=editor.document, position=place))
            await self.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(text_document=editor.document))
            await self.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=editor.document))
        await self.client.diagnostics(editor)

    async def test_hover(self):
        editor = self.edit(PROGRAM)
        self.assertIn("node doubled: f32[", await self.hover(editor, "softmax(dou|bled)"))
        self.assertIn("timeout 20ms", await self.hover(editor, "node dou|bled"))
        self.assertIn("stage `s2`", await self.hover(editor, "node dou|bled"))
        self.assertEqual(await self.hover(editor, "twi|ce(xs"), "```wf\nfn twice(x: f32[n], by: f32 = 2.0) -> f32[n]\n```\n\nDoubles.")
        self.assertIn("fn softmax(x: f32[n]) -> f32[n]", await self.hover(editor, "nn.soft|max"))
        self.assertIn("const most: i64 = 5", await self.hover(editor, "top_k(mo|st)"))
        self.assertIn("field indices: i64[", await self.hover(editor, "best.indi|ces"))
        setting = await self.hover(editor, "time|out 20ms")
        self.assertIn("a time, as in `timeout 50ms`", setting)
        self.assertIn("fails with 6000", setting)
        self.assertIsNone(await self.hover(editor, "20|ms"))

    async def test_hover_of_a_model_shows_what_its_file_says(self):
        path = harness.EXAMPLES / "digits/digits.wf"
        editor = Editor(self.client, path.as_uri(), path.read_text())
        editor.open()
        self.assertEqual(await self.client.diagnostics(editor), [])
        shown = await self.hover(editor, "model Dig|its")
        self.assertIn("model Digits(image: f32[1, 28, 28]) -> f32[10]", shown)
        self.assertIn("batch 32 within 2ms", await self.hover(editor, "node log|its"))

    async def test_definition(self):
        editor = self.edit(PROGRAM)
        async def go(words):
            found = await self.client.text_document_definition_async(lsp.DefinitionParams(text_document=editor.document, position=editor.at(words)))
            return found and (found.uri, found.range)
        uri, range_ = await go("softmax(doub|led)")
        self.assertEqual((uri, range_.start), (editor.uri, editor.at("node |doubled")))
        self.assertEqual((await go("by: box.le|ft)"))[1].start, editor.at("  |left: f32"))
        self.assertEqual((await go("(xs, b|y: box"))[1].start, editor.at("f32[n], |by: f32"))
        self.assertEqual((await go("workflow Be|st;"))[1].start, editor.at("workflow |Best("))
        self.assertEqual((await go("x[|i] * by"))[1].start, editor.at("= [|i]"))
        self.assertEqual((await go('{box.left}, {mo|st}'))[1].start, editor.at("const |most"))
        uri, _ = await go("nn.soft|max")
        self.assertTrue(uri.endswith("/stdlib/nn.wf"), uri)
        self.assertIsNone(await go("20|ms"))

    async def test_references_across_open_files(self):
        util = self.edit("/// Adds one.\nfn more(x: i64) -> i64 = x + 1;\n", "util.wf")
        main = self.edit("import util;\n\nworkflow W(x: i64) -> (y: i64) {\n  return (y: util.more(util.more(x)));\n}\n")
        found = await self.references(util, "fn mo|re")
        self.assertEqual(sorted(place.uri == main.uri for place in found), [False, True, True])
        self.assertEqual(len(await self.references(main, "util.mo|re(x)", declaration=False)), 2)
        # What is typed in one file and not saved is what the other sees.
        util.change(util.text.replace("more", "less"))
        self.assertEqual([d.code for d in await self.client_errors(main)], ["WF3009"] * 2)

    async def test_what_is_known_is_not_sent_again(self):
        util = self.edit("fn more(x: i64) -> i64 = x + 1;\n", "util.wf")
        main = self.edit("import util;\n\nworkflow W(x: i64) -> (y: i64) {\n  return (y: util.more(x));\n}\n")
        await self.client.diagnostics(util)
        await self.client.diagnostics(main)
        known = self.client.published[main.uri]
        util.change(util.text.replace("x + 1", "x + 2"))
        await self.client.diagnostics(util)
        await self.hover(main, "workflow |W")
        self.assertIs(self.client.published[main.uri], known)

    async def client_errors(self, editor):
        """Diagnostics of a document once there are some."""
        async with asyncio.timeout(60):
            while not self.client.published.get(editor.uri) or not self.client.published[editor.uri].diagnostics:
                self.client.arrived.clear()
                await self.client.arrived.wait()
        return self.client.published[editor.uri].diagnostics

    async def test_rename(self):
        util = self.edit("fn more(x: i64) -> i64 = x + 1;\n", "util.wf")
        main = self.edit("import util;\n\nworkflow W(x: i64) -> (y: i64) {\n  return (y: util.more(x));\n}\n")
        changes = (await self.rename(util, "fn mo|re", "plus")).changes
        self.assertEqual(util.edited(changes[util.uri]), "fn plus(x: i64) -> i64 = x + 1;\n")
        self.assertIn("util.plus(x)", main.edited(changes[main.uri]))
        editor = self.edit(PROGRAM, "program.wf")
        changes = (await self.rename(editor, "le|ft: f32", "edge")).changes
        wanted = PROGRAM.replace("left: f32", "edge: f32").replace("box.left", "box.edge")
        self.assertEqual(editor.edited(changes[editor.uri]), wanted)
        changes = (await self.rename(editor, "[i] => x[|i]", "position")).changes
        self.assertIn("[position] => x[position] * by", editor.edited(changes[editor.uri]))

    async def test_rename_refuses(self):
        editor = self.edit(PROGRAM)
        for words, name, why in (("node dou|bled", "best", "means something else"), ("node dou|bled", "box", "means something else"),
                                 ("node dou|bled", "node", "is no name"), ("node dou|bled", "2x", "is no name"),
                                 ("nn.soft|max", "hard", "standard library"), ("std.n|n;", "net", "name of its file"), ("20|ms", "x", "no name here")):
            with self.subTest(name=name, words=words), self.assertRaisesRegex(Exception, why):
                await self.rename(editor, words, name)

    async def test_files_that_are_not_open(self):
        """References and renaming reach every file of the workspace's folder, as it lies on disk."""
        def write(name, text):
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return Editor(self.client, path.as_uri(), text)

        user = "import {0};\n\nworkflow W(x: i64) -> (y: i64) {{\n  return (y: {1}.more(by: 1, x: x));\n}}\n"
        util = self.edit("/// Adds.\nfn more(x: i64, by: i64) -> i64 = x + by;\n\nfn most(x: i64) -> i64 = more(x, 9);\n", "util.wf")
        beside = write("beside.wf", user.format("util", "util"))
        far = write("parts/far.wf", user.format("util", "util"))  # reached from way.wf alone, since paths begin at a program's own file
        way = write("way.wf", "import parts.far;\n")
        other = write("parts/other.wf", user.format("nothing as util", "util"))  # another `more`
        write(".hidden/beside.wf", user.format("util", "util"))
        write("broken.wf", "import util; fn less( {")
        found = await self.references(util, "fn mo|re")
        self.assertEqual(sorted(place.uri for place in found), sorted([util.uri, util.uri, beside.uri, far.uri]))
        changes = (await self.rename(util, "fn mo|re", "plus")).changes
        self.assertEqual(set(changes), {util.uri, beside.uri, far.uri})
        for editor in (beside, far):
            self.assertEqual(editor.edited(changes[editor.uri]), editor.text.replace(".more(", ".plus("))
        changes = (await self.rename(util, "by|: i64)", "step")).changes
        self.assertEqual(beside.edited(changes[beside.uri]), beside.text.replace("by: 1", "step: 1"))
        # A name that is taken in a file that nobody has open is refused too.
        taken = write("taken.wf", "import util;\n\nworkflow V(x: i64) -> (y: i64) {\n  return (y: util.most(x));\n}\n")
        self.assertEqual(set((await self.rename(util, "fn mo|st", "topmost")).changes), {util.uri, taken.uri})
        with self.assertRaisesRegex(Exception, "means something else"):
            await self.rename(util, "fn mo|st", "more")
        # What an editor has open counts as it stands there.
        opened = self.edit(beside.text, "beside.wf")
        opened.change(opened.text.replace("util.more(by: 1, x: x)", "x"))
        self.assertEqual(sorted(place.uri for place in await self.references(util, "fn mo|re")), sorted([util.uri, util.uri, far.uri]))
        # A folder that is taken away is not searched.
        folder = lsp.WorkspaceFolder(uri=self.folder.as_uri(), name="test")
        self.client.workspace_did_change_workspace_folders(
            lsp.DidChangeWorkspaceFoldersParams(event=lsp.WorkspaceFoldersChangeEvent(added=[], removed=[folder])))
        self.assertEqual([place.uri for place in await self.references(util, "fn mo|re")], [util.uri] * 2)
        self.assertEqual(other.text, (self.folder / "parts/other.wf").read_text())
        self.assertEqual(way.text, (self.folder / "way.wf").read_text())

    async def signature(self, editor, words):
        """The label, and the parameter that the place is in."""
        found = await self.client.text_document_signature_help_async(lsp.SignatureHelpParams(text_document=editor.document, position=editor.at(words)))
        if found is None:
            return None
        one = found.signatures[0]
        if found.active_parameter == len(one.parameters):
            return one.label, None
        begin, end = one.parameters[found.active_parameter].label
        return one.label, one.label.encode("utf-16-le")[begin * 2:end * 2].decode("utf-16-le")

    async def test_signatures(self):
        editor = self.edit(PROGRAM)
        twice = "twice(x: f32[n], by: f32 = 2.0) -> f32[n]"
        self.assertEqual(await self.signature(editor, "twice(|xs"), (twice, "x: f32[n]"))
        self.assertEqual(await self.signature(editor, "(xs, by: box.|left)"), (twice, "by: f32 = 2.0"))
        label, parameter = await self.signature(editor, "top_k(|most)")  # what the pipe gives is the first
        self.assertTrue(label.startswith("top_k("), label)
        self.assertTrue(parameter.startswith("k: "), parameter)
        self.assertIsNone(await self.signature(editor, "fn twice(x: f3|2"))
        self.assertIsNone(await self.signature(editor, "20|ms"))
        await self.client.diagnostics(editor)
        editor.change(PROGRAM.replace("twice(xs, by: box.left)", "twice(xs, "))  # while it is typed
        self.assertEqual(await self.signature(editor, "node doubled = twice(xs, |"), (twice, "by: f32 = 2.0"))
        editor.change(PROGRAM.replace("twice(xs, by: box.left)", "Box("))
        self.assertEqual(await self.signature(editor, "node doubled = Box(|"), ("Box(left: f32, top: f32)", "left: f32"))

    async def test_what_is_built_in_is_told_of(self):
        editor = self.edit("import std.tensor;\n\nfn f(xs: f32[n]) -> f32 = f32(max(len(xs), 2)) + sum[i](exp(xs[i])) + max[i](xs[i]) + tensor.stack([xs[0]])[0];\n")
        self.assertIn("fn len(x: string | bytes | list<T> | map<T> | T[n, ..]) -> i64", await self.hover(editor, "le|n(xs)"))
        self.assertIn("fn max(a: T, b: T) -> T", await self.hover(editor, "ma|x(len"))
        self.assertIn("fn max[k](e: T) -> T", await self.hover(editor, "ma|x[i]"))
        self.assertIn("fn stack(xs: list<T[..]>) -> T[n, ..]", await self.hover(editor, "tensor.sta|ck"))
        self.assertEqual(await self.signature(editor, "max(len(xs), |2)"), ("max(a: T, b: T) -> T", "b: T"))
        self.assertEqual(await self.signature(editor, "sum[i](|exp"), ("sum[k](e: T) -> T", "e: T"))
        self.assertEqual(await self.signature(editor, "tensor.stack(|["), ("stack(xs: list<T[..]>) -> T[n, ..]", "xs: list<T[..]>"))

    async def test_signature_of_a_model(self):
        path = harness.EXAMPLES / "digits/digits.wf"
        editor = Editor(self.client, path.as_uri(), path.read_text())
        editor.open()
        self.assertEqual(await self.signature(editor, "Digits(|to_unit"), ("Digits(image: f32[1, 28, 28]) -> f32[10]", "image: f32[1, 28, 28]"))

    async def test_hover_has_the_stage_and_the_settings_of_the_graph(self):
        text = ("workflow W(xs: list<i64>) -> (r: list<i64>) {\n  stage a {\n    node l = for x in xs {\n      x + 1\n    } {\n      limit 7;\n      priority low;\n    }\n  }\n"
                "  node m = [x + 1 for x in l];\n  return (r: m);\n}\n\nservice S {\n  workflow W;\n}\n")
        editor = self.edit(text)
        self.assertEqual(await self.hover(editor, "node |l"), "```wf\nnode l: list<i64>\n```\n\nstage `a`\n\npriority low · limit 7")
        self.assertEqual(await self.hover(editor, "node |m"), "```wf\nnode m: list<i64>\n```\n\nstage `s1`")
        graph = harness.wfc("graph", self.folder / "main.wf").stdout
        self.assertIn("priority low · limit 7", graph)

    async def test_completion_of_arguments(self):
        editor = self.edit(PROGRAM)
        self.assertEqual([name for name in await self.labels(editor, "twice(|xs") if name.endswith(":")], ["x:", "by:"])
        self.assertEqual([name for name in await self.labels(editor, "(xs, |by: box") if name.endswith(":")], ["by:"])
        self.assertEqual([name for name in await self.labels(editor, "by: |box.left") if name.endswith(":")], [])
        await self.client.diagnostics(editor)
        editor.change(PROGRAM.replace("twice(xs, by: box.left)", "twice(by: 1.0, "))
        self.assertEqual([name for name in await self.labels(editor, "twice(by: 1.0, |") if name.endswith(":")], ["x:"])

    async def test_completion(self):
        editor = self.edit(PROGRAM)
        self.assertIn("softmax", await self.labels(editor, "nn.|softmax"))
        self.assertEqual(set(await self.labels(editor, "best.|indices")), {"values", "indices"})
        settings = await self.labels(editor, "    |timeout 20ms")
        self.assertIn("priority", settings)
        self.assertNotIn("limit", settings)  # of what holds a `for`
        self.assertNotIn("versions", settings)  # of models
        service = await self.labels(editor, "  |workflow Best;")
        self.assertIn("inflight", service)
        self.assertEqual(await self.labels(editor, "workflow |Best;"), ["Best"])
        values = await self.labels(editor, "softmax(|doubled)")
        for name in ("xs", "box", "twice", "most", "len", "f32", "nn"):
            self.assertIn(name, values)
        self.assertNotIn("by", values)  # of another declaration
        self.assertIn("node", await self.labels(editor, "  |node best"))
        modules = await self.labels(editor, "import std.|nn")
        self.assertLessEqual({"image", "nn", "tensor"}, set(modules))
        self.assertNotIn("prelude", modules)
        types = await self.labels(editor, "box: |Box)")
        self.assertLessEqual({"Box", "f32", "list"}, set(types))
        self.assertNotIn("twice", types)
        self.assertEqual(await self.labels(editor, "\U0001F600| {box"), [])

    async def test_completion_while_the_line_is_broken(self):
        editor = self.edit(PROGRAM)
        await self.client.diagnostics(editor)
        editor.change(PROGRAM.replace("nn.softmax(doubled) |> tensor.top_k(most);", "nn."))
        self.assertIn("softmax", await self.labels(editor, "node best = nn.|"))
        editor.change(PROGRAM.replace('  let text = "\U0001F600 {box.left}, {most}";', "  let text = box."))
        self.assertEqual(await self.labels(editor, "let text = box.|"), ["left", "top"])

    async def test_completion_in_what_is_written_anew(self):
        editor = self.edit(PROGRAM)
        await self.client.diagnostics(editor)
        for typed, names in (("fn h(p: Box, m: i64) -> f32 {\n  let q = |\n}", {"p", "m"}), ("fn h(p: Box) -> f32 {\n  let q = p.left;\n  q + |\n}", {"p", "q"}),
                             ("fn h(x: f32[n], m: i64) -> f32[n] = [i] => x[|]", {"i", "x", "m", "n"}),
                             ("workflow V(xs: list<f32>) -> (y: f32) {\n  node a = for x in xs { | };\n}", {"xs", "x"})):
            editor.change(PROGRAM + "\n" + typed.replace("|", ""))
            self.assertLessEqual(names, set(await self.labels(editor, typed.splitlines()[-2] if typed.endswith("\n}") else typed)), typed)

    async def test_words_are_offered_where_they_may_stand(self):
        editor = self.edit(PROGRAM)
        in_fn = await self.labels(editor, "fn twice(x: f32[n], by: f32 = 2.0) -> f32[n] = |")
        self.assertNotIn("meta", in_fn)
        self.assertNotIn("close", in_fn)
        self.assertIn("meta", await self.labels(editor, "softmax(|doubled)"))

    async def test_completion_of_the_status_of_an_error(self):
        editor = self.edit(PROGRAM)
        editor.change(PROGRAM.replace('"nothing given";', '"nothing given" as '))
        labels = await self.labels(editor, '"nothing given" as |')
        self.assertIn("not_found", labels)
        self.assertNotIn("twice", labels)

    async def test_symbols(self):
        editor = self.edit(PROGRAM)
        symbols = await self.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=editor.document))
        self.assertEqual([s.name for s in symbols], ["Box", "Empty", "most", "twice", "Best", "S"])
        self.assertEqual([s.name for s in symbols[4].children], ["xs", "doubled", "best"])
        for symbol in symbols:
            self.assertEqual(editor.slice(symbol.selection_range), symbol.name)

    async def test_symbols_of_the_workspace(self):
        editor = self.edit(PROGRAM)
        (self.folder / "deep").mkdir()
        far = self.folder / "deep" / "far.wf"
        far.write_text("fn bestow(x: i64) -> i64 = x;\nfn less(", encoding="utf-8")
        (self.folder / ".hidden.wf").write_text("fn best() -> i64 = 1;\n", encoding="utf-8")

        async def found(query):
            symbols = await self.client.workspace_symbol_async(lsp.WorkspaceSymbolParams(query=query))
            return sorted((s.name, s.container_name, s.location.uri) for s in symbols)

        self.assertEqual(await found("bst"), sorted([
            ("Best", "", editor.uri), ("best", "Best", editor.uri), ("Best", "S", editor.uri), ("bestow", "", far.as_uri()),
            ("best", "", (self.folder / ".hidden.wf").as_uri())]))
        self.assertEqual(await found("bestoww"), [])
        editor.change(PROGRAM.replace("node best", "node finest").replace("list(best", "list(finest"))
        self.assertIn(("finest", "Best", editor.uri), await found("finest"))

    async def test_folding(self):
        editor = self.edit("// one\n// two\nimport std.nn;\nimport std.tensor;\n\nworkflow W(\n    a: i64, // no fold\n) -> (x: i64) {\n"
                           "  if a > 3 {\n    fail InputParams([\n      a,\n    ]);\n  }\n  return (x: a);\n}\n")
        folds = await self.client.text_document_folding_range_async(lsp.FoldingRangeParams(text_document=editor.document))
        self.assertEqual(sorted((f.start_line, f.end_line, f.kind) for f in folds),
                         [(0, 1, "comment"), (2, 3, "imports"), (5, 6, None), (7, 13, None), (8, 11, None), (9, 10, None)])

    async def test_stages(self):
        text = "workflow W(a: i64) -> (x: i64) {\n  stage first {\n    node b = a + 1;\n  }\n  stage then {\n    node c = b + 1;\n  }\n  return (x: c);\n}\n"
        editor = self.edit(text)
        self.assertIn("stage first", await self.hover(editor, "stage fi|rst"))
        changes = (await self.rename(editor, "stage fi|rst", "begin")).changes
        self.assertEqual(editor.edited(changes[editor.uri]), text.replace("first", "begin"))
        with self.assertRaisesRegex(Exception, "means something else"):
            await self.rename(editor, "stage fi|rst", "then")

    async def test_what_stands_in_the_arms_of_an_if(self):
        editor = self.edit("""workflow W(a: i64) -> (x: i64) {
  if a > 3 {
    node big = a * 2 {
      timeout 7ms;
    }
    return (x: big);
  }
  let small = a + 1;
  return (x: small);
}
""")
        self.assertEqual(await self.client.diagnostics(editor), [])
        self.assertIn("timeout 7ms", await self.hover(editor, "node bi|g"))
        self.assertIn("a time", await self.hover(editor, "time|out 7ms"))
        self.assertEqual(len(await self.references(editor, "(x: bi|g)")), 2)
        symbols = await self.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=editor.document))
        self.assertEqual([s.name for s in symbols[0].children], ["big"])

    async def test_formatting(self):
        editor = self.edit("fn  f(x:i64)->i64=x+1;\n")
        options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        request = lsp.DocumentFormattingParams(text_document=editor.document, options=options)
        edits = await self.client.text_document_formatting_async(request)
        self.assertEqual(editor.edited(edits), "fn f(x: i64) -> i64 = x + 1;\n")
        editor.change(editor.edited(edits))
        self.assertEqual(list(await self.client.text_document_formatting_async(request)), [])
        editor.change("fn f(x:i64 = ;")
        self.assertIsNone(await self.client.text_document_formatting_async(request))

    async def test_fixes(self):
        editor = self.edit(PROGRAM.replace("timeout 20ms", "timeout 20 ms").replace("import std.nn;", "import std.nn;\nimport std.image;"))
        wrong = await self.client.diagnostics(editor)
        self.assertEqual(len(wrong), 1)
        fixed = editor.text
        while wrong:
            actions = await self.client.text_document_code_action_async(
                lsp.CodeActionParams(text_document=editor.document, range=wrong[0].range, context=lsp.CodeActionContext(diagnostics=wrong)))
            self.assertEqual(actions[0].kind, "quickfix")
            self.assertEqual(actions[0].diagnostics[0].code, wrong[0].code)
            fixed = editor.edited(actions[0].edit.changes[editor.uri])
            self.assertNotEqual(fixed, editor.text)
            editor.change(fixed)
            wrong = await self.client.diagnostics(editor)
        self.assertEqual(fixed, PROGRAM)

    async def test_semantic_tokens(self):
        editor = self.edit(PROGRAM)
        legend = self.answer.capabilities.semantic_tokens_provider.legend
        data = (await self.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(text_document=editor.document))).data
        found, line, start = [], 0, 0
        for step, column, length, kind, modifiers in zip(*[iter(data)] * 5):
            line, start = line + step, column + (start if step == 0 else 0)
            text = editor.slice(lsp.Range(lsp.Position(line, start), lsp.Position(line, start + length)))
            found.append((text, legend.token_types[kind], [m for bit, m in enumerate(legend.token_modifiers) if modifiers >> bit & 1]))
        for wanted in (("fn", "keyword", []), ("twice", "function", ["declaration"]), ("softmax", "function", ["defaultLibrary"]), ("Box", "type", ["declaration"]),
                       ("left", "property", []), ("n", "parameter", ["declaration"]), ("timeout", "property", ["defaultLibrary"]), ("/// One box.", "comment", []),
                       ("20ms", "number", []), ("Empty", "event", []), ("most", "variable", ["readonly"]), ('"\U0001F600 {', "string", []),
                       ("nn", "namespace", []), ("len", "function", ["defaultLibrary"]), ("indices", "property", [])):
            self.assertIn(wanted, found)

    async def test_inlay_hints(self):
        editor = self.edit(PROGRAM)
        everything = lsp.Range(lsp.Position(0, 0), lsp.Position(1000, 0))
        hints = await self.client.text_document_inlay_hint_async(lsp.InlayHintParams(text_document=editor.document, range=everything))
        shown = {(editor.offset(h.position), h.label) for h in hints}
        text_at = editor.offset(editor.at("let text| ="))
        self.assertIn((text_at, ": string"), shown)
        best_at = editor.offset(editor.at("node best| ="))
        self.assertIn((best_at, "stage s3"), shown)
        self.assertTrue(any(at == best_at and label.startswith(": (values: f32[") for at, label in shown), shown)
        written = self.edit(PROGRAM.replace("let text =", "let text: string ="), "written.wf")
        hints = await self.client.text_document_inlay_hint_async(lsp.InlayHintParams(text_document=written.document, range=everything))
        self.assertNotIn(": string", [h.label for h in hints])

    async def test_only_the_last_of_many_keystrokes_is_checked(self):
        editor = self.edit(PROGRAM)
        await self.client.diagnostics(editor)
        seen = []
        self.client.arrived.set = lambda: seen.append(1) or asyncio.Event.set(self.client.arrived)
        for number in range(200):
            editor.change(PROGRAM.replace("const most = 5", f"const most = {number + 10}"))
        await self.client.diagnostics(editor)
        self.assertLess(len(seen), 150)


HELLO = frame({"id": 1, "method": "initialize", "params": {}}) + frame({"method": "initialized", "params": {}})
BYE = frame({"id": 999, "method": "shutdown"}) + frame({"method": "exit"})


class BadMessages(unittest.TestCase):
    """What no editor sends: answered with an error where there is one to give, and the next message is answered too."""

    def answers(self, data, status=0, complaint=b""):
        done = subprocess.run([harness.WFC, "lsp"], input=data, capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (status, complaint))
        parts, rest = [], done.stdout
        while rest:
            head, rest = rest.split(b"\r\n\r\n", 1)
            length = int(head.split(b": ")[1])
            parts.append(json.loads(rest[:length]))
            rest = rest[length:]
        return parts

    def error_of(self, message, complaint=b""):
        found = self.answers(HELLO + message + BYE, complaint=complaint)
        self.assertEqual([a.get("id") for a in found][0], 1)
        self.assertEqual(found[-1], {"id": 999, "jsonrpc": "2.0", "result": None})
        return [a["error"]["code"] for a in found if "error" in a]

    def test_a_second_initialize_is_refused(self):
        self.assertEqual(self.error_of(frame({"id": 2, "method": "initialize", "params": {}})), [-32600])

    def test_errors(self):
        for message, code in ((frame(b"{"), -32700), (frame(b"[]"), -32600), (frame(b"7"), -32600), (frame(b"null"), -32600), (frame(b"\xff\xfe"), -32700), (frame(b"[" * 100000), -32700), (frame(b""), -32700),
                              (frame({"id": 5}), -32600), (frame({"id": 5, "method": "no/such"}), -32601)):
            self.assertEqual(self.error_of(message), [code], message[:60])

    def test_a_batch_is_refused_whole_and_the_next_message_served(self):
        batch = json.dumps([{"jsonrpc": "2.0", "id": number, "method": "shutdown"} for number in (20, 21)]).encode()
        [hello, refused, served, bye] = self.answers(HELLO + frame(batch) + frame({"id": 22, "method": "no/such"}) + BYE)
        self.assertEqual((refused["id"], refused["error"]["code"]), (None, -32600))
        self.assertIn("LSP has no batches", refused["error"]["message"])
        self.assertEqual((hello["id"], served["id"], bye["id"]), (1, 22, 999))

    def test_parameters_of_any_shape(self):
        methods = ["hover", "definition", "references", "rename", "completion", "documentSymbol", "formatting", "codeAction", "semanticTokens/full", "inlayHint",
                   "documentHighlight", "prepareRename", "signatureHelp"]
        uri = "file:///nowhere/x.wf"
        shapes = [None, [], 7, {}, {"textDocument": 3}, {"textDocument": {"uri": 7}}, {"textDocument": {"uri": "file:///no/such.wf"}, "position": {}},
                  {"textDocument": {"uri": uri}, "position": {"line": -5, "character": 1e300}, "range": {"start": [], "end": {"line": 99999999999}}, "newName": [1]},
                  {"textDocument": {"uri": uri}, "position": {"line": 4294967295, "character": 4294967295}, "range": 9}]
        data = frame({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri, "text": "fn f() -> i64 = 1;", "version": "x"}}})
        data += frame({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "untitled:1", "text": "import nothing;"}}})
        for number, method in enumerate(methods):
            for other, shape in enumerate(shapes):
                data += frame({"id": 1000 + number * 100 + other, "method": "textDocument/" + method, "params": shape})
        data += frame({"method": "textDocument/didChange", "params": {"textDocument": {"uri": uri}, "contentChanges": [3]}})
        found = self.answers(HELLO + data + BYE)
        self.assertEqual(len([a for a in found if a.get("id", 0) is not None and a.get("id", 0) >= 1000]), len(methods) * len(shapes))
        self.assertEqual({a["error"]["message"] for a in found if a.get("error", {}).get("code") == -32602},
                         {"`textDocument` with a `uri` is wanted", "a `position` with a `line` and a `character` is wanted, both from 0",
                          "a `range` with `start` and `end` is wanted, each with a `line` and a `character` from 0"})

    def test_order_of_life(self):
        [refused] = self.answers(frame({"id": 3, "method": "textDocument/hover", "params": {}}), status=1)
        self.assertEqual(refused["error"]["code"], -32002)
        self.assertEqual(self.answers(HELLO + frame({"method": "exit"}), status=1)[0]["id"], 1)
        late = self.answers(HELLO + frame({"id": 8, "method": "shutdown"}) + frame({"id": 9, "method": "textDocument/hover", "params": {}}) + frame({"method": "exit"}))
        self.assertEqual(late[-1]["error"]["code"], -32600)

    def test_headers_in_any_case_and_junk_between(self):
        message = frame({"id": 4, "method": "no/such"}).replace(b"Content-Length", b"content-length").replace(b"\r\n\r\n", b"\r\nContent-Type: x\r\n\r\n", 1)
        self.assertEqual(self.error_of(b"\r\njunk\r\n\r\n" + message, b"wfc: what the editor sent is passed over, for want of a header `Content-Length: BYTES`; there is none\n"), [-32601])


class Latency(unittest.TestCase):
    LINES, ROUNDS, BOUND_MS = 2000, 20, 150  # three times the goal, which the bench measures: machines differ

    @harness.timed
    def test_a_keystroke(self):
        times, used = lsp_wire.keystroke_seconds(self.LINES, self.ROUNDS)
        middle, used = 1000 * sorted(times)[len(times) // 2], 1000 * used
        print(f"lsp: {self.LINES} lines, a keystroke to its diagnostics: {middle:.1f} ms median, {used:.1f} ms of the processor")
        if harness.BUILD.name == "release":  # a sanitized compiler says nothing about time
            self.assertLess(used, self.BOUND_MS)


class Memory(unittest.TestCase):
    def test_a_large_file_leaves_nothing_behind(self):
        big, small, wire = lsp_wire.big_program(10000), "const a = 1;\n", lsp_wire.Wire()

        def tell(method, uri, version, **more):
            wire.send({"method": "textDocument/" + method, "params": {"textDocument": {"uri": uri, "version": version, **more.pop("text", {})}, **more}})
            wire.receive()

        def settled():
            """When the editor has been silent for a while."""
            until = time.monotonic() + 10
            while wire.resident_mib() > before + 16 and time.monotonic() < until:
                time.sleep(0.1)
            return wire.resident_mib()

        tell("didOpen", "untitled:1", 0, text={"text": small})
        before = wire.resident_mib()
        tell("didOpen", "untitled:2", 0, text={"text": big})
        for version in range(1, 4):
            tell("didChange", "untitled:2", version, contentChanges=[{"text": big + f"const z{version} = 1;\n"}])
        most = wire.resident_mib()
        tell("didChange", "untitled:2", 4, contentChanges=[{"text": small}])
        replaced = settled()
        tell("didChange", "untitled:2", 5, contentChanges=[{"text": big}])
        wire.send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": "untitled:2"}}})
        closed = settled()
        wire.stop()
        print(f"lsp: {before:.0f} MiB with a small file, at most {most:.0f} with one of 10000 lines, {replaced:.0f} once it is replaced, {closed:.0f} once it is closed")
        if harness.BUILD.name == "release":  # a sanitized compiler keeps what is freed
            self.assertLess(max(replaced, closed), before + 16)


if __name__ == "__main__":
    harness.main()
