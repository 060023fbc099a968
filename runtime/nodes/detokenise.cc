#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"
#include "runtime/nodes/text_result.h"
#include "runtime/nodes/token_table.h"
#include "runtime/nodes/unicode.h"

namespace wf::nodes {
namespace {

constexpr std::string_view kReplacement = "\ufffd";

// Bytes of the character at the start of `text`, 0 where there is none; then `length` is how many bytes of one there are, at least 1.
size_t LengthOfCharacter(std::string_view text, size_t* length) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0}; };
  const uint8_t first = byte(0);
  *length = 1;
  if (first < 0x80) return 1;
  const size_t wanted = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  if (wanted == 0) return 0;
  const uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80, most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  for (; *length < wanted; ++*length) {
    const bool is_second = *length == 1;
    if (byte(*length) < (is_second ? least : 0x80) || byte(*length) > (is_second ? most : 0xbf)) return 0;
  }
  return wanted;
}

// As texts are made of bytes elsewhere, U+FFFD stands for the beginning of a character, or for a byte that begins none.
bool AddAsText(std::string_view bytes, TextBuilder& out) {
  size_t good = 0, part = 0;
  while (good < bytes.size()) {
    const size_t length = LengthOfCharacter(bytes.substr(good), &part);
    good += length;
    if (length != 0) continue;
    if (!out.Add(bytes.substr(0, good)) || !out.Add(kReplacement)) return false;
    bytes.remove_prefix(good + part);
    good = 0;
  }
  return out.Add(bytes);
}

// With spaces for marks, or for the first token with nothing for them.
bool AddMarked(std::string_view text, bool drops, TextBuilder& out) {
  for (size_t at = text.find(kSpaceMark); at != text.npos; at = text.find(kSpaceMark)) {
    if (!out.Add(text.substr(0, at)) || (!drops && !out.Add(" "))) return false;
    text.remove_prefix(at + kSpaceMark.size());
  }
  return out.Add(text);
}

bool AddSpaced(std::string_view text, const abi::TokenHead& head, uint32_t flags, TextBuilder& out) {
  if ((flags & abi::kContinuedName) != 0) return out.Add(text.substr(std::min<size_t>(head.prefix, text.size())));
  return ((flags & abi::kCloseName) != 0 || out.Add(" ")) && out.Add(text);
}

bool AddToken(const TokenTable& table, const abi::TokenName& name, bool is_first, TextBuilder& out) {
  const abi::TokenHead& head = table.head();
  const std::string_view text = table.Text(name.offset, name.length);
  if (head.join == abi::TokenJoin::kMarks) return AddMarked(text, is_first && (head.flags & abi::kDropsFirst) != 0, out);
  if (head.join == abi::TokenJoin::kSpaces && !is_first) return AddSpaced(text, head, name.flags, out);
  return out.Add(text);
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_detokenise(wf_ctx* ctx, const wf_tensor* ids, const wf_bytes* tokenizer, const uint8_t* special,
                                   wf_bytes* text) noexcept {
  using namespace wf::nodes;
  using wf::abi::TokenJoin;
  TokenTable table;
  if (!table.Open(*tokenizer)) return Fail(ctx, wf::code::kType, "this is no tokenizer");
  const TokenJoin join = table.head().join;
  if (join != TokenJoin::kSpaces && join != TokenJoin::kBytes && join != TokenJoin::kMarks)
    return Fail(ctx, wf::code::kType, "the decoder of this tokenizer is not built");
  TextBuilder joined(ctx);
  const auto* const id = static_cast<const int64_t*>(ids->data);
  bool is_first = true;
  for (int64_t i = 0; i < ids->dim[0]; ++i) {
    if (i % kElementsPerStopCheck == kElementsPerStopCheck - 1 && Stopped(ctx)) return WF_FAILED;
    const auto name = table.FindName(id[i]);
    if (!name || (*special == 0 && (name->flags & wf::abi::kSpecialName) != 0)) continue;
    if (!AddToken(table, *name, is_first, joined)) return WF_FAILED;
    is_first = false;
  }
  TextBuilder valid(ctx);  // a token may be part of a character, and a table may be of any bytes
  if (!AddAsText(wf::abi::View(joined.Take()), valid)) return WF_FAILED;
  *text = valid.Take();
  return 0;
}
