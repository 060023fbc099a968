#include <fmt/format.h>

#include <algorithm>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/trees.h"

// The rules of ai.onnx.ml. Rows are those of a matrix; a vector is one row.
namespace wf::onnx {

using base::Status;

namespace {

constexpr int64_t kMostSvmClasses = 1024;  // their pairs, and a matrix over them, are in memory

struct Table {
  Dim rows, columns;
};

Status TableOf(const NodeContext& node, Table& table) {
  const Shape& dim = node.in(0).dim;
  if (dim.empty() || dim.size() > 2) return node.NotBuilt(fmt::format("input {}, wanted 1 or 2 axes", node.InType(0)));
  table = {dim.size() == 1 ? Dim(1) : dim[0], dim.back()};
  return Status::Ok();
}

Status CheckNumbers(const NodeContext& node) {
  const uint8_t dtype = node.in(0).dtype;
  if (dtype == WF_F32 || dtype == WF_F64 || dtype == WF_I32 || dtype == WF_I64) return Status::Ok();
  return node.NotBuilt(fmt::format("elements of type {} are not supported here", TypeName(dtype)));
}

Status CheckTransform(const NodeContext& node) {
  const std::string_view name = node.node.String("post_transform", "NONE");
  for (const char* known : {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}) {
    if (name == known) return Status::Ok();
  }
  return node.NotBuilt(fmt::format("`post_transform` \"{}\" is not supported", name));
}

// How many labels, and their type. Errors: none, or both kinds.
Status LabelsOf(const NodeContext& node, const char* ints, size_t& count, uint8_t& dtype) {
  const size_t whole = node.node.Ints(ints).size(), texts = node.node.Texts("classlabels_strings").size();
  if ((whole > 0) == (texts > 0)) return node.Fail(fmt::format("wanted one of `{}` and `classlabels_strings`", ints));
  count = std::max(whole, texts);
  dtype = texts > 0 ? kStringType : static_cast<uint8_t>(WF_I64);
  return Status::Ok();
}

void SetOut(NodeContext& node, size_t i, uint8_t dtype, Shape dim) {
  if (!node.has_out(i)) return;
  node.out(i).dtype = dtype;
  node.out(i).dim = std::move(dim);
}

// `count` values, one for each column of the input, or one for all.
Status CheckPerColumn(const NodeContext& node, const char* name, size_t count, const Dim& columns) {
  if (count == 1 || !columns.is_constant() || static_cast<int64_t>(count) == *columns.constant()) return Status::Ok();
  return node.Fail(fmt::format("`{}` has {} values, the input {}", name, count, node.InType(0)));
}

Status CheckCoefficients(const NodeContext& node, size_t targets, const Dim& columns) {
  const auto features = columns.constant();
  const size_t count = node.node.Floats("coefficients").size();
  if (targets == 0 || targets > count) return node.Fail(fmt::format("{} coefficients for {} targets", count, targets));
  if (count % targets != 0 || (features && static_cast<size_t>(*features) != count / targets))
    return node.Fail(fmt::format("{} coefficients for {} targets of the input {}", count, targets, node.InType(0)));
  return Status::Ok();
}

Status CheckTrees(const NodeContext& node, const Table& table, int64_t targets) {
  const Trees& trees = *node.node.trees;
  if (const auto columns = table.columns.constant(); columns && static_cast<int64_t>(trees.features) > *columns)
    return node.Fail(fmt::format("a branch on feature {} of the input {}", trees.features - 1, node.InType(0)));
  if (targets < 1 || targets > 65536 || static_cast<int64_t>(trees.targets) > targets)
    return node.Fail(fmt::format("weights for target {} of {}", static_cast<int64_t>(trees.targets) - 1, targets));
  return Status::Ok();
}

}  // namespace

Status InferArrayFeatureExtractor(NodeContext& node) {
  const Shape& data = node.in(0).dim;
  if (data.empty()) return node.Fail("it picks from a scalar");
  if (node.in(1).dtype != WF_I64) return node.Fail(fmt::format("indices {}, wanted i64", node.InType(1)));
  Shape out(data.begin(), data.end() - 1);
  if (out.empty()) out.emplace_back(1);
  out.push_back(Product(node.in(1).dim));
  if (out.back().fault() != Dim::Fault::kNone) out.back() = node.unknown.Next();
  SetOut(node, 0, node.in(0).dtype, std::move(out));
  return Status::Ok();
}

Status InferCategoryMapper(NodeContext& node) {
  const uint8_t dtype = node.in(0).dtype;
  if (dtype != WF_I64 && dtype != kStringType) return node.Fail(fmt::format("elements of type {}, wanted i64 or string", TypeName(dtype)));
  if (node.node.Ints("cats_int64s").size() != node.node.Texts("cats_strings").size())
    return node.Fail("`cats_int64s` and `cats_strings` are of different lengths");
  SetOut(node, 0, dtype == WF_I64 ? kStringType : static_cast<uint8_t>(WF_I64), node.in(0).dim);
  return Status::Ok();
}

Status InferFeatureVectorizer(NodeContext& node) {
  const auto wanted = node.node.Ints("inputdimensions");
  if (wanted.size() != node.node.in.size())
    return node.Fail(fmt::format("`inputdimensions` has {} values for {} inputs", wanted.size(), node.node.in.size()));
  int64_t columns = 0;
  Dim rows;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!node.has_in(i) || node.rank(i) < 1 || node.rank(i) > 2) return node.Fail(fmt::format("input {}, wanted 1 or 2 axes", i));
    if (wanted[i] < 0 || __builtin_add_overflow(columns, wanted[i], &columns))
      return node.Fail(fmt::format("an input of {} columns", wanted[i]));
    if (i > 0 && Dim::ProvedDifferent(rows, node.in(i).dim[0])) return node.Fail("inputs of different numbers of rows");
    if (i == 0 || node.in(i).dim[0].is_constant()) rows = node.in(i).dim[0];
  }
  SetOut(node, 0, WF_F32, {rows, Dim(columns)});
  return Status::Ok();
}

