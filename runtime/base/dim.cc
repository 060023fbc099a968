#include "runtime/base/dim.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "runtime/base/check.h"

namespace wf::base {
namespace {

using Atom = Dim::Atom;
using Term = Dim::Term;

int64_t FloorDivide(int64_t a, int64_t b) {  // b > 0
  const int64_t quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

// What terms and atoms are sorted and merged by. Full names, so that symbols that only print alike stay apart; a length in front of each
// name keeps keys of different atoms different whatever the names hold.
std::string Key(const Dim& dim);
std::string Key(const Atom& atom) {
  if (atom.division.empty()) return atom.symbol + '\1';
  return "\2(" + Key(atom.division[0]) + '/' + Key(atom.division[1]) + ')';
}
std::string Key(const std::vector<Atom>& atoms) {
  std::string key;
  for (const Atom& atom : atoms) key += Key(atom);
  return key;
}
std::string Key(const Dim& dim) {
  std::string key;
  for (const Term& term : dim.terms()) key += std::to_string(term.coefficient) + '*' + Key(term.atoms) + '+';
  return key;
}

// By their keys, which symbols need not be built for: divisions come first.
bool IsBefore(const Atom& a, const Atom& b) {
  if (a.division.empty() && b.division.empty()) return a.symbol < b.symbol;
  return a.division.empty() == b.division.empty() ? Key(a) < Key(b) : b.division.empty();
}

void CollectSymbols(const Dim& dim, std::set<std::string>& names) {
  for (const Term& term : dim.terms()) {
    for (const Atom& atom : term.atoms) {
      if (atom.division.empty()) names.insert(atom.symbol);
      for (const Dim& part : atom.division) CollectSymbols(part, names);
    }
  }
}

bool IsFaulty(const Dim& dim) { return dim.fault() != Dim::Fault::kNone; }

// The first with a fault, or null.
const Dim* FaultyOf(const Dim& a, const Dim& b) { return IsFaulty(a) ? &a : IsFaulty(b) ? &b : nullptr; }

// The atoms of `all` without those of `part`; nothing when `part` is not contained.
std::optional<std::vector<Atom>> Without(const std::vector<Atom>& all, const std::vector<Atom>& part) {
  std::vector<Atom> rest = all;
  for (const Atom& atom : part) {
    const auto found = std::find(rest.begin(), rest.end(), atom);
    if (found == rest.end()) return std::nullopt;
    rest.erase(found);
  }
  return rest;
}

// floor(x / constant), when `dim` is exactly such a division.
struct ConstantDivision {
  Dim numerator;
  int64_t divisor;
};
std::optional<ConstantDivision> AsConstantDivision(const Dim& dim) {
  const std::vector<Term> terms = dim.terms();
  if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1) return std::nullopt;
  const Atom& atom = terms[0].atoms[0];
  if (atom.division.empty() || !atom.division[1].is_constant()) return std::nullopt;
  return ConstantDivision{atom.division[0], *atom.division[1].constant()};
}

std::string NameOf(const std::string& symbol) { return symbol.substr(0, symbol.find('#')); }

// Not so of a symbol that is named by the code that gives it its value: `a / b`.
bool IsWord(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::string PrintAtom(const Atom& atom, bool alone) {
  if (atom.division.empty()) {
    const std::string name = NameOf(atom.symbol);
    return IsWord(name) ? name : '(' + name + ')';
  }
  const auto part = [](const Dim& dim) {
    const auto symbol = dim.symbol();
    const bool simple = dim.is_constant() || (symbol && IsWord(NameOf(*symbol)));
    return simple ? dim.ToString() : '(' + dim.ToString() + ')';
  };
  const std::string text = part(atom.division[0]) + '/' + part(atom.division[1]);
  return alone ? text : '(' + text + ')';
}

std::string PrintTerm(const Term& term, int64_t coefficient) {
  std::string text;
  if (coefficient != 1 || term.atoms.empty()) text = std::to_string(coefficient);
  for (const Atom& atom : term.atoms) {
    if (!text.empty()) text += '*';
    text += PrintAtom(atom, term.atoms.size() == 1 && coefficient == 1);
  }
  return text;
}

}  // namespace

Dim Dim::Symbol(std::string name) {
  Dim dim;
  dim.symbolic_ = std::make_shared<const Terms>(Terms{{{Atom{std::move(name), {}}}, 1}});
  return dim;
}

Dim Dim::Faulty(Fault fault) {
  Dim dim;
  dim.fault_ = fault;
  return dim;
}

std::vector<Dim::Term> Dim::terms() const {
  WF_CHECK(fault_ == Fault::kNone, static_cast<int>(fault_));
  if (symbolic_ != nullptr) return *symbolic_;
  return constant_ == 0 ? Terms() : Terms{{{}, constant_}};
}

Dim Dim::Normalised(Terms terms) {
  std::map<std::string, Term> merged;
  for (Term& term : terms) {
    if (!std::is_sorted(term.atoms.begin(), term.atoms.end(), IsBefore)) std::sort(term.atoms.begin(), term.atoms.end(), IsBefore);
    auto [at, fresh] = merged.try_emplace(Key(term.atoms), term);
    if (!fresh && __builtin_add_overflow(at->second.coefficient, term.coefficient, &at->second.coefficient))
      return Faulty(Fault::kTooLarge);
  }
  std::vector<Term> sorted, constant;
  for (auto& [key, term] : merged) {
    if (term.coefficient != 0) (term.atoms.empty() ? constant : sorted).push_back(std::move(term));
  }
  if (sorted.empty()) return constant.empty() ? Dim(0) : Dim(constant[0].coefficient);
  sorted.insert(sorted.end(), constant.begin(), constant.end());
  if (sorted.size() > kMaxTerms) return Faulty(Fault::kTooLarge);
  Dim result;
  result.symbolic_ = std::make_shared<const Terms>(std::move(sorted));
  return result.weight() > kMaxWeight ? Faulty(Fault::kTooLarge) : result;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (const Dim* const faulty = FaultyOf(a, b)) return *faulty;
  if (a.is_constant() && b.is_constant()) {
    int64_t sum = 0;
    return __builtin_add_overflow(a.constant_, b.constant_, &sum) ? Dim::Faulty(Dim::Fault::kTooLarge) : Dim(sum);
  }
  Dim::Terms terms = a.terms();
  const Dim::Terms others = b.terms();
  terms.insert(terms.end(), others.begin(), others.end());
  return Dim::Normalised(std::move(terms));
}

Dim operator*(const Dim& a, const Dim& b) {
  if (const Dim* const faulty = FaultyOf(a, b)) return *faulty;
  if (a.is_constant() && b.is_constant()) {
    int64_t product = 0;
    return __builtin_mul_overflow(a.constant_, b.constant_, &product) ? Dim::Faulty(Dim::Fault::kTooLarge) : Dim(product);
  }
  Dim::Terms terms;
  const Dim::Terms others = b.terms();
  for (const Term& x : a.terms()) {
    for (const Term& y : others) {
      Term product;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &product.coefficient)) return Dim::Faulty(Dim::Fault::kTooLarge);
      product.atoms.reserve(x.atoms.size() + y.atoms.size());
      std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(), std::back_inserter(product.atoms), IsBefore);
      terms.push_back(std::move(product));
    }
  }
  return Dim::Normalised(std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }

