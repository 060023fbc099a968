#include "runtime/protocol/http/trace.h"

#include <algorithm>
#include <vector>

#include "runtime/base/ascii.h"

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

bool IsSmallLetter(char c) { return c >= 'a' && c <= 'z'; }
bool IsFigure(char c) { return c >= '0' && c <= '9'; }

// Of a key, or of the tenant or the system that it is made of.
bool IsName(std::string_view text, size_t most, bool may_begin_with_digit) {
  if (text.empty() || text.size() > most || !(IsSmallLetter(text[0]) || (may_begin_with_digit && IsFigure(text[0])))) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsSmallLetter(c) || IsFigure(c) || c == '_' || c == '-' || c == '*' || c == '/'; });
}

bool IsKey(std::string_view text) {
  constexpr size_t kMostBytes = 256, kMostOfTenant = 241, kMostOfSystem = 14;
  const size_t at = text.find('@');
  if (at == std::string_view::npos) return IsName(text, kMostBytes, false);
  return IsName(text.substr(0, at), kMostOfTenant, true) && IsName(text.substr(at + 1), kMostOfSystem, false);
}

bool IsStateValue(std::string_view text) {
  constexpr size_t kMostBytes = 256;
  if (text.empty() || text.size() > kMostBytes) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '=' && c != ','; });
}

std::string_view KeyOf(std::string_view member) { return member.substr(0, member.find('=')); }

// False: one of them is broken, or there are too many.
bool TakeMembers(std::string_view list, std::vector<std::string_view>* members) {
  constexpr size_t kMostMembers = 32;
  while (!list.empty()) {
    const std::string_view member = base::TakeUpTo(',', &list);
    if (member.empty()) continue;
    const std::string_view key = KeyOf(member);
    const bool again = std::any_of(members->begin(), members->end(), [key](std::string_view one) { return KeyOf(one) == key; });
    if (key.size() == member.size() || !IsKey(key) || !IsStateValue(member.substr(key.size() + 1)) || again) return false;
    members->push_back(member);
    if (members->size() > kMostMembers) return false;
  }
  return true;
}

void KeepWithin(size_t most, std::vector<std::string_view>* members) {
  constexpr size_t kLong = 128;
  size_t bytes = 0;
  for (const std::string_view member : *members) bytes += member.size() + 1;
  for (size_t i = members->size(); i-- > 0 && bytes > most + 1;) {
    if ((*members)[i].size() <= kLong) continue;
    bytes -= (*members)[i].size() + 1;
    members->erase(members->begin() + static_cast<ptrdiff_t>(i));
  }
  for (; bytes > most + 1; members->pop_back()) bytes -= members->back().size() + 1;
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
  constexpr uint64_t kKnownFlags = 3;  // sampled, and that the id is random; the others are to be 0
  text_[kFlagsAt] = '0';
  text_[kFlagsAt + 1] = static_cast<char>('0' + (FromHex(found.substr(kFlagsAt, 2)) & kKnownFlags));
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

std::string StateOf(const Head& head) {
  std::vector<std::string_view> members;
  for (const Header& header : head.headers())
    if (header.name == "tracestate" && !TakeMembers(header.value, &members)) return {};
  KeepWithin(kMostStateBytes, &members);
  std::string state;
  for (const std::string_view member : members) {
    if (!state.empty()) state += ',';
    state += member;
  }
  return state;
}

void Trace::SetSpan(uint64_t span) noexcept { ToHex(span, text_.data() + kSpanAt); }

bool Trace::sampled() const { return known_ && (FromHex({text_.data() + kFlagsAt, 2}) & 1) != 0; }

Trace::Ids Trace::ids() const { return {FromHex(trace_id().substr(0, 16)), FromHex(trace_id().substr(16)), FromHex(span_id()), parent_}; }

}  // namespace wf::http
