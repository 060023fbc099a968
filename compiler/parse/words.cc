#include "compiler/parse/words.h"

#include <algorithm>
#include <cctype>
#include <iterator>

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
  const T lexer(nullptr);
  std::vector<std::string> words;
  for (size_t type = 1; type <= lexer.getVocabulary().getMaxTokenType(); ++type) {
    const std::string literal(lexer.getVocabulary().getLiteralName(type));  // 'node', in quotes
    if (literal.size() > 2 && std::isalpha(static_cast<unsigned char>(literal[1])) != 0)
      words.push_back(literal.substr(1, literal.size() - 2));
  }
  return words;
}

bool IsName(std::string_view text) {
  const auto word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (text.empty() || text == "_" || std::isdigit(static_cast<unsigned char>(text[0])) != 0 || !std::all_of(text.begin(), text.end(), word))
    return false;
  const auto keywords = Keywords();
  return std::find(keywords.begin(), keywords.end(), text) == keywords.end();
}

}  // namespace wf::parse