// floor((c*Q + R) / c) is Q + floor(R / c), so coefficients are reduced to 0..c-1; then common factors and nested constant divisors go.
Dim Dim::DivideByConstant(const Dim& a, int64_t divisor) {
  if (divisor < 0) {
    if (divisor == INT64_MIN) return Faulty(Fault::kTooLarge);
    const Dim negated = a * Dim(-1);
    return IsFaulty(negated) ? negated : DivideByConstant(negated, -divisor);
  }
  if (a.is_constant()) return FloorDivide(a.constant_, divisor);
  Terms whole, rest;
  int64_t common = divisor;
  for (const Term& term : *a.symbolic_) {
    const int64_t quotient = FloorDivide(term.coefficient, divisor);
    const int64_t remainder = term.coefficient - quotient * divisor;
    if (quotient != 0) whole.push_back({term.atoms, quotient});
    if (remainder != 0) rest.push_back({term.atoms, remainder});
    // A constant remainder below the common factor of the others cannot reach the next multiple, hence does not count.
    if (!term.atoms.empty()) common = std::gcd(common, remainder);
  }
  Dim quotient = Normalised(std::move(whole));
  Terms reduced;
  for (const Term& term : rest) {
    if (term.coefficient / common != 0) reduced.push_back({term.atoms, term.coefficient / common});
  }
  divisor /= common;
  Dim numerator = Normalised(std::move(reduced));
  if (divisor == 1) return quotient + numerator;
  if (numerator.is_constant()) return quotient;  // 0..divisor-1
  int64_t both = 0;
  if (const auto nested = AsConstantDivision(numerator); nested && !__builtin_mul_overflow(nested->divisor, divisor, &both)) {
    return quotient + DivideByConstant(nested->numerator, both);
  }
  Atom atom{"", {std::move(numerator), Dim(divisor)}};
  return quotient + Normalised({{{std::move(atom)}, 1}});
}

