#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/sema/body.h"
#include "compiler/sema/match_types.h"

namespace wf::sema {

// Solves the symbols of one signature from the shapes of the arguments of one call (docs/semantics.md 19, 20). Callee dimensions on the
// left, the caller's on the right.
// Errors: proved differences are reported at the argument, with both dimensions and where the first came from.
class DimSolver {
 public:
  DimSolver(Body& body, const Signature& callee) : body_(body), callee_(callee) {}

  void Bind(const std::string& symbol, Dim value, const Span& origin, const SigParam* param = nullptr);  // an integer parameter
  // `param`: what `argument`, of the type `wanted` but for dimensions, is given to; null for a result. Both outlive this. `is_default`: it
  // is the default of that.
  void Add(const DimPair& pair, TypeRef wanted, const Expr& argument, const SigParam* param = nullptr, bool is_default = false);
  void Learn(const DimPair& pair);     // the value that the pair alone gives a symbol, unless it has one; for one that is to be known ahead
  void LearnLeast(const Dim& wanted);  // the value that makes it the least extent that it may be
  void Finish();                       // compares what waited for later arguments
  std::optional<Dim> ValueOf(const Dim& callee_dim) const;  // nothing while a symbol in it is open
  // Reports, with what gave its symbols their values, a dimension of the callee whose value here is no extent. Nothing: it is one.
  std::optional<diag::Builder> ReportNoValue(const Dim& callee_dim, const Span& span);
  const std::map<std::string, Dim>& values() const { return values_; }
  std::vector<DimCheck> TakeChecks() { return std::move(checks_); }
  bool failed() const { return failed_; }

 private:
  struct Waiting {
    DimPair pair;
    TypeRef wanted;
    const Expr* argument;
    const SigParam* param;
    bool is_default;
    const Span& span() const { return is_default ? param->default_value->span : argument->span; }  // where it is written
  };
  void BindTo(const std::string& symbol, Dim value, const Waiting& item);
  bool IsOpen(const std::string& symbol) const;
  bool TrySolve(const Waiting& item);
  bool IsSolvedBy0(const Waiting& item);
  void Compare(const Waiting& item, const Dim& wanted, bool solves = false);
  void ReportDifferent(const Waiting& item, const Dim& wanted, bool solves);
  std::string MessageOf(const Waiting& item, bool solves) const;
  std::string WantedText(const Waiting& item) const;
  void LabelValues(const Dim& callee_dim, const Span& beside, diag::Builder& builder) const;  // of its symbols, where they come from

  Body& body_;
  const Signature& callee_;
  std::map<std::string, Dim> values_;
  std::map<std::string, Span> origins_;
  std::map<std::string, const SigParam*> params_;  // whose shapes gave the symbols their values
  std::set<std::string> by_default_;               // which of them are given by defaults
  std::set<std::string> doubted_;                  // what gave them their values contradicts itself, which is told
  std::vector<Waiting> waiting_;
  std::vector<const Expr*> arguments_;  // computed before any of the call is; of one that may wait, a part may read some alone
  std::vector<DimCheck> checks_;
  bool failed_ = false;
};

// Gives a name to each dimension of `expr`'s value that has none where `expr` stands: `_`, and symbols born since `mark` (inside the
// expression). What can be read from the value becomes a FreshSymbol of the expression, what cannot becomes `_`.
void Settle(Body& body, Expr& expr, uint32_t mark);
// Only `_`: at each read of a value (docs/semantics.md 20).
inline void SettleRead(Body& body, Expr& expr) { Settle(body, expr, body.NextSymbol()); }

// "axis 1 is 32", of the dimension found.
std::string AxisText(const DimPair& pair);
// Where a value that is read by its name got its type, as a label of a report.
void LabelSource(Body& body, const Expr& expr, diag::Builder& builder);
// The same of a value that has the dimension `dim`, a number; of one that is computed, what it has the dimension from.
void LabelSourceOf(Body& body, const Expr& expr, const Dim& dim, diag::Builder& builder);
// Where the symbols of dimensions come from, as labels of a report, each once.
void LabelOrigins(Body& body, std::initializer_list<Dim> dims, diag::Builder& builder);

// "is {1}, wanted {0} (`2*w`)": of an extent beside the one that is stated. `solves`: the stated one is a * symbol + b, and gives the
// symbol its value. `where`: follows what is stated, as in " in its signature".
std::string ExtentText(const Dim& stated, bool solves, const std::string& where = "");

// The equalities without which `value` would not be there: those that its checks find, and those of the locals that it reads for certain.
Equalities HeldBy(const Body& body, const Expr& value);
bool Holds(const Equalities& held, const Dim& left, const Dim& right);

// A check that is left for when it runs, with the origins of what it compares.
DimCheck CheckOf(const Body& body, Dim left, Dim right, std::string message);
// That the symbol of a * symbol + b is at least 0 where this is `found`; nothing where that needs no check. `message`: `found` is {1}.
std::optional<DimCheck> LeastCheck(const Body& body, const Dim::Linear& stated, const Dim& found, std::string message);

// The value of an integer expression as a dimension, when it is one: constants, symbols, arithmetic over them.
std::optional<Dim> AsDim(Body& body, const Expr& expr);
// The same; an unknown integer becomes a new symbol, which the expression brings into being, and which is told by `name`, or by its code.
Dim DimOf(Body& body, Expr& expr, std::string_view name = {});

}  // namespace wf::sema
