#include "runtime/protocol/json/reader.h"

#include <algorithm>
#include <vector>

#include "runtime/base/error_codes.h"

namespace wf::json {
namespace {

bool HadMember(const wf_json* in) { return (in->member >> in->depth & 1) != 0; }

wf_code Enter(wf_json* in) {
  if (in->depth + 1 >= kMaxDepth) return Refuse(in, "nested too deep");
  ++in->depth;
  in->member &= ~(UINT32_C(1) << in->depth);
  if (in->depth <= kPathLevels) in->path[in->depth - 1] = {nullptr, 0};
  return 0;
}

// The comma between members. 1: a member follows, 0: `close` was read.
int32_t Advance(wf_json* in, uint8_t close, std::string_view expected) {
  const uint8_t next = Peek(in);
  if (next == close && in->at < in->end) {
    ++in->at;
    --in->depth;
    return 0;
  }
  if (HadMember(in)) {
    if (in->depth <= kPathLevels) in->path[in->depth - 1] = {nullptr, 0};
    if (next != ',') return Expected(in, expected);
    ++in->at;
    if (Peek(in) == close) return Expected(in, close == '}' ? "a member after the comma" : "a value after the comma");
  }
  in->member |= UINT32_C(1) << in->depth;
  return 1;
}

}  // namespace

void PutPath(const wf_json* in, uint32_t depth, base::TextBuilder* message, std::span<const int64_t> index) {
  const uint32_t levels = std::min(depth, kPathLevels);
  bool any = false;
  for (uint32_t i = 0; i < levels; ++i) {
    const wf_bytes& part = in->path[i];
    if (part.ptr == nullptr && part.len == 0) continue;
    if (!any) *message << "`";
    if (part.ptr == nullptr) {
      *message << "[" << (part.len - 1) << "]";
    } else {
      *message << (any ? "." : "");
      message->Quote(View(part));
    }
    any = true;
  }
  if (depth > kPathLevels && any) *message << "...";
  if (!any && !index.empty()) *message << "`";
  for (const int64_t at : index) *message << "[" << at << "]";
  if (any || !index.empty()) *message << "`: ";
}

void PutUnfit(const Number& number, uint32_t dtype, Stored why, base::TextBuilder* message) {
  *message << "`";
  message->Quote({reinterpret_cast<const char*>(number.begin), static_cast<size_t>(number.end - number.begin)});
  *message << (why == Stored::kNotInteger ? "` is not written as an integer, expected " : "` is out of range for ") << DtypeName(dtype);
}

void PutPlace(const wf_json* in, const uint8_t* place, base::TextBuilder* message) {
  if (in->begin != nullptr) *message << ", at byte " << static_cast<uint64_t>(place - in->begin);
}

wf_code Record(wf_ctx* ctx, wf_code code, const base::TextBuilder& message) { return wf_fail(ctx, code, 0, Bytes(message.view())); }

wf_code Refuse(wf_json* in, std::string_view what) {
  base::TextBuilder message;
  PutPath(in, in->depth, &message);
  message << what;
  PutPlace(in, in->at, &message);
  return Record(in->ctx, code::kInputParams, message);
}

namespace {

// One character as it is; a byte that shows nothing, or is no UTF-8, by its number.
void PutCharacter(const uint8_t* at, const uint8_t* end, base::TextBuilder* message) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  constexpr char kHex[] = "0123456789ABCDEF";
  const size_t length = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
  const std::string_view text(reinterpret_cast<const char*>(at), std::min(length, static_cast<size_t>(end - at)));
  const bool mark = text == kByteOrderMark;
  if (!mark && *at >= 0x20 && *at != 0x7f && base::IsUtf8(text)) {
    *message << "`" << text << "`";
    return;
  }
  const char digits[] = {kHex[*at >> 4], kHex[*at & 15]};
  *message << "the byte 0x" << std::string_view(digits, 2) << (mark ? " of a byte order mark" : "");
}

// The letters and digits that stand there, as far as they are worth telling; empty: something else does.
std::string_view WordAt(const uint8_t* at, const uint8_t* end) {
  constexpr size_t kMostTold = 32;
  const auto is_letter = [](uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const uint8_t* const begin = at;
  while (at < end && static_cast<size_t>(at - begin) < kMostTold && (is_letter(*at) || (at > begin && *at >= '0' && *at <= '9'))) ++at;
  return {reinterpret_cast<const char*>(begin), static_cast<size_t>(at - begin)};
}

// Where the name of a member begins: one with escapes was copied, and is looked for before the colon that was read last.
const uint8_t* BeginOfName(const wf_json* in, wf_bytes name) {
  if (in->begin == nullptr) return in->at;
  if (name.ptr > in->begin && name.ptr < in->end) return name.ptr - 1;
  const uint8_t* at = in->at;
  if (at == in->begin || at[-1] != ':') return at;
  const auto is_quote = [in](const uint8_t* c) { return *c == '"' && (c == in->begin || c[-1] != '\\'); };
  while (at > in->begin && *--at != '"') {
  }
  while (at > in->begin && !is_quote(--at)) {
  }
  return at;
}

}  // namespace

void PutFound(wf_json* in, base::TextBuilder* message) {
  const uint8_t next = Peek(in);
  const std::string_view word = WordAt(in->at, in->end);
  if (in->at == in->end) {
    *message << "the end of the text";
  } else if (next == '{') {
    *message << "an object";
  } else if (next == '[') {
    *message << "an array";
  } else if (next == '"') {
    *message << "a string";
  } else if (next == '-' || (next >= '0' && next <= '9')) {
    *message << "a number";
  } else if (word == "true" || word == "false") {
    *message << "a bool";
  } else if (word == "null") {
    *message << "null";
  } else if (!word.empty()) {
    *message << "`" << word << "`";
  } else {
    PutCharacter(in->at, in->end, message);
  }
}

wf_code Expected(wf_json* in, std::string_view what) {
  base::TextBuilder message;
  PutPath(in, in->depth, &message);
  message << "expected " << what << ", found ";
  PutFound(in, &message);
  PutPlace(in, in->at, &message);
  return Record(in->ctx, code::kInputParams, message);
}

wf_code ExpectedNumber(wf_json* in, std::string_view what) {
  SkipSpace(in);
  const std::string_view problem = NumberProblem(in->at, in->end);
  return problem.empty() ? Expected(in, what) : Refuse(in, problem);
}

wf_code EnterArray(wf_json* in) {
  if (!Take(in, '[')) return Expected(in, "an array");
  return Enter(in);
}

int32_t NextElement(wf_json* in, uint64_t index) {
  const int32_t more = Advance(in, ']', "`,` or `]`");
  if (more == 1 && in->depth <= kPathLevels) in->path[in->depth - 1] = {nullptr, index + 1};
  return more;
}

bool TakeWord(wf_json* in, std::string_view word) {
  SkipSpace(in);
  if (static_cast<size_t>(in->end - in->at) < word.size()) return false;
  if (!std::equal(word.begin(), word.end(), in->at)) return false;
  in->at += word.size();
  return true;
}

bool TakeNull(wf_json* in) { return Peek(in) == 'n' && TakeWord(in, "null"); }

namespace {

wf_code SkipScalar(wf_json* in) {
  const uint8_t next = Peek(in);
  if (next == '"') {
    wf_bytes ignored;
    return wf_json_string(in, &ignored);
  }
  if (TakeWord(in, "true") || TakeWord(in, "false") || TakeWord(in, "null")) return 0;
  Number number;
  if (!ScanNumber(in->at, in->end, &number)) return ExpectedNumber(in, "a value");
  in->at = number.end;
  return 0;
}

wf_code SkipKey(wf_json* in) {
  wf_bytes ignored;
  if (Peek(in) != '"') return Expected(in, "a member name");
  if (wf_json_string(in, &ignored) != 0) return WF_FAILED;
  return Take(in, ':') ? 0 : Expected(in, "`:`");
}

}  // namespace

wf_code SkipValue(wf_json* in) {
  uint64_t objects = 0;  // bit d: the container at depth d is an object
  uint32_t depth = 0;
  while (true) {
    const uint8_t next = Peek(in);
    if (next == '{' || next == '[') {
      if (depth == kMaxSkippedDepth) return Refuse(in, "nested deeper than 64");
      ++in->at;
      objects = next == '{' ? objects | UINT64_C(1) << depth : objects & ~(UINT64_C(1) << depth);
      ++depth;
      if (Peek(in) != (next == '{' ? '}' : ']')) {
        if (next == '{' && SkipKey(in) != 0) return WF_FAILED;
        continue;
      }
    } else if (SkipScalar(in) != 0) {
      return WF_FAILED;
    }
    // A value ended: close what closes, then go on behind a comma.
    while (depth != 0) {
      const bool object = (objects >> (depth - 1) & 1) != 0;
      if (Take(in, object ? '}' : ']')) {
        --depth;
        continue;
      }
      if (!Take(in, ',')) return Expected(in, object ? "`,` or `}`" : "`,` or `]`");
      if (object && SkipKey(in) != 0) return WF_FAILED;
      break;
    }
    if (depth == 0) return 0;
  }
}

}  // namespace wf::json