Dim Dim::FloorDiv(const Dim& a, const Dim& b) {
  if (const Dim* const faulty = FaultyOf(a, b)) return *faulty;
  if (const auto divisor = b.constant()) return *divisor == 0 ? Faulty(Fault::kDivisor0) : DivideByConstant(a, *divisor);
  if (a.constant() == 0) return Dim(0);
  if (a == b) return Dim(1);
  if (b.symbolic_->size() == 1) {  // by a product of symbols: exact when it divides every term
    const Term& divisor = b.symbolic_->front();
    const Terms divided = a.terms();
    Terms quotient;
    for (const Term& term : divided) {
      auto rest = Without(term.atoms, divisor.atoms);
      if (!rest || divisor.coefficient == -1 || term.coefficient % divisor.coefficient != 0) break;
      quotient.push_back({std::move(*rest), term.coefficient / divisor.coefficient});
    }
    if (quotient.size() == divided.size()) return Normalised(std::move(quotient));
  }
  return Normalised({{{Atom{"", {a, b}}}, 1}});
}

bool operator==(const Dim::Atom& a, const Dim::Atom& b) { return a.symbol == b.symbol && a.division == b.division; }
bool operator==(const Dim& a, const Dim& b) {
  if (FaultyOf(a, b) != nullptr) return false;
  if (a.is_constant() || b.is_constant()) return a.constant() == b.constant();
  return a.symbolic_ == b.symbolic_ || *a.symbolic_ == *b.symbolic_;
}

std::optional<std::string> Dim::symbol() const {
  if (symbolic_ == nullptr || symbolic_->size() != 1 || symbolic_->front().coefficient != 1 || symbolic_->front().atoms.size() != 1)
    return std::nullopt;
  const Atom& atom = symbolic_->front().atoms[0];
  return atom.division.empty() ? std::optional(atom.symbol) : std::nullopt;
}

std::vector<std::string> Dim::Symbols() const {
  std::set<std::string> names;
  if (fault_ == Fault::kNone) CollectSymbols(*this, names);
  return {names.begin(), names.end()};
}

size_t Dim::weight() const {
  size_t weight = 1;
  if (symbolic_ == nullptr) return weight;
  for (const Term& term : *symbolic_) {
    weight += 1 + term.atoms.size();
    for (const Atom& atom : term.atoms) {
      for (const Dim& part : atom.division) weight += part.weight();
    }
  }
  return weight;
}

bool Dim::ProvedDifferent(const Dim& a, const Dim& b) {
  const auto difference = (a - b).constant();
  return difference.has_value() && *difference != 0;
}

namespace {

bool HasDivision(const Term& term) {
  return std::any_of(term.atoms.begin(), term.atoms.end(), [](const Atom& atom) { return !atom.division.empty(); });
}

// Something of which `dim` is at least a positive part, without divisions: floor(x / c) lies between (x - c + 1) / c and x / c. Nothing
// where a divisor is no number above 0, or a division is multiplied by another, or it becomes too large.
std::optional<Dim> BoundBelow(const Dim& dim) {
  Dim bound = dim;
  for (size_t left = Dim::kMaxTerms; left > 0 && !IsFaulty(bound); --left) {
    const std::vector<Term> terms = bound.terms();
    const auto found = std::find_if(terms.begin(), terms.end(), HasDivision);
    if (found == terms.end()) return bound;
    Dim divided(1), others(found->coefficient);
    int64_t divisor = 0;
    for (const Atom& atom : found->atoms) {
      if (atom.division.empty()) {
        others = others * Dim::Symbol(atom.symbol);
        continue;
      }
      if (divisor != 0 || atom.division[1].constant().value_or(0) <= 0) return std::nullopt;
      divisor = *atom.division[1].constant();
      divided = found->coefficient > 0 ? atom.division[0] - Dim(divisor - 1) : atom.division[0];
    }
    Dim term(found->coefficient);
    for (const Atom& atom : found->atoms) {
      term = term * (atom.division.empty() ? Dim::Symbol(atom.symbol) : Dim::FloorDiv(atom.division[0], atom.division[1]));
    }
    bound = (bound - term) * Dim(divisor) + others * divided;
  }
  return std::nullopt;
}

// Above 0 wherever every symbol is at least 1.
bool IsPositive(const Dim& dim) {
  const std::optional<Dim> bound = BoundBelow(dim);
  if (!bound) return false;
  const Dim moved = bound->Substitute([](const std::string& symbol) { return Dim::Symbol(symbol) + Dim(1); });
  if (IsFaulty(moved)) return false;
  const std::vector<Term> terms = moved.terms();
  return !terms.empty() && terms.back().atoms.empty() &&
         std::all_of(terms.begin(), terms.end(), [](const Term& term) { return term.coefficient > 0; });
}

}  // namespace

