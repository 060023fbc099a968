#include "tests/diff/models.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "compiler/ir/scalar.h"
#include "tests/diff/words.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::diff {
namespace {

namespace pb = onnx::pb;
using testing::Builder;

template <typename T>
std::vector<T> Elements(const Array& array) {
  std::vector<T> elements(array.bytes.size() / sizeof(T));
  std::ranges::copy(array.bytes, reinterpret_cast<char*>(elements.data()));  // memcpy would refuse the null of an empty vector
  return elements;
}
template <typename T>
Array Made(DType dtype, std::vector<int64_t> dims, const std::vector<T>& elements) {
  return {dtype, std::move(dims), std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T))};
}
template <typename T, typename Compute>
Array Each(const Array& x, Compute compute) {
  std::vector<T> elements = Elements<T>(x);
  for (T& one : elements) one = compute(one);
  return Made(x.dtype, x.dims, elements);
}

template <typename T>
pb::TensorProto& Constant(Builder& file, const std::string& name, const std::vector<int64_t>& dims, int type,
                          const std::vector<T>& values) {
  pb::TensorProto& tensor = file.Tensor(name, dims, type);
  tensor.set_raw_data(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
  return tensor;
}

Function Call(const char* name, std::vector<std::string> symbols, std::vector<Name> params, Type result) {
  Function made;
  made.name = name;
  made.symbols = std::move(symbols);
  made.params = std::move(params);
  made.result = std::move(result);
  return made;
}

// ---- element by element ----

std::string ScaledFile() {
  Builder file;
  file.Input("x", {"N", "w"}).Output("y", {"N", "w"});
  Constant<float>(file, "by", {1}, pb::FLOAT, {1.5F});
  file.Node("Mul", {"x", "by"}, {"y"});
  return file.Bytes();
}
bool Scaled(std::span<const Array> in, std::span<Array> out) {
  out[0] = Each<float>(in[0], [](float x) { return x * 1.5F; });
  return true;
}

std::string FlippedFile() {
  Builder file;
  file.Input("x", {"N", "w"}, pb::BOOL).Output("y", {"N", "w"}, pb::BOOL);
  file.Node("Not", {"x"}, {"y"});
  return file.Bytes();
}
bool Flipped(std::span<const Array> in, std::span<Array> out) {
  out[0] = Each<uint8_t>(in[0], [](uint8_t x) -> uint8_t { return x == 0 ? 1 : 0; });
  return true;
}

std::string WidenedFile() {
  Builder file;
  file.Input("x", {"N", "w"}, pb::FLOAT16).Output("y", {"N", "w"});
  Builder::Int(file.Node("Cast", {"x"}, {"y"}), "to", pb::FLOAT);
  return file.Bytes();
}
bool Widened(std::span<const Array> in, std::span<Array> out) {
  std::vector<uint32_t> wide;
  for (const uint16_t x : Elements<uint16_t>(in[0])) wide.push_back(static_cast<uint32_t>(ir::ConvertScalar(DType::kF16, DType::kF32, x)));
  out[0] = Made(DType::kF32, in[0].dims, wide);
  return true;
}

// No axis of samples but one of extent 1.
std::string SingleFile() {
  Builder file;
  file.Input("x", {1, 4}, pb::INT32).Output("y", {1, 4}, pb::INT32);
  Constant<int32_t>(file, "c", {4}, pb::INT32, {1, -2, 3, 1 << 30});
  file.Node("Add", {"x", "c"}, {"y"});
  return file.Bytes();
}
bool Single(std::span<const Array> in, std::span<Array> out) {
  static constexpr uint32_t kAdded[] = {1, static_cast<uint32_t>(-2), 3, 1 << 30};
  size_t at = 0;
  out[0] = Each<uint32_t>(in[0], [&at](uint32_t x) { return x + kAdded[at++]; });
  return true;
}

std::string PairFile() {
  Builder file;
  file.Input("a", {"N", "p"}, pb::INT64).Input("b", {"N", "q"}, pb::INT64);
  file.Output("s", {"N", "p"}, pb::INT64).Output("t", {"N", "q"}, pb::INT64);
  Constant<int64_t>(file, "three", {}, pb::INT64, {3});
  file.Node("Add", {"a", "a"}, {"s"}, "twice");
  file.Node("Mul", {"b", "three"}, {"t"}, "thrice");
  return file.Bytes();
}
bool Pair(std::span<const Array> in, std::span<Array> out) {
  out[0] = Each<uint64_t>(in[0], [](uint64_t a) { return a + a; });
  out[1] = Each<uint64_t>(in[1], [](uint64_t b) { return b * 3; });
  return true;
}

// `by` is the same for all rows of a run.
std::string KeyedFile() {
  Builder file;
  file.Input("x", {"N", "w"}).Input("by", {1}).Output("y", {"N", "w"});
  file.Node("Mul", {"x", "by"}, {"y"});
  return file.Bytes();
}
bool Keyed(std::span<const Array> in, std::span<Array> out) {
  const float by = Elements<float>(in[1])[0];
  out[0] = Each<float>(in[0], [by](float x) { return x * by; });
  return true;
}

// ---- over several elements ----

// 4 -> 3, of whole numbers up to 8; a half beside them, so that no sum is a zero of either sign.
constexpr float kWeights[4][3] = {{1, -2, 3}, {-1, 0, 2}, {4, 1, -3}, {2, -1, 1}};
std::string DenseFile() {
  Builder file;
  file.Input("x", {"N", 4}).Output("y", {"N", 3});
  Constant<float>(file, "low", {}, pb::FLOAT, {-8});
  Constant<float>(file, "high", {}, pb::FLOAT, {8});
  Constant<float>(file, "w", {4, 3}, pb::FLOAT, {&kWeights[0][0], &kWeights[0][0] + 12});
  Constant<float>(file, "half", {3}, pb::FLOAT, {0.5F, 0.5F, 0.5F});
  file.Node("Clip", {"x", "low", "high"}, {"small"}, "small");
  file.Node("Round", {"small"}, {"whole"}, "whole");
  file.Node("MatMul", {"whole", "w"}, {"sums"}, "sums");
  file.Node("Add", {"sums", "half"}, {"y"}, "half");
  return file.Bytes();
}
bool Dense(std::span<const Array> in, std::span<Array> out) {
  const std::vector<float> x = Elements<float>(in[0]);
  std::vector<float> y(3, 0.5F);
  for (size_t i = 0; i < 4; ++i)
    for (size_t k = 0; k < 3; ++k) y[k] += (std::isnan(x[i]) ? x[i] : std::nearbyint(std::clamp(x[i], -8.0F, 8.0F))) * kWeights[i][k];
  out[0] = Made(DType::kF32, {3}, y);
  return true;
}

std::string TotalFile() {
  Builder file;
  file.Input("x", {"N", "w"}, pb::INT64).Output("y", {"N"}, pb::INT64);
  file.Longs("axes", {1});
  Builder::Int(file.Node("ReduceSum", {"x", "axes"}, {"y"}), "keepdims", 0);
  return file.Bytes();
}
bool Total(std::span<const Array> in, std::span<Array> out) {
  uint64_t sum = 0;
  for (const uint64_t x : Elements<uint64_t>(in[0])) sum += x;
  out[0] = Made(DType::kI64, {}, std::vector<uint64_t>{sum});
  return true;
}

// Pairs side by side; a last one alone is left out.
// The larger of each two. Zeros stand behind the row, for one that has no two would fail here but not where `pad` fills it up.
std::string PooledFile() {
  Builder file;
  file.Input("x", {"N", "w"}).Output("y", {"N", ""});
  file.Longs("one", {1});
  file.Longs("around", {0, 0, 0, 2});
  file.Longs("first", {0});
  file.Longs("last", {-1});
  file.Node("Pad", {"x", "around"}, {"longer"}, "longer");
  file.Node("Unsqueeze", {"longer", "one"}, {"channel"}, "channel");
  pb::NodeProto& pool = file.Node("MaxPool", {"channel"}, {"most"}, "most");
  Builder::Ints(pool, "kernel_shape", {2});
  Builder::Ints(pool, "strides", {2});
  file.Node("Squeeze", {"most", "one"}, {"row"}, "row");
  file.Node("Slice", {"row", "first", "last", "one"}, {"y"}, "part");
  return file.Bytes();
}
bool Pooled(std::span<const Array> in, std::span<Array> out) {
  const std::vector<float> x = Elements<float>(in[0]);
  std::vector<float> y;
  for (size_t i = 0; i + 1 < x.size(); i += 2) y.push_back(x[i] < x[i + 1] ? x[i + 1] : x[i]);
  out[0] = Made(DType::kF32, {static_cast<int64_t>(y.size())}, y);
  return true;
}

// Each row less the largest of all: alone it is less itself, and beside others it must be, too.
std::string MixedFile() {
  Builder file;
  file.Input("x", {"N", "w"}, pb::INT64).Output("y", {"N", "w"}, pb::INT64);
  pb::NodeProto& most = file.Node("ReduceMax", {"x"}, {"most"}, "most");
  Builder::Ints(most, "axes", {0});
  Builder::Int(most, "keepdims", 1);
  file.Node("Sub", {"x", "most"}, {"y"}, "less");
  return file.Bytes();
}
bool Mixed(std::span<const Array> in, std::span<Array> out) {
  out[0] = Each<int64_t>(in[0], [](int64_t) { return 0; });
  return true;
}

// ---- moved ----

// The axis of samples stands last in what comes in.
std::string ColumnFile() {
  Builder file;
  file.Input("x", {3, "N"}).Output("y", {"N", 3});
  file.Node("Transpose", {"x"}, {"y"});
  return file.Bytes();
}
bool Column(std::span<const Array> in, std::span<Array> out) {
  out[0] = in[0];
  return true;
}

// No axis of samples.
std::string WholeFile() {
  Builder file;
  file.Input("x", {2, 3}, pb::DOUBLE).Output("y", {3, 2}, pb::DOUBLE);
  file.Node("Transpose", {"x"}, {"y"});
  return file.Bytes();
}
bool Whole(std::span<const Array> in, std::span<Array> out) {
  const std::vector<double> x = Elements<double>(in[0]);
  std::vector<double> y;
  for (size_t i = 0; i < 6; ++i) y.push_back(x[i % 2 * 3 + i / 2]);
  out[0] = Made(DType::kF64, {3, 2}, y);
  return true;
}

// As many as there are: what is not 0, where it stands.
std::string PlacesFile() {
  Builder file;
  file.Input("x", {"w"}, pb::INT64).Output("y", {1, ""}, pb::INT64);
  file.Node("NonZero", {"x"}, {"y"});
  return file.Bytes();
}
bool Places(std::span<const Array> in, std::span<Array> out) {
  const std::vector<int64_t> x = Elements<int64_t>(in[0]);
  std::vector<int64_t> y;
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != 0) y.push_back(static_cast<int64_t>(i));
  out[0] = Made(DType::kI64, {1, static_cast<int64_t>(y.size())}, y);
  return true;
}

