#!/usr/bin/env python3
"""wfc lsp over many files: another name everywhere or nowhere, diagnostics that several documents have of one file, modules in folders."""
import asyncio
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment()

from lsprotocol import types as lsp  # noqa: E402

from lsp_editor import Editor, Session  # noqa: E402

TWICE = "fn tw(k: i64) -> i64 = k + k;\n"
FOUR = "fn four(k: i64) -> i64 = tw(tw(k));\n"


class Renames(Session):
    async def refused(self, editor, words, name, why):
        with self.subTest(words=words, name=name, why=why), self.assertRaisesRegex(Exception, why):
            await self.rename(editor, words, name)

    async def test_a_file_that_cannot_be_read_whole(self):
        editor = self.edit(TWICE + FOUR + "const bad = (tw(2);\n")
        await self.refused(editor, "fn t|w", "twice", r"main\.wf` has `tw` and cannot be read whole")
        await self.refused(editor, "fn tw(|k", "x", r"main\.wf` has `k` and cannot be read whole")
        self.assertEqual(len(await self.references(editor, "fn t|w")), 3)  # those that are known
        editor.change(TWICE + FOUR)
        [edits] = (await self.rename(editor, "fn t|w", "twice")).changes.values()
        self.assertEqual(len(edits), 3)
        # Of files that nobody has open, too; one that has the name and nothing of this file is no matter.
        user = self.folder / "user.wf"
        user.write_text("import main;\n\nfn f(k: i64) -> i64 = main.tw(k;\n")
        (self.folder / "other.wf").write_text("fn tw(;\n")
        await self.refused(editor, "fn t|w", "twice", r"user\.wf` has `tw` and cannot be read whole")
        user.write_text("imprt main;\n\nfn f(k: i64) -> i64 = main.tw(k);\n")
        await self.refused(editor, "fn t|w", "twice", r"user\.wf` has `tw` and cannot be read whole")
        user.write_text("import main;\n\nfn f(k: i64) -> i64 = main.tw(k);\n")
        self.assertEqual({uri.rsplit("/", 1)[1] for uri in (await self.rename(editor, "fn t|w", "twice")).changes}, {"main.wf", "user.wf"})

    async def test_a_use_that_is_not_understood(self):
        editor = self.edit("type Box {\n  edge: i64;\n}\n\nfn a(b: Box) -> i64 = b.edge;\n\nfn c(d: Boxx) -> i64 = d.edge;\n")
        await self.refused(editor, "  ed|ge: i64", "side", r"what `edge` means in `.*main\.wf:7` is not known")

    async def test_names_that_would_be_captured(self):
        editor = self.edit("fn f(a: f32[n], b: f32[m]) -> f32[n] {\n  let k = b[0];\n  [i] => a[i] + k\n}\n")
        await self.refused(editor, "a: f32[|n]", "m", "`m` means something else where `n` is used")
        await self.refused(editor, "let |k", "a", "means something else where `k` is used$")
        [edits] = (await self.rename(editor, "a: f32[|n]", "rows")).changes.values()
        self.assertEqual(editor.edited(edits).splitlines()[0], "fn f(a: f32[rows], b: f32[m]) -> f32[rows] {")
        editor = self.edit("workflow W(x: i64) -> (y: i64) {\n  node q = x + 1\n  node r = x + q;\n  return (y: r);\n}\n", "broken.wf")
        await self.refused(editor, "(y: |r);", "q", "cannot be read whole")
        # What an unknown name would mean then.
        editor = self.edit("fn f(a: i64) -> i64 {\n  let one = a;\n  one + two\n}\n", "unknown.wf")
        await self.refused(editor, "let o|ne", "two", "`two` means something else")

    async def test_a_field_that_a_file_of_json_has(self):
        (self.folder / "point.json").write_text('{"left": 1}')
        editor = self.edit('type Point {\n  left: i64;\n}\n\nconst HERE: Point = json("point.json");\n\nfn f() -> i64 = HERE.left;\n')
        await self.refused(editor, "  le|ft: i64", "edge", r"the program would have a mistake: `point\.json` does not fit `Point`")

    async def test_the_axes_of_a_model(self):
        text = """model M(x: f32[batch, w]) -> f32[batch, w] = onnx("m.onnx") {
  pad w to [32, 64];
}

workflow W(x: f32[w]) -> (y: f32[w]) {
  node y = M(x) { pad w to [32]; }
  return (y: y);
}
"""
        editor = self.edit(text)
        for words in ("x: f32[|batch", "-> f32[|batch"):
            await self.refused(editor, words, "rows", "`batch` marks the batch axis of a model")
        await self.refused(editor, "x: f32[batch, |w", "batch", "`batch` marks the batch axis of a model")
        wanted = "\n".join(line.replace("w]", "width]").replace("pad w", "pad width") if "M(" in line or "  pad" in line else line for line in text.split("\n"))
        for words in ("x: f32[batch, |w", "  pad |w to [32, 64]", "{ pad |w to [32]"):
            [edits] = (await self.rename(editor, words, "width")).changes.values()
            self.assertEqual(editor.edited(edits), wanted, words)

    async def test_a_capital(self):
        editor = self.edit("fn f(a: f32[n], b: f32[3]) -> f32[n] = [i] => a[i] + b[0];\n")
        await self.refused(editor, "a: f32[|n]", "Rows", "since it begins with a capital")


