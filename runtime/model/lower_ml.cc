#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/model/lowering.h"

// Nodes of ai.onnx.ml. Strings are numbers of Graph::texts.
namespace wf::model {

using base::Status;
using onnx::Op;

namespace {

template <typename T>
std::vector<T> Vector(std::span<const T> values) {
  return {values.begin(), values.end()};
}

std::vector<int64_t> LabelsOf(const onnx::Node& node, const char* ints) {
  const auto whole = node.Ints(ints);
  return Vector(whole.empty() ? node.Texts("classlabels_strings") : whole);
}

kernels::ScoreTransform TransformOf(const onnx::Node& node) { return kernels::ScoreTransformOf(node.String("post_transform", "NONE")); }

template <typename T>
std::vector<uint8_t> BytesOf(std::span<const T> values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {bytes, bytes + values.size_bytes()};
}
template <typename T>
std::vector<uint8_t> BytesOf(T value) {
  return BytesOf(std::span<const T>(&value, 1));
}

int64_t TextOf(const onnx::Node& node, const char* attribute) {
  const auto texts = node.Texts(attribute);
  return texts.empty() ? 0 : texts[0];
}

template <typename T>
void AddKeys(const std::vector<uint8_t>& bytes, kernels::Lookup& lookup) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T key;
    std::memcpy(&key, bytes.data() + at, sizeof(T));
    if constexpr (std::is_integral_v<T>)
      lookup.whole_keys.push_back(static_cast<int64_t>(key));
    else
      lookup.keys.push_back(static_cast<double>(key));
  }
}

Status SetTensorKeys(const onnx::Weight& weight, kernels::Lookup& lookup) {
  switch (weight.dtype) {
    case WF_F32:
      AddKeys<float>(weight.bytes, lookup);
      break;
    case WF_F64:
      AddKeys<double>(weight.bytes, lookup);
      break;
    case WF_I64:
    case onnx::kStringType:
      AddKeys<int64_t>(weight.bytes, lookup);
      break;
    case WF_I32:
      AddKeys<int32_t>(weight.bytes, lookup);
      break;
    case WF_I16:
      AddKeys<int16_t>(weight.bytes, lookup);
      break;
    case WF_I8:
      AddKeys<int8_t>(weight.bytes, lookup);
      break;
    default:
      return {base::kUnimplemented, "keys of this type are not supported"};
  }
  return Status::Ok();
}

Status SetKeys(const onnx::NodeContext& context, kernels::Lookup& lookup) {
  const onnx::Node& node = context.node;
  if (const onnx::Attribute* tensor = node.Find("keys_tensor")) return SetTensorKeys(context.tensor(*tensor), lookup);
  const auto floats = node.Floats("keys_floats");
  lookup.keys.assign(floats.begin(), floats.end());
  lookup.whole_keys = Vector(node.Find("keys_strings") != nullptr ? node.Texts("keys_strings") : node.Ints("keys_int64s"));
  return Status::Ok();
}

// What elements become that are no key: of the type of the values.
void SetValues(const onnx::NodeContext& context, kernels::Lookup& lookup) {
  const onnx::Node& node = context.node;
  const onnx::Attribute *tensor = node.Find("values_tensor"), *otherwise = node.Find("default_tensor");
  uint8_t dtype = WF_I64;
  if (tensor != nullptr) {
    lookup.values = context.tensor(*tensor).bytes;
    dtype = context.tensor(*tensor).dtype;
  } else if (node.Find("values_floats") != nullptr) {
    lookup.values = BytesOf(node.Floats("values_floats"));
    dtype = WF_F32;
  } else if (node.Find("values_strings") != nullptr) {
    lookup.values = BytesOf(node.Texts("values_strings"));
    dtype = onnx::kStringType;
  } else {
    lookup.values = BytesOf(node.Ints("values_int64s"));
  }
  if (otherwise != nullptr)
    lookup.otherwise = context.tensor(*otherwise).bytes;
  else if (dtype == onnx::kStringType)
    lookup.otherwise = BytesOf(TextOf(node, "default_string"));
  else if (dtype == WF_F32)
    lookup.otherwise = BytesOf(node.Float("default_float", -0.0f));
  else if (dtype == WF_F64)
    lookup.otherwise = BytesOf(static_cast<double>(node.Float("default_float", -0.0f)));
  else  // little-endian: the low bytes are the narrow number
    lookup.otherwise = BytesOf(node.Int("default_int64", -1));
  lookup.otherwise.resize(static_cast<size_t>(onnx::ElementSize(dtype)));
}

}  // namespace

// Elements along the last axis, each as a slice of one.
Status LowerArrayFeatureExtractor(Lowering& of) {
  of.lowered.params = kernels::Gather{of.context.rank(0) - 1};
  return Status::Ok();
}

Status LowerBinarizer(Lowering& of) {
  of.lowered.params = kernels::Binarize{of.node.Float("threshold", 0)};
  return Status::Ok();
}

Status LowerCategoryMapper(Lowering& of) {
  const auto whole = of.node.Ints("cats_int64s"), texts = of.node.Texts("cats_strings");
  const bool from_text = of.context.in(0).dtype == onnx::kStringType;
  kernels::Lookup lookup;
  lookup.whole_keys = Vector(from_text ? texts : whole);
  lookup.values = BytesOf(from_text ? whole : texts);
  lookup.otherwise = BytesOf(from_text ? of.node.Int("default_int64", -1) : TextOf(of.node, "default_string"));
  of.lowered.params = std::move(lookup);
  return Status::Ok();
}

Status LowerFeatureVectorizer(Lowering& of) {
  of.lowered.params = kernels::JoinFeatures{Vector(of.node.Ints("inputdimensions"))};
  return Status::Ok();
}

