#!/usr/bin/env python3
"""The extension for Visual Studio Code: its grammar run by the editor's own engine over every example, its start tried, and the package made. All from npm, into the build folder."""
import json
import re
import shutil
import subprocess
import unittest
import zipfile

import harness

SOURCE = harness.ROOT / "docs/editors/vscode"
FOLDER = harness.BUILD / "editors"
PACKAGES = ["vscode-textmate@9.3.2", "vscode-oniguruma@2.0.1", "@vscode/vsce@3.6.2"]

TOKENIZE = """
const fs = require("fs");
const { Registry, INITIAL, parseRawGrammar } = require("vscode-textmate");
const { loadWASM, createOnigScanner, createOnigString } = require("vscode-oniguruma");
(async () => {
  await loadWASM(fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
  const path = process.argv[2];
  const registry = new Registry({ onigLib: Promise.resolve({ createOnigScanner, createOnigString }), loadGrammar: async () => parseRawGrammar(fs.readFileSync(path, "utf8"), path) });
  const grammar = await registry.loadGrammar("source.wf");
  const answers = JSON.parse(fs.readFileSync(0, "utf8")).map((text) => {
    let state = INITIAL;
    return text.split("\\n").map((line) => {
      const done = grammar.tokenizeLine(line, state);
      state = done.ruleStack;
      return done.tokens.map((t) => [t.startIndex, t.endIndex, t.scopes.join(" ")]);
    });
  });
  console.log(JSON.stringify(answers));
})();
"""

START = """
const Module = require("module");
const real = Module._load;
const seen = [];
Module._load = (name, ...rest) => name === "vscode" ? { workspace: { getConfiguration: () => ({ get: () => "/opt/wfc" }) }, window: { showErrorMessage: (text) => seen.push(text) } }
  : name === "vscode-languageclient/node" ? { LanguageClient: class { constructor(...all) { seen.push(all); } start() { seen.push("start"); } stop() { seen.push("stop"); } } }
  : real(name, ...rest);
const extension = require(process.argv[2]);
extension.activate();
extension.deactivate();
console.log(JSON.stringify(seen));
"""

# Strings, comments, numbers and words, as grammar/WfLexer.g4 has them.
LEXER = re.compile(r'(?P<comment>//[^\n]*)|(?P<string>r"[^"\n]*"|"(?:\\.|[^"\\\n])*")|(?P<number>[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+|[A-Za-z]\w*)?)|(?P<word>[A-Za-z_]\w*)')
SCOPES = {"comment": "comment", "string": "string", "number": "constant.numeric"}


def install():
    stamp = FOLDER / "installed"
    wanted = str(PACKAGES) + (SOURCE / "package.json").read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        tools = FOLDER / "tools"
        tools.mkdir(parents=True, exist_ok=True)
        (tools / "package.json").write_text('{"private": true}')
        subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *PACKAGES], cwd=tools, check=True, timeout=240, capture_output=True)
        shutil.rmtree(FOLDER / "vscode", ignore_errors=True)
        shutil.copytree(SOURCE, FOLDER / "vscode")
        subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=FOLDER / "vscode", check=True, timeout=240, capture_output=True)
        stamp.write_text(wanted)
    shutil.copytree(SOURCE, FOLDER / "vscode", dirs_exist_ok=True)


