#include "compiler/tokens/read_parts.h"

#include <algorithm>
#include <array>

#include "runtime/abi/char_map.h"
#include "runtime/base/base64.h"

namespace wf::tokens {

using abi::TextStep;
using base::Status;

namespace {

constexpr std::string_view kSpaceMark = "\u2581";
constexpr const char* kTooManySteps = "more than 15 steps of normalizers";
static_assert(abi::kMaxTextSteps == 15);

// `sequence` is a list of parts, or one part.
template <typename Each>
Status ForEachPart(const Json& part, std::string_view list, Each each) {
  if (part.kind == Json::Kind::kNull) return Status::Ok();
  if (part.TextOf("type") != "Sequence") return each(part);
  const Json* parts = part.Find(list);
  if (parts == nullptr) return Broken("a `Sequence` without " + Quoted(list));
  for (const Json& one : parts->items) WF_RETURN_IF_ERROR(each(one));
  return Status::Ok();
}

// Several spaces become one, or the mark into which those that are left are made anyway.
Status AddReplace(const Json& one, Tokenizer& out) {
  const Json* pattern = one.Find("pattern");
  const std::string_view content = one.TextOf("content");
  const bool joins = pattern != nullptr && pattern->TextOf("Regex") == " {2,}" && (content == " " || content == kSpaceMark);
  if (!joins || out.model != abi::TokenModel::kUnigram) return Unsupported("the normalizer `Replace` but for several spaces, for Unigram");
  out.steps.push_back(TextStep::kJoinSpaces);
  return Status::Ok();
}

Status AddMap(const Json& one, Tokenizer& out) {
  if (!out.map.empty()) return Unsupported("two normalizers `Precompiled`");
  const std::string_view text = one.TextOf("precompiled_charsmap");
  out.map.resize(text.size() / 4 * 3);
  const int64_t bytes = base::DecodeBase64(text, reinterpret_cast<uint8_t*>(out.map.data()));
  out.map.resize(static_cast<size_t>(std::max<int64_t>(bytes, 0)));
  if (abi::CharMap(out.map).empty()) return Broken("`precompiled_charsmap` is no map of characters");
  out.steps.push_back(TextStep::kMapCharacters);
  return Status::Ok();
}

Status AddNormalizer(const Json& one, Tokenizer& out) {
  const std::string_view type = one.TextOf("type");
  std::vector<TextStep>& steps = out.steps;
  if (type == "BertNormalizer") {
    const bool lowers = one.BoolOf("lowercase", true);
    if (one.BoolOf("clean_text", true)) steps.push_back(TextStep::kClean);
    if (one.BoolOf("handle_chinese_chars", true)) steps.push_back(TextStep::kSpaceIdeographs);
    if (one.BoolOf("strip_accents", lowers)) steps.insert(steps.end(), {TextStep::kDecompose, TextStep::kDropNonspacing});
    if (lowers) steps.push_back(TextStep::kLowercase);
  } else if (type == "NFD") {
    steps.push_back(TextStep::kDecompose);
  } else if (type == "NFKD") {
    steps.push_back(TextStep::kDecomposeCompat);
  } else if (type == "NFC") {
    steps.insert(steps.end(), {TextStep::kDecompose, TextStep::kCompose});
  } else if (type == "NFKC") {
    steps.insert(steps.end(), {TextStep::kDecomposeCompat, TextStep::kCompose});
  } else if (type == "Lowercase") {
    steps.push_back(TextStep::kLowercase);
  } else if (type == "Nmt") {
    steps.push_back(TextStep::kNmt);
  } else if (type == "Precompiled") {
    return AddMap(one, out);
  } else if (type == "Replace") {
    return AddReplace(one, out);
  } else if (type == "Strip") {
    if (one.BoolOf("strip_left", true)) steps.push_back(TextStep::kStripStart);
    if (one.BoolOf("strip_right", true)) steps.push_back(TextStep::kStripEnd);
  } else if (type == "StripAccents") {
    steps.push_back(TextStep::kDropMarks);
  } else {
    return Unsupported("the normalizer " + Quoted(type));
  }
  return Status::Ok();
}

struct Pattern {
  std::string_view text;
  abi::TokenSplit split;
};
constexpr std::array kPatterns{
    Pattern{R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
            abi::TokenSplit::kGpt4},
    Pattern{R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
            abi::TokenSplit::kQwen},
};

// Words by a pattern that is known, of which then the bytes count: `Split` and `ByteLevel` behind it.
Status ReadPattern(const Json& parts, Tokenizer& out) {
  const Json &split = parts.items[0], &bytes = parts.items[1];
  const Json* pattern = split.Find("pattern");
  const std::string_view text = pattern != nullptr ? pattern->TextOf("Regex") : "";
  const auto known = std::find_if(kPatterns.begin(), kPatterns.end(), [&](const Pattern& one) { return one.text == text; });
  if (known == kPatterns.end()) return Unsupported("the pattern " + Quoted(text));
  const bool is_plain = split.TextOf("behavior") == "Isolated" && !split.BoolOf("invert", false) && bytes.TextOf("type") == "ByteLevel" &&
                        !bytes.BoolOf("use_regex", true) && !bytes.BoolOf("add_prefix_space", true);
  if (!is_plain || out.model != abi::TokenModel::kBpe)
    return Unsupported("the pre-tokenizer `Split` but for words, before `ByteLevel`, for BPE");
  out.split = known->split;
  return Status::Ok();
}

// Spaces become marks, with which words begin.
Status AddMarks(const Json& one, bool is_behind_spaces, Tokenizer& out) {
  if (one.Find("replacement") != nullptr && one.TextOf("replacement") != kSpaceMark)
    return Unsupported("a `Metaspace` of another character");
  const bool adds = one.BoolOf("add_prefix_space", true), splits = one.BoolOf("split", true);
  const Json* given = one.Find("prepend_scheme");
  const std::string_view scheme = given != nullptr ? std::string_view(given->text) : adds ? "always" : "never";
  if (is_behind_spaces && (scheme != "always" || !splits))
    return Unsupported("a `Metaspace` behind `WhitespaceSplit` that does not begin each word");
  out.split = splits ? abi::TokenSplit::kMarks : abi::TokenSplit::kWhole;
  out.steps.push_back(is_behind_spaces ? TextStep::kMarkWords : TextStep::kMarkSpaces);
  if (out.steps.size() > abi::kMaxTextSteps) return Unsupported(kTooManySteps);
  if (!is_behind_spaces && scheme != "never") out.flags |= abi::kSpaceBefore;
  if (scheme == "first") out.flags |= abi::kOnlyAtStart;
  return Status::Ok();
}

Status AddPreTokenizer(const Json& one, Tokenizer& out) {
  const std::string_view type = one.TextOf("type");
  const bool is_bpe = out.model == abi::TokenModel::kBpe, is_unigram = out.model == abi::TokenModel::kUnigram;
  if (type == "BertPreTokenizer" && !is_bpe && !is_unigram) {
    out.split = abi::TokenSplit::kBert;
  } else if (type == "ByteLevel" && is_bpe) {
    out.split = one.BoolOf("use_regex", true) ? abi::TokenSplit::kGpt2 : abi::TokenSplit::kWhole;
    if (one.BoolOf("add_prefix_space", true)) out.flags |= abi::kSpaceBefore;
  } else if (type == "Metaspace" && is_unigram) {
    return AddMarks(one, false, out);
  } else {
    return Unsupported("the pre-tokenizer " + Quoted(type) + (is_bpe ? " with BPE" : is_unigram ? " with Unigram" : " with WordPiece"));
  }
  return Status::Ok();
}

Status AddIds(const Json* ids, std::vector<uint32_t>& out) {
  if (ids == nullptr || ids->kind != Json::Kind::kArray) return Broken("a special token of the post-processor has no `ids`");
  for (const Json& one : ids->items) {
    const auto id = one.id();
    if (!id) return Broken("a special token of the post-processor has an id that is none");
    out.push_back(*id);
  }
  return Status::Ok();
}

// {"single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, ..], "special_tokens": {"[CLS]": {"ids": [2]}}}
Status AddTemplate(const Json& processor, Tokenizer& out) {
  const Json* single = processor.Find("single");
  const Json* tokens = processor.Find("special_tokens");
  if (single == nullptr || single->kind != Json::Kind::kArray) return Broken("a template without `single`");
  int sequences = 0;
  for (const Json& piece : single->items) {
    if (piece.Find("Sequence") != nullptr) {
      ++sequences;
      continue;
    }
    const Json* special = piece.Find("SpecialToken");
    if (special == nullptr) return Broken("a template of neither `Sequence` nor `SpecialToken`");
    const std::string_view name = special->TextOf("id");
    const Json* token = tokens != nullptr ? tokens->Find(name) : nullptr;
    if (token == nullptr) return Broken("the template has " + Quoted(name) + ", which its `special_tokens` do not");
    WF_RETURN_IF_ERROR(AddIds(token->Find("ids"), sequences == 0 ? out.before : out.after));
  }
  return sequences == 1 ? Status::Ok() : Unsupported("a template that does not hold the text once");
}

// {"sep": ["</s>", 2], "cls": ["<s>", 0]}
Status AddEnds(const Json& processor, Tokenizer& out) {
  for (const auto& [name, ids] : {std::pair("cls", &out.before), std::pair("sep", &out.after)}) {
    const Json* token = processor.Find(name);
    const auto id = token != nullptr && token->items.size() == 2 ? token->items[1].id() : std::nullopt;
    if (!id) return Broken("the post-processor has no " + Quoted(name));
    ids->push_back(*id);
  }
  return Status::Ok();
}

}  // namespace

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

Status Unsupported(std::string what) { return {base::kUnimplemented, std::move(what)}; }

Status Broken(std::string text) { return {base::kInvalidArgument, std::move(text)}; }

Status ReadNormalizer(const Json& normalizer, Tokenizer& out) {
  return ForEachPart(normalizer, "normalizers", [&](const Json& one) {
    WF_RETURN_IF_ERROR(AddNormalizer(one, out));
    return out.steps.size() > abi::kMaxTextSteps ? Unsupported(kTooManySteps) : Status::Ok();
  });
}

Status ReadPreTokenizer(const Json& splitter, Tokenizer& out) {
  if (splitter.kind == Json::Kind::kNull) return Unsupported("the pre-tokenizer `null`");
  if (const Json* parts = splitter.Find("pretokenizers"); parts != nullptr && parts->items.size() == 2) {
    const Json &first = parts->items[0], &second = parts->items[1];
    if (first.TextOf("type") == "Split") return ReadPattern(*parts, out);
    const bool has_marks = first.TextOf("type") == "WhitespaceSplit" && second.TextOf("type") == "Metaspace";
    if (has_marks && out.model == abi::TokenModel::kUnigram) return AddMarks(second, true, out);
  }
  int parts = 0;
  return ForEachPart(splitter, "pretokenizers", [&](const Json& one) {
    return ++parts == 1 ? AddPreTokenizer(one, out) : Unsupported("the pre-tokenizer " + Quoted(one.TextOf("type")) + " behind another");
  });
}

Status ReadPostProcessor(const Json& processor, Tokenizer& out) {
  return ForEachPart(processor, "processors", [&](const Json& one) {
    const std::string_view type = one.TextOf("type");
    if (type == "ByteLevel") return Status::Ok();  // it moves offsets, and there are none
    if (!out.before.empty() || !out.after.empty()) return Unsupported("the post-processor " + Quoted(type) + " behind another");
    if (type == "TemplateProcessing") return AddTemplate(one, out);
    if (type == "BertProcessing" || type == "RobertaProcessing") return AddEnds(one, out);
    return Unsupported("the post-processor " + Quoted(type));
  });
}

Status ReadTruncation(const Json& truncation, Tokenizer& out) {
  if (truncation.kind == Json::Kind::kNull) return Status::Ok();
  if (truncation.TextOf("direction") == "Left") return Unsupported("truncation to the left");
  const Json* most = truncation.Find("max_length");
  const auto number = most != nullptr ? most->id() : std::nullopt;
  if (!number || *number == 0) return Broken("truncation without a `max_length` above 0");
  out.most = *number;
  return Status::Ok();
}

Status ReadPadding(const Json& padding) {
  if (padding.kind == Json::Kind::kNull) return Status::Ok();
  const bool to_longest = padding.TextOf("strategy") == "BatchLongest" && padding.Find("pad_to_multiple_of") == nullptr;
  return to_longest ? Status::Ok() : Unsupported("padding to a length of its own");
}

void ReadDecoder(const Json& decoder, Tokenizer& out) {
  const std::string_view type = decoder.TextOf("type");
  out.join = abi::TokenJoin::kNone;
  if (decoder.kind == Json::Kind::kNull) {
    out.join = abi::TokenJoin::kSpaces;
  } else if (type == "WordPiece") {
    out.join = abi::TokenJoin::kSpaces;
    out.joined_prefix = decoder.Find("prefix") != nullptr ? decoder.TextOf("prefix") : "##";
    out.cleans_up = decoder.BoolOf("cleanup", true);
  } else if (type == "ByteLevel" && out.model == abi::TokenModel::kBpe) {
    out.join = abi::TokenJoin::kBytes;
  } else if (type == "Metaspace" && (decoder.Find("replacement") == nullptr || decoder.TextOf("replacement") == kSpaceMark)) {
    out.join = abi::TokenJoin::kMarks;
    const Json* scheme = decoder.Find("prepend_scheme");
    if (scheme != nullptr ? scheme->text != "never" : decoder.BoolOf("add_prefix_space", true)) out.flags |= abi::kDropsFirst;
  }
}

Status ReadAdded(const Json& added, bool normalises, Tokenizer& out) {
  for (const Json& one : added.items) {
    const Json *content = one.Find("content"), *id = one.Find("id");
    if (content == nullptr || content->kind != Json::Kind::kText || id == nullptr || !id->id()) {
      return Broken("an added token without `content` or `id`");
    }
    if (content->text.empty()) continue;
    if (one.BoolOf("single_word", false)) return Unsupported("the added token " + Quoted(content->text) + " as a word of its own");
    const bool is_normalised = one.BoolOf("normalized", !one.BoolOf("special", false));
    if (is_normalised && normalises) return Unsupported("the added token " + Quoted(content->text) + " in normalised text");
    out.added.push_back(
        {content->text, *id->id(), one.BoolOf("lstrip", false), one.BoolOf("rstrip", false), is_normalised, one.BoolOf("special", false)});
  }
  return Status::Ok();
}

}  // namespace wf::tokens