Status InferImputer(NodeContext& node) {
  Table table;
  WF_RETURN_IF_ERROR(TableOf(node, table));
  WF_RETURN_IF_ERROR(CheckNumbers(node));
  const bool whole = node.in(0).dtype == WF_I64 || node.in(0).dtype == WF_I32;
  const char* name = whole ? "imputed_value_int64s" : "imputed_value_floats";
  const size_t count = whole ? node.node.Ints(name).size() : node.node.Floats(name).size();
  if (count == 0) return node.Fail(fmt::format("no `{}` for the input {}", name, node.InType(0)));
  WF_RETURN_IF_ERROR(CheckPerColumn(node, name, count, table.columns));
  SetOut(node, 0, node.in(0).dtype, node.in(0).dim);
  return Status::Ok();
}

Status InferScaler(NodeContext& node) {
  Table table;
  WF_RETURN_IF_ERROR(TableOf(node, table));
  WF_RETURN_IF_ERROR(CheckNumbers(node));
  for (const char* name : {"offset", "scale"}) {
    const size_t count = node.node.Floats(name).size();
    if (count == 0) return node.Fail(fmt::format("no `{}`", name));
    WF_RETURN_IF_ERROR(CheckPerColumn(node, name, count, table.columns));
  }
  SetOut(node, 0, WF_F32, node.in(0).dim);
  return Status::Ok();
}

Status InferNormalizer(NodeContext& node) {
  Table table;
  WF_RETURN_IF_ERROR(TableOf(node, table));
  WF_RETURN_IF_ERROR(CheckNumbers(node));
  const std::string_view norm = node.node.String("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") return node.NotBuilt(fmt::format("`norm` \"{}\" is not supported", norm));
  SetOut(node, 0, WF_F32, node.in(0).dim);
  return Status::Ok();
}

Status InferOneHotEncoder(NodeContext& node) {
  const bool is_text = node.in(0).dtype == kStringType;
  if (!is_text) WF_RETURN_IF_ERROR(CheckNumbers(node));
  const size_t count = is_text ? node.node.Texts("cats_strings").size() : node.node.Ints("cats_int64s").size();
  if (count == 0) return node.Fail(fmt::format("no categories for the input {}", node.InType(0)));
  Shape dim = node.in(0).dim;
  dim.emplace_back(static_cast<int64_t>(count));
  SetOut(node, 0, WF_F32, std::move(dim));
  return Status::Ok();
}

