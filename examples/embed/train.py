#!/usr/bin/env python3
"""Trains the tokenizer: WordPiece, 8,000 pieces without capitals or accents, on the translated messages and their English originals that lie on a Debian system.

    python3 -m venv .venv && .venv/bin/pip install tokenizers==0.23.3 && .venv/bin/python train.py

Writes tokenizer.json, which is committed: another machine has other messages, and gets other pieces.
"""
import gettext
import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).resolve().parent
CATALOGUES = Path("/usr/share/locale")
LANGUAGES = ("da", "de", "es", "fi", "fr", "it", "nl", "pl", "pt", "sv", "tr")
PIECES = 8000
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]  # what fills rows up has to be 0: a server fills with zeros


def messages():
    """Each line once."""
    seen = {}
    for language in LANGUAGES:
        for path in sorted((CATALOGUES / language / "LC_MESSAGES").glob("*.mo")):
            try:
                with open(path, "rb") as file:
                    catalogue = gettext.GNUTranslations(file)._catalog
            except (OSError, UnicodeDecodeError, LookupError, ValueError):
                continue
            for key, text in catalogue.items():
                for part in (key[0] if isinstance(key, tuple) else key, text):
                    seen.update(dict.fromkeys(line.strip() for line in part.splitlines()))
    return [line for line in seen if line]


def main():
    lines = messages()
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(lines, trainers.WordPieceTrainer(vocab_size=PIECES, special_tokens=SPECIAL, show_progress=False))
    around = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=around)
    tokenizer.decoder = decoders.WordPiece()
    file = json.loads(tokenizer.to_str())
    (HERE / "tokenizer.json").write_text(json.dumps(file, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{len(lines)} lines, {tokenizer.get_vocab_size()} pieces")


if __name__ == "__main__":
    main()
