#include <algorithm>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"
#include "runtime/nodes/text_result.h"
#include "runtime/nodes/unicode.h"

namespace wf::nodes {
namespace {

bool BeginsCharacter(char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }

// How many begin, in bytes that are counted in lanes of a byte: 255 at a time.
int64_t CountOf(std::string_view text) {
  constexpr size_t kStep = 255;
  int64_t count = 0;
  for (; !text.empty(); text.remove_prefix(std::min(kStep, text.size()))) {
    uint8_t begin = 0;
    for (const char c : text.substr(0, kStep)) begin += static_cast<uint8_t>(BeginsCharacter(c));
    count += begin;
  }
  return count;
}

// The byte at which that character begins, the length when there are fewer.
size_t StartOf(int64_t character, std::string_view text) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (BeginsCharacter(text[at]) && character-- <= 0) break;
  }
  return at;
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_characters(wf_ctx*, const wf_bytes* text, int64_t* count) noexcept {
  *count = wf::nodes::CountOf(wf::abi::View(*text));
  return 0;
}

extern "C" wf_code wf_n_slice(wf_ctx*, const wf_bytes* text, const int64_t* from, const int64_t* to, wf_bytes* part) noexcept {
  using namespace wf::nodes;
  const std::string_view all = wf::abi::View(*text);
  const int64_t first = std::max<int64_t>(*from, 0), behind = std::max(*to, first);
  const size_t begin = StartOf(first, all);
  *part = BytesOf(all.substr(begin, StartOf(behind - first, all.substr(begin))));
  return 0;
}

extern "C" wf_code wf_n_trim(wf_ctx*, const wf_bytes* text, const uint8_t* start, const uint8_t* end, wf_bytes* trimmed) noexcept {
  using namespace wf::nodes;
  std::string_view rest = wf::abi::View(*text);
  if (*start != 0) rest.remove_prefix(SpacesAtStart(rest, IsPythonSpace));
  if (*end != 0) rest = rest.substr(0, WithoutSpacesAtEnd(rest, IsPythonSpace));
  *trimmed = BytesOf(rest);
  return 0;
}

extern "C" wf_code wf_n_words(wf_ctx* ctx, const wf_bytes* text, wf_list* words) noexcept {
  using namespace wf::nodes;
  const std::string_view all = wf::abi::View(*text);
  Scratch<wf_bytes> found(ctx);
  size_t begin = 0;
  for (size_t at = 0, count = 1; at <= all.size(); ++count) {
    if (count % kElementsPerStopCheck == 0 && Stopped(ctx)) return WF_FAILED;
    const CodePoint point = at < all.size() ? Decode(all.substr(at)) : CodePoint{' ', 1};
    if (IsPythonSpace(point.value)) {
      if (at > begin && !found.Push(BytesOf(all.substr(begin, at - begin)))) return WF_FAILED;
      begin = at + point.length;
    }
    at += point.length;
  }
  *words = {found.data(), found.size()};
  return 0;
}