class Imports(Session):
    async def test_the_path_of_an_import_is_its_module(self):
        (self.folder / "sub").mkdir()
        deep = self.edit("fn more(x: i64) -> i64 = x + 1;\n", "sub/deep.wf")
        for text, places in (("import sub.deep as d;\n", ("import su|b", "import sub|.", "de|ep as", "as |d;")), ("import sub.deep;\n", ("import su|b", "de|ep;"))):
            editor = self.edit(text)
            for words in places:
                with self.subTest(words=words):
                    found = await self.client.text_document_definition_async(lsp.DefinitionParams(text_document=editor.document, position=editor.at(words)))
                    self.assertEqual((found.uri, found.range.start), (deep.uri, lsp.Position(0, 0)))
                    self.assertIn(text.rstrip(), await self.hover(editor, words))
            self.assertIsNone(await self.hover(editor, "imp|ort"))


class Versions(Session):
    capabilities = lsp.ClientCapabilities(workspace=lsp.WorkspaceClientCapabilities(
        workspace_edit=lsp.WorkspaceEditClientCapabilities(document_changes=True)))

    async def test_edits_name_the_version_of_their_text(self):
        editor = self.edit(TWICE)
        (self.folder / "user.wf").write_text("import main;\n\nconst x = main.tw(2);\n")
        editor.change(TWICE + FOUR)
        answer = await self.rename(editor, "fn t|w", "twice")
        self.assertIsNone(answer.changes)
        found = {change.text_document.uri: change for change in answer.document_changes}
        self.assertEqual(found[editor.uri].text_document.version, 2)
        self.assertEqual(editor.edited(found[editor.uri].edits), (TWICE + FOUR).replace("tw(", "twice("))
        self.assertIsNone(found[(self.folder / "user.wf").as_uri()].text_document.version)


class Diagnostics(Session):
    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return Editor(self.client, path.as_uri(), text)

    async def codes(self, editor):
        """What is shown in a file, whoever said it, once the server has said all that it has to."""
        await self.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=editor.document))
        await self.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=editor.document))
        shown = self.client.published.get(editor.uri)
        return [d.code for d in shown.diagnostics] if shown else None

    async def until(self, editor, codes):
        async with asyncio.timeout(30):
            while await self.codes(editor) != codes:
                await asyncio.sleep(0.02)

    async def test_two_open_files_that_import_each_other(self):
        a, b = self.write("a.wf", "import b;\nfn fa(x: i64) -> i64 = b.fb(x);\n"), self.write("b.wf", "import a;\nfn fb(x: i64) -> i64 = a.fa(x);\n")
        a.open()
        b.open()
        async with asyncio.timeout(30):
            while "WF8006" not in [*(await self.codes(a) or []), *(await self.codes(b) or [])]:
                await asyncio.sleep(0.02)
        b.change("fn fb(x: i64) -> i64 = x;\n")
        for editor in (a, b):
            await self.until(editor, [])

    async def test_a_closed_import_that_two_documents_read(self):
        lib = self.write("lib.wf", "fn twice(a: i64) -> i64 = q;\n")
        first, second = (self.write(name, "import lib;\nfn f() -> i64 = lib.twice(1);\n") for name in ("a.wf", "b.wf"))
        first.open()
        second.open()
        await self.until(second, [])
        await self.until(lib, ["WF3001"])  # once, though both say it
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=first.document))
        await self.client.diagnostics(second)
        self.assertEqual(await self.codes(lib), ["WF3001"])
        lib.open()
        await self.until(lib, ["WF3001"])
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=second.document))
        self.assertEqual(await self.codes(lib), ["WF3001"])
        lib.change("fn twice(a: i64) -> i64 = a;\n")
        await self.until(lib, [])

    async def test_a_module_in_a_folder(self):
        """Its imports count from the folder of the program that imports it."""
        self.write("sub/m.wf", "import inner.lib;\nfn f() -> i64 = lib.f(1);\n")
        self.write("sub/inner/util.wf", "fn g(x: i64) -> i64 = x;\n")
        lib = self.write("sub/inner/lib.wf", "import inner.util;\nfn f(x: i64) -> i64 = util.g(x);\n")
        lib.open()
        self.assertEqual(await self.client.diagnostics(lib), [])
        self.assertEqual(await self.labels(lib, "import inner.|util"), ["util"])
        self.assertLessEqual({"std", "m", "inner"}, set(await self.labels(lib, "import |inner")))
        self.assertEqual(len(await self.references(lib, "fn |f(x")), 2)
        edits = (await self.rename(lib, "util.|g(x)", "same")).changes
        self.assertEqual({uri.rsplit("/", 1)[1] for uri in edits}, {"lib.wf", "util.wf"})
        lib.change(lib.text.replace("util", "utl"))
        self.assertEqual([d.code for d in await self.client.diagnostics(lib)], ["WF8003"])
        # What it embeds lies in that folder, too.
        for name in ("sub/words.txt", "words.txt"):
            (self.folder / name).write_text("one\n", encoding="utf-8")
        lib.change('import inner.util;\nconst WORDS = lines("../words.txt");\nfn f(x: i64) -> i64 = util.g(x);\n')
        self.assertEqual([d.code for d in await self.client.diagnostics(lib)], [])
        lib.change(lib.text.replace("../words", "../../words"))
        self.assertEqual([d.code for d in await self.client.diagnostics(lib)], ["WF3046"])


