// Settings applied to one model: the effective policy of a call (semantics.md 12, 15, 16).

#include "compiler/sema/resolve_type.h"
#include "compiler/sema/settings.h"

namespace wf::sema {
namespace {

// extent = symbol * mul / div + add, when `dim` is that; as ir::Policy::Pad without port and axis.
std::optional<ir::Policy::Pad> FunctionOf(const Dim& dim, const std::string& symbol) {
  const auto fits = [](int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; };
  if (const auto linear = dim.AsLinear()) {
    if (linear->symbol != symbol || !fits(linear->mul) || !fits(linear->add)) return std::nullopt;
    return ir::Policy::Pad{0, 0, static_cast<int32_t>(linear->mul), 1, static_cast<int32_t>(linear->add)};
  }
  // floor(mul * s / div) + add
  int64_t add = 0;
  std::optional<ir::Policy::Pad> pad;
  for (const Dim::Term& term : dim.terms()) {
    if (term.atoms.empty()) {
      add = term.coefficient;
      continue;
    }
    const bool division = !pad && term.coefficient == 1 && term.atoms.size() == 1 && !term.atoms[0].division.empty();
    if (!division) return std::nullopt;
    const auto numerator = term.atoms[0].division[0].AsLinear();
    const auto divisor = term.atoms[0].division[1].constant();
    if (!numerator || !divisor || numerator->symbol != symbol || numerator->add != 0 || *divisor <= 0) return std::nullopt;
    if (!fits(numerator->mul) || !fits(*divisor)) return std::nullopt;
    pad = ir::Policy::Pad{0, 0, static_cast<int32_t>(numerator->mul), static_cast<int32_t>(*divisor), 0};
  }
  if (!pad || !fits(add)) return std::nullopt;
  pad->add = static_cast<int32_t>(add);
  return pad;
}

bool Mentions(const Dim& dim, const std::string& symbol) {
  for (const std::string& other : dim.Symbols()) {
    if (other == symbol) return true;
  }
  return false;
}

bool IsUnknown(const Dim& dim) {
  for (const std::string& symbol : dim.Symbols()) {
    if (symbol.find('#') != std::string::npos) return true;
  }
  return false;
}

void ApplyPad(Env& env, const Given<PadSetting>& pad, const Model& model, ir::Policy& policy) {
  const std::string& symbol = pad.value.symbol;
  policy.buckets = pad.value.buckets;
  policy.pads.clear();
  policy.crops.clear();
  std::vector<std::string> known;
  const auto visit = [&](const std::vector<ModelPort>& ports, std::vector<ir::Policy::Pad>& rows, bool output) {
    for (uint16_t port = 0; port < ports.size(); ++port) {
      const std::vector<Dim>& dims = ports[port].type->dims;
      for (uint16_t axis = 0; axis < dims.size(); ++axis) {
        for (const std::string& name : dims[axis].Symbols()) {
          if (!output && name.find('#') == std::string::npos) known.push_back(name);
        }
        const bool unknown = output && IsUnknown(dims[axis]);
        if (!unknown && !Mentions(dims[axis], symbol)) continue;
        auto row = unknown ? std::nullopt : FunctionOf(dims[axis], symbol);
        if (!row) {
          env.Report(pad.span, kPadRelation, {"axis " + std::to_string(axis) + " of `" + ports[port].name + "`", symbol})
              .Label(model.span, "declared here");
          return false;
        }
        row->port = port;
        row->axis = axis;
        rows.push_back(*row);
      }
    }
    return true;
  };
  if (!visit(model.in, policy.pads, false)) return;
  if (policy.pads.empty()) {
    env.Report(pad.value.symbol_span, kPadSymbol, {model.name, symbol})
        .Label(model.span, "declared here")
        .DidYouMean(pad.value.symbol_span, symbol, known);
    return;
  }
  visit(model.out, policy.crops, true);
}

}  // namespace

void ApplySettings(Env& env, const SettingValues& values, const Model& model, ir::Policy& policy) {
  if (values.batch) {
    const BatchSetting& batch = values.batch->value;
    if (!model.batched && !batch.automatic && batch.max_rows != 1) {
      env.Report(values.batch->span, kSettingNoEffect, {"batch", "model `" + model.name + "`", "it has no batch axis"})
          .Label(model.span, "declared here");
    } else if (model.batched) {
      policy.batch_max = batch.automatic ? 0 : batch.max_rows;
      policy.delay_ns = batch.delay_ns;
    }
  }
  if (values.pad) ApplyPad(env, *values.pad, model, policy);
  if (values.queue) policy.queue_max = values.queue->value;
  if (values.instances) policy.instances = static_cast<uint16_t>(values.instances->value);
  if (values.threads) policy.threads = static_cast<uint16_t>(values.threads->value);
  if (values.precision) policy.precision = values.precision->value;
}

}  // namespace wf::sema
