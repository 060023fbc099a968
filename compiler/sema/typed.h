#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/sema/typed_expr.h"

// The checked program: what Check yields and BuildIr reads. Every name is resolved. Its expressions: typed_expr.h.
namespace wf::sema {

// A function for one binding of its type variables. Its dimensions stay symbolic; each call gives them values. An integer parameter is also
// a symbol of its name.
struct Function {
  std::string name;           // "nn.softmax<f32>"
  std::vector<Local> locals;  // params first
  uint32_t n_params = 0;
  TypeRef result = nullptr;
  ExprPtr body;        // null: native
  std::string native;  // symbol in runtime_symbols.def, or that of an extern
  bool may_fail = false;
  bool is_std = false;
  bool is_extern = false;  // in C++ of the program: of a node it may block
  Span span;
};

struct Const {
  std::string name;
  TypeRef type;
  ir::Value value;
  Span span;
};  // folded by Check through the interpreter

struct ModelPort {
  std::string name, wire_name;
  TypeRef type;
  std::vector<Dim> dims;  // of `type`, or of the strings that it lists

  bool is_text() const { return type->kind == TypeKind::kString || type->kind == TypeKind::kList; }
};
struct Model {
  std::string name, qualified;     // qualified: as QualifiedName makes it
  std::string path;                // from the program's folder
  std::vector<ModelPort> in, out;  // without the batch axis
  std::vector<int8_t> batch_axis;  // inputs, then outputs; -1 none
  bool batched = false, signature_written = false, mixing_allowed = false;
  std::vector<std::vector<bool>> unproved;     // by output and axis: the extent that `out` states does not follow from the file
  std::string batch_reason;                    // of the choice of the batch axis, for `check --verbose`
  uint16_t version_policy = 0;                 // WF_LATEST, WF_ALL, WF_SPECIFIC
  std::vector<int64_t> versions;               // WF_LATEST: how many; WF_SPECIFIC: which
  ir::Policy defaults;                         // the model block's settings over those of docs/semantics.md 12
  std::optional<Span> batch_span, queue_span;  // of these settings in the model block; none: it says nothing
  TypeRef result = nullptr;                    // bare value or named tuple
  Span span;
  std::map<std::string, Span, std::less<>> symbols;  // of a written signature, and where each is first written
};

// A function in C++: Function::native is the symbol that stands for it.
struct Extern {
  std::string name, source;  // source: path of the C++ file
  bool is_node = false;
  uint32_t function = 0;  // of Program::functions
  Span span, signature;   // signature: from `extern` to the result's type
};

struct Remote {
  std::string name, address, model;  // model: at the other end; empty: its own name
  Span span;
};

struct ErrorCode {
  std::string name, qualified, message;  // qualified: as QualifiedName makes it
  int32_t code;
  int canonical_status;
  Span span;
};

enum class StmtKind : uint8_t { kLet, kRequire, kNode, kIf, kFail, kReturn, kAnnotate };
struct Stmt {
  StmtKind kind = StmtKind::kLet;
  Span span;
  uint32_t block = 0;               // in which it stands: 0 the workflow's own, else an arm of an `if` above
  std::vector<ExprPtr> conditions;  // kIf
  std::vector<uint32_t> arms;       // kIf: a block for each condition, and one for `else`
  LocalId local = 0;                // kLet, kNode
  ExprPtr value;                    // kLet, kNode; kRequire: condition; kAnnotate: text
  std::vector<ExprPtr> results;     // kReturn: in the order of the workflow's results
  int32_t code = 0;                 // kRequire, kFail
  ExprPtr message;                  // kRequire, kFail: kText; kAnnotate: key
  ExprPtr fallback;                 // kNode, or null
  LocalId err_local = 0;            // kNode with a fallback: `err`, a record (code: i32, message: string, node: string)
  ir::Policy policy;      // kNode: effective, of the only model call of `value`; with several, each has its model's defaults. Calls in the
                          // fallback have their models' defaults.
  uint32_t limit = 1024;  // kNode: most elements of its loops, those of nested ones together
  uint32_t stage = 0;     // kNode: index into Workflow::stages
  bool in_written_stage = false;
};

struct Param {
  LocalId local;
  std::string wire_name;
  bool required;
  std::optional<ir::Value> default_value;
  TypeRef default_type = nullptr;  // as it is written: of `[]` only the first extent is known
};
struct Workflow {
  std::string name;
  std::vector<Local> locals;
  std::vector<Param> params;
  std::vector<Field> results;  // the named tuple's fields
  std::vector<std::string> result_wire_names;
  std::vector<DimCheck> param_checks;      // a symbol bound twice: fails 5000
  std::vector<FreshSymbol> param_symbols;  // path[0]: parameter; also one per integer parameter
  std::vector<Stmt> body;                  // textual order; the statements of the arms of an `if` follow it
  struct Stage {
    std::string name;
    bool written;
  };
  std::vector<Stage> stages;  // inferred: s1, s2, ..
  Span span;
};

struct Service {
  std::string name;
  struct Member {
    bool is_model;
    uint32_t index;
    std::string published_name;
  };  // of Program::workflows or models
  std::vector<Member> members;
  int64_t timeout_ns = 0;  // 0, as those below: not written
  uint64_t body_max = 0;
  uint32_t inflight_max = 0, rows_max = 0;
};

// A `test` block, as a workflow that takes nothing and never fails: each result says what one statement came to (OutcomeMaker).
struct Test {
  enum class Kind : uint8_t { kLet, kHolds, kFails };
  struct Outcome {
    Kind kind = Kind::kLet;
    Span span;
    int32_t code = 0;        // kFails: the code wanted
    std::string error;       // kFails: its name as written
    TypeRef side = nullptr;  // kHolds, of a comparison or close(): the type of both sides
    bool is_close = false;
  };
  struct Stub {
    ExprKind call;              // kCallModel, kCallRemote, kCallExtern
    uint32_t target, function;  // what is called, and what is called instead
  };
  std::string name;
  Span span;
  Workflow workflow;
  std::vector<Outcome> outcomes;  // beside the workflow's results
  std::vector<Stub> stubs;
  std::map<std::string, std::string> metadata;  // what `meta` reads
};

struct Program {
  std::unique_ptr<Types> types;
  std::vector<Const> consts;
  std::vector<Function> functions;
  std::vector<Model> models;
  std::vector<Extern> externs;
  std::vector<Remote> remotes;
  std::vector<ErrorCode> errors;
  std::vector<Workflow> workflows;
  std::vector<Service> services;
  std::vector<Test> tests;
  std::string source_name;
  std::vector<std::string> files;         // read beside the .wf files: models, what constants embed, sources of externs
  std::array<uint8_t, 32> source_hash{};  // of the .wf files and embedded files, in a fixed order
};

}  // namespace wf::sema
