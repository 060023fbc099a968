#include "compiler/diag/codes.h"

#include <algorithm>
#include <array>

#include "runtime/base/check.h"

namespace wf::diag {
namespace {

constexpr auto kError = Severity::kError;
constexpr auto kWarning = Severity::kWarning;
constexpr std::array kUnsorted = {
#define DIAG(name, number, severity, message) CodeInfo{Code::name, k##severity, #name, message},
#include "compiler/diag/all.def"
#undef DIAG
};
constexpr auto kSorted = [] {
  auto rows = kUnsorted;
  std::sort(rows.begin(), rows.end(), [](const CodeInfo& a, const CodeInfo& b) { return a.code < b.code; });
  return rows;
}();
static_assert(std::adjacent_find(kSorted.begin(), kSorted.end(), [](const CodeInfo& a, const CodeInfo& b) { return a.code == b.code; }) ==
                  kSorted.end(),
              "a diagnostic number is used twice");

}  // namespace

std::span<const CodeInfo> AllCodes() { return kSorted; }

const CodeInfo& InfoOf(Code code) {
  const auto row =
      std::lower_bound(kSorted.begin(), kSorted.end(), code, [](const CodeInfo& info, Code wanted) { return info.code < wanted; });
  WF_CHECK(row != kSorted.end() && row->code == code, static_cast<int>(code));
  return *row;
}

std::string AnyMessage(const CodeInfo& info) {
  std::string text;
  for (size_t at = 0; at < info.message.size(); ++at) {
    const bool is_hole = info.message[at] == '{' && at + 2 < info.message.size() && info.message[at + 2] == '}';
    text += is_hole ? "…" : std::string(1, info.message[at]);
    if (is_hole) at += 2;
  }
  return text;
}

}  // namespace wf::diag
