#!/usr/bin/env python3
"""wfc lsp behind every `.` of the examples and the library: what is answered at once, by the outline of a text, is what its whole analysis answers."""
import os
import re
import unittest

import harness
import lsp_wire

STEP = int(os.environ.get("WF_DOTS_STEP", "40"))  # of the places, one in so many
PROGRAMS = sorted([*(harness.ROOT / "examples").rglob("*.wf"), *(harness.ROOT / "stdlib").rglob("*.wf")])


def dots(text):
    """Behind each `.` that is in no comment and no number."""
    return [dot.end() for dot in re.finditer(r"//[^\n]*|(?<=[A-Za-z_)\]\d])\.", text) if dot.group() == "."]


def texts_at(text, dot):
    """As it is; with nothing behind the dot in its line; without the rest of its statement; without all that follows."""
    line, statement = text.find("\n", dot), text.find(";", dot)
    return [text, text[:dot] + text[line:], text[:dot] + text[statement + 1:], text[:dot]]


class Program(lsp_wire.Document):
    """An open file that is asked what may follow."""
    def __init__(self, wire, path):
        self.wire, self.named = wire, {"uri": path.as_uri()}
        self.text, self.version = path.read_text(encoding="utf-8"), 0
        wire.send({"method": "textDocument/didOpen", "params": {"textDocument": {**self.named, "version": 0, "text": self.text}}})
        self.settle()

    def settle(self):
        """Until there are diagnostics of this version, or nothing else to say than before."""
        self.completion(0)

    def put(self, text):
        self.version += 1
        return {"method": "textDocument/didChange", "params": {"textDocument": {**self.named, "version": self.version}, "contentChanges": [{"text": text}]}}

    def asked(self, text, dot):
        return {"id": f"{self.version}", "method": "textDocument/completion",
                "params": {"textDocument": self.named, "position": lsp_wire.position_of(text, dot)}}

    def answer(self):
        while "id" not in (message := self.wire.receive()):
            pass
        return message["result"]

    def completion(self, dot):
        self.wire.send(self.asked(self.text, dot))
        return self.answer()

    def answers(self, text, dot):
        """At once with the change, and where the text is analysed."""
        change = self.put(text)
        self.wire.send(change, self.asked(text, dot))
        at_once = self.answer()
        self.wire.send({"id": "symbols", "method": "textDocument/documentSymbol", "params": {"textDocument": self.named}})  # analyses the text
        self.answer()
        self.wire.send(self.asked(text, dot))
        return at_once, self.answer()


class Dots(unittest.TestCase):
    def test_the_outline_answers_what_the_analysis_does(self):
        places = [(path, dot) for path in PROGRAMS for dot in dots(path.read_text(encoding="utf-8"))][::STEP]
        wire, open_path, known = lsp_wire.Wire(), None, 0
        for path, dot in places:
            if path != open_path:
                program, open_path = Program(wire, path), path
            for text in texts_at(path.read_text(encoding="utf-8"), dot):
                at_once, later = program.answers(text, dot)
                known += bool(later)
                self.assertEqual(at_once, later, f"{path.name}: {text[text.rfind(chr(10), 0, dot) + 1:dot]!r} {len(text)}")
        wire.stop()
        self.assertGreater(known, len(places))


if __name__ == "__main__":
    harness.main()
