#include "compiler/base/json_scanner.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "compiler/base/utf8.h"

namespace wf::source {

using base::Status;

Status JsonScanner::Wrong(std::string_view wanted) const {
  const std::string_view before = text_.substr(0, at_);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // of none, npos + 1 is 0
  return {base::kInvalidArgument,
          "line " + std::to_string(line) + ", column " + std::to_string(column) + ": wanted " + std::string(wanted)};
}

// What begins here, in words.
std::string JsonScanner::Found() {
  constexpr size_t kMost = 24;
  switch (Peek()) {
    case '\0':
      return at_ == text_.size() ? "the end of the text" : "a byte 0";
    case '"':
      return "a string";
    case '[':
      return "an array";
    case '{':
      return "an object";
    default:
      break;
  }
  std::string_view piece = text_.substr(at_);
  piece = piece.substr(0, std::min(piece.find_first_of(" \t\r\n,:[]{}\"", 1), piece.size()));
  if (piece.size() <= kMost) return "`" + std::string(piece) + "`";
  size_t end = kMost;
  while ((static_cast<unsigned char>(piece[end]) & 0xc0) == 0x80) --end;  // not within a character
  return "`" + std::string(piece.substr(0, end)) + "…`";
}

Status JsonScanner::Unexpected(std::string_view wanted) {
  const std::string found = Found();  // past space, where the place is, too
  return Wrong(std::string(wanted) + ", found " + found);
}

void JsonScanner::Space() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
}

char JsonScanner::Peek() {
  Space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonScanner::Take(char c) {
  if (Peek() != c || at_ >= text_.size()) return false;
  ++at_;
  return true;
}

bool JsonScanner::TakeWord(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

std::string_view JsonScanner::Digits() {
  Space();
  const std::string_view rest = text_.substr(at_, std::min<size_t>(400, text_.size() - at_));
  return rest.substr(0, rest.find_first_not_of("+-0123456789.eE"));
}

Status JsonScanner::End() {
  Space();
  return at_ == text_.size() ? Status::Ok() : Unexpected("the end of the text");
}

bool JsonScanner::Hex4(char32_t& value) {
  if (text_.size() - at_ < 4) return false;
  uint32_t digits = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, digits, 16);
  at_ += 4;
  value = digits;
  return error == std::errc() && end == text_.data() + at_;
}

bool JsonScanner::Escape(std::string& out) {
  if (at_ >= text_.size()) return false;
  constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
  const char c = text_[at_++];
  if (const size_t known = kFrom.find(c); known != std::string_view::npos) {
    out += kTo[known];
    return true;
  }
  char32_t high = 0, low = 0;
  if (c != 'u' || !Hex4(high) || (high >= 0xdc00 && high < 0xe000)) return false;
  if (high >= 0xd800 && high < 0xdc00) {
    if (!TakeWord("\\u") || !Hex4(low) || low < 0xdc00 || low >= 0xe000) return false;
    high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  }
  AppendUtf8(high, out);
  return true;
}

Status JsonScanner::String(std::string& out) {
  if (!Take('"')) return Unexpected("a string");
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == '"') return Status::Ok();
    if (static_cast<unsigned char>(c) < 0x20) return Wrong("no control character in a string");
    if (c != '\\') {
      out += c;
    } else if (!Escape(out)) {
      return Wrong("an escape of JSON, and no half of a surrogate pair");
    }
  }
  return Wrong("the end of a string");
}

}  // namespace wf::source
