#include "runtime/protocol/http/trace.h"

#include <algorithm>

namespace wf::http {
namespace {

// 00-<trace id, 32>-<span id, 16>-<flags, 2>
constexpr size_t kTraceAt = 3, kSpanAt = 36, kFlagsAt = 53, kBytes = 55;

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsZero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

// Later versions may go on behind a dash.
bool IsParent(std::string_view text) {
  if (text.size() < kBytes || text[2] != '-' || text[kSpanAt - 1] != '-' || text[kFlagsAt - 1] != '-') return false;
  const std::string_view version = text.substr(0, 2), trace = text.substr(kTraceAt, 32), span = text.substr(kSpanAt, 16);
  if (!IsHex(version) || version == "ff" || !IsHex(trace) || IsZero(trace) || !IsHex(span) || IsZero(span)) return false;
  if (!IsHex(text.substr(kFlagsAt, 2))) return false;
  return text.size() == kBytes || (version != "00" && text[kBytes] == '-');
}

}  // namespace

void Trace::Take(const Head& head, uint64_t span) noexcept {
  std::string_view found;
  int count = 0;
  for (const Header& header : head.headers()) {
    if (header.name != "traceparent") continue;
    found = header.value;
    ++count;
  }
  known_ = count == 1 && IsParent(found);
  if (!known_) return;
  std::copy_n(found.begin(), kBytes, text_.begin());
  text_[0] = text_[1] = '0';
  for (size_t i = 0; i < 16; ++i) text_[kSpanAt + i] = "0123456789abcdef"[span >> (60 - 4 * i) & 15];
}

}  // namespace wf::http
