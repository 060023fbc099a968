#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ids.h"
#include "compiler/ir/type.h"
#include "compiler/ir/value.h"

namespace wf::ir {

// A parameter, a result, or an input or output of a model.
struct Port {
  std::string name;  // on the wire
  TypeId type = TypeId::kNone;
  SlotId slot = SlotId::kNone;  // of a workflow's port
  std::optional<Value> if_missing;
  bool required = true;
  std::vector<int64_t> text_dims = {};  // of strings of a model: how long the list is, -1 free; none for a single one
  std::string written = {};             // of a workflow's port, the type as the program has it: "f32[h, w]"
  std::string written_default = {};     // the same of if_missing, shortened: "[1, 2]"; empty: there is none, or `none` is
};

// An axis of a workflow's parameter whose extent is symbol * mul + add.
struct Axis {
  static constexpr uint32_t kWhole = 0xffffffff;  // the parameter is an integer, and the symbol itself
  uint32_t port = 0;
  std::vector<uint32_t> path;  // to the tensor, of fields of tuples
  uint32_t axis = 0, symbol = 0;
  int64_t mul = 1, add = 0;
  bool open_by_default = false;  // the parameter's default is `[]` there, or holds it
};

}  // namespace wf::ir
