// Workflows: declarations and statements.

#include <algorithm>
#include <set>
#include <utility>

#include "tests/diff/externs.h"
#include "tests/diff/inputs.h"
#include "tests/diff/models.h"
#include "tests/diff/program.h"
#include "tests/diff/writer.h"

namespace wf::diff {
namespace {

constexpr size_t kInputs = 3;

// The same but for what is multiplied by, so that both may be one function of machine code.
std::string WithOtherFactors(std::string value) {
  static constexpr std::string_view kFactor = " * 0.";
  if (value.find('"') != std::string::npos) return value;  // it might stand in a text
  for (size_t at = value.find(kFactor); at != std::string::npos; at = value.find(kFactor, at + 1)) value.insert(at + kFactor.size(), "7");
  return value;
}

class WorkflowWriter : private Writer {
 public:
  WorkflowWriter(Choices& choices, uint32_t number) : Writer(choices, std::to_string(number)) {}

  Workflow Write() {
    Workflow made;
    made.name = "W" + suffix_;
    depth_ = 1 + static_cast<int>(Below(6) + 1) / 2;
    if (OneIn(2)) DeclareRecord();
    if (OneIn(2)) DeclareConst();
    DeclareErrors();
    for (uint32_t i = 0, count = OneIn(3) ? 1 + Below(3) : 0; i < count; ++i) DeclareModel();
    if (OneIn(4)) DeclareExterns();
    for (uint32_t i = 0, count = Below(3); i < count; ++i) DeclareFunction();
    for (uint32_t i = 0, count = Below(5); i + 2 < count; ++i)
      workflows_.push_back(DeclareWorkflow("V" + suffix_ + "_" + std::to_string(i), {"p", "q"}, static_cast<uint32_t>(depth_)));
    const Function published = DeclareWorkflow(made.name, {"n", "m"}, 1 + static_cast<uint32_t>(depth_));
    made.declarations = text_;
    made.shared = shared_;
    for (size_t i = 0; i < kInputs; ++i)
      made.inputs.push_back(MakeInput(choices_, published.params, published.n_defaults, published.symbols));
    made.choices = choices_.made();
    return made;
  }

 private:
  void DeclareErrors() {
    errors_ = {"InputParams", "Odd" + suffix_};
    text_ += "error Odd" + suffix_ + " = " + std::to_string(100000 + std::stoi(suffix_)) + " \"odd\";\n";
  }

  void DeclareRecord() {
    Type record{.kind = Kind::kRecord, .name = "Record" + suffix_};
    for (uint32_t i = 0, count = 1 + Below(3); i < count; ++i) {
      record.of.push_back(OneIn(6) ? Tensor(ElementType(true).dtype, {"_"}) : SmallType(0));
      record.names.push_back("f" + std::to_string(i));
    }
    text_ += "type " + record.name + " { ";
    for (size_t i = 0; i < record.of.size(); ++i) text_ += record.names[i] + ": " + ToText(record.of[i]) + "; ";
    text_ += "}\n";
    records_.push_back(record);
  }

  void DeclareConst() {
    const bool is_tensor = OneIn(2);
    const Type type = is_tensor ? Tensor(ElementType(false).dtype, {"3", "2"}) : ElementType(true);
    const std::string name = "C" + suffix_;
    text_ += "const " + name + ": " + ToText(type) + " = " + Literal(type, 0) + ";\n";
    constants_.push_back({.text = name, .type = type, .extent = "", .is_constant = true, .is_declared = true});
  }

  // One that workflows of the file share, or one of this workflow with settings of its own.
  void DeclareModel() {
    const KnownModel& model = Any(KnownModels());
    Function made = model.call;
    made.model = &model;
    if (Below(3) < 2) {
      shared_.push_back(DeclarationOf(model, made.name, ""));
    } else {
      made.name += suffix_ + "_" + std::to_string(models_.size());
      text_ += DeclarationOf(model, made.name, BatchSettings(model));
    }
    models_.push_back(std::move(made));
  }

  void DeclareExterns() {
    shared_.push_back(DeclarationOfExterns());
    for (const KnownExtern& one : KnownExterns()) (one.is_node ? models_ : functions_).push_back(one.call);
  }

