#include "compiler/interface/shapes.h"

#include <algorithm>

namespace wf::interface {

using base::Dim;

std::optional<int64_t> Least(const Dim& dim) {
  if (dim.fault() != Dim::Fault::kNone) return std::nullopt;
  int64_t least = 0;
  for (const Dim::Term& term : dim.terms()) {
    if (term.atoms.empty()) {
      least = term.coefficient;
      continue;
    }
    const auto is_at_least_0 = [](const Dim::Atom& atom) {
      if (!atom.symbol.empty()) return true;
      const auto divisor = atom.division[1].constant();
      return divisor && *divisor > 0 && Least(atom.division[0]).value_or(-1) >= 0;
    };
    if (term.coefficient < 0 || !std::all_of(term.atoms.begin(), term.atoms.end(), is_at_least_0)) return std::nullopt;
  }
  return least;
}

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
  const bool falls = linear->mul < 0;
  const bool can_be_below_0 = (falls || linear->add > 0) && Least(falls ? Dim(0) - rest : rest).value_or(-1) < 0;  // `target` is an extent
  if (can_be_below_0) return false;
  values_.emplace(linear->symbol, value);
  return true;
}

}  // namespace wf::interface