bool Dim::ProvedDifferentAbove0(const Dim& a, const Dim& b) { return IsPositive(a - b) || IsPositive(b - a); }

void Dim::Write(const std::function<int64_t(const std::string&)>& number_of, std::vector<int64_t>& out) const {
  const Terms all = terms();
  out.push_back(static_cast<int64_t>(all.size()));
  for (const Term& term : all) {
    out.push_back(term.coefficient);
    out.push_back(static_cast<int64_t>(term.atoms.size()));
    for (const Atom& atom : term.atoms) {
      out.push_back(atom.division.empty() ? number_of(atom.symbol) : -1);
      for (const Dim& part : atom.division) part.Write(number_of, out);
    }
  }
}

Dim Dim::Read(const int64_t*& at, const std::function<std::string(int64_t)>& symbol_of) {
  Dim sum;
  for (int64_t terms = *at++; terms > 0; --terms) {
    Dim product(*at++);
    for (int64_t atoms = *at++; atoms > 0; --atoms) {
      const int64_t number = *at++;
      if (number >= 0) {
        product = product * Symbol(symbol_of(number));
        continue;
      }
      const Dim numerator = Read(at, symbol_of), denominator = Read(at, symbol_of);
      product = product * FloorDiv(numerator, denominator);
    }
    sum = sum + product;
  }
  return sum;
}

std::optional<Dim::Linear> Dim::AsLinear() const {
  if (symbolic_ == nullptr) return std::nullopt;
  const Terms& terms = *symbolic_;
  if (terms.size() > 2 || terms[0].atoms.size() != 1 || !terms[0].atoms[0].division.empty()) return std::nullopt;
  if (terms.size() == 2 && !terms[1].atoms.empty()) return std::nullopt;
  return Linear{terms[0].atoms[0].symbol, terms[0].coefficient, terms.size() == 2 ? terms[1].coefficient : 0};
}

Dim Dim::Substitute(const std::function<std::optional<Dim>(const std::string&)>& value_of) const {
  if (symbolic_ == nullptr) return *this;
  Dim sum;
  for (const Term& term : *symbolic_) {
    Dim product(term.coefficient);
    for (const Atom& atom : term.atoms) {
      if (atom.division.empty()) {
        product = product * value_of(atom.symbol).value_or(Symbol(atom.symbol));
      } else {
        product = product * FloorDiv(atom.division[0].Substitute(value_of), atom.division[1].Substitute(value_of));
      }
    }
    sum = sum + product;
  }
  return sum;
}

std::optional<int64_t> Dim::Evaluate(const std::function<std::optional<int64_t>(const std::string&)>& value_of) const {
  if (symbolic_ == nullptr) return constant();
  int64_t sum = 0;
  for (const Term& term : *symbolic_) {
    int64_t product = term.coefficient;
    for (const Atom& atom : term.atoms) {
      std::optional<int64_t> value;
      if (atom.division.empty()) {
        value = value_of(atom.symbol);
      } else {
        const auto numerator = atom.division[0].Evaluate(value_of), denominator = atom.division[1].Evaluate(value_of);
        if (!numerator || !denominator || *denominator == 0 || *numerator == INT64_MIN || *denominator == INT64_MIN) return std::nullopt;
        value = *denominator > 0 ? FloorDivide(*numerator, *denominator) : FloorDivide(-*numerator, -*denominator);
      }
      if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

std::string Dim::ToString() const {
  if (fault_ != Fault::kNone) return fault_ == Fault::kTooLarge ? "(too large)" : "(a division by 0)";
  if (is_constant()) return std::to_string(constant_);
  if (const auto bare = symbol()) return NameOf(*bare);
  std::string text;
  for (const Term& term : *symbolic_) {
    const bool minus = term.coefficient < 0 && term.coefficient != INT64_MIN;
    if (!text.empty()) text += minus ? " - " : " + ";
    if (text.empty() && minus) text += '-';
    text += PrintTerm(term, minus ? -term.coefficient : term.coefficient);
  }
  return text;
}

}  // namespace wf::base
