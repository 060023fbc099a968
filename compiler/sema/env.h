#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/sema/check.h"
#include "compiler/sema/cycles.h"
#include "compiler/sema/library.h"
#include "compiler/sema/typed.h"

namespace wf::sema {

using enum diag::Code;

enum class EntityKind : uint8_t { kConst, kType, kError, kFn, kExtern, kModel, kRemote, kWorkflow, kService, kModule };
std::string_view NameOf(EntityKind kind);  // as programs write it: "fn"

// What may stand where a name is read: one that is unknown is likened to these alone.
enum class NameUse : uint8_t { kAny, kValue, kCall, kType, kError, kWorkflow, kModel };

struct Module;

struct SigParam {
  std::string name;
  TypeRef type;
  const ast::Expr* default_value;  // null: must be given
  Span span;
};

// What may be called, and with what. Types are in terms of the signature's own symbols; a generic one also holds type variables and the
// rank-free symbol "*s".
struct Signature {
  std::string name;
  Span span;
  std::vector<SigParam> params;
  TypeRef result = nullptr;
  std::vector<std::string> symbols;         // bound by the arguments' shapes; integer parameters are not among them
  std::vector<std::string> result_symbols;  // only in the result: new at each call
  std::vector<std::string> type_params;     // of std functions
  std::vector<std::string> rests;           // s of `*s`
  bool may_wait = false;                    // stands only in a node (docs/semantics.md 4)
  bool may_fail = false;
  bool annotates = false;  // a workflow, or what it calls
  bool broken = false;     // a part of it was reported: calls are checked loosely
  bool is_generic() const { return !type_params.empty() || !rests.empty(); }
};

// A declaration of a module, by name. Filled when its turn comes in the text: names are declared before use (docs/semantics.md 29).
struct Entity {
  EntityKind kind = EntityKind::kConst;
  std::string name;
  const ast::Decl* decl = nullptr;
  Module* home = nullptr;
  Span span;            // of the name
  bool ready = false;   // checked: may be used
  bool broken = false;  // reported: uses stay silent
  bool twice = false;   // declared again, reported: what uses mean is not known
  bool used = false;
  bool early_use_reported = false;
  uint32_t index = 0;                         // kConst, kFn (not generic), kModel, kRemote, kWorkflow: into Program; kExtern: its function
  TypeRef type = nullptr;                     // kConst, kType
  int32_t code = 0;                           // kError
  std::string message;                        // kError
  std::unique_ptr<Signature> signature;       // kFn, kExtern, kModel, kRemote, kWorkflow
  Module* target = nullptr;                   // kModule; null: not found, reported
  std::map<std::string, uint32_t> instances;  // kFn, generic: by printed bindings, into Program::functions
};

struct Module {
  std::string path;
  const ast::File* file = nullptr;
  bool is_root = false, is_std = false;
  bool damaged = false;  // something did not parse that may have declared any name
  enum class State : uint8_t { kNew, kOpen, kDone } state = State::kNew;
  std::map<std::string, Entity, std::less<>> entities;
  std::vector<const Entity*> imports;  // of them, in the order of the text
  std::map<std::string, Span> tests;   // by title
  Cycles cycles;                       // of its entities
};

// Types of one file that nothing declares: an unknown one is told once, where it is first read.
struct UnknownTypes {
  std::map<std::string, std::vector<Span>, std::less<>> written;  // every name of a type, known or not, by where it stands
  std::set<std::string, std::less<>> told;
};

// Of all constants of a program.
constexpr uint64_t kMostConstSteps = 50'000'000;  // a fraction of a second
constexpr uint64_t kMostConstBytes = uint64_t{256} << 20;

// One run of Check. Everything that outlives one declaration.
struct Env {
  const CheckInput& input;
  diag::Emitter& diag;
  Program& program;
  Types& types;
  std::deque<Module> modules;                                         // in the order of the input
  Module* prelude = nullptr;                                          // "std.prelude", if it is among them
  std::map<int32_t, Span> error_codes;                                // that the program declares
  std::map<std::pair<ExprKind, uint32_t>, const ast::Type*> results;  // as written, by what calls them: where their members have names
  // Files read by constants and of externs, by path: part of the source hash.
  std::map<std::string, std::shared_ptr<const std::string>> embedded;
  uint64_t constant_bytes = 0;                                // of the values of all `const`s, defaults and embedded files
  uint64_t const_steps_left = 0;                              // to compute them
  std::set<std::string> metadata;                             // keys that a `meta` reads
  size_t untold = 0;                                          // unknown names not reported: what did not parse may declare them
  std::optional<Library> library;                             // none: no name asked for it
  std::map<const ast::Expr*, std::optional<Const>> defaults;  // of parameters of functions and externs, by what is written; none: reported
  std::optional<Span> unsound;                                // the first that NoteUnsound was told of
  std::set<std::string> unread;                               // files as in `embedded` that could not be read, which is said once
  std::map<const Module*, UnknownTypes> unknown_types;        // of those that have one
  std::set<std::shared_ptr<const void>> counted;              // in constant_bytes: long texts, and items of values and of their large parts
  bool constants_end = false;                                 // one had no room, or no steps left