namespace {

struct Side {
  uint8_t dtype = 0;
  size_t count = 0;
};

// Of the keys or the values of a LabelEncoder, by the attribute that is there.
Status SideOf(const NodeContext& node, const std::string& what, Side& side) {
  const Node& of = node.node;
  int found = 0;
  const auto take = [&](uint8_t dtype, size_t count) {
    side = {dtype, count};
    ++found;
  };
  if (of.Find(what + "_floats") != nullptr) take(WF_F32, of.Floats(what + "_floats").size());
  if (of.Find(what + "_int64s") != nullptr) take(WF_I64, of.Ints(what + "_int64s").size());
  if (of.Find(what + "_strings") != nullptr) take(kStringType, of.Texts(what + "_strings").size());
  if (const Attribute* tensor = of.Find(what + "_tensor")) {
    const Weight& weight = node.tensor(*tensor);
    if (!weight.held) return node.NotBuilt(fmt::format("`{}_tensor` in external data is not supported", what));
    take(weight.dtype, static_cast<size_t>(weight.count()));
  }
  return found == 1 ? Status::Ok() : node.Fail(fmt::format("wanted one attribute of `{}_...`, found {}", what, found));
}

Status CheckDefault(const NodeContext& node, uint8_t dtype) {
  const Attribute* otherwise = node.node.Find("default_tensor");
  if (otherwise == nullptr) return Status::Ok();
  const Weight& weight = node.tensor(*otherwise);
  if (weight.held && weight.dtype == dtype && weight.count() == 1) return Status::Ok();
  return node.Fail(fmt::format("`default_tensor` is no value of type {}", TypeName(dtype)));
}

}  // namespace

Status InferLabelEncoder(NodeContext& node) {
  const uint8_t dtype = node.in(0).dtype;
  if (node.node.opset == 1) {
    if (dtype != WF_I64 && dtype != kStringType)
      return node.Fail(fmt::format("elements of type {}, wanted i64 or string", TypeName(dtype)));
    if (node.node.Find("classes_strings") == nullptr) return node.Fail("no `classes_strings`");
    SetOut(node, 0, dtype == WF_I64 ? kStringType : static_cast<uint8_t>(WF_I64), node.in(0).dim);
    return Status::Ok();
  }
  Side keys, values;
  WF_RETURN_IF_ERROR(SideOf(node, "keys", keys));
  WF_RETURN_IF_ERROR(SideOf(node, "values", values));
  if (keys.count != values.count) return node.Fail(fmt::format("{} keys and {} values", keys.count, values.count));
  if (keys.dtype != dtype) return node.Fail(fmt::format("elements of type {}, keys of {}", TypeName(dtype), TypeName(keys.dtype)));
  WF_RETURN_IF_ERROR(CheckDefault(node, values.dtype));
  SetOut(node, 0, values.dtype, node.in(0).dim);
  return Status::Ok();
}

Status InferLinearClassifier(NodeContext& node) {
  Table table;
  size_t labels = 0;
  uint8_t dtype = 0;
  WF_RETURN_IF_ERROR(TableOf(node, table));
  WF_RETURN_IF_ERROR(CheckNumbers(node));
  WF_RETURN_IF_ERROR(CheckTransform(node));
  WF_RETURN_IF_ERROR(LabelsOf(node, "classlabels_ints", labels, dtype));
  const size_t intercepts = node.node.Floats("intercepts").size(), targets = intercepts > 0 ? intercepts : labels;
  WF_RETURN_IF_ERROR(CheckCoefficients(node, targets, table.columns));
  if (labels != targets && !(targets == 1 && labels == 2)) return node.Fail(fmt::format("{} scores for {} labels", targets, labels));
  if (labels == 1) return node.NotBuilt("a classifier of one class is not supported");
  SetOut(node, 0, dtype, {table.rows});
  SetOut(node, 1, WF_F32, {table.rows, Dim(static_cast<int64_t>(labels))});
  return Status::Ok();
}