  std::string BatchSettings(const KnownModel& model) {
    static const std::vector<std::string> kBatches = {" batch 4;", " batch 8 within 1ms;", " batch 2;", " batch 3 within 300us;",
                                                      " batch auto;"};
    static const std::vector<std::string> kBuckets = {"[4, 16]", "[2, 3, 8]", "[32]"};
    static const std::vector<std::string> kOthers = {" instances 2;", " precision f32;", " on cpu;"};
    std::string text;
    if (model.is_batched && OneIn(2)) text += Any(kBatches);
    if (!model.pad.empty() && OneIn(2)) text += " pad " + model.pad + " to " + Any(kBuckets) + ";";
    if (OneIn(4)) text += Any(kOthers);
    return text;
  }

  // A parameter of each symbol, then others.
  std::vector<Name> Parameters(uint32_t most) {
    std::vector<Name> params;
    if (!dims_.empty()) {
      std::vector<std::string> dims = dims_;
      if (OneIn(4)) dims.push_back(ShortDim());
      params.push_back({Fresh("x"), Tensor(ElementType(true).dtype, dims), ""});
    }
    for (uint32_t i = 0, count = Below(most + 1); i < count; ++i)
      params.push_back({Fresh("p"), OneIn(8) ? Map(SmallType(0)) : SmallType(2), ""});
    return params;
  }

  std::string Signature(const std::vector<Name>& params, size_t n_defaults) {
    std::string text = "(";
    for (size_t i = 0; i < params.size(); ++i) {
      text += (i == 0 ? "" : ", ") + params[i].text + ": " + ToText(params[i].type);
      if (i + n_defaults >= params.size()) text += " = " + Literal(params[i].type, 0);
    }
    return text + ")";
  }

  // Parameters at the end that may be left out.
  size_t Defaults(const std::vector<Name>& params) {
    size_t count = 0;
    while (count < params.size() &&
           (IsScalar(params[params.size() - 1 - count].type) || params[params.size() - 1 - count].type == String()))
      ++count;
    return Below(static_cast<uint32_t>(count + 1));
  }

  void DeclareFunction() {
    Function made;
    made.name = "g" + suffix_ + "_" + std::to_string(functions_.size());
    if (OneIn(2)) made.symbols = {"p"};
    if (OneIn(4)) made.symbols = {"p", "q"};
    dims_ = made.symbols;
    made.params = Parameters(3);
    made.n_defaults = Defaults(made.params);
    made.result = OneIn(2) && !dims_.empty() ? Tensor(ElementType(true).dtype, dims_) : SmallType(1);
    scope_ = constants_;
    scope_.insert(scope_.end(), made.params.begin(), made.params.end());
    may_fail_ = false;
    text_ += "fn " + made.name + Signature(made.params, made.n_defaults) + " -> " + ToText(made.result);
    std::string body;
    for (uint32_t i = 0, count = Below(3); i < count; ++i) body += "  " + Step() + "\n";
    const std::string result = Coerced(made.result, depth_ - 1);
    text_ += body.empty() ? " = " + result + ";\n" : " {\n" + body + "  " + result + "\n}\n";
    made.may_fail = may_fail_;
    functions_.push_back(made);
  }

  // ---- workflows ----

  // Of what is computed on the way, often of the type of another tensor in scope: it has several readers then. Some are as large as two
  // tiles of a product.
  Type TypeOfStep() {
    static const std::vector<std::string> kLong = {"17", "18", "20", "33"};
    if (OneIn(8)) {
      const DType dtype = OneIn(4) ? DType::kF64 : DType::kF32;
      return Tensor(dtype, {OneIn(2) ? Any(kLong) : Dim(), Any(kLong)});
    }
    const std::vector<Name> tensors = Names([](const Name& name) { return IsTensor(name.type) && !IsOpen(name.type); });
    return !tensors.empty() && OneIn(3) ? Any(tensors).type : SmallType(2);
  }

  std::string Step() {
    if (OneIn(3)) return Require(2);
    const Type type = TypeOfStep();
    const std::string name = Fresh("v"), value = Coerced(type, depth_ - 1);
    scope_.push_back({.text = name, .type = type, .extent = "", .is_constant = IsScalar(type), .is_value = true});
    return "let " + name + ": " + ToText(type) + " = " + value + ";";
  }