class Completion(Session):
    async def test_settings_where_they_may_stand(self):
        text = """model M(x: f32[1, 4]) -> f32[1, 2] = onnx("parts/m.onnx") {
  batch 4;
}
remote R(x: i64) -> i64 = oip("127.0.0.1:1");
workflow W(x: f32[1, 4], n: i64) -> (y: f32[1, 2], z: i64, l: list<i64>) {
  node y = M(x) {
    timeout 1s;
  }
  node z = R(n) {
    timeout 2s;
  }
  node l = for e in [1, 2] {
    let t = e;
    t + n
  } {
    timeout 3s;
  }
  return (y: y, z: z, l: l);
}
"""
        editor = self.edit(text)
        plain = {"timeout", "priority"}
        model = {"batch", "pad", "queue", "on", "precision", "instances", "threads"}
        for place, wanted in (("    |timeout 1s", plain | model), ("    |timeout 2s", plain | {"retry"}), ("    |timeout 3s", plain | {"limit"})):
            self.assertEqual(set(await self.labels(editor, place)), wanted, place)
        self.assertIn("versions", await self.labels(editor, "  |batch 4"))

    async def test_paths(self):
        (self.folder / "parts").mkdir()
        for name in ("m.onnx", "parts/n.onnx", "words.txt", ".hidden"):
            (self.folder / name).write_text("")
        text = 'model M(x: f32[1]) -> f32[1] = onnx("m.onnx");\nmodel N(x: f32[1]) -> f32[1] = onnx("parts/n");\nconst w = lines("wo");\nconst s = "wo";\nconst t = text.tokenizer("wo");\n'
        editor = self.edit(text)
        self.assertEqual(await self.labels(editor, 'onnx("|m.onnx'), ["m.onnx", "parts/"])
        self.assertEqual(await self.labels(editor, 'onnx("parts/n|"'), ["n.onnx"])
        self.assertEqual(await self.labels(editor, 'lines("w|o"'), ["m.onnx", "parts/", "words.txt"])
        self.assertEqual(await self.labels(editor, 'tokenizer("w|o"'), ["m.onnx", "parts/", "words.txt"])
        self.assertEqual(await self.labels(editor, 's = "w|o"'), [])
        [item] = await self.client.text_document_completion_async(
            lsp.CompletionParams(text_document=editor.document, position=editor.at('onnx("parts/n|"')))
        self.assertIn('"parts/n.onnx"', editor.edited([item.text_edit]))

    async def test_errors_that_every_program_knows(self):
        editor = self.edit("error Empty = 100001 \"nothing\";\nfn f(n: i64) -> i64 = if n > 0 { n } else { fail Empty };\n")
        found = await self.labels(editor, "fail |Empty")
        self.assertEqual(found[0], "Empty")
        self.assertLessEqual({"InputParams", "Timeout", "Inference"}, set(found))


if __name__ == "__main__":
    harness.main()