Status InferLinearRegressor(NodeContext& node) {
  Table table;
  WF_RETURN_IF_ERROR(TableOf(node, table));
  WF_RETURN_IF_ERROR(CheckNumbers(node));
  WF_RETURN_IF_ERROR(CheckTransform(node));
  const int64_t targets = node.node.Int("targets", 1);
  WF_RETURN_IF_ERROR(CheckCoefficients(node, targets < 1 ? 0 : static_cast<size_t>(targets), table.columns));
  const size_t intercepts = node.node.Floats("intercepts").size();
  if (intercepts != 0 && static_cast<int64_t>(intercepts) != targets)
    return node.Fail(fmt::format("{} intercepts for {} targets", intercepts, targets));
  SetOut(node, 0, WF_F32, {table.rows, Dim(targets)});
  return Status::Ok();
}

namespace {

// vectors: 0 without support vectors.
Status CheckSvm(const NodeContext& node, const Table& table, int64_t vectors, size_t coefficients) {
  const Node& of = node.node;
  const std::string_view type = of.String("kernel_type", "LINEAR");
  if (type != "LINEAR" && type != "POLY" && type != "RBF" && type != "SIGMOID")
    return node.NotBuilt(fmt::format("`kernel_type` \"{}\" is not supported", type));
  const size_t parameters = of.Floats("kernel_params").size();
  if (parameters != 0 && parameters != 3) return node.Fail(fmt::format("{} `kernel_params`, wanted 3", parameters));
  if (of.Floats("coefficients").size() != coefficients)
    return node.Fail(fmt::format("{} coefficients, wanted {}", of.Floats("coefficients").size(), coefficients));
  const auto columns = table.columns.constant();
  const size_t numbers = of.Floats("support_vectors").size();
  if (vectors > 0 &&
      (numbers == 0 || numbers % static_cast<size_t>(vectors) != 0 || (columns && *columns * vectors != static_cast<int64_t>(numbers))))
    return node.Fail(fmt::format("{} numbers in {} support vectors for the input {}", numbers, vectors, node.InType(0)));
  return Status::Ok();
}

// Support vectors of all classes together.
Status CountVectors(const NodeContext& node, size_t classes, int64_t& vectors) {
  const auto per_class = node.node.Ints("vectors_per_class");
  const int64_t most = static_cast<int64_t>(node.node.Floats("support_vectors").size());
  for (const int64_t count : per_class) {
    if (count < 0 || count > most - vectors) return node.Fail(fmt::format("a class of {} support vectors", count));
    vectors += count;
  }
  if (vectors > 0 && per_class.size() != classes)
    return node.Fail(fmt::format("`vectors_per_class` of {} classes for {}", per_class.size(), classes));
  return Status::Ok();
}

}  // namespace

Status InferSvmClassifier(NodeContext& node) {
  Table table;
  size_t classes = 0;
  uint8_t dtype = 0;
  int64_t vectors = 0;
  WF_RETURN_IF_ERROR(TableOf(node, table));
  WF_RETURN_IF_ERROR(CheckNumbers(node));
  WF_RETURN_IF_ERROR(CheckTransform(node));
  WF_RETURN_IF_ERROR(LabelsOf(node, "classlabels_ints", classes, dtype));
  if (classes < 2 || static_cast<int64_t>(classes) > kMostSvmClasses)
    return node.NotBuilt(fmt::format("{} classes, 2 to {} are supported", classes, kMostSvmClasses));
  WF_RETURN_IF_ERROR(CountVectors(node, classes, vectors));
  const size_t pairs = classes * (classes - 1) / 2, rho = node.node.Floats("rho").size();
  const size_t prob_a = node.node.Floats("prob_a").size(), prob_b = node.node.Floats("prob_b").size();
  const size_t coefficients = node.node.Floats("coefficients").size();
  if (vectors == 0) WF_RETURN_IF_ERROR(CheckCoefficients(node, classes, table.columns));
  WF_RETURN_IF_ERROR(CheckSvm(node, table, vectors, vectors > 0 ? (classes - 1) * static_cast<size_t>(vectors) : coefficients));
  if (rho < (vectors > 0 ? pairs : 1)) return node.Fail(fmt::format("{} values in `rho` for {} classes", rho, classes));
  if (prob_a != prob_b || (prob_a > 0 && (vectors == 0 || prob_a < pairs)))
    return node.Fail(fmt::format("{} and {} values in `prob_a` and `prob_b` for {} classes", prob_a, prob_b, classes));
  const size_t columns = vectors > 0 && prob_a == 0 && classes > 2 ? pairs : classes;
  SetOut(node, 0, dtype, {table.rows});
  SetOut(node, 1, WF_F32, {table.rows, Dim(static_cast<int64_t>(columns))});
  return Status::Ok();
}