  diag::Builder Report(const Span& span, diag::Code code, std::initializer_list<diag::Argument> arguments = {}) const {
    return diag.Emit(span, code, arguments);
  }
  // What has no meaning: a program without errors holds nothing of the kind, which Check makes sure of.
  void NoteUnsound(const Span& span) {
    if (!unsound) unsound = span;
  }
  size_t mistakes() const { return diag.error_count() + untold; }
  void NoteUse(const Span& use, const Span& declared) const;  // to the sink, if there is one
};

inline constexpr std::string_view kWrittenHere = "the type written here";

// Why a type is wanted: a label of the report.
struct Origin {
  Span span;
  std::string text;                    // "declared here"
  const ast::Type* written = nullptr;  // the type that stands there, if one does
  std::string_view help{};             // where the extents differ
  std::string_view member{};           // of a tuple, that has it
  uint32_t axes_around = 0;            // of the tensor, where what is wanted is a row of it, or less
};

struct StillLoop;

// Where an expression stands, and hence what it may hold. Passed by value down the tree.
struct Where {
  bool may_wait = false;             // model calls
  bool may_fail = true;              // `fail`, `require`, calls that may
  bool workflow = false;             // meta()
  bool files = false;                // file() lines() json()
  bool test = false;                 // close()
  bool elements = false;             // of a tensor, which are computed all at once
  bool soft = false;                 // what is wanted is what a sibling has, an arm or an element: extents may differ
  bool is_loop = false;              // the block that is checked next is the body of a `for`
  std::string_view what = "a `fn`";  // for messages: "a condition"
  Span span;
  const Origin* wanted_by = nullptr;  // why what is wanted is wanted, for its parts; null when that is not known
  // Of a call that may wait, where it may not: the statement above that can hold its value, the locals that it sees, and the loop between.
  enum class Holder : uint8_t { kNone, kNode, kLet } holder = Holder::kNone;
  LocalId n_above = 0;
  const StillLoop* still_loop = nullptr;
  const ast::LetStmt* let = nullptr;         // whose value it is in, where a node could take the place of the `let`
  const ast::BinaryExpr* left_of = nullptr;  // the `??` left of which it may stand: an operator there binds tighter
  std::string_view instead = "call it in a node of a workflow, and give its value to the `fn`";  // kNone: what can be done
  int depth = 0;

  Where Inside(std::string_view place, const Span& at) const {  // no waiting below
    Where inner = *this;
    inner.may_wait = false;
    inner.what = place;
    inner.span = at;
    return inner;
  }
  std::optional<Origin> origin() const { return wanted_by != nullptr ? std::optional(*wanted_by) : std::nullopt; }
  Where For(const Origin* origin) const {
    Where inner = *this;
    inner.wanted_by = origin;
    return inner;
  }
  // For what is made to fit what is wanted of it.
  Where Hard(const Origin* origin) const {
    Where inner = For(origin);
    inner.soft = false;
    return inner;
  }
  // For what is wanted to be as a sibling is.
  Where Soft() const {
    Where inner = For(nullptr);
    inner.soft = true;
    return inner;
  }
};
inline constexpr int kMaxDepth = 600;  // of nested expressions; chains of binary operators do not nest

}  // namespace wf::sema
