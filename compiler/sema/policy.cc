// Settings applied to one model: the effective policy of a call (docs/semantics.md 12, 15, 16).

#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/resolve_type.h"
#include "compiler/sema/settings.h"

namespace wf::sema {
namespace {

// extent = floor((symbol * mul + add) / div).
struct Ratio {
  int64_t mul, add, div;
};

// `dim` as such a ratio; nothing when it is no such function of the symbol. k*s + c + floor(n / d) is floor((n + (k*s + c) * d) / d), and a
// floor inside a numerator multiplies the divisors.
std::optional<Ratio> RatioOf(const Dim& dim, const std::string& symbol) {
  Ratio whole{0, 0, 1};
  const std::vector<Dim::Term> terms = dim.terms();
  const Dim::Atom* division = nullptr;
  for (const Dim::Term& term : terms) {
    if (term.atoms.empty()) {
      whole.add = term.coefficient;
    } else if (term.atoms.size() == 1 && term.atoms[0].symbol == symbol) {
      whole.mul = term.coefficient;
    } else if (division == nullptr && term.coefficient == 1 && term.atoms.size() == 1 && !term.atoms[0].division.empty()) {
      division = term.atoms.data();
    } else {
      return std::nullopt;
    }
  }
  if (division == nullptr) return whole;
  const auto divisor = division->division[1].constant();
  auto ratio = RatioOf(division->division[0], symbol);
  if (!divisor || *divisor <= 0 || !ratio) return std::nullopt;
  const auto add_times = [](int64_t a, int64_t b, int64_t* sum) {
    int64_t product = 0;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
  };
  if (__builtin_mul_overflow(ratio->div, *divisor, &ratio->div) || !add_times(whole.mul, ratio->div, &ratio->mul) ||
      !add_times(whole.add, ratio->div, &ratio->add))
    return std::nullopt;
  return ratio;
}

// As ir::Policy::Pad without port and axis.
std::optional<ir::Policy::Pad> FunctionOf(const Dim& dim, const std::string& symbol) {
  const auto fits = [](int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; };
  const auto ratio = RatioOf(dim, symbol);
  if (!ratio || ratio->mul <= 0 || !fits(ratio->mul) || !fits(ratio->add) || !fits(ratio->div)) return std::nullopt;
  return ir::Policy::Pad{0, 0, static_cast<int32_t>(ratio->mul), static_cast<int32_t>(ratio->div), static_cast<int32_t>(ratio->add)};
}

bool Mentions(const Dim& dim, const std::string& symbol) {
  for (const std::string& other : dim.Symbols()) {
    if (other == symbol) return true;
  }
  return false;
}

// A dimension of an output that the inputs do not say.
bool IsUnknown(const Dim& dim, const std::vector<std::string>& of_inputs) {
  const std::vector<std::string> symbols = dim.Symbols();
  return std::any_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
    return symbol.find('#') != std::string::npos || std::find(of_inputs.begin(), of_inputs.end(), symbol) == of_inputs.end();
  });
}

// "extent `u` of `z`", of an output.
std::string NameOfExtent(const Model& model, size_t port, size_t axis) {
  const Dim& dim = model.out[port].dims[axis];
  const int batch_axis = model.batch_axis[model.in.size() + port];
  const bool behind_batch = batch_axis >= 0 && static_cast<int>(axis) >= batch_axis;
  const std::string text = dim.ToString();
  const bool is_named = !text.empty() && !text.starts_with('_');
  return is_named ? fmt::format("extent `{}` of `{}`", text, model.out[port].name)
                  : fmt::format("axis {} of `{}`", axis + (behind_batch ? 1 : 0), model.out[port].name);
}

void ApplyPad(Env& env, const Given<PadSetting>& pad, const Model& model, ir::Policy& policy) {
  const std::string& symbol = pad.value.symbol;
  policy.padded = symbol;
  policy.buckets = pad.value.buckets;
  policy.pads.clear();
  policy.crops.clear();
  std::vector<std::string> known;
  const auto visit = [&](const std::vector<ModelPort>& ports, std::vector<ir::Policy::Pad>& rows, bool output) {
    for (uint16_t port = 0; port < ports.size(); ++port) {
      const std::vector<Dim>& dims = ports[port].dims;
      for (uint16_t axis = 0; axis < dims.size(); ++axis) {
        for (const std::string& name : dims[axis].Symbols()) {
          if (!output && name.find('#') == std::string::npos) known.push_back(name);
        }
        const bool unknown = output && IsUnknown(dims[axis], known);
        if (!unknown && !Mentions(dims[axis], symbol)) continue;
        auto row = unknown ? std::nullopt : FunctionOf(dims[axis], symbol);
        if (!row) {
          env.Report(pad.span, kPadRelation, {NameOfExtent(model, port, axis), symbol})
              .Label(model.span, "declared here")
              .Help(fmt::format("an extent that is a multiple or a part of it is written `{0}`, `2*{0}` or `{0}/4`", symbol));
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
    if (IsReservedDimension(symbol)) {
      env.Report(pad.value.symbol_span, kSettingShape, {"pad", "a dimension of a sample, and `batch` is none: it counts the samples"})
          .Label(model.span, "declared here")
          .Help("how many of them run together is another setting: `batch 4;`");
      return;
    }
    env.Report(pad.value.symbol_span, kPadSymbol, {model.name, symbol})
        .Label(model.span, "declared here")
        .DidYouMean(pad.value.symbol_span, symbol, known);
    return;
  }
  if (const auto at = model.symbols.find(symbol); at != model.symbols.end()) env.NoteUse(pad.value.symbol_span, at->second);
  visit(model.out, policy.crops, true);
}

}  // namespace

void ApplySettings(Env& env, const SettingValues& values, const Model& model, ir::Policy& policy) {
  if (values.batch) {
    const BatchSetting& batch = values.batch->value;
    if (!model.batched && !batch.automatic && batch.max_rows != 1) {
      env.Report(values.batch->span, kSettingNoEffect,
                 {"batch", "model `" + model.name + "`", "it has no batch axis: " + model.batch_reason})
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