Status InferSvmRegressor(NodeContext& node) {
  Table table;
  WF_RETURN_IF_ERROR(TableOf(node, table));
  WF_RETURN_IF_ERROR(CheckNumbers(node));
  WF_RETURN_IF_ERROR(CheckTransform(node));
  const int64_t vectors = node.node.Int("n_supports", 0);
  const size_t coefficients = node.node.Floats("coefficients").size();
  if (vectors < 0 || (vectors > 0 && vectors > static_cast<int64_t>(coefficients)))
    return node.Fail(fmt::format("{} support vectors", vectors));
  if (vectors == 0) WF_RETURN_IF_ERROR(CheckCoefficients(node, 1, table.columns));
  WF_RETURN_IF_ERROR(CheckSvm(node, table, vectors, vectors > 0 ? static_cast<size_t>(vectors) : coefficients));
  if (node.node.Floats("rho").empty()) return node.Fail("no `rho`");
  SetOut(node, 0, WF_F32, {table.rows, Dim(1)});
  return Status::Ok();
}

Status InferTreeEnsemble(NodeContext& node) {
  Table table;
  WF_RETURN_IF_ERROR(TableOf(node, table));
  WF_RETURN_IF_ERROR(CheckNumbers(node));
  const bool is_new = node.node.op == Op::kMlTreeEnsemble;
  if (is_new) {
    const int64_t transform = node.node.Int("post_transform", 0), aggregate = node.node.Int("aggregate_function", 1);
    if (transform < 0 || transform > 4) return node.NotBuilt(fmt::format("`post_transform` {} is not supported", transform));
    if (aggregate < 0 || aggregate > 3) return node.NotBuilt(fmt::format("`aggregate_function` {} is not supported", aggregate));
  } else {
    WF_RETURN_IF_ERROR(CheckTransform(node));
    const std::string_view aggregate = node.node.String("aggregate_function", "SUM");
    if (aggregate != "SUM" && aggregate != "AVERAGE" && aggregate != "MIN" && aggregate != "MAX")
      return node.NotBuilt(fmt::format("`aggregate_function` \"{}\" is not supported", aggregate));
  }
  const int64_t targets = node.node.Int("n_targets", 1);
  WF_RETURN_IF_ERROR(CheckTrees(node, table, targets));
  SetOut(node, 0, is_new ? node.in(0).dtype : static_cast<uint8_t>(WF_F32), {table.rows, Dim(targets)});
  return Status::Ok();
}

Status InferTreeEnsembleClassifier(NodeContext& node) {
  Table table;
  size_t labels = 0;
  uint8_t dtype = 0;
  WF_RETURN_IF_ERROR(TableOf(node, table));
  WF_RETURN_IF_ERROR(CheckNumbers(node));
  WF_RETURN_IF_ERROR(CheckTransform(node));
  WF_RETURN_IF_ERROR(LabelsOf(node, "classlabels_int64s", labels, dtype));
  WF_RETURN_IF_ERROR(CheckTrees(node, table, static_cast<int64_t>(labels)));
  SetOut(node, 0, dtype, {table.rows});
  SetOut(node, 1, WF_F32, {table.rows, Dim(static_cast<int64_t>(labels))});
  return Status::Ok();
}

// A map for each row in the file; here the rows themselves (docs/language.md).
Status InferZipMap(NodeContext& node) {
  Table table;
  size_t labels = 0;
  uint8_t dtype = 0;
  WF_RETURN_IF_ERROR(TableOf(node, table));
  WF_RETURN_IF_ERROR(LabelsOf(node, "classlabels_int64s", labels, dtype));
  WF_RETURN_IF_ERROR(CheckPerColumn(node, "classlabels_...", labels == 1 ? 0 : labels, table.columns));
  SetOut(node, 0, node.in(0).dtype, {table.rows, table.columns});
  return Status::Ok();
}

}  // namespace wf::onnx
