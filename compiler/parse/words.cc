#include "compiler/parse/words.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "compiler/parse/tokens.h"

namespace wf::parse {
namespace {

struct Starter {
  std::string_view word;
  size_t token;
  uint16_t sequences;
};
constexpr Starter kStarters[] = {
#define STARTER(word, token, sequences) {word, T::token, sequences},
#include "compiler/parse/starters.def"
#undef STARTER
};

// In the order of the grammar.
std::vector<std::pair<std::string, size_t>> KeywordsAndTypes() {
  const T lexer(nullptr);
  std::vector<std::pair<std::string, size_t>> words;
  for (size_t type = 1; type <= lexer.getVocabulary().getMaxTokenType(); ++type) {
    const std::string literal(lexer.getVocabulary().getLiteralName(type));  // 'node', in quotes
    if (literal.size() > 2 && std::isalpha(static_cast<unsigned char>(literal[1])) != 0)
      words.emplace_back(literal.substr(1, literal.size() - 2), type);
  }
  return words;
}

}  // namespace

std::vector<std::string> Starters(uint16_t sequences) {
  std::vector<std::string> words;
  for (const Starter& row : kStarters) {
    if ((row.sequences & sequences) != 0) words.emplace_back(row.word);
  }
  return words;
}

bool Starts(size_t token, uint16_t sequences) {
  return token != T::NAME && std::any_of(std::begin(kStarters), std::end(kStarters),
                                         [&](const Starter& row) { return row.token == token && (row.sequences & sequences) != 0; });
}

std::vector<std::string> Keywords() {
  std::vector<std::string> words;
  for (auto& [word, type] : KeywordsAndTypes()) words.push_back(std::move(word));
  return words;
}

size_t TypeOfWord(std::string_view word) {
  static const std::map<std::string, size_t, std::less<>> kTypes = [] {
    auto keywords = KeywordsAndTypes();
    return std::map<std::string, size_t, std::less<>>(std::make_move_iterator(keywords.begin()), std::make_move_iterator(keywords.end()));
  }();
  const auto at = kTypes.find(word);
  return at == kTypes.end() ? size_t{T::NAME} : at->second;
}

bool IsName(std::string_view text) {
  const auto word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (text.empty() || text == "_" || std::isdigit(static_cast<unsigned char>(text[0])) != 0 || !std::all_of(text.begin(), text.end(), word))
    return false;
  return TypeOfWord(text) == T::NAME;
}

}  // namespace wf::parse
