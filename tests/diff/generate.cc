// Workflows: declarations, statements, inputs.

#include <algorithm>

#include "tests/diff/program.h"
#include "tests/diff/writer.h"

namespace wf::diff {
namespace {

constexpr int kDepth = 4;
constexpr size_t kInputs = 3;

class WorkflowWriter : private Writer {
 public:
  WorkflowWriter(Choices& choices, uint32_t number) : Writer(choices, std::to_string(number)) {}

  Workflow Write() {
    Workflow made;
    made.name = "W" + suffix_;
    if (OneIn(2)) DeclareRecord();
    if (OneIn(2)) DeclareConst();
    DeclareErrors();
    for (uint32_t i = 0, count = Below(3); i < count; ++i) DeclareFunction();
    WriteWorkflow();
    made.declarations = text_;
    for (size_t i = 0; i < kInputs; ++i) made.inputs.push_back(Input());
    made.choices = choices_.made();
    return made;
  }

 private:
  bool OneIn(uint32_t n) { return Below(n) == n - 1; }

  void DeclareErrors() {
    errors_ = {"InputParams", "Odd" + suffix_};
    text_ += "error Odd" + suffix_ + " = " + std::to_string(100000 + std::stoi(suffix_)) + " \"odd\";\n";
  }

  void DeclareRecord() {
    Type record{.kind = Kind::kRecord, .name = "Record" + suffix_};
    for (uint32_t i = 0, count = 1 + Below(3); i < count; ++i) {
      record.of.push_back(SmallType(0));
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
    constants_.push_back({name, type, "", true});
  }

  // A parameter of each symbol, then others.
  std::vector<Name> Parameters(uint32_t most) {
    std::vector<Name> params;
    if (!dims_.empty()) params.push_back({Fresh("x"), Tensor(ElementType(true).dtype, dims_), ""});
    for (uint32_t i = 0, count = Below(most + 1); i < count; ++i) params.push_back({Fresh("p"), SmallType(2), ""});
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
    for (uint32_t i = 0, count = Below(3); i < count; ++i) body += Below(3) == 2 ? Require() : Let();
    const std::string result = Coerced(made.result, kDepth - 1);
    text_ += body.empty() ? " = " + result + ";\n" : " {\n" + body + "  " + result + "\n}\n";
    made.may_fail = may_fail_;
    functions_.push_back(made);
  }

  std::string Let() {
    const Type type = SmallType(2);
    const std::string name = Fresh("v"), value = Coerced(type, kDepth - 1);
    scope_.push_back({name, type, ""});
    return "  let " + name + ": " + ToText(type) + " = " + value + ";\n";
  }

  std::string Require() {
    const std::string condition = Expression(Scalar(DType::kBool), 2);
    may_fail_ = true;
    return "  require " + condition + (Below(2) == 0 ? "" : " else " + FailWith(1)) + ";\n";
  }

  // ---- the workflow ----

  std::string Node(std::vector<Name>* made) {
    const Type type = SmallType(2);
    const std::string name = Fresh("node");
    std::string text = "  node " + name + ": " + ToText(type) + " = " + Coerced(type, kDepth);
    const uint32_t settings = Below(6);
    if (settings == 4) text += " { timeout 60s; }";
    if (settings == 5) text += " { priority high; }";
    const bool has_fallback = OneIn(3);
    if (has_fallback) {
      const size_t known = scope_.size();
      scope_.push_back({"err.code", Scalar(DType::kI32), ""});
      scope_.push_back({"err.message", String(), ""});
      scope_.push_back({"err.node", String(), ""});
      text += " else " + (OneIn(6) ? FailWith(1) : Expression(type, 2));
      scope_.resize(known);
    }
    made->push_back({name, type, ""});
    return text + (settings < 4 || has_fallback ? ";\n" : "\n");
  }

  std::string Statement() {
    const uint32_t kind = Below(10);
    if (kind == 8) return Let();
    if (kind == 9) return Require();
    std::vector<Name> made;
    std::string text;
    if (kind == 7) {
      text = "  stage " + Fresh("stage") + " {\n";
      for (uint32_t i = 0, count = 1 + Below(3); i < count; ++i) text += Node(&made);
      text += "  }\n";
    } else {
      text = Node(&made);
    }
    scope_.insert(scope_.end(), made.begin(), made.end());
    nodes_.insert(nodes_.end(), made.begin(), made.end());
    return text;
  }

  void WriteWorkflow() {
    dims_ = {"n"};
    if (OneIn(2)) dims_ = {"n", "m"};
    params_ = Parameters(3);
    n_defaults_ = Defaults(params_);
    scope_ = constants_;
    scope_.insert(scope_.end(), params_.begin(), params_.end());
    std::string body, head = "workflow W" + suffix_ + Signature(params_, n_defaults_) + " -> (", result = "  return (";
    for (uint32_t i = 0, count = 1 + Below(5); i < count; ++i) body += Statement();
    for (uint32_t i = 0, count = 1 + Below(3); i < count; ++i) {
      const bool is_node = !nodes_.empty() && Below(4) < 3;
      const Name out = is_node ? Any(nodes_) : Name{"", SmallType(2), ""};
      const std::string name = "r" + std::to_string(i);
      head += (i == 0 ? "" : ", ") + name + ": " + ToText(out.type);
      result += (i == 0 ? "" : ", ") + name + ": " + (is_node ? out.text : Coerced(out.type, kDepth - 1));
    }
    text_ += head + ") {\n" + body + result + ");\n}\n";
  }

  // ---- inputs ----

  std::string Input() {
    static const std::vector<int> kExtents = {2, 1, 3, 0, 4, 7, 16, 17, 8, 33, 5};
    std::vector<int> extents;
    for (size_t i = 0; i < dims_.size(); ++i) extents.push_back(kExtents[Below(i == 0 ? 11 : 9)]);
    std::string text = "{";
    for (size_t i = 0; i < params_.size(); ++i) {
      if (i + n_defaults_ >= params_.size() && OneIn(3)) continue;
      text += (text == "{" ? "\"" : ", \"") + params_[i].text + "\": " + Value(params_[i].type, extents);
    }
    return text + "}";
  }

  int ExtentOf(const std::string& dim, const std::vector<int>& extents) const {
    for (size_t i = 0; i < dims_.size(); ++i)
      if (dims_[i] == dim) return extents[i];
    return std::stoi(dim);
  }

  std::string Number(DType dtype) {
    if (dtype == DType::kBool) return Below(2) == 0 ? "false" : "true";
    if (ir::IsFloat(dtype)) {
      static const std::vector<std::string> kAwkward = {"0",     "-0.0",  "0.1",   "-1e38",  "1e38",  "1e-40",  "65504",
                                                        "-0.75", "1e-45", "255.5", "1e-310", "1e300", "-6e-08", "3.4028234663852886e38"};
      if (OneIn(4)) {
        const std::string& text = Any(kAwkward);
        if (ir::IsStorageOnly(dtype) && (text.find("38") != std::string::npos || text.find("300") != std::string::npos)) return "2048";
        return dtype != DType::kF64 && text == "1e300" ? "1e30" : text;
      }
      const uint32_t whole = Below(41), part = Below(1000);
      return (whole % 2 == 0 ? "" : "-") + std::to_string(whole / 2) + "." + std::to_string(part);
    }
    const bool is_signed = ir::IsSigned(dtype);
    const auto bits = static_cast<int>(ir::SizeOf(dtype) * 8);
    if (OneIn(6)) {
      const uint64_t most = is_signed ? (uint64_t{1} << (bits - 1)) - 1 : (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
      if (Below(2) == 0) return std::to_string(most);
      return is_signed ? "-" + std::to_string(most + 1) : "0";
    }
    const uint32_t small = Below(14);
    return is_signed && small > 9 ? "-" + std::to_string(small - 9) : std::to_string(small);
  }

  std::string TensorValue(const Type& type, size_t axis, const std::vector<int>& extents) {
    if (axis == type.dims.size()) return Number(type.dtype);
    std::string text = "[";
    for (int i = 0, extent = ExtentOf(type.dims[axis], extents); i < extent; ++i)
      text += (i == 0 ? "" : ",") + TensorValue(type, axis + 1, extents);
    return text + "]";
  }

  std::string Value(const Type& type, const std::vector<int>& extents) {
    static const std::vector<std::string> kTexts = {"\"\"", "\"a\"", "\"wf {x}\"", "\"\\u00e9\\n\"", "\"\\\"\\\\\"", "\"12\""};
    switch (type.kind) {
      case Kind::kScalar:
        return Number(type.dtype);
      case Kind::kString:
        return Any(kTexts);
      case Kind::kTensor:
        return TensorValue(type, 0, extents);
      case Kind::kOptional:
        return Below(2) == 0 ? "null" : Value(type.of[0], extents);
      case Kind::kList: {
        std::string text = "[";
        for (uint32_t i = 0, count = Below(4); i < count; ++i) text += (i == 0 ? "" : ", ") + Value(type.of[0], extents);
        return text + "]";
      }
      case Kind::kRecord:
      case Kind::kTuple: {
        std::string text = "{";
        for (size_t i = 0; i < type.of.size(); ++i) text += (i == 0 ? "\"" : ", \"") + type.names[i] + "\": " + Value(type.of[i], extents);
        return text + "}";
      }
    }
    return {};
  }

  std::string text_;
  std::vector<Name> constants_, params_, nodes_;
  size_t n_defaults_ = 0;
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
  std::string text = "import std.nn;\nimport std.tensor;\n\n", service = "service S {\n";
  for (const Workflow& workflow : workflows) {
    text += workflow.declarations + "\n";
    service += "  workflow " + workflow.name + ";\n";
  }
  return text + service + "}\n";
}

}  // namespace wf::diff
