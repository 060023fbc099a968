#pragma once

#include <cstdint>
#include <string>

#include "compiler/ir/ir.h"

namespace wf::ir {

// What a body is made of, as bytes that are equal for bodies that do the same. is_own(i): the immediate of op i is left out, since tasks
// have one each; add_type(type, &form) writes the type of an op.
template <typename IsOwn, typename AddType>
std::string FormOf(const Body& body, const IsOwn& is_own, const AddType& add_type) {
  std::string form;
  const auto add = [&](auto number) { form.append(reinterpret_cast<const char*>(&number), sizeof number); };
  const auto add_all = [&](const auto& ids) {
    add(ids.size());
    for (const auto id : ids) add(id);
  };
  for (size_t i = 0; i < body.ops.size(); ++i) {
    const Op& op = body.ops[i];
    add(op.kind);
    add_type(op.type, &form);
    add_all(op.args);
    add_all(op.blocks);
    add(is_own(i) ? uint64_t{0} : static_cast<uint64_t>(op.imm));
  }
  for (const Block& block : body.blocks) {
    add_all(block.params);
    add_all(block.ops);
    add(block.result);
  }
  return form;
}

}  // namespace wf::ir
