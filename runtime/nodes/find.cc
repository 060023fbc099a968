#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/search.h"
#include "runtime/nodes/text_result.h"

extern "C" wf_code wf_n_find(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* part, wf_optional_i64* at) noexcept {
  using wf::abi::View;
  size_t found;
  if (!wf::nodes::FindNext(ctx, View(*text), View(*part), 0, &found)) return WF_FAILED;
  *at = {};
  if (found == std::string_view::npos) return 0;
  at->value = static_cast<int64_t>(found);
  at->has = 1;
  return 0;
}

extern "C" wf_code wf_n_starts_with(wf_ctx*, const wf_bytes* text, const wf_bytes* part, uint8_t* does) noexcept {
  *does = wf::abi::View(*text).starts_with(wf::abi::View(*part)) ? 1 : 0;
  return 0;
}

extern "C" wf_code wf_n_ends_with(wf_ctx*, const wf_bytes* text, const wf_bytes* part, uint8_t* does) noexcept {
  *does = wf::abi::View(*text).ends_with(wf::abi::View(*part)) ? 1 : 0;
  return 0;
}

extern "C" wf_code wf_n_replace(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* part, const wf_bytes* by, wf_bytes* result) noexcept {
  using namespace wf::nodes;
  using wf::abi::View;
  if (part->len == 0) return Fail(ctx, wf::code::kType, "replace an empty text");
  const std::string_view all = View(*text), wanted = View(*part);
  size_t at;
  if (!FindNext(ctx, all, wanted, 0, &at)) return WF_FAILED;
  if (at == all.npos) {
    *result = *text;
    return 0;
  }
  TextBuilder out(ctx);
  if (!out.Reserve(all.size())) return WF_FAILED;
  size_t done = 0;
  for (uint64_t count = 1; at != all.npos;) {
    if (count++ % kElementsPerStopCheck == 0 && Stopped(ctx)) return WF_FAILED;
    if (!out.Add(all.substr(done, at - done)) || !out.Add(View(*by))) return WF_FAILED;
    done = at + wanted.size();
    if (!FindNext(ctx, all, wanted, done, &at)) return WF_FAILED;
  }
  if (!out.Add(all.substr(done))) return WF_FAILED;
  *result = out.Take();
  return 0;
}
