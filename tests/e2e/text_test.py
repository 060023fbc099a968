#!/usr/bin/env python3
"""Functions of text.wf on 12,000 lines of many languages: what they make of each is what Python makes of it."""
import re
import unicodedata
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment()

from tokens_test import HOSTILE, PER_CALL, corpus

WHITE = "".join(chr(c) for c in [*range(9, 14), 0x20, 0x85, 0xa0, 0x1680, *range(0x2000, 0x200b), 0x2028, 0x2029, 0x202f, 0x205f, 0x3000])
PATTERNS = [r"\w+", r"[^a-z ]+", r"(\w)(\d)?", r"(?i)the|an?\b", r"x*", r"^.", r".$", r"\s+", r"([A-Z])[a-z]+|(\d+)", r"[\u00c0-\u024f]+"]


def forms(line):
    return [unicodedata.normalize(form, line) for form in ("NFC", "NFD", "NFKC", "NFKD")]


def without_accents(line):
    return unicodedata.normalize("NFC", "".join(c for c in unicodedata.normalize("NFD", line) if unicodedata.category(c) != "Mn"))


def words(line):
    return [word for word in re.split(f"[{WHITE}]+", line) if word]


# By the name of a workflow: what it makes of a line, in the language and in Python.
FUNCTIONS = {
    "Lower": ("text.lower(line)", "string", lambda line: "".join(c.lower() for c in line)),
    "Casefold": ("text.casefold(line)", "string", str.casefold),
    "Forms": ('[text.normalise(line, form) for form in ["NFC", "NFD", "NFKC", "NFKD"]]', "list<string>", forms),
    "StripAccents": ("text.strip_accents(line)", "string", without_accents),
    "Trim": ("[text.trim(line), text.trim(line, end: false), text.trim(line, start: false)]", "list<string>",
             lambda line: [line.strip(WHITE), line.lstrip(WHITE), line.rstrip(WHITE)]),
    "Words": ("text.words(line)", "list<string>", words),
    "Characters": ("text.characters(line)", "i64", len),
    "Slice": ("text.slice(line, 2, 9)", "string", lambda line: line[2:9]),
    "Replace": ('text.replace(line, "e", "<>")', "string", lambda line: line.replace("e", "<>")),
    "Parts": ('text.split(line, "a")', "list<string>", lambda line: line.split("a")),
    "Joined": ('text.join(text.words(line), "--")', "string", lambda line: "--".join(words(line))),
    "Find": ('text.find(line, "n") ?? -1', "i64", lambda line: line.encode().find(b"n")),
    "Held": ('[text.contains(line, "en"), text.starts_with(line, "A"), text.ends_with(line, ".")]', "list<bool>",
             lambda line: ["en" in line, line.startswith("A"), line.endswith(".")]),
}
BY_PATTERN = {
    "Matches": ("text.matches(line, pattern)", "bool", lambda line, pattern: bool(pattern.search(line))),
    "FindAll": ("text.find_all(line, pattern)", "list<string>", lambda line, pattern: [found[0] for found in pattern.finditer(line)]),
    "Groups": ("text.groups(line, pattern)", "list<string>",
               lambda line, pattern: [found[i] or "" for i in range(pattern.groups + 1)] if (found := pattern.search(line)) else []),
    "ReplaceAll": ('text.replace_all(line, pattern, "<\\\\0>")', "string", lambda line, pattern: pattern.sub(r"<\g<0>>", line)),
    "SplitAll": ("text.split_all(line, pattern)", "list<string>", lambda line, pattern: re.compile(pattern.pattern.replace("(?i)", "").replace("(", "(?:"), pattern.flags).split(line)),
}


def program():
    flows = [(name, "", *rest[:2]) for name, rest in FUNCTIONS.items()] + [(name, ", pattern: string", *rest[:2]) for name, rest in BY_PATTERN.items()]
    texts = [f"""
workflow {name}(lines: list<string>{more}) -> (made: list<{result}>) {{
  node made = for line in lines {{ {call} }};
  return (made: made);
}}
""" for name, more, call, result in flows]
    members = "".join(f"  workflow {name};\n" for name, *_ in flows)
    return f"import std.text;\n{''.join(texts)}\nservice Texts {{\n{members}}}\n"


class Text(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.lines = HOSTILE + corpus()
        folder = harness.scratch() / "text"
        folder.mkdir()
        cls.source = folder / "text.wf"
        cls.source.write_text(program())
        super().setUpClass()

    def assert_same(self, name, lines, wanted, **parameters):
        for at in range(0, len(lines), PER_CALL):
            reply = self.server.post(f"/Texts/{name}", {"lines": lines[at:at + PER_CALL], **parameters})
            self.assertEqual(reply.status, 200, (name, reply))
            for line, made in zip(lines[at:at + PER_CALL], reply.json["made"], strict=True):
                self.assertEqual(made, wanted(line), (name, line, parameters))

    def test_every_line_is_changed_as_by_python(self):
        for name, (_, _, wanted) in FUNCTIONS.items():
            self.assert_same(name, self.lines, wanted)

    def test_long_texts(self):
        texts = ["\n".join(self.lines[:2000]), " ".join(self.lines[2000:4000]), "e\u0301" * 20000, "\u00c9" * 20000, "A" * 2**20]
        for name, (_, _, wanted) in FUNCTIONS.items():
            self.assert_same(name, texts, wanted)

    def test_patterns_find_what_re_finds(self):
        for pattern in PATTERNS:
            compiled = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
            for name, (_, _, wanted) in BY_PATTERN.items():
                self.assert_same(name, self.lines[:2000], lambda line: wanted(line, compiled), pattern=re.sub(r"\\u(....)", lambda found: chr(int(found[1], 16)), pattern))

    def test_what_is_no_pattern_is_refused(self):
        for pattern in ("(", "a(?=b)", "(?P<n>a)(?P=n)", "[z-a]", "(x{1000}){1000}", "\\"):
            self.assert_error(self.server.post("/Texts/Matches", {"lines": ["a"], "pattern": pattern}), 500, 7000)

    def test_bytes_that_are_no_text_are_refused(self):
        for bad in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80"):
            reply = self.server.call("POST", "/Texts/Lower", b'{"lines": ["' + bad + b'"]}', {"content-type": "application/json"})
            self.assertEqual(reply.status, 400, bad)


if __name__ == "__main__":
    unittest.main()