  Type ResultOf(const Function& function) {
    Dims dims;
    for (const std::string& symbol : function.symbols) dims.emplace_back(symbol, Dim());
    return With(function.result, dims);
  }

  Type NodeType() {
    if (!workflows_.empty() && OneIn(6)) return ResultOf(Any(workflows_));
    return OneIn(2) ? Any(results_) : TypeOfStep();
  }

  // What a model answers, or a list of that: one from each turn of a loop, in which they may differ in what has a symbol.
  Type TypeOfModels() {
    const Function& model = Any(models_);
    if (model.result.kind == Kind::kTuple || !OneIn(4)) return ResultOf(model);
    const std::vector<std::string> symbols = std::exchange(dims_, {});
    Type element = ResultOf(model);
    dims_ = symbols;
    return List(std::move(element));
  }

  std::string Node(std::vector<Name>* made, bool is_in_stage) {
    const bool is_of_models = !models_.empty() && OneIn(3);
    const Type type = is_of_models ? TypeOfModels() : NodeType();
    const std::string name = Fresh("node");
    has_each_ = has_call_ = has_extern_ = false;
    called_.clear();
    const bool is_call = type.kind == Kind::kTuple || (is_of_models && Below(4) < 3);
    std::string value;
    if (is_call && type.kind == Kind::kList) value = Each(type, 2);
    if (is_call && value.empty()) value = CallModel(type, 2);
    if (is_call && value.empty()) value = CallWorkflow(type, 2);
    if (value.empty()) value = Below(3) == 0 ? Coerced(type, depth_) : Waiting(type, std::max(depth_ - 1, 1));
    if (value.empty()) value = Expression(type, 1);
    std::string text = indent_ + "node " + name + ": " + ToText(type) + " = " + value, settings;
    if (has_each_ && OneIn(3)) settings += " limit " + Any(std::vector<std::string>{"1024", "3", "40", "1"}) + ";";
    const uint32_t other = Below(6);
    if (other == 4) settings += " timeout 60s;";
    if (other == 5 && !has_call_) settings += " priority high;";
    if (has_extern_ && OneIn(3)) settings += " retry 1;";
    if (called_.size() == 1 && !has_call_) settings += BatchSettings(*called_[0]);
    if (!settings.empty()) text += " {" + settings + " }";
    const bool has_fallback = OneIn(3);
    if (has_fallback) text += " else " + Fallback(type, 2, [this](const Type& of, int depth) { return Waiting(of, depth); });
    text += settings.empty() || has_fallback ? ";\n" : "\n";
    const std::string twin = WithOtherFactors(value);
    const bool has_twin = !is_in_stage && twin != value && IsTensor(type) && HasArithmetic(type.dtype) && !IsOpen(type) && Below(4) != 0;
    std::string known = name;
    if (has_twin) {  // who reads one reads both; nodes of a stage read none of it
      const std::string second = Fresh("node"), head = indent_ + "node ", middle = ": " + ToText(type) + " = ";
      known = Fresh("node");
      text += head + second + middle + twin + ";\n" + head + known + middle + name + " + " + second + ";\n";
    }
    made->push_back({.text = known, .type = type, .extent = "", .is_constant = IsScalar(type), .is_node = true, .is_value = true});
    return text;
  }

  std::string Stage(std::vector<Name>* made) {
    std::string text = indent_ + "stage " + Fresh("stage") + " {\n";
    indent_ += "  ";
    for (uint32_t i = 0, count = 1 + Below(3); i < count; ++i) text += Node(made, true);
    indent_.resize(indent_.size() - 2);
    return text + indent_ + "}\n";
  }

  std::string Annotate() {
    const std::string key = std::to_string(Below(2));
    annotates_ = true;
    return "annotate(\"k" + key + "\", " + Expression(String(), 2) + ");";
  }

  std::string Statement(int depth) {
    const uint32_t kind = Below(14);
    if (kind == 8 || kind == 9) return indent_ + Step() + "\n";
    if (kind == 10) return indent_ + Annotate() + "\n";
    if (kind >= 11 && depth > 0) return Branch(depth, false);
    std::vector<Name> made;
    std::string text = kind == 7 ? Stage(&made) : Node(&made, false);
    scope_.insert(scope_.end(), made.begin(), made.end());
    return text;
  }

