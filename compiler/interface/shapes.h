#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "compiler/interface/interface.h"

namespace wf::interface {

// What an extent is at least when no symbol is below 0; nothing where that is not seen, as with `n - m`.
std::optional<int64_t> Least(const base::Dim& dim);

// One-way matching of dimensions: is there a value, not below 0, for each symbol of the pattern that makes it the target? Symbols of the
// target are fixed.
// Thread: loop-confined.
class ShapeMatch {
 public:
  void Fix(const std::string& symbol, const base::Dim& value) { values_.insert_or_assign(Own(symbol), value); }
  bool Match(const base::Dim& pattern, const base::Dim& target);
  base::Dim Apply(const base::Dim& pattern) const;  // with the values found; what has none stays a symbol that the target does not have

 private:
  static std::string Own(const std::string& symbol) { return "'" + symbol; }
  static base::Dim Renamed(const base::Dim& pattern);
  base::Dim WithValues(const base::Dim& own) const;

  std::map<std::string, base::Dim> values_;
};

}  // namespace wf::interface
