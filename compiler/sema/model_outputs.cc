#include "compiler/sema/model_outputs.h"

#include <algorithm>
#include <set>

#include "compiler/sema/dims.h"

namespace wf::sema {
namespace {

std::vector<uint32_t> PathTo(const Model& model, size_t output) {
  return model.out.size() == 1 ? std::vector<uint32_t>{} : std::vector<uint32_t>{static_cast<uint32_t>(output)};
}

// Of the value of a call, in the caller's symbols.
TypeRef TypeOf(const Model& model, const Expr& call, size_t output) {
  return model.out.size() == 1 ? call.type : call.type->fields[output].type;
}

const FreshSymbol* FreshAt(const Expr& call, const std::vector<uint32_t>& path, uint32_t axis, const Dim& dim) {
  const auto linear = dim.AsLinear();
  const auto found = std::find_if(call.fresh.begin(), call.fresh.end(), [&](const FreshSymbol& fresh) {
    return linear && fresh.symbol == linear->symbol && fresh.path == path && fresh.axis == axis;
  });
  return found == call.fresh.end() ? nullptr : &*found;
}

}  // namespace

void LocateOutputs(const Model& model, const std::function<std::optional<Dim>(const std::string&)>& value_of, Expr& call) {
  std::set<std::string> located;
  for (size_t i = 0; i < model.out.size(); ++i) {
    const std::vector<Dim>& dims = model.out[i].type->dims;
    for (uint32_t axis = 0; axis < dims.size(); ++axis) {
      const auto linear = dims[axis].AsLinear();
      if (!linear) continue;
      const std::optional<Dim> value = value_of(linear->symbol);
      if (!value || !located.insert(linear->symbol).second) continue;
      call.fresh.push_back({*value->symbol(), PathTo(model, i), axis, linear->mul, linear->add});
    }
  }
}

void CheckOutputs(const Model& model, const std::function<Dim()>& new_symbol, const std::function<bool(const std::string&)>& is_known,
                  Expr& call) {
  for (size_t i = 0; i < model.out.size(); ++i) {
    const TypeRef type = TypeOf(model, call, i);
    const std::vector<uint32_t> path = PathTo(model, i);
    for (uint32_t axis = 0; axis < type->dims.size(); ++axis) {
      const Dim& dim = type->dims[axis];
      const std::vector<std::string> symbols = dim.Symbols();
      if (!model.unproved[i][axis] || !std::all_of(symbols.begin(), symbols.end(), is_known)) continue;
      const FreshSymbol* fresh = FreshAt(call, path, axis, dim);
      if (fresh != nullptr && fresh->mul == 1) continue;  // any extent gives it a value
      const std::string place = "axis " + std::to_string(axis) + " of `" + model.out[i].wire_name + "` of model `" + model.name + "` ";
      const Dim& stated = model.out[i].type->dims[axis];
      const Dim found = new_symbol();
      call.fresh.push_back({*found.symbol(), path, axis});
      call.checks.push_back({dim, found, place + ExtentText(stated, fresh != nullptr && stated.AsLinear(), " in its signature")});
    }
  }
}

}  // namespace wf::sema
