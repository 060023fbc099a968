#!/usr/bin/env python3
"""Tokenizers trained here by PyPI's `tokenizers`, on translations that lie on the machine and on the project's pages: a server gives the ids that it gives."""
import gettext
import io
import json
import random
import sys
import time
import unicodedata
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment()

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LINES = 12000
PER_CALL = 500
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
HOSTILE = [
    "", " ", "   ", "\n", "\t a", "a \n\n b", "  two  spaces ", "\u00a0no\u00a0break\u3000wide", "it's we'll I'd they've 'tis ''s '", "don'T", "x" * 99, "x" * 100,
    "x" * 101, "[CLS] a [SEP][SEP] b[MASK]", "[cls]", "[MASK", "<s>x</s>", " <mask> y", "y  <mask>", "<|end|><|end|>", "\x00\x01a\x7fb\ufffdc\u200bd\ufeff",
    "e\u0301 \u00e9 E\u0301\u0323 \u1e69 s\u0323\u0307", "\u0130stanbul \u01c5 \u1e9e \ufb01 \ufdfa", "\uac00\u1100\u1161\u11a8", "\u4f60\u597d, world\u3002\U00020000!",
    "\U0001f600\U0001f468\u200d\U0001f469", "1234567890 3.14 \u0663\u0664 \u00bd\u2167", "a\u0300" * 50, "\u0301" * 200 + "\u0323" * 200, "snake_case-and.dots/etc",
    "IT'S WE'Ll I'D 'LLama '\u017fo x'S 'r 're", "a\r\n\r\n  b\n \n\t c ...\n\n!\r d\t\te \u00a0\u00a0f \n", "12345 1 2345.67 $1,000\u00b2",
]


def translations():
    """Lines of the message catalogues of the system, those of each language in turn."""
    by_language = {}
    for path in sorted(harness.Path("/usr/share/locale").glob("*/LC_MESSAGES/*.mo")):
        texts = by_language.setdefault(path.parts[4], [])
        if len(texts) > 2000:
            continue
        try:
            with open(path, "rb") as file:
                catalogue = gettext.GNUTranslations(file)._catalog
        except (OSError, UnicodeDecodeError, LookupError, ValueError):
            continue
        texts += [line for text in catalogue.values() for line in text.splitlines() if line.strip()]
    return list(by_language.values())


def invented(dice, count):
    """Lines of characters that every version of Unicode since 3.2 has."""
    old = unicodedata.ucd_3_2_0
    known = [chr(c) for c in range(0x20, 0x30000) if old.category(chr(c)) not in ("Cn", "Cs") and unicodedata.category(chr(c)) == old.category(chr(c))]
    for _ in range(count):
        start = dice.randrange(len(known) - 200)
        near = known[start:start + 200] + [" "] * 40 + list("abc,.'!19\n")
        yield "".join(dice.choices(near if dice.random() < 0.8 else known, k=dice.randrange(60)))


