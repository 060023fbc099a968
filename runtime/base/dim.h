#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wf::base {

// One extent of a shape: an integer polynomial over symbols, in one normal form, so that equal dimensions compare equal.
// An atom is a symbol or a floor division that did not simplify; floor divisions are opaque (docs/semantics.md 20).
// What cannot be computed has a fault instead of a polynomial, and so has all that is computed with it; it equals nothing, not even itself.
// A division by a constant keeps coefficients below the divisor: (3*h - 1)/2 is h + (h + 1)/2 - 1.
// Thread: immutable value.   Cost: O(terms); numbers, which most extents are, take no memory of their own, copies share it.   Bounds:
// kMaxTerms terms, kMaxWeight terms and atoms (those inside divisions counted).
class Dim {
 public:
  static constexpr size_t kMaxTerms = 32, kMaxWeight = 256;
  enum class Fault : uint8_t { kNone, kTooLarge, kDivisor0 };  // beyond the bounds, or a coefficient beyond i64; divided by the constant 0

  Dim() : Dim(0) {}
  Dim(int64_t constant) : constant_(constant) {}  // NOLINT: implicit, so that `3` is a dimension
  static Dim Symbol(std::string name);            // equal names are equal symbols: the caller makes them unique per scope
  static Dim Faulty(Fault fault);

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  static Dim FloorDiv(const Dim& a, const Dim& b);  // exact where it divides (h*w/w is h)
  friend bool operator==(const Dim& a, const Dim& b);

  Fault fault() const { return fault_; }
  bool is_constant() const { return symbolic_ == nullptr && fault_ == Fault::kNone; }
  // The value when no symbol is left.
  std::optional<int64_t> constant() const { return is_constant() ? std::optional(constant_) : std::nullopt; }
  std::optional<std::string> symbol() const;  // the name when it is exactly one bare symbol
  std::vector<std::string> Symbols() const;   // each once, sorted; also those inside floor divisions

  // Proved different for every value of the symbols: the difference is a non-zero constant.
  static bool ProvedDifferent(const Dim& a, const Dim& b);
  // The same, where every symbol is at least 1: w and 2*w, w and w/2. False where that is not seen.
  static bool ProvedDifferentAbove0(const Dim& a, const Dim& b);
  // Solves this = a*s + b for the only symbol s, exactly: `value` must be (value-b) divisible by a. Nothing when it is not of that form.
  struct Linear {
    std::string symbol;
    int64_t mul, add;
  };
  std::optional<Linear> AsLinear() const;

  Dim Substitute(const std::function<std::optional<Dim>(const std::string&)>& value_of) const;
  std::optional<int64_t> Evaluate(
      const std::function<std::optional<int64_t>(const std::string&)>& value_of) const;  // nothing: unbound, overflow, division by 0
  std::string ToString() const;  // "2*h + 1", "w/4"; symbols print without what follows '#' in their name

  // REQUIRES, also of Write: no fault.
  // The normal form, for code that must emit it: sum of coefficient * product of atoms.
  struct Atom {
    std::string symbol;         // or, when empty, floor(numerator / denominator)
    std::vector<Dim> division;  // {numerator, denominator}
    friend bool operator==(const Atom&, const Atom&);
  };
  struct Term {
    std::vector<Atom> atoms;
    int64_t coefficient;
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms() const;
  // 1 with its terms and their atoms, counted with those inside divisions: what bounds the cost of everything here, recursion depth
  // included.
  size_t weight() const;

  // As numbers, for the plan: how many terms; of each its coefficient, how many atoms, and of each its symbol's number, or -1, numerator
  // and denominator. Read takes what Write gave, and moves `at` behind it.
  void Write(const std::function<int64_t(const std::string&)>& number_of, std::vector<int64_t>& out) const;
  static Dim Read(const int64_t*& at, const std::function<std::string(int64_t)>& symbol_of);

 private:
  using Terms = std::vector<Term>;
  static Dim Normalised(Terms terms);
  static Dim DivideByConstant(const Dim& a, int64_t divisor);  // divisor is not 0

  std::shared_ptr<const Terms> symbolic_;  // sorted by atoms, the constant (no atoms) last; no zero coefficient. Null: a number
  int64_t constant_ = 0;                   // that number
  Fault fault_ = Fault::kNone;             // else it is none
};

// Makes symbols that equal nothing but themselves: `_`, an unnamed axis of a model. What two of them make may be compared where their
// scopes differ.
// Thread: confined.
class UnknownDims {
 public:
  explicit UnknownDims(std::string_view scope) : scope_(scope) {}
  Dim Next() { return Dim::Symbol("_#" + scope_ + std::to_string(next_++)); }

 private:
  std::string scope_;
  uint64_t next_ = 0;
};

}  // namespace wf::base
