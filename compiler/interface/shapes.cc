#include "compiler/interface/shapes.h"

namespace wf::interface {

using base::Dim;

Dim ShapeMatch::Renamed(const Dim& pattern) {
  return pattern.Substitute([](const std::string& symbol) { return std::optional<Dim>(Dim::Symbol(Own(symbol))); });
}

Dim ShapeMatch::WithValues(const Dim& own) const {
  return own.Substitute([&](const std::string& symbol) {
    const auto value = values_.find(symbol);
    return value == values_.end() ? std::nullopt : std::optional<Dim>(value->second);
  });
}

Dim ShapeMatch::Apply(const Dim& pattern) const { return WithValues(Renamed(pattern)); }

bool ShapeMatch::Match(const Dim& pattern, const Dim& target) {
  const Dim own = Renamed(pattern);
  if (const auto symbol = own.symbol()) return values_.try_emplace(*symbol, target).first->second == target;
  const Dim reached = WithValues(own);
  if (reached == target) return true;
  const auto linear = reached.AsLinear();
  if (!linear || !linear->symbol.starts_with('\'')) return false;
  const Dim rest = target - Dim(linear->add), value = Dim::FloorDiv(rest, Dim(linear->mul));
  if (!(value * Dim(linear->mul) == rest)) return false;
  values_.emplace(linear->symbol, value);
  return true;
}

}  // namespace wf::interface
