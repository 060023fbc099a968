#include "runtime/protocol/http2/list_room.h"

#include <algorithm>
#include <string_view>

namespace wf::http2 {
namespace {

constexpr uint64_t kListedBytes = 32;  // that count for each beside its texts
constexpr std::string_view kMessage = "grpc-message";

uint64_t BytesOf(const http::Header& field) { return field.name.size() + field.value.size() + kListedBytes; }

bool IsSpare(std::string_view name) { return name.starts_with("wf-") || name == kMessage || name == "grpc-status-details-bin"; }

// The begin of a text that is percent-encoded: characters of UTF-8 stay whole, and no blank stands at its end.
std::string_view CutEncoded(std::string_view text, size_t most) {
  constexpr size_t kCoded = 3;  // %E4
  size_t end = std::min(most, text.size());
  const auto begins = text.substr(0, end).rfind('%');
  if (begins != std::string_view::npos && end - begins < kCoded) end = begins;
  const auto goes_on = [&text](size_t at) {  // the code there is of a byte that begins no character
    return at + 1 < text.size() && text[at] == '%' && std::string_view("89AB").find(text[at + 1]) != std::string_view::npos;
  };
  while (end >= kCoded && goes_on(end)) end -= kCoded;
  while (end > 0 && text[end - 1] == ' ') --end;
  return text.substr(0, end);
}

}  // namespace

void ListRoom::Count(std::span<const http::Header> fields) noexcept {
  for (const http::Header& field : fields) (IsSpare(field.name) ? spare_ : needed_) += BytesOf(field);
}

bool ListRoom::Take(http::Header* field) noexcept {
  if (needed_ + spare_ <= most_ || !IsSpare(field->name)) return true;
  const uint64_t room = is_full_ ? 0 : most_ - std::min(most_, needed_ + taken_), bytes = BytesOf(*field);
  if (bytes <= room) {
    taken_ += bytes;
    return true;
  }
  is_full_ = true;
  constexpr uint64_t kLeast = kMessage.size() + kListedBytes;
  if (field->name != kMessage || room <= kLeast) return false;
  field->value = CutEncoded(field->value, static_cast<size_t>(room - kLeast));
  return !field->value.empty();
}

}  // namespace wf::http2
