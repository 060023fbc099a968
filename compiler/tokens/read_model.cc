#include "compiler/tokens/read_model.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>

#include "compiler/tokens/read_parts.h"

namespace wf::tokens {

using base::Status;
using source::JsonScanner;

namespace {

constexpr size_t kMostParts = 1024;  // of all that is neither the vocabulary nor the merges
constexpr size_t kMostEntries = size_t{1} << 22;

struct Members {
  Json others;  // all but the vocabulary and the merges
  std::vector<std::pair<std::string, std::string>> merges;
  bool has_words = false;
};

Status ReadWords(JsonScanner& scanner, Tokenizer& out) {
  return scanner.Object([&](std::string name) -> Status {
    uint32_t id = 0;
    WF_RETURN_IF_ERROR(ReadId(scanner, id));
    if (out.vocabulary.size() == kMostEntries) return Broken("more than " + std::to_string(kMostEntries) + " words");
    return out.vocabulary.emplace(std::move(name), id).second ? Status::Ok() : scanner.Wrong("each word once");
  });
}

// [["a", -2.5], ..]; of a piece that stands twice the later holds
Status ReadPieces(JsonScanner& scanner, Tokenizer& out) {
  return scanner.Array([&]() -> Status {
    std::string piece;
    double score = 0;
    int parts = 0;
    WF_RETURN_IF_ERROR(scanner.Array([&]() -> Status {
      if (++parts == 1) return scanner.String(piece);
      const std::string_view digits = scanner.Digits();
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), score);
      if (parts > 2 || digits.empty() || error != std::errc() || end != digits.data() + digits.size())
        return scanner.Wrong("a piece and its score");
      scanner.Skip(digits.size());
      return Status::Ok();
    }));
    if (parts != 2) return scanner.Wrong("a piece and its score");
    if (out.scores.size() == kMostEntries) return Broken("more than " + std::to_string(kMostEntries) + " pieces");
    out.vocabulary.insert_or_assign(std::move(piece), static_cast<uint32_t>(out.scores.size()));
    out.scores.push_back(score);
    return Status::Ok();
  });
}

// ["a b", ..] or [["a", "b"], ..]
Status ReadMerges(JsonScanner& scanner, Members& out) {
  return scanner.Array([&]() -> Status {
    std::pair<std::string, std::string> merge;
    if (scanner.Peek() == '[') {
      int parts = 0;
      WF_RETURN_IF_ERROR(scanner.Array([&]() -> Status {
        if (++parts > 2) return scanner.Wrong("two parts");
        return scanner.String(parts == 1 ? merge.first : merge.second);
      }));
    } else {
      WF_RETURN_IF_ERROR(scanner.String(merge.first));
      const size_t space = merge.first.find(' ');
      if (space == std::string::npos) return scanner.Wrong("two parts");
      merge.second = merge.first.substr(space + 1);
      merge.first.resize(space);
    }
    if (merge.first.empty() || merge.second.empty()) return scanner.Wrong("two parts");
    if (out.merges.size() == kMostEntries) return Broken("more than " + std::to_string(kMostEntries) + " merges");
    out.merges.push_back(std::move(merge));
    return Status::Ok();
  });
}

Status ReadMembers(JsonScanner& scanner, Members& members, Tokenizer& out) {
  members.others.kind = Json::Kind::kObject;
  size_t left = kMostParts;
  return scanner.Object([&](std::string name) -> Status {
    if (name == "vocab" && scanner.Peek() == '{') {
      members.has_words = true;
      return ReadWords(scanner, out);
    }
    if (name == "merges" && scanner.Peek() == '[') return ReadMerges(scanner, members);
    if (name == "vocab" && scanner.Peek() == '[' && !members.has_words) return ReadPieces(scanner, out);
    auto value = ReadTree(scanner, left);
    if (!value.ok()) return value.status();
    members.others.keys.push_back(std::move(name));
    members.others.items.push_back(std::move(*value));
    return Status::Ok();
  });
}

Status NoWord(std::string_view what, const std::string& word) {
  return Broken(std::string(what) + ' ' + Quoted(word) + " is not in the vocabulary");
}