Status LowerImputer(Lowering& of) {
  of.lowered.params = kernels::Impute{Vector(of.node.Floats("imputed_value_floats")), of.node.Float("replaced_value_float", 0),
                                      Vector(of.node.Ints("imputed_value_int64s")), of.node.Int("replaced_value_int64", 0)};
  return Status::Ok();
}

Status LowerLabelEncoder(Lowering& of) {
  kernels::Lookup lookup;
  if (of.node.opset == 1) {
    const auto classes = of.node.Texts("classes_strings");
    const bool from_text = of.context.in(0).dtype == onnx::kStringType;
    std::vector<int64_t> places(classes.size());
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
    lookup.whole_keys = from_text ? Vector(classes) : places;
    lookup.values = BytesOf(from_text ? std::span<const int64_t>(places) : classes);
    lookup.otherwise = BytesOf(from_text ? of.node.Int("default_int64", -1) : TextOf(of.node, "default_string"));
  } else {
    WF_RETURN_IF_ERROR(SetKeys(of.context, lookup));
    SetValues(of.context, lookup);
  }
  of.lowered.params = std::move(lookup);
  return Status::Ok();
}

Status LowerLinearClassifier(Lowering& of) {
  kernels::LinearModel model;
  model.labels = LabelsOf(of.node, "classlabels_ints");
  model.coefficients = Vector(of.node.Floats("coefficients"));
  model.intercepts = Vector(of.node.Floats("intercepts"));
  model.targets = static_cast<int64_t>(model.intercepts.empty() ? model.labels.size() : model.intercepts.size());
  model.transform = TransformOf(of.node);
  of.lowered.params = std::move(model);
  return Status::Ok();
}

Status LowerLinearRegressor(Lowering& of) {
  of.lowered.params = kernels::LinearModel{
      Vector(of.node.Floats("coefficients")), Vector(of.node.Floats("intercepts")), of.node.Int("targets", 1), TransformOf(of.node), {}};
  return Status::Ok();
}

Status LowerNormalizer(Lowering& of) {
  using enum kernels::Normalize::Norm;
  const std::string_view norm = of.node.String("norm", "MAX");
  of.lowered.params = kernels::Normalize{norm == "L1" ? kL1 : norm == "L2" ? kL2 : kMax};
  return Status::Ok();
}

Status LowerOneHotEncoder(Lowering& of) {
  const bool is_text = of.context.in(0).dtype == onnx::kStringType;
  of.lowered.params =
      kernels::OneOfCategories{Vector(is_text ? of.node.Texts("cats_strings") : of.node.Ints("cats_int64s")), of.node.Int("zeros", 1) != 0};
  return Status::Ok();
}

Status LowerScaler(Lowering& of) {
  of.lowered.params = kernels::Scale{Vector(of.node.Floats("offset")), Vector(of.node.Floats("scale"))};
  return Status::Ok();
}

Status LowerSvm(Lowering& of) {
  using enum kernels::Svm::Function;
  const onnx::Node& node = of.node;
  const bool classifies = node.op == Op::kMlSVMClassifier;
  const std::string_view type = node.String("kernel_type", "LINEAR");
  const auto parameters = node.Floats("kernel_params");
  kernels::Svm svm;
  svm.vectors_per_class = Vector(node.Ints("vectors_per_class"));
  svm.vectors = classifies ? 0 : node.Int("n_supports", 0);
  if (classifies) {
    for (const int64_t count : svm.vectors_per_class) svm.vectors += count;
    svm.labels = LabelsOf(node, "classlabels_ints");
  }
  if (svm.vectors > 0) svm.function = type == "POLY" ? kPoly : type == "RBF" ? kRbf : type == "SIGMOID" ? kSigmoid : kLinear;
  if (parameters.size() == 3) {
    svm.gamma = parameters[0];
    svm.coef0 = parameters[1];
    svm.degree = parameters[2];
  }
  svm.features = Extents(of.context.in(0).dim, 0).back();
  svm.support_vectors = Vector(node.Floats("support_vectors"));
  svm.coefficients = Vector(node.Floats("coefficients"));
  svm.rho = Vector(node.Floats("rho"));
  svm.prob_a = Vector(node.Floats("prob_a"));
  svm.prob_b = Vector(node.Floats("prob_b"));
  svm.one_class = node.Int("one_class", 0) != 0;
  svm.transform = TransformOf(node);
  of.lowered.params = std::move(svm);
  return Status::Ok();
}

Status LowerTreeEnsemble(Lowering& of) {
  using enum kernels::TreeEnsemble::Aggregate;
  const onnx::Node& node = of.node;
  kernels::TreeEnsemble ensemble;
  ensemble.trees = node.trees;
  if (node.op == Op::kMlTreeEnsemble) {
    constexpr kernels::TreeEnsemble::Aggregate kByNumber[] = {kAverage, kSum, kMin, kMax};
    ensemble.aggregate = kByNumber[node.Int("aggregate_function", 1)];
    ensemble.transform = static_cast<kernels::ScoreTransform>(node.Int("post_transform", 0));
  } else {
    const std::string_view aggregate = node.String("aggregate_function", "SUM");
    ensemble.aggregate = aggregate == "AVERAGE" ? kAverage : aggregate == "MIN" ? kMin : aggregate == "MAX" ? kMax : kSum;
    ensemble.transform = TransformOf(node);
  }
  if (node.op == Op::kMlTreeEnsembleClassifier) ensemble.labels = LabelsOf(node, "classlabels_int64s");
  ensemble.targets = ensemble.labels.empty() ? node.Int("n_targets", 1) : static_cast<int64_t>(ensemble.labels.size());
  of.lowered.params = std::move(ensemble);
  return Status::Ok();
}

}  // namespace wf::model