using wf::json::Expected;
using wf::json::Peek;
using wf::json::Take;
using wf::json::View;

extern "C" {

wf_code wf_json_open(wf_json* in, wf_ctx* ctx, wf_bytes body) noexcept {
  *in = {.ctx = ctx, .begin = body.ptr, .at = body.ptr, .end = body.ptr + body.len, .depth = 0, .member = 0, .path = {}};
  if (body.len == 0) {
    wf::base::TextBuilder message;
    message << "the body is empty, expected a JSON object";
    return wf::json::Record(ctx, wf::code::kInputParams, message);
  }
  return 0;
}

wf_code wf_json_object(wf_json* in) noexcept {
  if (!Take(in, '{')) return Expected(in, "an object");
  return wf::json::Enter(in);
}

int32_t wf_json_member(wf_json* in, wf_bytes* name) noexcept {
  const int32_t more = wf::json::Advance(in, '}', "`,` or `}`");
  if (more != 1) return more;
  if (Peek(in) != '"') return Expected(in, "a member name");
  if (wf_json_string(in, name) != 0) return WF_FAILED;
  if (!Take(in, ':')) return Expected(in, "`:`");
  if (in->depth <= wf::json::kPathLevels) in->path[in->depth - 1] = *name;
  return 1;
}

wf_code wf_json_close(wf_json* in) noexcept {
  if (Peek(in) == 0 && in->at == in->end) return 0;
  return Expected(in, "nothing after the value");
}

wf_code wf_json_unknown(wf_json* in, wf_bytes name, const wf_port* ports, uint32_t n_ports) noexcept {
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < n_ports; ++i) names.push_back(View(ports[i].name));
  const std::string_view nearest = wf::base::Nearest(View(name), names);
  wf::base::TextBuilder message;
  wf::json::PutPath(in, in->depth == 0 ? 0 : in->depth - 1, &message);
  message << "unknown member `";
  message.Quote(View(name)) << "`";
  constexpr size_t kMostNamed = 4;
  if (!nearest.empty()) {
    message << "; did you mean `" << nearest << "`";
  } else if (!names.empty() && names.size() <= kMostNamed) {
    for (const std::string_view known : names) message << (known == names.front() ? "; there is `" : ", `") << known << "`";
  }
  wf::json::PutPlace(in, wf::json::BeginOfName(in, name), &message);
  return wf::json::Record(in->ctx, wf::code::kInputParams, message);
}

