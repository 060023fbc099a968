#include "runtime/protocol/codes.h"

#include <algorithm>

namespace wf::protocol {

CodeInfo InfoOf(const wf_plan& plan, wf_code code) {
  const wf_declared_error* end = plan.errors + plan.n_errors;
  const wf_declared_error* at =
      std::lower_bound(plan.errors, end, code, [](const wf_declared_error& row, wf_code wanted) { return row.code < wanted; });
  if (at != end && at->code == code) {
    return {{reinterpret_cast<const char*>(at->name.ptr), at->name.len}, static_cast<base::StatusCode>(at->status)};
  }
  return base::CodeInfoOf(code);
}

}  // namespace wf::protocol
