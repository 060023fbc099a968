#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/diff/choices.h"
#include "tests/diff/type.h"
#include "tests/diff/words.h"

namespace wf::diff {

struct Name {
  std::string text;
  Type type;
  std::string extent;  // of an index: the dimension that it stays below
  bool is_constant = false, is_node = false;
  bool is_declared = false;  // by `const`
  bool is_value = false;     // of a `let` or node
};
inline Name Param(const char* name, Type type) { return {.text = name, .type = std::move(type), .extent = ""}; }
// The compiler may know an extent that the type does not tell, and refuses what lies outside.
inline bool HidesExtents(const Name& name) { return name.is_value && IsOpen(name.type); }

struct KnownModel;

// Of a workflow the result is the tuple of its results.
struct Function {
  std::string name;
  std::vector<std::string> symbols;  // dimensions of its signature, each bound by a parameter
  std::vector<Name> params;
  size_t n_defaults = 0;  // of the last parameters
  Type result;
  bool may_fail = false;
  bool annotates = false;             // it, or what it calls: it stands in no loop
  const KnownModel* model = nullptr;  // null: none
};

// Writes expressions of a wanted type out of what is in scope. Every production of the table in expressions.cc says which types it makes
// and where it may stand; adding one is a row.
// Thread: one.   Borrows: choices.
class Writer {
 public:
  Writer(Choices& choices, std::string suffix) : choices_(choices), suffix_(std::move(suffix)) {}

  // `depth`: how far it may still branch.
  std::string Expression(const Type& type, int depth);
  // The same, where a value is compared with a written type when it runs.
  std::string Coerced(const Type& type, int depth);
  std::string Opened(const Type& type, int depth);

 protected:
  struct Production;
  static const std::vector<Production>& Table();

  // ---- what is asked ----
  uint32_t Below(uint32_t n) { return choices_.Below(n); }
  bool OneIn(uint32_t n) { return choices_.OneIn(n); }
  template <typename T>
  const T& Any(const std::vector<T>& of) {
    return of[Below(static_cast<uint32_t>(of.size()))];
  }
  std::string Fresh(const char* prefix) { return prefix + std::to_string(++names_made_); }
  DType ArithmeticType();
  Type ElementType(bool storage_too);
  Type SmallType(int depth);  // of a list, field, parameter
  std::vector<std::string> SomeDims(uint32_t most);
  std::string Dim(), ShortDim();

  // ---- scope ----
  template <typename Fits>
  std::vector<Name> Names(Fits fits) const {
    std::vector<Name> found;
    for (auto at = scope_.rbegin(); at != scope_.rend(); ++at)
      if (fits(*at)) found.push_back(*at);
    return found;
  }
  std::vector<Name> NamesOf(const Type& type) const {
    return Names([&](const Name& name) { return name.type == type; });
  }
  std::vector<std::string> LookUps(const Type& element);  // `m["a"]` of maps in scope
  // Of which the compiler knows no value: a bad index or divisor is a mistake when it does.
  std::vector<Name> Unknown(const Type& type) const {
    return Names([&](const Name& name) { return name.type == type && !name.is_constant; });
  }
  // Not constants of the file: arithmetic over those is done when it is compiled, and refused where it overflows.
  std::vector<Name> NotDeclared(const Type& type) const {
    return Names([&](const Name& name) { return name.type == type && !name.is_declared; });
  }
  std::vector<Name> Tensors(DType dtype) const {
    return Names([&](const Name& name) { return IsTensor(name.type) && name.type.dtype == dtype; });
  }
  std::string Inside(std::vector<Name> names, bool is_tensor_block, const Type& type, int depth);