wf_code wf_json_duplicate(wf_json* in, wf_bytes name) noexcept {
  wf::base::TextBuilder message;
  wf::json::PutPath(in, in->depth == 0 ? 0 : in->depth - 1, &message);
  message << "member `";
  message.Quote(View(name)) << "` is given twice";
  wf::json::PutPlace(in, wf::json::BeginOfName(in, name), &message);
  return wf::json::Record(in->ctx, wf::code::kInputParams, message);
}

wf_code wf_json_missing(wf_json* in, wf_bytes name) noexcept {
  wf::base::TextBuilder message;
  wf::json::PutPath(in, in->depth, &message);
  message << "missing member `" << View(name) << "`";
  return wf::json::Record(in->ctx, wf::code::kInputParams, message);
}

wf_code wf_json_scalar(wf_json* in, uint32_t dtype, void* out) noexcept {
  const uint8_t next = Peek(in);
  if (dtype == WF_BOOL) {
    const bool yes = next == 't' && wf::json::TakeWord(in, "true");
    if (!yes && !(next == 'f' && wf::json::TakeWord(in, "false"))) return Expected(in, "`true` or `false`");
    *static_cast<uint8_t*>(out) = yes ? 1 : 0;
    return 0;
  }
  wf::json::Number number;
  if (!wf::json::ScanNumber(in->at, in->end, &number)) return wf::json::ExpectedNumber(in, "a number");
  const wf::json::Stored stored = wf::json::StoreNumber(number, dtype, out);
  if (stored == wf::json::Stored::kOk) {
    in->at = number.end;
    return 0;
  }
  wf::base::TextBuilder message;
  wf::json::PutPath(in, in->depth, &message);
  wf::json::PutUnfit(number, dtype, stored, &message);
  wf::json::PutPlace(in, in->at, &message);
  return wf::json::Record(in->ctx, wf::code::kInputParams, message);
}

}  // extern "C"
