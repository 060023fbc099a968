#include "compiler/tokens/read_tokenizer.h"

#include <string>

#include "compiler/tokens/read_model.h"
#include "compiler/tokens/read_parts.h"

namespace wf::tokens {

using base::Result;
using base::Status;

namespace {

constexpr size_t kMostPartsInAll = 200'000;  // of all that is not the model

// The parts that others need come first, wherever they stand in the file.
Status Finish(const Json& parts, Tokenizer& out) {
  const Json none;
  const auto part = [&](std::string_view name) -> const Json& {
    const Json* found = parts.Find(name);
    return found != nullptr ? *found : none;
  };
  WF_RETURN_IF_ERROR(ReadNormalizer(part("normalizer"), out));
  const bool normalises = !out.steps.empty();
  WF_RETURN_IF_ERROR(ReadPreTokenizer(part("pre_tokenizer"), out));
  WF_RETURN_IF_ERROR(ReadPostProcessor(part("post_processor"), out));
  WF_RETURN_IF_ERROR(ReadTruncation(part("truncation"), out));
  WF_RETURN_IF_ERROR(ReadPadding(part("padding")));
  ReadDecoder(part("decoder"), out);
  return ReadAdded(part("added_tokens"), normalises, out);
}

}  // namespace

Result<Tokenizer> ReadTokenizer(std::string_view content) {
  Tokenizer out;
  Json parts;
  bool has_model = false;
  size_t left = kMostPartsInAll;
  source::JsonScanner scanner(content);
  WF_RETURN_IF_ERROR(scanner.Object([&](std::string name) -> Status {
    if (name == "model" && scanner.Peek() == '{') {
      if (has_model) return scanner.Wrong("`model` once");
      has_model = true;
      return ReadModel(scanner, out);
    }
    auto value = ReadTree(scanner, left);
    if (!value.ok()) return value.status();
    parts.keys.push_back(std::move(name));
    parts.items.push_back(std::move(*value));
    return Status::Ok();
  }));
  WF_RETURN_IF_ERROR(scanner.End());
  if (!has_model) return Broken("there is no `model`");
  WF_RETURN_IF_ERROR(Finish(parts, out));
  return out;
}

Result<Tokenizer> ReadVocabulary(std::string_view content) {
  Tokenizer out;
  out.unknown = "[UNK]";
  out.steps = {abi::TextStep::kClean, abi::TextStep::kSpaceIdeographs, abi::TextStep::kDecompose, abi::TextStep::kDropNonspacing,
               abi::TextStep::kLowercase};
  uint32_t id = 0;
  for (size_t at = 0; at < content.size(); ++id) {
    const size_t end = std::min(content.find('\n', at), content.size());
    std::string_view word = content.substr(at, end - at);
    if (word.ends_with('\r')) word.remove_suffix(1);
    if (!out.vocabulary.emplace(word, id).second) return Broken("line " + std::to_string(id + 1) + ": " + Quoted(word) + " is there twice");
    at = end + 1;
  }
  for (const char* name : {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"}) {
    const auto found = out.vocabulary.find(name);
    if (found != out.vocabulary.end()) {
      out.added.push_back({name, found->second});
    } else if (out.added.size() < 3) {
      return Broken("there is no " + Quoted(name));
    }
  }
  for (Added& added : out.added) added.is_special = true;
  out.joined_prefix = "##";
  out.cleans_up = true;
  out.before = {out.added[1].id};
  out.after = {out.added[2].id};
  return out;
}

}  // namespace wf::tokens