def corpus():
    dice = random.Random(7)
    pages = [line for page in sorted((harness.ROOT / "docs").rglob("*.md")) for line in page.read_text().splitlines() if line.strip()]
    languages = translations()
    lines = pages[:2000] + list(invented(dice, 2000))
    for texts in languages:
        lines += dice.sample(texts, min(len(texts), (LINES - len(lines)) // len(languages) + 1) if len(lines) < LINES else 20)
    lines += invented(dice, max(0, LINES - len(lines)))
    dice.shuffle(lines)
    return lines


def trained(model, trainer, splitter, lines, normalizer=None, processor=None, decoder=None):
    tokenizer = Tokenizer(model)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    tokenizer.train_from_iterator(lines, trainer)
    if processor is not None:
        tokenizer.post_processor = processor(tokenizer)
    if decoder is not None:
        tokenizer.decoder = decoder
    return tokenizer


def around(before, after):
    """A template with these tokens around a text."""
    def make(tokenizer):
        tokens = [(name, tokenizer.token_to_id(name)) for name in before + after]
        return processors.TemplateProcessing(single=" ".join([*before, "$A", *after]), special_tokens=tokens)
    return make


def word_piece(lines, **options):
    trainer = trainers.WordPieceTrainer(vocab_size=3000, special_tokens=SPECIAL, show_progress=False)
    return trained(models.WordPiece(unk_token="[UNK]"), trainer, pre_tokenizers.BertPreTokenizer(), lines, normalizers.BertNormalizer(**options),
                   around(["[CLS]"], ["[SEP]"]), decoders.WordPiece())


def byte_pairs(lines, special, splitter, alphabet=True, model=None, **options):
    trainer = trainers.BpeTrainer(vocab_size=3000, special_tokens=special, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if alphabet else [])
    return trained(model or models.BPE(), trainer, splitter, lines, **options)


def pieces(lines, splitter, normalizer=None, processor=None, special=("<unk>", "<s>", "</s>"), **options):
    trainer = trainers.UnigramTrainer(vocab_size=3000, special_tokens=list(special), unk_token="<unk>", show_progress=False, **options)
    known = [line for line in lines if max(map(ord, line), default=0) < 0x500]  # a vocabulary holds all characters that it has seen
    tokenizer = trained(models.Unigram(), trainer, splitter, known, normalizer, processor)
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def map_of(rule, lines):
    """SentencePiece's map of characters, as it lies in its models: field 2 of field 3."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter([line for line in lines if line.isascii()][:300]), model_writer=model, vocab_size=400, hard_vocab_limit=False,
                                             normalization_rule_name=rule, minloglevel=2)
    found = model.getvalue()
    for field in (3, 2):
        found = next(value for number, value in fields(found) if number == field)
    return found


def fields(message):
    """The number and the bytes of each field of a protobuf that has bytes."""
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    at = 0
    while at < len(message):
        key = varint()
        size = {0: 0, 1: 8, 2: 0, 5: 4}[key & 7]
        if key & 7 == 0:
            varint()
        elif key & 7 == 2:
            size = varint()
            yield key >> 3, message[at:at + size]
        at += size


def with_bytes(tokenizer):
    """The same, with a piece for each byte, to which unknown characters fall back."""
    file = json.loads(tokenizer.to_str())
    file["model"]["byte_fallback"] = True
    file["model"]["vocab"] += [[f"<0x{byte:02X}>", -20.0 - byte] for byte in range(256)]
    return Tokenizer.from_str(json.dumps(file))


def by_pattern(digits):
    pattern = rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def tokenizers_of(lines):
    """By the name of a file: the tokenizer, and the function of text.wf that it is for."""
    sample = lines[::6]
    gpt2 = byte_pairs(sample, ["<|end|>"], pre_tokenizers.ByteLevel(add_prefix_space=False))
    gpt2.post_processor = processors.ByteLevel(trim_offsets=False)
    roberta = byte_pairs(sample, ["<s>", "<pad>", "</s>", "<unk>"], pre_tokenizers.ByteLevel(add_prefix_space=True))
    roberta.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    roberta.post_processor = processors.RobertaProcessing(("</s>", roberta.token_to_id("</s>")), ("<s>", roberta.token_to_id("<s>")))
    composed = byte_pairs(sample, ["<s>", "<unk>"], pre_tokenizers.Sequence([pre_tokenizers.ByteLevel(add_prefix_space=False)]), alphabet=False,
                          model=models.BPE(unk_token="<unk>", fuse_unk=True, ignore_merges=True), normalizer=normalizers.NFC(), processor=around(["<s>"], []))
    llama = byte_pairs(sample, ["<|begin|>"], by_pattern(r"\p{N}{1,3}"), model=models.BPE(ignore_merges=True))
    llama.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), around(["<|begin|>"], [])(llama)])
    spaces = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    marks, words = pre_tokenizers.Metaspace(), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    sentence = pieces(sample, marks, spaces, around(["<s>"], ["</s>"]))
    sentence.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    stripped = pieces(sample, pre_tokenizers.Metaspace(prepend_scheme="first"),
                      normalizers.Sequence([normalizers.Strip(left=False), normalizers.Lowercase(), normalizers.StripAccents()]))
    for tokenizer, decoder in ((gpt2, decoders.ByteLevel()), (roberta, decoders.ByteLevel()), (llama, decoders.ByteLevel())):
        tokenizer.decoder = decoder
    mapped = [normalizers.Sequence([normalizers.Precompiled(map_of(rule, lines)), normalizers.Replace(Regex(" {2,}"), " ")]) for rule in ("nmt_nfkc", "nmt_nfkc_cf")]
    return {
        "mapped": (pieces(sample, words, mapped[0], around(["<s>"], ["</s>"])), "unigram"),
        "folded": (pieces(sample, marks, mapped[1]), "unigram"),
        "sentence": (sentence, "unigram"),
        "spaced": (pieces(sample, words, normalizers.NFKC(), around([], ["</s>"]), max_piece_length=8), "unigram"),
        "stripped": (stripped, "unigram"),
        "bytes": (with_bytes(pieces(sample, pre_tokenizers.Metaspace(prepend_scheme="never"))), "unigram"),
        "unsplit": (pieces(sample, pre_tokenizers.Metaspace(split=False), spaces), "unigram"),
        "llama": (llama, "bpe"),
        "qwen": (byte_pairs(sample, ["<|end|>"], by_pattern(r"\p{N}"), normalizer=normalizers.NFC()), "bpe"),
        "uncased": (word_piece(sample), "wordpiece"),
        "cased": (word_piece(sample, lowercase=False, handle_chinese_chars=False), "wordpiece"),
        "compatible": (trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=30),
                               trainers.WordPieceTrainer(vocab_size=3000, special_tokens=SPECIAL, show_progress=False), pre_tokenizers.BertPreTokenizer(), sample,
                               normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])), "wordpiece"),
        "gpt2": (gpt2, "bpe"),
        "roberta": (roberta, "bpe"),
        "composed": (composed, "bpe"),
        "whole": (byte_pairs(sample[:500], [], pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)), "bpe"),
    }


def program(names):
    consts = "".join(f'const {name.upper()} = text.tokenizer("{name}.json");\n' for name in names)
    flows = "".join(f"""
workflow {name.title()}Text(ids: list<i64[_]>, special: bool = false) -> (lines: list<string>) {{
  node lines = for one in ids {{ text.detokenise(one, {name.upper()}.table, special) }};
  return (lines: lines);
}}

workflow {name.title()}(lines: list<string>, most: i64?, special: bool = true) -> (ids: list<i64[_]>) {{
  node ids = for line in lines {{ text.{function}(line, {name.upper()}, most, special) }};
  return (ids: ids);
}}
""" for name, (_, function) in names.items())
    members = "".join(f"  workflow {name.title()};\n  workflow {name.title()}Text;\n" for name in names)
    return f"import std.text;\n\n{consts}{flows}\nservice Tokens {{\n{members}}}\n"


class Tokens(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.lines = corpus()
        cls.tokenizers = tokenizers_of(cls.lines)
        folder = harness.scratch() / "tokens"
        folder.mkdir()
        for name, (tokenizer, _) in cls.tokenizers.items():
            tokenizer.save(str(folder / f"{name}.json"))
        cls.source = folder / "tokens.wf"
        cls.source.write_text(program(cls.tokenizers))
        super().setUpClass()

    def ids(self, name, lines, **parameters):
        reply = self.server.post(f"/Tokens/{name.title()}", {"lines": lines, **parameters})
        self.assertEqual(reply.status, 200, reply)
        return reply.json["ids"]

    def assert_same(self, name, lines, special=True):
        tokenizer = self.tokenizers[name][0]
        for at in range(0, len(lines), PER_CALL):
            part = lines[at:at + PER_CALL]
            wanted = [one.ids for one in tokenizer.encode_batch(part, add_special_tokens=special)]
            for line, found, ids in zip(part, self.ids(name, part, special=special), wanted, strict=True):
                self.assertEqual(found, ids, (name, line))

    def test_every_line_has_the_ids_that_tokenizers_gives(self):
        self.assertGreaterEqual(len(self.lines), LINES)
        for name in self.tokenizers:
            self.assert_same(name, HOSTILE)
            self.assert_same(name, HOSTILE, special=False)
            self.assert_same(name, self.lines)

    def test_tokens_become_the_text_that_tokenizers_gives(self):
        dice = random.Random(3)
        for name, (tokenizer, _) in self.tokenizers.items():
            some = [tokenizer.encode(line).ids for line in self.lines[:2000] + HOSTILE]
            some += [[dice.randrange(tokenizer.get_vocab_size() + 20) for _ in range(30)] for _ in range(500)]  # of parts of characters, and of no token
            for special in (False, True):
                for at in range(0, len(some), PER_CALL):
                    part = some[at:at + PER_CALL]
                    reply = self.server.post(f"/Tokens/{name.title()}Text", {"ids": part, "special": special})
                    self.assertEqual(reply.status, 200, reply)
                    for ids, line in zip(part, reply.json["lines"], strict=True):
                        self.assertEqual(line, tokenizer.decode(ids, skip_special_tokens=not special), (name, ids))

    def test_long_texts(self):
        for name in self.tokenizers:
            self.assert_same(name, ["\n".join(self.lines[:700]), " ".join(self.lines[700:1400]), "ab" * 3000])

    def test_no_more_than_most(self):
        for name in self.tokenizers:
            tokenizer = self.tokenizers[name][0]
            for most in (2, 3, 7, 128):
                tokenizer.enable_truncation(most)
                wanted = [one.ids for one in tokenizer.encode_batch(self.lines[:300])]
                tokenizer.no_truncation()
                self.assertEqual(self.ids(name, self.lines[:300], most=most), wanted, (name, most))
        self.assertEqual(self.ids("uncased", ["a b c"], most=0, special=False), [[]])
        for most in (1, -1):
            self.assert_error(self.server.post("/Tokens/Uncased", {"lines": ["a"], "most": most}), 500, 7000)

    def test_a_word_of_a_megabyte_takes_no_time_to_speak_of(self):
        for name in self.tokenizers:
            for word in ("x" * 2**20, "ab" * 2**19, "\u0301\u0323" * 2**17, " " * 2**18, "\u4f60" * 2**18):
                began = time.monotonic()
                self.ids(name, [word])
                self.assertLess(time.monotonic() - began, 20, (name, word[:2]))


if __name__ == "__main__":
    unittest.main()
