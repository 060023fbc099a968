#include "compiler/diag/shorten.h"

#include <algorithm>

#include "compiler/base/utf8.h"

namespace wf::diag {
namespace {

constexpr size_t kLongest = 400;  // bytes

}  // namespace

std::string Shorten(std::string_view text) {
  if (text.size() <= kLongest) return std::string(text);
  size_t end = kLongest;
  while (end > 0 && source::IsContinuation(text[end])) --end;
  std::string_view kept = text.substr(0, end);
  if (std::count(kept.begin(), kept.end(), '`') % 2 == 0) return std::string(kept) + "…";
  const size_t quote = kept.rfind('`');
  if (quote < kLongest / 2) return std::string(kept) + "…`";
  return std::string(kept.substr(0, quote)) + "…";  // one of many
}

}  // namespace wf::diag