Status FinishWordPiece(const Json& members, Tokenizer& out) {
  out.model = abi::TokenModel::kWordPiece;
  if (members.Find("continuing_subword_prefix") != nullptr) out.continuation = members.TextOf("continuing_subword_prefix");
  out.unknown = "[UNK]";
  if (members.Find("unk_token") != nullptr) out.unknown = members.TextOf("unk_token");
  if (out.unknown.empty()) return Broken("`unk_token` is no word");
  if (!out.vocabulary.contains(out.unknown)) return NoWord("the unknown token", out.unknown);
  if (const Json* longest = members.Find("max_input_chars_per_word")) {
    const auto number = longest->id();
    if (!number) return Broken("`max_input_chars_per_word` is no number of characters");
    out.longest_word = *number;
  }
  return Status::Ok();
}

Status LookUpMerges(const Members& members, Tokenizer& out) {
  for (const auto& [left, right] : members.merges) {
    std::array<uint32_t, 3> ids{};
    const std::array words{left, right, left + right};
    for (size_t i = 0; i < words.size(); ++i) {
      const auto found = out.vocabulary.find(words[i]);
      if (found == out.vocabulary.end()) return NoWord("of a merge,", words[i]);
      ids[i] = found->second;
    }
    out.merges.push_back({ids[0], ids[1], ids[2]});
  }
  return Status::Ok();
}

Status FinishBpe(const Members& members, Tokenizer& out) {
  out.model = abi::TokenModel::kBpe;
  const Json& others = members.others;
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!others.TextOf(name).empty()) return Unsupported(Quoted(name) + " with BPE");
  }
  if (const Json* dropout = others.Find("dropout"); dropout != nullptr && dropout->text.find_first_of("123456789") != std::string::npos)
    return Unsupported("`dropout` with BPE");
  if (others.BoolOf("byte_fallback", false)) return Unsupported("`byte_fallback` with BPE");
  if (others.BoolOf("fuse_unk", false)) out.flags |= abi::kFuseUnknown;
  if (others.BoolOf("ignore_merges", false)) out.flags |= abi::kWholeWords;
  if (const Json* unknown = others.Find("unk_token")) out.unknown = unknown->text;
  if (!out.unknown.empty() && !out.vocabulary.contains(out.unknown)) return NoWord("the unknown token", out.unknown);
  return LookUpMerges(members, out);
}

Status FinishUnigram(const Json& members, Tokenizer& out) {
  out.model = abi::TokenModel::kUnigram;
  const Json* unknown = members.Find("unk_id");
  if (unknown == nullptr) return Unsupported("the model `Unigram` without `unk_id`");
  const auto id = unknown->id();
  if (!id || *id >= out.scores.size()) return Broken("`unk_id` is no piece");
  out.unknown_id = *id;
  out.falls_back = members.BoolOf("byte_fallback", false);
  return Status::Ok();
}

}  // namespace

Status ReadModel(JsonScanner& scanner, Tokenizer& out) {
  Members members;
  WF_RETURN_IF_ERROR(ReadMembers(scanner, members, out));
  const Json& others = members.others;
  std::string_view type = others.TextOf("type");
  if (type.empty() && others.Find("type") == nullptr) {  // older files do not say
    type = !members.merges.empty() ? "BPE" : others.Find("continuing_subword_prefix") != nullptr ? "WordPiece" : "";
  }
  if (type != "WordPiece" && type != "BPE" && type != "Unigram") return Unsupported("the model " + Quoted(type));
  if (type == "Unigram" ? out.scores.empty() : !members.has_words || !out.scores.empty()) return Broken("a model without `vocab`");
  if (type == "Unigram") return FinishUnigram(others, out);
  return type == "BPE" ? FinishBpe(members, out) : FinishWordPiece(others, out);
}

char32_t CharacterOf(uint8_t byte) {
  const auto is_seen = [](int x) { return (x >= '!' && x <= '~') || (x >= 0xa1 && x <= 0xac) || x >= 0xae; };
  if (is_seen(byte)) return byte;
  char32_t character = 256;
  for (int x = 0; x < byte; ++x) character += is_seen(x) ? 0 : 1;
  return character;
}

}  // namespace wf::tokens
