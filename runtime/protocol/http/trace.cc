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

uint64_t FromHex(std::string_view digits) {
  uint64_t value = 0;
  for (const char c : digits) value = value << 4 | static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  return value;
}

void ToHex(uint64_t value, char* at) {
  for (size_t i = 0; i < 16; ++i) at[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
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
  parent_ = FromHex(span_id());
  SetSpan(span);
}

void Trace::Begin(uint64_t trace_high, uint64_t trace_low, uint64_t span) noexcept {
  constexpr std::string_view kFrame = "00-00000000000000000000000000000000-0000000000000000-01";
  static_assert(kFrame.size() == kBytes);
  std::copy_n(kFrame.begin(), kBytes, text_.begin());
  ToHex(trace_high, text_.data() + kTraceAt);
  ToHex(trace_low, text_.data() + kTraceAt + 16);
  parent_ = 0;
  known_ = true;
  SetSpan(span);
}

void Trace::SetSpan(uint64_t span) noexcept { ToHex(span, text_.data() + kSpanAt); }

bool Trace::sampled() const { return known_ && (FromHex({text_.data() + kFlagsAt, 2}) & 1) != 0; }

Trace::Ids Trace::ids() const { return {FromHex(trace_id().substr(0, 16)), FromHex(trace_id().substr(16)), FromHex(span_id()), parent_}; }

}  // namespace wf::http
