#include "runtime/protocol/codes.h"

#include <algorithm>

namespace wf::protocol {
namespace {

struct Row {
  wf_code first, last;
  CodeInfo info;
};
constexpr Row kRows[] = {
#define CODE(first, last, name, status) {first, last, {#name, base::status}},
#include "runtime/protocol/codes.def"
};

}  // namespace

CodeInfo InfoOf(const wf_plan& plan, wf_code code) {
  const wf_declared_error* end = plan.errors + plan.n_errors;
  const wf_declared_error* at =
      std::lower_bound(plan.errors, end, code, [](const wf_declared_error& row, wf_code wanted) { return row.code < wanted; });
  if (at != end && at->code == code) {
    return {{reinterpret_cast<const char*>(at->name.ptr), at->name.len}, static_cast<base::StatusCode>(at->status)};
  }
  for (const Row& row : kRows) {
    if (code >= row.first && code <= row.last) return row.info;
  }
  return {"Unknown", base::kUnknown};
}

}  // namespace wf::protocol
