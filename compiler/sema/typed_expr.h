#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/ir/ir.h"
#include "compiler/sema/type.h"
#include "runtime/base/error_codes.h"

// The expressions of the checked program. Every literal has its type, every implicit step is a node of its own.
namespace wf::sema {

using source::Span;

// A local of one function or workflow: parameter, let, index name, loop name, node, accumulator, `err`. Unique within its function or
// workflow.
using LocalId = uint32_t;
struct Local {
  std::string name;
  TypeRef type;
  Span span;
};

enum class ExprKind : uint8_t {
  kScalar,        // bits
  kText,          // text with a hole {} per arg: "..", interpolation, str(x), string + string; without args verbatim
  kNone,          // of an optional
  kSome,          // of an optional: one arg (also the implicit T -> T?)
  kLocal,         // local
  kDimValue,      // dim, as i64 (a symbol read as a value)
  kConst,         // index into Program::consts
  kField,         // args[0] . fields[index]
  kRecord,        // args in the order of the type's fields: Line(box: b), (a: x)
  kList,          // args
  kListLoop,      // comprehension over a list: loop
  kUnary,         // unary: negate, not; scalar or elementwise
  kBinary,        // binary on scalars of one dtype, or elementwise with broadcasting (axes that are absent or literally 1)
  kAnd,           // lazy, scalar bool
  kOr,            // lazy, scalar bool
  kCoalesce,      // args[0] ?? args[1], lazy
  kConvert,       // dtype(x): scalar or elementwise, to type
  kIndex,         // tensor[subscripts]: all single -> scalar, else a slice
  kListIndex,     // list[i]
  kMapIndex,      // map[key] -> T?
  kBuild,         // [i, j] => e: locals index_locals, extents, args[0] the body
  kReduce,        // reduce[k](e): one index local, one extent, args[0]
  kFold,          // fold: local the accumulator, args[0] what it begins as, loop the sources, args[1] each step
  kIf,            // args: condition, then, condition, then, .., else
  kBlock,         // lets and requires, then args[0]
  kFail,          // code, args[0] the message (kText); type kNever
  kCallFn,        // function instance, args in parameter order, symbols
  kCallModel,     // model, args in port order
  kCallWorkflow,  // workflow, args in parameter order
  kCallExtern,    // an extern node: as kCallFn
  kCallRemote,    // remote, args in parameter order
  kEach,          // `for`: loop, args[0] per element, in parallel; args[1], if there, replaces an element that fails and sees `local`, err
  kHas,           // is the optional args[0] not none
  kUnwrap,        // the value of the optional args[0], which is not none
  kBuiltin,       // builtin, args
  kMeta,          // args: key, default
};

enum class BinaryOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe
};  // kEq, kNe: scalars, strings, lists, records, tensors elementwise
enum class UnaryOp : uint8_t { kNegate, kNot };

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

// A symbol that an expression's value brings into being (docs/semantics.md 19, 20): extent `axis` of the tensor at `path` (field numbers)
// of the value is mul * symbol + add, mul > 0. With kWholeValue as axis the value at `path` is an integer and is the symbol itself. A
// symbol may be brought into being again by an outer expression (a block, a node); its value is the same then.
struct FreshSymbol {
  static constexpr uint32_t kWholeValue = 0xffffffff;
  std::string symbol;
  std::vector<uint32_t> path;
  uint32_t axis = 0;
  int64_t mul = 1, add = 0;
};

// A run-time check that two dimensions agree, left where nothing is provable; fails 7004 with `message` (may hold {0} and {1} for the two
// values).
struct DimCheck {
  // What is said in place of `message` where some dimensions are these numbers.
  struct Told {
    std::vector<std::pair<Dim, int64_t>> where;
    std::string message;
  };
  Dim left, right;
  std::string message;
  std::vector<std::pair<std::string, Span>> origins = {};  // where the symbols of both come from, by name
  std::vector<Told> told = {};                             // the first that holds
  bool is_least = false;                                   // the right one may be more
  bool is_count = false;                                   // of a reshape's elements, which it counts itself, without wrapping
  bool is_held = false;                                    // it was checked where what the value is made of got its own: not checked again
};

// Something to loop over: list or tensor axis 0, zip(a, b, ..) (equal lengths, 7003), enumerate(x), a range 0..n of a dimension.
struct Loop {
  std::vector<ExprPtr> sources;  // one, or several of zip
  bool enumerate = false;        // the first local is the i64 position
  std::vector<LocalId> locals;   // one per source, and the position first
};

struct Subscript {
  bool is_slice = false;
  ExprPtr first, last;
  Dim from, to;  // a slice's ends, where they are computed with extents
};  // first and last of a slice may be null

struct BlockStep {  // let local = value; or: require condition else error(message)
  bool is_let = true;
  LocalId local = 0;
  ExprPtr value;  // or the condition
  int32_t code = code::kInputParams;
  ExprPtr message;  // kText; null for a let
  Span span;
};

struct Expr {
  ExprKind kind = ExprKind::kScalar;
  TypeRef type = nullptr;
  Span span;
  std::vector<ExprPtr> args;
  uint64_t bits = 0;   // kScalar, as ir::Op::imm
  std::string text;    // kText
  LocalId local = 0;   // kLocal; kFold: the accumulator; kEach: err
  uint32_t index = 0;  // kConst, kField, kCallFn and kCallExtern (Program::functions), kCallModel (Program::models), kCallWorkflow,
                       // kCallRemote, kBuiltin (sema::Builtin)
  Dim dim;             // kDimValue; kReduce: its extent, where that is computed with extents; kBinary: as QuotientOf says, or a constant
  UnaryOp unary = UnaryOp::kNegate;
  BinaryOp binary = BinaryOp::kAdd;
  ir::ReduceKind reduce = ir::ReduceKind::kSum;
  std::vector<LocalId> index_locals;                 // kBuild, kReduce
  std::vector<ExprPtr> extents;                      // kBuild, kReduce: i64
  std::vector<Subscript> subscripts;                 // kIndex
  std::optional<Loop> loop;                          // kListLoop, kFold, kEach
  ExprPtr condition;                                 // kListLoop: filter, or null
  std::vector<BlockStep> steps;                      // kBlock
  int32_t code = 0;                                  // kFail
  std::vector<std::pair<std::string, Dim>> symbols;  // kCallFn: the callee's symbols and integer parameters in terms of the caller's
  std::vector<DimCheck> checks;                      // before this expression is evaluated (after its args)
  std::vector<FreshSymbol> fresh;                    // after it
};

}  // namespace wf::sema
