#include <algorithm>

#include "runtime/base/text.h"
#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"
#include "runtime/nodes/text_result.h"
#include "runtime/nodes/token_table.h"
#include "runtime/nodes/unicode.h"

namespace wf::nodes {
namespace {

constexpr std::string_view kReplacement = "\ufffd";

// How many bytes of a text that begins with none of UTF-8 a character could begin with, at least 1: others behind them make it one.
size_t BytesOfPart(std::string_view text) {
  constexpr size_t kMostBytes = 4;
  for (size_t part = std::min(text.size(), kMostBytes - 1); part > 1; --part) {
    char whole[kMostBytes] = {};
    size_t length = text.copy(whole, part);
    while (length < kMostBytes) {
      whole[length++] = '\x80';
      if (base::IsUtf8({whole, length})) return part;
    }
  }
  return 1;
}

// As texts are made of bytes elsewhere, U+FFFD stands for the beginning of a character, or for a byte that begins none.
bool AddAsText(std::string_view bytes, TextBuilder& out) {
  while (true) {
    const auto* const begin = reinterpret_cast<const uint8_t*>(bytes.data());
    const auto good = static_cast<size_t>(base::FindBadUtf8(begin, begin + bytes.size()) - begin);
    if (!out.Add(bytes.substr(0, good))) return false;
    bytes.remove_prefix(good);
    if (bytes.empty()) return true;
    if (!out.Add(kReplacement)) return false;
    bytes.remove_prefix(BytesOfPart(bytes));
  }
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
