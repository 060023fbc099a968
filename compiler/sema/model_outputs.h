#pragma once

#include <functional>
#include <string>

#include "compiler/sema/typed.h"

namespace wf::sema {

// Where the symbols that only outputs of `model` have are read from a call's value: each from the first axis that is `a * symbol + b`.
// `value_of`: the symbol at the call; nothing of a symbol that inputs have.
void LocateOutputs(const Model& model, const std::function<std::optional<Dim>(const std::string&)>& value_of, Expr& call);

// Leaves a check for each extent of a call's value that the model's signature states and its file does not prove. `new_symbol`: one of its
// own at each call; `is_known`: whether a symbol of the call's type has a value.
void CheckOutputs(const Model& model, const std::function<Dim()>& new_symbol, const std::function<bool(const std::string&)>& is_known,
                  Expr& call);

}  // namespace wf::sema