  // Statements of a block; `ends`: each path through them does.
  std::string Statements(uint32_t most, int depth, bool ends) {
    std::string text;
    for (uint32_t i = 0, count = Below(most + 1); i < count; ++i) text += Statement(depth);
    if (depth > 0 && ends && OneIn(6)) return text + Branch(depth, true);
    if (ends) text += indent_ + (OneIn(8) ? FailWith(1) + ";" : Return()) + "\n";
    return text;
  }

  std::string Branch(int depth, bool ends) {
    const auto arm = [&] {
      const size_t known = scope_.size();
      indent_ += "  ";
      std::string text = "{\n" + Statements(2, depth - 1, ends || !OneIn(3));
      indent_.resize(indent_.size() - 2);
      scope_.resize(known);
      return text + indent_ + "}";
    };
    std::string text = indent_ + "if " + Expression(Scalar(DType::kBool), 2) + " ";
    text += arm();
    if (OneIn(3)) {
      text += " else if " + Expression(Scalar(DType::kBool), 2) + " ";
      text += arm();
    }
    if (ends || OneIn(4)) text += " else " + arm();
    return text + "\n";
  }

  std::string Return() {
    std::string text;
    for (size_t i = 0; i < results_.size(); ++i) {
      const std::vector<Name> nodes = Names([&](const Name& name) { return name.is_node && name.type == results_[i]; });
      const bool is_node = !nodes.empty() && Below(4) < 3;
      text += (i == 0 ? "return (r" : ", r") + std::to_string(i) + ": " + (is_node ? Any(nodes).text : Coerced(results_[i], depth_ - 1));
    }
    return text + ");";
  }

  Function DeclareWorkflow(const std::string& name, const std::vector<std::string>& symbols, uint32_t most) {
    Function made;
    made.name = name;
    made.symbols = {symbols.begin(), symbols.begin() + 1 + Below(2)};
    dims_ = made.symbols;
    made.params = Parameters(3);
    made.n_defaults = Defaults(made.params);
    made.result = {.kind = Kind::kTuple};
    scope_ = constants_;
    scope_.insert(scope_.end(), made.params.begin(), made.params.end());
    results_.clear();
    text_ += "workflow " + name + Signature(made.params, made.n_defaults) + " -> (";
    for (uint32_t i = 0, count = 1 + Below(3); i < count; ++i) {
      results_.push_back(SmallType(2));
      made.result.names.push_back("r" + std::to_string(i));
      text_ += (i == 0 ? "r" : ", r") + std::to_string(i) + ": " + ToText(results_.back());
    }
    made.result.of = results_;
    has_metadata_ = true;
    annotates_ = false;
    text_ += ") {\n" + Statements(most, 2, true) + "}\n";
    has_metadata_ = false;
    made.annotates = annotates_;
    return made;
  }

  std::string text_;
  std::string indent_ = "  ";
  int depth_ = 4;  // of expressions; few are large, because all cost time
  std::vector<Name> constants_;
  std::vector<Type> results_;  // of the workflow at hand
};

}  // namespace

Workflow Generate(uint32_t number, uint64_t seed) {
  Choices choices(Mix(seed));
  return WorkflowWriter(choices, number).Write();
}

Workflow Generate(uint32_t number, std::vector<uint32_t> kept) {
  Choices choices(std::move(kept));
  return WorkflowWriter(choices, number).Write();
}

std::string FileOf(const std::vector<Workflow>& workflows) {
  std::string text = "import std.json;\nimport std.maps;\nimport std.nn;\nimport std.tensor;\n\n", service = "service S {\n";
  std::set<std::string> shared;
  for (const Workflow& workflow : workflows) shared.insert(workflow.shared.begin(), workflow.shared.end());
  for (const std::string& declaration : shared) text += declaration;
  for (const Workflow& workflow : workflows) {
    text += workflow.declarations + "\n";
    service += "  workflow " + workflow.name + ";\n";
  }
  return text + service + "}\n";
}

}  // namespace wf::diff
