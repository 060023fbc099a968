#pragma once

#include <algorithm>
#include <string_view>

namespace wf::base {

// Letters and digits of ASCII, as protocols compare them in every locale.
constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

constexpr bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return Lower(x) == Lower(y); });
}

// Without blanks at its ends.
constexpr std::string_view Trim(std::string_view text, std::string_view blanks = " \t") {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// What stands before the next `separator`, trimmed; `text` is then what stands behind it.
constexpr std::string_view TakeUpTo(char separator, std::string_view* text) {
  const std::string_view part = text->substr(0, text->find(separator));
  text->remove_prefix(std::min(text->size(), part.size() + 1));
  return Trim(part);
}

// -1: not a hexadecimal digit.
constexpr int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = Lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace wf::base
