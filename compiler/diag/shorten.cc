#include "compiler/diag/shorten.h"

#include <algorithm>

#include "compiler/base/utf8.h"

namespace wf::diag {
namespace {

constexpr size_t kLongest = 400, kLongestCode = 60;  // bytes

// Of a character: at most `end`.
size_t BeginBefore(std::string_view text, size_t end) {
  while (end > 0 && source::IsContinuation(text[end])) --end;
  return end;
}

}  // namespace

std::string Shorten(std::string_view text) {
  if (text.size() <= kLongest) return std::string(text);
  std::string_view kept = text.substr(0, BeginBefore(text, kLongest));
  if (std::count(kept.begin(), kept.end(), '`') % 2 == 0) return std::string(kept) + "…";
  const size_t quote = kept.rfind('`');
  if (quote < kLongest / 2) return std::string(kept) + "…`";
  return std::string(kept.substr(0, quote)) + "…";  // one of many
}

std::string FirstLine(std::string_view code) {
  bool in_text = false;
  size_t end = 0;
  for (; end < code.size() && code[end] != '\n'; ++end) {
    if (in_text && code[end] == '\\' && end + 1 < code.size()) {
      ++end;
    } else if (code[end] == '"') {
      in_text = !in_text;
    } else if (!in_text && code.substr(end, 2) == "//") {
      break;
    }
  }
  end = std::min(end, code.size());
  if (end > kLongestCode) end = BeginBefore(code, kLongestCode);
  while (end > 0 && code[end - 1] == ' ') --end;
  return std::string(code.substr(0, end)) + (code.find_first_not_of(" \n\r", end) == std::string_view::npos ? "" : " ..");
}

}  // namespace wf::diag
