#pragma once

#include <string>
#include <vector>

#include "compiler/lower/context.h"

namespace wf::lower {

// A perfect hash of the names: no two share a cell of the table. Exposed for its test; EmitFindName writes the same arithmetic as code.
struct PerfectHash {
  uint32_t seed = 0, mask = 0;  // table size - 1
  std::vector<int16_t> table;   // cell -> name, -1 none
  uint32_t CellOf(std::string_view name) const;
};
PerfectHash FindPerfectHash(const std::vector<std::string>& names);

// int32_t (wf_bytes): the number of the name, -1 when it is none of them. The name found is compared, so any bytes may be asked for.
llvm::Function* EmitFindName(Context& context, const std::vector<std::string>& names);

}  // namespace wf::lower
