#include "compiler/driver/json_cursor.h"

#include "compiler/base/json_scanner.h"

namespace wf::driver {

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
  const size_t begin = at_;
  SkipString();
  std::string text;
  ok_ = ok_ && source::JsonScanner(text_.substr(begin, at_ - begin)).String(text).ok();
  return ok_ ? text : "";
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
