#include "compiler/sema/open_axes.h"

#include <map>
#include <string>
#include <utility>

#include "compiler/sema/default_value.h"
#include "compiler/sema/resolve_type.h"

namespace wf::sema {
namespace {

// Some value of the symbol, from 0 on, makes it 0.
bool MayBe0(const ir::Axis& axis) { return axis.add == 0 || ((axis.add < 0) == (axis.mul > 0) && axis.add % axis.mul == 0); }

class Axes {
 public:
  void Add(uint32_t port, TypeRef type, const DefaultPart& missing) {
    if (type->kind == TypeKind::kTensor) {
      for (uint32_t axis = 0; axis < type->dims.size(); ++axis) {
        const auto linear = type->dims[axis].AsLinear();
        if (!linear || linear->symbol == kAnySymbol) continue;
        all_.push_back({port, path_, axis, NumberOf(linear->symbol), linear->mul, linear->add, missing.LeavesOpen(axis)});
      }
    } else if (type->kind == TypeKind::kRecord && type->name.empty()) {
      for (uint32_t i = 0; i < type->fields.size(); ++i) {
        path_.push_back(i);
        Add(port, type->fields[i].type, missing.Field(i));
        path_.pop_back();
      }
    }
  }
  void AddInteger(uint32_t port, const std::string& symbol) { all_.push_back({port, {}, ir::Axis::kWhole, NumberOf(symbol)}); }

  // One that nothing else says is 0, unless it cannot be.
  std::vector<ir::Axis> Take() {
    std::vector<uint32_t> said(numbers_.size()), open(numbers_.size());
    for (const ir::Axis& axis : all_) {
      ++said[axis.symbol];
      if (axis.axis != 0 && axis.axis != ir::Axis::kWhole) ++open[axis.symbol];
    }
    std::erase_if(all_, [&](const ir::Axis& axis) { return open[axis.symbol] == 0 || (said[axis.symbol] == 1 && MayBe0(axis)); });
    return std::move(all_);
  }

 private:
  uint32_t NumberOf(const std::string& symbol) {
    return numbers_.try_emplace(symbol, static_cast<uint32_t>(numbers_.size())).first->second;
  }

  std::vector<ir::Axis> all_;
  std::vector<uint32_t> path_;
  std::map<std::string, uint32_t> numbers_;
};

}  // namespace

std::vector<ir::Axis> AxesOf(const Workflow& workflow) {
  Axes axes;
  for (uint32_t i = 0; i < workflow.params.size(); ++i) {
    const Param& param = workflow.params[i];
    axes.Add(i, workflow.locals[param.local].type, {param.default_type, param.default_value ? &*param.default_value : nullptr});
  }
  for (const FreshSymbol& symbol : workflow.param_symbols) {
    if (symbol.axis == FreshSymbol::kWholeValue) axes.AddInteger(symbol.path[0], symbol.symbol);
  }
  return axes.Take();
}

}  // namespace wf::sema