// An index that is none of the table fails.
constexpr float kTable[] = {1, 0.25F, -3, 1e30F, 7};
std::string PickedFile() {
  Builder file;
  file.Input("i", {"N", "w"}, pb::INT64).Output("y", {"N", "w"});
  Constant<float>(file, "table", {5}, pb::FLOAT, {std::begin(kTable), std::end(kTable)});
  file.Node("Gather", {"table", "i"}, {"y"}, "pick");
  return file.Bytes();
}
bool Picked(std::span<const Array> in, std::span<Array> out) {
  std::vector<float> y;
  for (const int64_t i : Elements<int64_t>(in[0])) {
    if (i < -5 || i > 4) return false;
    y.push_back(kTable[i < 0 ? i + 5 : i]);
  }
  out[0] = Made(DType::kF32, in[0].dims, y);
  return true;
}

std::vector<KnownModel> MakeModels() {
  const Type f32_w = Tensor(DType::kF32, {"w"}), i64_w = Tensor(DType::kI64, {"w"});
  const Type pair{.kind = Kind::kTuple, .of = {Tensor(DType::kI64, {"p"}), Tensor(DType::kI64, {"q"})}, .names = {"s", "t"}};
  return {
      {Call("Scaled", {"w"}, {Param("x", f32_w)}, f32_w), "", true, "", ScaledFile, Scaled},
      {Call("Dense", {}, {Param("x", Tensor(DType::kF32, {"4"}))}, Tensor(DType::kF32, {"3"})), "", true, "", DenseFile, Dense},
      {Call("Picked", {"w"}, {Param("i", i64_w)}, f32_w), "", true, "", PickedFile, Picked},
      {Call("Keyed", {"w"}, {Param("x", f32_w), Param("by", Tensor(DType::kF32, {"1"}))}, f32_w),
       "(x: f32[batch, w], by: f32[1]) -> f32[batch, w]", true, "w", KeyedFile, Keyed},
      {Call("Total", {"w"}, {Param("x", i64_w)}, Scalar(DType::kI64)), "(x: i64[batch, w]) -> i64[batch]", true, "w", TotalFile, Total},
      {Call("Pooled", {"w"}, {Param("x", f32_w)}, Tensor(DType::kF32, {"_"})), "(x: f32[batch, w]) -> f32[batch, w / 2]", true, "w",
       PooledFile, Pooled},
      {Call("Pair", {"p", "q"}, {Param("a", Tensor(DType::kI64, {"p"})), Param("b", Tensor(DType::kI64, {"q"}))}, pair), "", true, "",
       PairFile, Pair},
      {Call("Mixed", {"w"}, {Param("x", i64_w)}, i64_w), "(x: i64[batch, w]) -> i64[batch, w]", true, "", MixedFile, Mixed},
      {Call("Column", {}, {Param("x", Tensor(DType::kF32, {"3"}))}, Tensor(DType::kF32, {"3"})), "(x: f32[3, batch]) -> f32[batch, 3]",
       true, "", ColumnFile, Column},
      {Call("Flipped", {"w"}, {Param("x", Tensor(DType::kBool, {"w"}))}, Tensor(DType::kBool, {"w"})), "", true, "", FlippedFile, Flipped},
      {Call("Widened", {"w"}, {Param("x", Tensor(DType::kF16, {"w"}))}, f32_w), "", true, "", WidenedFile, Widened},
      {Call("Single", {}, {Param("x", Tensor(DType::kI32, {"4"}))}, Tensor(DType::kI32, {"4"})), "", false, "", SingleFile, Single},
      {Call("Whole", {}, {Param("x", Tensor(DType::kF64, {"2", "3"}))}, Tensor(DType::kF64, {"3", "2"})), "", false, "", WholeFile, Whole},
      {Call("Places", {"w"}, {Param("x", i64_w)}, Tensor(DType::kI64, {"1", "_"})), "", false, "", PlacesFile, Places},
  };
}

std::string PathOf(const KnownModel& model) { return "models/" + model.call.name + ".onnx"; }

}  // namespace

const std::vector<KnownModel>& KnownModels() {
  static const std::vector<KnownModel> models = MakeModels();
  return models;
}

const KnownModel* FindModel(const std::string& path) {
  const auto& models = KnownModels();
  const auto found = std::find_if(models.begin(), models.end(), [&](const KnownModel& one) { return PathOf(one) == path; });
  return found == models.end() ? nullptr : &*found;
}

std::string DeclarationOf(const KnownModel& model, const std::string& name, const std::string& settings) {
  return "model " + name + model.signature + " = onnx(\"" + PathOf(model) + "\") { queue 4096;" + settings + " }\n";
}

void WriteFiles(const std::string& folder) {
  std::filesystem::create_directories(folder + "/models");
  const auto write = [&](const std::string& path, const std::string& bytes) {
    std::ofstream(folder + "/" + path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  for (const KnownModel& model : KnownModels()) write(PathOf(model), model.file());
  for (const Blob& blob : Blobs()) write(blob.path, blob.bytes);
}

}  // namespace wf::diff
