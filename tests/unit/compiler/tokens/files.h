#pragma once

#include <string>
#include <string_view>

namespace wf::tokens {

// Small tokenizer.json files. `rest`: further members of the file, each with a comma behind it.
inline std::string WordPieceFile(std::string_view rest = "") {
  return "{" + std::string(rest) + R"("pre_tokenizer": {"type": "BertPreTokenizer"}, "model": {"type": "WordPiece", "unk_token": "?",
      "vocab": {"?": 0, "un": 1, "##do": 2, "##ne": 3, "a": 4, "##": 5, "é": 6}}})";
}
inline std::string BpeFile(std::string_view rest = "", std::string_view of_model = "") {
  return "{" + std::string(rest) + R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "model": {)" +
         std::string(of_model) +
         R"("type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "abab": 3, "Ġ": 4, "?": 5}, "merges": ["a b", "ab ab"]}})";
}

inline std::string UnigramFile(std::string_view rest = "", std::string_view of_model = R"("unk_id": 0, )") {
  return "{" + std::string(rest) + R"("pre_tokenizer": {"type": "Metaspace"}, "model": {)" + std::string(of_model) +
         R"("type": "Unigram", "vocab": [["?", 0], ["\u2581", -2.5], ["a", -3], ["b", -3], ["ab", -4e0], ["\u2581ab", -8], ["é", -5]]}})";
}

}  // namespace wf::tokens
