#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wf::base {

// One extent of a shape: an integer polynomial over symbols, in one normal form, so that equal dimensions compare equal.
// An atom is a symbol or a floor division that did not simplify; floor divisions are opaque (semantics.md 20).
// Overflow of a coefficient makes the dimension an atom of its own (`Unknown`), equal to nothing but itself.
// A division by a constant keeps coefficients below the divisor: (3*h - 1)/2 is h + (h + 1)/2 - 1.
// Thread: immutable value.   Cost: O(terms); above kMaxTerms terms or kMaxWeight atoms (those inside divisions counted) it is Unknown.
class Dim {
 public:
  static constexpr size_t kMaxTerms = 32, kMaxWeight = 256;

  Dim() : Dim(0) {}
  Dim(int64_t constant);                // NOLINT: implicit, so that `3` is a dimension
  static Dim Symbol(std::string name);  // equal names are equal symbols: the caller makes them unique per scope
  static Dim Unknown();                 // a new symbol at each call ("_", an unnamed ONNX axis)

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  static Dim FloorDiv(const Dim& a, const Dim& b);  // exact where it divides (h*w/w is h); by constant 0: Unknown
  friend bool operator==(const Dim& a, const Dim& b);

  bool is_constant() const;
  std::optional<int64_t> constant() const;    // the value when no symbol is left
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
  const std::vector<Term>& terms() const { return terms_; }

  // As numbers, for the plan: how many terms; of each its coefficient, how many atoms, and of each its symbol's number, or -1, numerator
  // and denominator. Read takes what Write gave, and moves `at` behind it.
  void Write(const std::function<int64_t(const std::string&)>& number_of, std::vector<int64_t>& out) const;
  static Dim Read(const int64_t*& at, const std::function<std::string(int64_t)>& symbol_of);

 private:
  explicit Dim(std::vector<Term> terms) : terms_(std::move(terms)) {}
  static Dim Normalised(std::vector<Term> terms);
  static Dim DivideByConstant(const Dim& a, int64_t divisor);  // divisor is not 0
  std::vector<Term> terms_;                                    // sorted by atoms, the constant (no atoms) last; no zero coefficient
};

}  // namespace wf::base
