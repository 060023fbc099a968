#include "compiler/driver/json_cursor.h"

#include <charconv>

namespace wf::driver {
namespace {

void AppendUtf8(std::string& text, uint32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0 | (point >> 6));
    text += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    text += static_cast<char>(0xe0 | (point >> 12));
    text += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    text += static_cast<char>(0x80 | (point & 0x3f));
  }
}

}  // namespace

bool JsonCursor::Take(char c) {
  if (!ok_ || at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::string JsonCursor::Key() {
  std::string key = String();
  ok_ = Take(':');
  return key;
}

void JsonCursor::SkipString() {
  for (ok_ = Take('"'); ok_ && at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\\') ++at_;
  }
  ok_ = Take('"');
}

std::string JsonCursor::String() {
  const size_t begin = at_ + 1;
  SkipString();
  if (!ok_) return "";
  const std::string_view raw = text_.substr(begin, at_ - 1 - begin);
  std::string text;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || ++i == raw.size()) {
      text += raw[i];
      continue;
    }
    constexpr std::string_view kNames = "nrtbf", kMeanings = "\n\r\t\b\f";
    if (const size_t known = kNames.find(raw[i]); known != std::string_view::npos) {
      text += kMeanings[known];
    } else if (raw[i] == 'u' && i + 4 < raw.size()) {
      uint32_t point = 0;
      std::from_chars(raw.data() + i + 1, raw.data() + i + 5, point, 16);
      AppendUtf8(text, point);
      i += 4;
    } else {
      text += raw[i];
    }
  }
  return text;
}

std::string_view JsonCursor::Value() {
  const size_t begin = at_;
  for (size_t depth = 0; ok_ && at_ < text_.size();) {
    const char c = text_[at_];
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
    if (c == '"') {
      SkipString();
      continue;
    }
    depth += c == '{' || c == '[' ? 1 : 0;
    depth -= c == '}' || c == ']' ? 1 : 0;
    ++at_;
  }
  ok_ = ok_ && at_ > begin;
  return ok_ ? text_.substr(begin, at_ - begin) : std::string_view();
}

}  // namespace wf::driver
