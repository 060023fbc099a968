#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/sema/block_names.h"
#include "compiler/sema/env.h"
#include "compiler/sema/sink.h"

namespace wf::sema {

using Equalities = std::vector<std::pair<Dim, Dim>>;

struct LocalInfo {
  LocalKind kind = LocalKind::kLet;
  bool used = false;
  const ast::Type* written = nullptr;  // where its members are named, when that is known
  std::optional<Dim> value;            // of an integer, when it is a dimension
  Equalities held;                     // of dimensions, where it has a value: its own checks have found them
  TypeRef read_type = nullptr;         // what a read yields, once one has given names to each `_` of the type
  std::vector<FreshSymbol> read_fresh;
};

// The names inside one function, workflow or test: locals, dimension symbols, type variables. No shadowing, so a name means one thing in
// all of it; Leave ends the life of names of a block.
// Thread: loop-confined.   Borrows: env and module.
class Body {
 public:
  Body(Env& env_in, Module& module_in, const ast::Decl* self_in)
      : env(env_in), module(module_in), self(self_in), mistakes_before_(env_in.mistakes()) {}

  Env& env;
  Module& module;
  const ast::Decl* self;  // the declaration that is being checked; null between declarations
  std::vector<Local> locals;
  std::vector<LocalInfo> infos;                                // beside `locals`
  std::map<std::string, Span, std::less<>> symbols;            // of the signature, and of values born in the body
  std::set<std::string, std::less<>> extents;                  // of those born in the body, which an axis is, no more and no less
  std::map<std::string, TypeRef, std::less<>> type_values;     // T of an instance
  std::map<std::string, std::vector<Dim>, std::less<>> rests;  // s of `*s` of an instance
  bool may_fail = false;                                       // it holds `fail`, `require` or a call that may
  std::vector<std::pair<uint32_t, Span>> model_calls;          // models called since the node began
  std::vector<BlockNames> blocks;                              // that are being checked, innermost last
  std::map<const ast::Expr*, LocalId> held;                    // computed before the reducer that they stand in
  std::set<std::string, std::less<>> forward_reported;         // names used above their declaration, said once
  std::set<std::string, std::less<>> taken_names;              // what they mean is not known: declared again, which has been said
  uint32_t n_outside_calls = 0;                                // calls of extern nodes and remotes since the node began
  uint32_t n_loops = 0;                                        // `for`s since the node began
  uint32_t loops_around = 0;                                   // `for`s that the expression at hand stands in
  const Body* around = nullptr;  // of a stub, a default: the test, the parameters; it does not see their names
  bool annotates = false;        // it, or a workflow that it calls
  bool silenced = false;         // part of it was not looked at: no warnings about unused names

  // A name that is already taken is reported and gets a local that nobody finds. `name` "_" is never found.
  LocalId Declare(LocalKind kind, const ast::Name& name, TypeRef type);
  std::optional<LocalId> Find(std::string_view name) const;      // null when out of its scope
  void UseParametersOf(std::string_view symbol);                 // it is read, and they bring it
  std::optional<LocalId> FindLeft(std::string_view name) const;  // the last that had the name and is out of its scope
  std::vector<std::string> VisibleNames() const;

  void BeginNode() {
    model_calls.clear();
    n_outside_calls = n_loops = 0;
  }

  size_t Enter() {
    ++depth_;
    return visible_.size();
  }
  void Leave(size_t mark);  // the last one reports what was not used: of a body with a mistake anywhere, nothing

  Dim NewSymbol(std::string_view base, const Span& origin);  // "h#b3"; prints as "h"
  uint32_t NextSymbol() const { return next_symbol_; }
  void BringAgain(const std::string& symbol) { again_[symbol] = next_symbol_++; }  // another expression yields it
  std::optional<uint32_t> BirthOf(const std::string& symbol) const;                // the last one; none: it was there before the body
  bool IsBornSince(const std::string& symbol, uint32_t mark) const;

 private:
  void ReportUnused();
  std::vector<std::pair<std::string, LocalId>> visible_;
  std::vector<LocalId> unused_;  // that have left
  uint32_t depth_ = 0;           // of scopes
  struct Named {
    LocalId id;
    bool visible;
  };
  std::map<std::string, Named, std::less<>> by_name_;  // the same, and those that have left
  uint32_t next_symbol_ = 0;
  std::map<std::string, uint32_t, std::less<>> again_;
  const size_t mistakes_before_;  // a body with mistakes gets no warnings about unused names
};

// A mark in the visible names, left at the end of the scope. `statements`: what a name used too early may be declared by.
class Scope {
 public:
  explicit Scope(Body& body) : body_(body), mark_(body.Enter()), blocks_(body.blocks.size()) {}
  Scope(Body& body, const std::vector<ast::StmtPtr>& statements) : Scope(body) { body.blocks.emplace_back(statements); }
  ~Scope() {
    body_.Leave(mark_);
    body_.blocks.erase(body_.blocks.begin() + static_cast<ptrdiff_t>(blocks_), body_.blocks.end());
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Body& body_;
  size_t mark_, blocks_;
};

}  // namespace wf::sema