  // ---- productions ----
  std::string Variable(const Type& type, int depth), Literal(const Type& type, int depth);
  std::string Arithmetic(const Type& type, int depth), Division(const Type& type, int depth);
  std::string OneArgument(const Type& type, int depth), TwoArguments(const Type& type, int depth);
  std::string Choice(const Type& type, int depth), Conversion(const Type& type, int depth);
  std::string Element(const Type& type, int depth), Reduction(const Type& type, int depth);
  std::string Length(const Type& type, int depth), FieldOf(const Type& type, int depth);
  std::string Fold(const Type& type, int depth), Call(const Type& type, int depth);
  std::string OrElse(const Type& type, int depth), Clamp(const Type& type, int depth);
  std::string Comparison(const Type& type, int depth), Logic(const Type& type, int depth);
  std::string Same(const Type& type, int depth), Interpolation(const Type& type, int depth);
  std::string Joined(const Type& type, int depth), OfBytes(const Type& type, int depth);
  std::string BuiltJson(const Type& type, int depth), ParsedJson(const Type& type, int depth);
  std::string Comprehension(const Type& type, int depth);
  std::string Elementwise(const Type& type, int depth), Outer(const Type& type, int depth);
  std::string Compared(const Type& type, int depth);
  std::string Row(const Type& type, int depth), Slice(const Type& type, int depth);
  std::string Reshape(const Type& type, int depth), Stack(const Type& type, int depth);
  std::string Checked(const Type& type, int depth);
  std::string TopK(const Type& type, int depth);
  std::string Softmax(const Type& type, int depth), Chosen(const Type& type, int depth);
  std::string IndexArithmetic(const Type& type, int depth), IndexTest(const Type& type, int depth);
  std::string ByIndex(const Type& type, int depth);
  std::string Gathered(const Type& type, int depth), Guarded(const Type& type, int depth);
  std::string Centred(const Type& type, int depth), Moved(const Type& type, int depth);
  std::string Exchanged(const Type& type, int depth), Placed(const Type& type, int depth);
  std::string Channels(const Type& type, int depth), Contraction(const Type& type, int depth), Tiled(const Type& type, int depth);
  std::string Nested(const Type& type, int depth), LongTest(const Type& type, int depth);
  std::string Largest(const Type& type, int depth), Sorted(const Type& type, int depth);
  std::string Listed(const Type& type, int depth), Filtered(const Type& type, int depth);
  std::string OfTensor(const Type& type, int depth), Built(const Type& type, int depth);
  std::string Failing(const Type& type, int depth);
  std::string Match(const Type& type, int depth);
  std::string ListItem(const Type& type, int depth), LookUp(const Type& type, int depth);
  std::string SideOfMap(const Type& type, int depth);
  std::string Meta(const Type& type, int depth);

  // ---- control flow ----
  using WriteValue = std::function<std::string(const Type& type, int depth)>;
  // let .. require .. value
  std::string Steps(const Type& type, int depth, const WriteValue& value);
  std::string Block(const Type& type, int depth, const WriteValue& value);
  std::string If(const Type& type, int depth, const WriteValue& value);
  std::string MatchOf(const Type& type, int depth, const WriteValue& value);
  std::string Arms(const Name& binder, const Type& type, int depth, const WriteValue& value);
  std::string ArmsOfNone(const Name& subject, const Type& type, int depth, const WriteValue& value);
  std::string Let(int depth, const WriteValue& value);
  std::string Require(int depth);
  // What only a node may hold, because it may wait: loops side by side, workflows, models, and choices between them.
  std::string Waiting(const Type& type, int depth);
  std::string Each(const Type& type, int depth);
  std::string CallWorkflow(const Type& type, int depth);
  std::string CallModel(const Type& type, int depth);
  // After `else`: it sees `err`.
  std::string Fallback(const Type& type, int depth, const WriteValue& value);

  struct Callee {
    const Function* function = nullptr;
    Dims dims;
  };
  // `function` with dimensions for which its `result` is `type`; null: there are none.
  Callee Fit(const Function& function, const Type& result, const Type& type) const;
  std::string CallTo(Callee callee, int depth, const WriteValue& argument = {}, bool checks = false);
  // Those whose result, or a part of it, is of the type, each with what stands behind the call.
  std::vector<std::pair<Callee, std::string>> Fitting(const std::vector<Function>& functions, const Type& type) const;

  struct Source {
    std::string names, text;
    std::vector<Name> bound;
  };
  Source Loop(int depth);  // of a comprehension or fold
  std::string Index(const std::string& dim, int depth, bool may_be_constant = true);
  std::string FailWith(int depth);

  // Of what productions about indices and loops are made.
  std::pair<std::string, std::vector<std::string>> Heads(const std::vector<std::string>& dims);
  std::string Operand(const Type& type, int depth), InMemory(const Type& type, const std::string& at, std::string* lets);
  std::string Whole(), ScalarTest(), SumOfIndices(), IndexAlone(const Type& type), Roots(const Type& type);
  std::string ComputedIndex(const std::string& dim, int depth);
  std::pair<std::string, std::string> Parts(const std::string& dim);
  std::string Joining(const Type& type, int depth), Product(const Type& type, int depth), GatheredRows(const Type& type, int depth);

  Choices& choices_;
  const std::string suffix_;  // of names at the top of the file
  std::vector<Name> scope_;
  std::vector<std::string> dims_;  // symbols in scope
  std::vector<Function> functions_, workflows_;
  std::vector<Function> models_;  // and extern nodes
  std::vector<Type> records_;
  std::vector<std::string> errors_;
  std::vector<std::string> shared_;  // declarations that others of the file have, too
  bool in_tensor_block_ = false, is_coerced_ = false, may_fail_ = false;
  bool is_index_alone_ = false, is_whole_ = false;  // what is written next; it is compared with a written type when it runs
  bool has_metadata_ = false;                       // in the body of a workflow
  bool in_fallback_ = false;                        // where `err` is taken
  bool has_each_ = false;                           // written since it was last looked at
  bool has_call_ = false;                           // of a workflow, likewise
  bool has_extern_ = false;                         // a node, likewise
  std::vector<const KnownModel*> called_;           // models, likewise
  bool in_each_ = false;
  bool annotates_ = false;  // the workflow at hand
  int loops_ = 0, names_made_ = 0;
};

}  // namespace wf::diff
