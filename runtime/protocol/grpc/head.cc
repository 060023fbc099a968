#include "runtime/protocol/grpc/head.h"

#include <algorithm>

#include "runtime/base/ascii.h"

namespace wf::grpc {
namespace {

constexpr size_t kMaxDigits = 8;  // of a timeout, by the protocol

// 0: not a unit.
constexpr int64_t NsOfUnit(char unit) {
  switch (unit) {
    case 'H':
      return 3'600'000'000'000;
    case 'M':
      return 60'000'000'000;
    case 'S':
      return 1'000'000'000;
    case 'm':
      return 1'000'000;
    case 'u':
      return 1'000;
    case 'n':
      return 1;
    default:
      return 0;
  }
}

bool IsPlain(char c) { return c >= 0x20 && c <= 0x7e && c != '%'; }

}  // namespace

bool IsContentType(std::string_view content_type) {
  constexpr std::string_view kType = "application/grpc", kProto = "+proto";
  if (content_type == kType) return true;
  if (!base::EqualIgnoringCase(content_type.substr(0, kType.size()), kType)) return false;
  content_type.remove_prefix(kType.size());
  if (base::EqualIgnoringCase(content_type.substr(0, kProto.size()), kProto)) content_type.remove_prefix(kProto.size());
  return content_type.empty() || content_type.front() == ';' || content_type.front() == ' ';
}

int64_t ParseTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > kMaxDigits + 1) return -1;
  const int64_t unit_ns = NsOfUnit(text.back());
  int64_t count = 0, ns = 0;
  for (const char c : text.substr(0, text.size() - 1)) {
    if (c < '0' || c > '9') return -1;
    count = count * 10 + (c - '0');
  }
  if (unit_ns == 0) return -1;
  return __builtin_mul_overflow(count, unit_ns, &ns) ? kMostTimeoutNs : std::min(ns, kMostTimeoutNs);
}

std::string_view PercentEncode(std::string_view text, std::vector<char>* storage) {
  const bool is_bare = !text.empty() && text.front() != ' ' && text.back() != ' ';
  if (is_bare && std::all_of(text.begin(), text.end(), IsPlain)) return text;
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  storage->clear();
  for (const char& c : text) {
    const bool at_end = &c == text.data() || &c + 1 == text.data() + text.size();
    if (IsPlain(c) && !(at_end && c == ' ')) {
      storage->push_back(c);
      continue;
    }
    const auto byte = static_cast<uint8_t>(c);
    storage->insert(storage->end(), {'%', kDigits[byte >> 4], kDigits[byte & 15]});
  }
  return {storage->data(), storage->size()};
}

}  // namespace wf::grpc
