#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/normalise.h"
#include "runtime/nodes/stop.h"
#include "runtime/nodes/text_result.h"
#include "runtime/nodes/unicode.h"

namespace wf::nodes {
namespace {

using abi::TextStep;

constexpr size_t kPartsPerStopCheck = 16;

struct Form {
  std::string_view name;
  bool is_compat, is_composed;
  TextStep steps[3];
};
constexpr std::array kForms{
    Form{"NFC", false, true, {TextStep::kDecompose, TextStep::kCompose}},
    Form{"NFD", false, false, {TextStep::kDecompose}},
    Form{"NFKC", true, true, {TextStep::kDecomposeCompat, TextStep::kCompose}},
    Form{"NFKD", true, false, {TextStep::kDecomposeCompat}},
};
constexpr TextStep kWithoutAccents[] = {TextStep::kDecompose, TextStep::kDropNonspacing, TextStep::kCompose, TextStep::kEnd};

// Eight bytes of a text at a time.
using Bytes = uint64_t;
constexpr Bytes kEach = 0x0101010101010101, kHighBits = 0x80 * kEach;
Bytes BytesAt(std::string_view text, size_t at) {
  Bytes bytes = 0;
  std::memcpy(&bytes, text.data() + at, sizeof bytes);
  return bytes;
}
// The high bit of each byte that is a capital letter; of ASCII.
Bytes CapitalsOf(Bytes bytes) { return ((bytes + (0x80 - 'A') * kEach) ^ (bytes + (0x7f - 'Z') * kEach)) & kHighBits; }

// Whether all is ASCII without capitals.
bool IsSmall(std::string_view text) {
  Bytes others = 0;
  size_t at = 0;
  for (; at + sizeof(Bytes) <= text.size(); at += sizeof(Bytes)) {
    const Bytes bytes = BytesAt(text, at);
    others |= (bytes & kHighBits) | CapitalsOf(bytes & ~kHighBits);
  }
  return others == 0 && std::none_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                                     [](char c) { return static_cast<uint8_t>(c) >= 0x80 || (c >= 'A' && c <= 'Z'); });
}

bool StaysInForm(std::string_view text, const Form& form) {
  while (!text.empty()) {
    if (text.size() >= sizeof(Bytes) && (BytesAt(text, 0) & kHighBits) == 0) {
      text.remove_prefix(sizeof(Bytes));
      continue;
    }
    const CodePoint point = Decode(text);
    if (!StaysAlone(point.value, form.is_compat, form.is_composed)) return false;
    text.remove_prefix(point.length);
  }
  return true;
}

// Some nonspacing marks compose with nothing and have no order.
bool HasNoAccents(std::string_view text) {
  if (!StaysInForm(text, kForms[0]) || !StaysInForm(text, kForms[1])) return false;
  while (!text.empty()) {
    const CodePoint point = Decode(text);
    if (point.value >= 0x80 && IsNonspacing(point.value)) return false;
    text.remove_prefix(point.length);
  }
  return true;
}

// `stays`: that the steps leave a block as it is. A text of which all stays is not copied.
template <typename Stays>
wf_code Change(wf_ctx* ctx, const TextStep* steps, Stays stays, const wf_bytes* text, wf_bytes* result) {
  std::string_view rest = abi::View(*text);
  Normaliser normaliser(ctx, steps);
  TextBuilder out(ctx);
  for (bool is_first = true; !rest.empty(); is_first = false) {
    if (Stopped(ctx)) return WF_FAILED;
    const size_t length = LengthOfBlock(rest);
    std::string_view block = rest.substr(0, length);
    const bool stayed = stays(block);
    if (stayed && is_first && length == rest.size()) break;
    if (is_first && !out.Reserve(rest.size() + rest.size() / 8)) return WF_FAILED;
    if (!stayed && !normaliser.Run(block, Normaliser::Lead::kNone, &block)) return WF_FAILED;
    if (!out.Add(block)) return WF_FAILED;
    rest.remove_prefix(length);
  }
  *result = rest.size() == text->len ? *text : out.Take();
  return 0;
}

// `encode` writes what becomes of one character that is not ASCII, at most kMostBytes, and nothing where it stays; of ASCII capitals become
// small.
template <typename Encode>
wf_code ChangeEach(wf_ctx* ctx, Encode encode, const wf_bytes* text, wf_bytes* result) {
  constexpr size_t kPart = 1024, kMostBytes = 12;
  const std::string_view all = abi::View(*text);
  if (IsSmall(all)) {
    *result = *text;
    return 0;
  }
  Scratch<char> made(ctx);
  for (size_t at = 0, parts = 0; at < all.size(); ++parts) {
    if (parts % kPartsPerStopCheck == 0 && Stopped(ctx)) return WF_FAILED;
    const size_t end = std::min(all.size(), at + kPart);
    if (!made.Reserve(made.size() + 3 * (end - at) + sizeof(Bytes) + kMostBytes))
      return WF_FAILED;  // no character grows to more than three times its bytes
    char* out = made.end();
    while (at < end) {
      if (at + sizeof(Bytes) <= all.size()) {
        const Bytes bytes = BytesAt(all, at), others = bytes & kHighBits, small = bytes | CapitalsOf(bytes & ~kHighBits) >> 2;
        std::memcpy(out, &small, sizeof small);  // what is behind the first that is not ASCII is written again
        const size_t count = static_cast<size_t>(std::countr_zero(others)) / 8;
        out += count;
        at += count;
        if (others == 0) continue;
      } else if (const char c = all[at]; static_cast<uint8_t>(c) < 0x80) {
        *out++ = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
        ++at;
        continue;
      }
      const CodePoint point = Decode(all.substr(at));
      uint32_t length = HasNoCase(point.value) ? 0 : encode(point.value, out);
      if (length == 0) {
        length = point.length;
        if (constexpr size_t kLongest = 4; at + kLongest <= all.size()) {
          std::memcpy(out, all.data() + at, kLongest);
        } else {
          std::memcpy(out, all.data() + at, length);
        }
      }
      out += length;
      at += point.length;
    }
    made.Resize(static_cast<uint64_t>(out - made.data()));
  }
  *result = BytesOf({made.data(), made.size()});
  return 0;
}

uint32_t EncodeLower(int32_t x, char* out) {
  constexpr int32_t kBigDottedI = 0x130, kDot = 0x307;  // the one whose small form is two
  if (x != kBigDottedI) {
    const int32_t small = Lower(x);
    return small == x ? 0 : Encode(small, out);
  }
  out[0] = 'i';
  return 1 + Encode(kDot, out + 1);
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_normalise(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* form, wf_bytes* result) noexcept {
  using namespace wf::nodes;
  for (const Form& one : kForms) {
    if (one.name != wf::abi::View(*form)) continue;
    return Change(ctx, one.steps, [&one](std::string_view block) { return StaysInForm(block, one); }, text, result);
  }
  return Fail(ctx, wf::code::kType, "a form of Unicode is NFC, NFD, NFKC or NFKD");
}

extern "C" wf_code wf_n_lower(wf_ctx* ctx, const wf_bytes* text, wf_bytes* result) noexcept {
  return wf::nodes::ChangeEach(ctx, wf::nodes::EncodeLower, text, result);
}

extern "C" wf_code wf_n_casefold(wf_ctx* ctx, const wf_bytes* text, wf_bytes* result) noexcept {
  return wf::nodes::ChangeEach(ctx, wf::nodes::EncodeFolded, text, result);
}

extern "C" wf_code wf_n_strip_accents(wf_ctx* ctx, const wf_bytes* text, wf_bytes* result) noexcept {
  using namespace wf::nodes;
  return Change(ctx, kWithoutAccents, HasNoAccents, text, result);
}
