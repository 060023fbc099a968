#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

#include "runtime/base/text.h"
#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace {

using wf::nodes::FakeJob;
using wf::nodes::View;

void CheckText(const wf_bytes& text) {
  if (!wf::base::IsUtf8({reinterpret_cast<const char*>(text.ptr), text.len})) std::abort();
}
void CheckList(const wf_list& list) {
  for (uint64_t i = 0; i < list.len; ++i) CheckText(static_cast<const wf_bytes*>(list.ptr)[i]);
}

// What a native makes of texts is texts, or a failure that says why.
template <typename Result, typename Native, typename... Arguments>
bool Call(FakeJob& job, Native native, Result& result, const Arguments&... arguments) {
  job.code = 0;
  if (native(&job.ctx, &arguments..., &result) != 0) {
    if (job.code == 0 || job.message.empty() || !wf::base::IsUtf8(job.message)) std::abort();
    return false;
  }
  if constexpr (std::is_same_v<Result, wf_bytes>) CheckText(result);
  if constexpr (std::is_same_v<Result, wf_list>) CheckList(result);
  return true;
}

void ChangeText(FakeJob& job, const wf_bytes& text, const wf_bytes& other) {
  wf_bytes made{}, again{};
  for (const char* form : {"NFC", "NFD", "NFKC", "NFKD"}) Call(job, wf_n_normalise, made, text, View(form));
  for (const auto native : {wf_n_lower, wf_n_casefold, wf_n_strip_accents}) Call(job, native, made, text);
  Call(job, wf_n_replace, made, text, other, View("<>"));
  wf_list parts{};
  Call(job, wf_n_words, parts, text);
  if (!Call(job, wf_n_split, parts, text, other)) return;
  if (Call(job, wf_n_join, again, parts, other) && std::string_view(reinterpret_cast<const char*>(again.ptr), again.len) !=
                                                       std::string_view(reinterpret_cast<const char*>(text.ptr), text.len))
    std::abort();
}

void Match(FakeJob& job, const wf_bytes& text, const wf_bytes& pattern) {
  wf_bytes made{};
  wf_list parts{}, found{};
  uint8_t does = 0;
  if (!Call(job, wf_n_matches, does, text, pattern)) return;
  Call(job, wf_n_groups, parts, text, pattern);
  Call(job, wf_n_replace_all, made, text, pattern, View("[\\0]"));
  const bool both = Call(job, wf_n_find_all, found, text, pattern) && Call(job, wf_n_split_all, parts, text, pattern);
  if (both && (parts.len != found.len + 1 || (found.len != 0) != (does != 0))) std::abort();
}

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\0');
  if (end == input.npos || !wf::base::IsUtf8(input)) return 0;
  const wf_bytes first = View(input.substr(0, end)), text = View(input.substr(end + 1));
  FakeJob job;
  job.budget = uint64_t{16} << 20;
  ChangeText(job, text, first);
  Match(job, text, first);
  return 0;
}
