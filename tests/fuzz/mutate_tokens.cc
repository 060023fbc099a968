// A mutator for programs: it moves tokens, not bytes, so that much of what it makes still parses and reaches the later phases. libFuzzer
// calls it for each new input, and the replay for some of its mutations; the bytes are changed by libFuzzer's own mutator in one of four.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

extern "C" __attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

bool IsWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

size_t TokenEnd(std::string_view text, size_t begin) {
  size_t end = begin + 1;
  if (text[begin] == '"') {
    while (end < text.size() && text[end] != '"' && text[end] != '\n') ++end;
    return std::min(end + 1, text.size());
  }
  if (IsWord(text[begin])) {
    while (end < text.size() && IsWord(text[end])) ++end;
  }
  while (end < text.size() && (text[end] == ' ' || text[end] == '\n')) ++end;  // a token keeps the space after it
  return end;
}

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = TokenEnd(text, begin);
    tokens.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return tokens;
}

struct Dice {
  uint64_t state;
  size_t Roll(size_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<size_t>(state >> 33) % below;
  }
};

using Tokens = std::vector<std::string_view>;

Tokens Some(const Tokens& tokens, Dice& dice) {  // a few that stand side by side
  const size_t begin = dice.Roll(tokens.size());
  const size_t length = 1 + dice.Roll(std::min<size_t>(tokens.size() - begin, size_t{1} << dice.Roll(6)));
  return {tokens.begin() + static_cast<std::ptrdiff_t>(begin), tokens.begin() + static_cast<std::ptrdiff_t>(begin + length)};
}

void Change(Tokens& tokens, Dice& dice) {
  const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(dice.Roll(tokens.size()));
  switch (dice.Roll(4)) {
    case 0:
      tokens.erase(at);
      return;
    case 1:
      std::swap(*at, tokens[dice.Roll(tokens.size())]);
      return;
    case 2:
      *at = tokens[dice.Roll(tokens.size())];
      return;
    default:
      const Tokens copied = Some(tokens, dice);
      tokens.insert(at, copied.begin(), copied.end());
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  Dice dice{seed};
  if (size == 0 || (LLVMFuzzerMutate != nullptr && dice.Roll(4) == 0)) {
    return LLVMFuzzerMutate == nullptr ? 0 : LLVMFuzzerMutate(data, size, max_size);
  }
  const std::string text(reinterpret_cast<const char*>(data), size);
  Tokens tokens = Split(text);
  for (size_t changes = 1 + dice.Roll(3); changes > 0 && !tokens.empty(); --changes) Change(tokens, dice);
  size_t written = 0;
  for (const std::string_view token : tokens) {
    if (written + token.size() > max_size) break;
    std::copy(token.begin(), token.end(), data + written);
    written += token.size();
  }
  return written;
}