def node(script, *args, text=""):
    file = FOLDER / "tools" / "run.js"
    file.write_text(script)
    done = subprocess.run(["node", file, *map(str, args)], input=text, cwd=FOLDER / "tools", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def keywords():
    return re.findall(r"^KW_\w+ : '(\w+)'", (harness.ROOT / "grammar/WfLexer.g4").read_text(), re.M)


def settings():
    return re.findall(r'^SETTING\(\w+, "(\w+)"', (harness.ROOT / "compiler/sema/settings.def").read_text(), re.M)


class Editors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        install()

    def scopes(self, *texts):
        """For each text, a function from an offset to the scopes there."""
        answers = node(TOKENIZE, SOURCE / "syntaxes/wf.tmLanguage.json", text=json.dumps(texts))
        def reader(text, lines):
            flat, start = [], 0
            for line, tokens in zip(text.split("\n"), lines):
                flat += [(start + begin, start + end, scopes) for begin, end, scopes in tokens]
                start += len(line) + 1
            return lambda offset: next(scopes for begin, end, scopes in flat if begin <= offset < end)
        return [reader(text, lines) for text, lines in zip(texts, answers)]

    def test_examples_are_coloured_as_they_are_read(self):
        paths = sorted([*harness.EXAMPLES.rglob("*.wf"), *(harness.ROOT / "stdlib").rglob("*.wf"), *(harness.ROOT / "compiler/driver/templates").rglob("*.wf")])
        texts = [path.read_text() for path in paths]
        self.assertGreater(len(texts), 5)
        known = set(keywords())
        for path, text, scopes in zip(paths, texts, self.scopes(*texts)):
            for token in LEXER.finditer(text):
                kind, words = token.lastgroup, token.group()
                before = text[:token.start()].rstrip()
                if kind == "word":
                    label = before.endswith(".") or re.match(r"\s*:", text[token.end():])
                    if words not in known or label:
                        continue
                    wanted = ("keyword", "constant.language")
                else:
                    wanted = (SCOPES[kind],)
                found = scopes(token.start())
                self.assertTrue(any(scope in found for scope in wanted), f"{path}: {words!r} is {found}")

    def test_every_keyword_and_setting(self):
        words = keywords()
        for word, scopes in zip(words, self.scopes(*words)):
            self.assertRegex(scopes(0), r"keyword|constant\.language", word)
        blocks = [f"  {word} 32;" for word in settings()]
        for block, scopes in zip(blocks, self.scopes(*blocks)):
            self.assertIn("support.type.property-name", scopes(2), block)

    def test_names_inside_strings(self):
        text = r'let a = "x {name.field} \n {{" + r"{no}"; // "no"'
        [scopes] = self.scopes(text)
        self.assertIn("variable.other", scopes(text.index("name")))
        self.assertIn("constant.character.escape", scopes(text.index("\\n")))
        self.assertNotIn("variable", scopes(text.index("no}")))
        self.assertIn("comment", scopes(text.rindex("no")))
        self.assertIn("variable.other.declaration", scopes(text.index("a =")))

    def test_the_extension_starts_the_server(self):
        made, start, stop = node(START, SOURCE / "extension.js")
        self.assertEqual(made[2], {"command": "/opt/wfc", "args": ["lsp"]})
        self.assertEqual(made[3]["documentSelector"], [{"scheme": scheme, "language": "wf"} for scheme in ("file", "untitled")])
        self.assertEqual((start, stop), ("start", "stop"))

    def test_the_extension_names_the_setting_where_the_server_does_not_start(self):
        _, said = node(START.replace('start() { seen.push("start"); }', 'start() { throw new Error("spawn /opt/wfc ENOENT"); }'), SOURCE / "extension.js")
        self.assertEqual(said, "`/opt/wfc lsp` does not start: spawn /opt/wfc ENOENT. The setting `wf.wfc` says where wfc is.")

    def test_the_package(self):
        package = harness.scratch() / "wf.vsix"
        command = [FOLDER / "tools/node_modules/.bin/vsce", "package", "--skip-license", "--allow-missing-repository", "-o", package]
        done = subprocess.run(command, cwd=FOLDER / "vscode", capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with zipfile.ZipFile(package) as vsix:
            names = set(vsix.namelist())
        for name in ("package.json", "extension.js", "language-configuration.json", "syntaxes/wf.tmLanguage.json", "node_modules/vscode-languageclient/package.json"):
            self.assertIn("extension/" + name, names)


if __name__ == "__main__":
    harness.main()
