#include "runtime/onnx/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "runtime/onnx/source.h"

namespace wf::onnx {
namespace {

using base::Result;
using base::Status;

enum TensorField { kFloatData = 4, kInt32Data = 5, kInt64Data = 7, kRawData = 9, kDoubleData = 10, kUint64Data = 11 };

Status Fail(std::string text) { return Status(base::kInvalidArgument, std::move(text)); }

// Which repeated field holds elements of this type when raw_data does not.
int FieldOf(uint8_t dtype) {
  switch (dtype) {
    case WF_F32:
      return kFloatData;
    case WF_F64:
      return kDoubleData;
    case WF_I64:
      return kInt64Data;
    case WF_U64:
    case WF_U32:
      return kUint64Data;
    default:
      return kInt32Data;
  }
}

// Appends the low bytes of each number: how ONNX widens small integers and 16-bit floats.
template <typename Numbers>
void AppendNumbers(const Numbers& numbers, int64_t size, std::vector<uint8_t>& out) {
  for (const auto number : numbers) {
    uint8_t bytes[8] = {};
    std::memcpy(bytes, &number, sizeof(number));
    out.insert(out.end(), bytes, bytes + size);
  }
}

// A bool is 0 or 1 wherever kernels meet one; files may hold other numbers.
void MakeBools(std::span<uint8_t> bytes) {
  for (uint8_t& byte : bytes) byte = byte != 0 ? 1 : 0;
}

// As a file stores them.
std::vector<uint8_t> StoredOf(const pb::TensorProto& tensor, uint8_t dtype) {
  std::vector<uint8_t> bytes(tensor.raw_data().begin(), tensor.raw_data().end());
  if (dtype == WF_BOOL) {
    for (const int32_t number : tensor.int32_data()) {
      if (!tensor.has_raw_data()) bytes.push_back(number != 0 ? 1 : 0);
    }
    MakeBools(bytes);
    return bytes;
  }
  if (tensor.has_raw_data()) return bytes;
  const int64_t size = IsNarrow(dtype) ? 1 : base::DTypeSize(dtype);
  switch (FieldOf(dtype)) {
    case kFloatData:
      AppendNumbers(tensor.float_data(), size, bytes);
      break;
    case kDoubleData:
      AppendNumbers(tensor.double_data(), size, bytes);
      break;
    case kInt64Data:
      AppendNumbers(tensor.int64_data(), size, bytes);
      break;
    case kUint64Data:
      AppendNumbers(tensor.uint64_data(), size, bytes);
      break;
    default:
      AppendNumbers(tensor.int32_data(), size, bytes);
      break;
  }
  return bytes;
}

Status ReadShape(const google::protobuf::RepeatedField<int64_t>& dims, uint64_t max_bytes, Weight& weight) {
  if (dims.size() > WF_MAX_RANK) return Fail(fmt::format("{} axes, {} are the most", dims.size(), int{WF_MAX_RANK}));
  int64_t bytes = ElementSize(weight.dtype);
  for (const int64_t extent : dims) {
    if (extent < 0) return Fail(fmt::format("a negative extent, {}", extent));
    if (__builtin_mul_overflow(bytes, extent, &bytes) || static_cast<uint64_t>(bytes) > max_bytes) {
      return Status(base::kResourceExhausted, "more elements than fit into memory");
    }
    weight.dim.push_back(extent);
  }
  // A zero extent hides the size of the others from the product above.
  for (const int64_t extent : weight.dim) {
    if (static_cast<uint64_t>(extent) > max_bytes) return Fail("an extent out of range");
  }
  return Status::Ok();
}

Result<uint64_t> ParseNumber(const std::string& text, const char* key) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return Fail(fmt::format("external data with {} `{}`, wanted a number from 0", key, Printable(text)));
  }
  return number;
}

Result<uint16_t> FileIndex(const std::string& location, Model& model) {
  auto opened = OpenExternal(model.path, location);
  if (!opened.ok()) return opened.status();
  for (size_t i = 1; i < model.files.size(); ++i) {
    if (model.files[i]->name() == (*opened)->name()) return static_cast<uint16_t>(i);
  }
  if (model.files.size() >= 4096) return Fail("more than 4095 files of external data");
  model.files.push_back(*std::move(opened));
  return static_cast<uint16_t>(model.files.size() - 1);
}

Status ReadExternal(const pb::TensorProto& tensor, Model& model, const ReadOptions& options, Weight& weight) {
  if (!options.external_data) return Status(base::kPermissionDenied, "external data, which is refused here");
  std::string location;
  weight.length = static_cast<uint64_t>(weight.stored_bytes());
  for (const pb::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") {
      location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      const auto number = ParseNumber(entry.value(), entry.key().c_str());
      if (!number.ok()) return number.status();
      (entry.key() == "offset" ? weight.offset : weight.length) = *number;
    } else if (entry.key() != "checksum") {
      return Fail(fmt::format("external data with the unknown key `{}`", Printable(entry.key())));
    }
  }
  if (weight.length != static_cast<uint64_t>(weight.stored_bytes())) {
    return Fail(fmt::format("external data of {} bytes where {} are needed", weight.length, weight.stored_bytes()));
  }
  if (const std::string shown = Printable(location); shown != location)
    return Fail(fmt::format("external data in `{}`, which is no name", shown));
  const auto file = FileIndex(location, model);
  if (!file.ok()) return file.status();
  weight.file = *file;
  const uint64_t size = model.files[weight.file]->size();
  if (weight.offset > size || weight.length > size - weight.offset) {
    return Fail(
        fmt::format("external data from byte {} on, {} bytes, but `{}` has {}", weight.offset, weight.length, Printable(location), size));
  }
  return Status::Ok();
}

// The elements were left in the model file.
Status PlacePiece(const pb::TensorProto& tensor, std::span<const Piece> pieces, Weight& weight) {
  if (pieces.size() > 1 || !StoredOf(tensor, weight.dtype).empty()) return Fail("elements in several pieces");
  const Piece& piece = pieces[0];
  if (piece.field != kRawData && piece.field != FieldOf(weight.dtype)) return Fail("elements in a field of another type");
  weight.encoding =
      piece.field == kInt32Data || piece.field == kInt64Data || piece.field == kUint64Data ? Encoding::kVarint : Encoding::kRaw;
  weight.offset = piece.offset;
  weight.length = piece.length;
  const uint64_t bytes = static_cast<uint64_t>(weight.stored_bytes());
  const uint64_t count = IsNarrow(weight.dtype) ? bytes : static_cast<uint64_t>(weight.count());
  const bool fits = weight.encoding == Encoding::kRaw ? piece.length == bytes : piece.length >= count && piece.length / 10 <= count;
  return fits ? Status::Ok() : Fail(fmt::format("{} bytes of elements where its shape takes {}", piece.length, bytes));
}

}  // namespace

uint8_t DTypeOf(int tensor_type) {
  static constexpr uint8_t kTypes[] = {0,       WF_F32, WF_U8,  WF_I8,  WF_U16, WF_I16, WF_I32, WF_I64, kStringType,
                                       WF_BOOL, WF_F16, WF_F64, WF_U32, WF_U64, 0,      0,      WF_BF16};
  constexpr int kFirstNarrow = 17;  // FLOAT8E4M3FN; the others are in the order of base::Narrow
  if (tensor_type >= kFirstNarrow && tensor_type < kFirstNarrow + base::kNarrowCount - 1)
    return static_cast<uint8_t>(kNarrowTypes + 1 + tensor_type - kFirstNarrow);
  return tensor_type >= 0 && static_cast<size_t>(tensor_type) < std::size(kTypes) ? kTypes[tensor_type] : 0;
}

std::string TensorTypeName(int64_t tensor_type) {
  static constexpr const char* kNames[] = {
      "UNDEFINED",      "FLOAT",      "UINT8",          "INT8",   "UINT16", "INT16",      "INT32",      "INT64",    "STRING",
      "BOOL",           "FLOAT16",    "DOUBLE",         "UINT32", "UINT64", "COMPLEX64",  "COMPLEX128", "BFLOAT16", "FLOAT8E4M3FN",
      "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",  "INT4",   "FLOAT4E2M1", "FLOAT8E8M0", "UINT2",    "INT2"};
  if (tensor_type >= 0 && static_cast<size_t>(tensor_type) < std::size(kNames)) return kNames[tensor_type];
  return "number " + std::to_string(tensor_type);
}

namespace {
// Bytes of the UTF-8 sequence that starts here, 0 when it is not sound or a control character.
size_t SoundBytes(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : 0; };
  const uint8_t first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  uint32_t code = first & (0x7f >> length);
  if (first < 0xc2 || first > 0xf4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool shortest = length == 2 || (length == 3 ? code >= 0x800 : code >= 0x10000);
  return shortest && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) && (code > 0x9f) ? length : 0;
}
}  // namespace

std::string Printable(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size() && out.size() < 200;) {
    const size_t length = SoundBytes(text, at);
    out += length == 0 ? "?" : text.substr(at, length);
    at += std::max<size_t>(length, 1);
  }
  return out;
}

bool IsPlainName(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = SoundBytes(text, at);
    if (length == 0) return false;
    at += length;
  }
  return !text.empty();
}

namespace {
Status SetTexts(const pb::TensorProto& tensor, Texts& texts, Weight& weight) {
  if (tensor.string_data_size() != weight.count())
    return Fail(fmt::format("{} strings where its shape takes {}", tensor.string_data_size(), weight.count()));
  for (const std::string& text : tensor.string_data()) {
    const int64_t number = texts.Number(text);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&number);
    weight.bytes.insert(weight.bytes.end(), bytes, bytes + sizeof(number));
  }
  weight.held = true;
  return Status::Ok();
}
}  // namespace

Result<Weight> ReadTensor(const pb::TensorProto& tensor, std::span<const Piece> pieces, Model& model, Texts& texts,
                          const ReadOptions& options) {
  Weight weight;
  weight.name = Printable(tensor.name());
  weight.dtype = DTypeOf(tensor.data_type());
  if (weight.dtype == 0) {
    return Status(base::kUnimplemented, fmt::format("elements of type {} are not supported", TensorTypeName(tensor.data_type())));
  }
  if (tensor.has_segment()) return Status(base::kUnimplemented, "a tensor stored in segments is not supported");
  WF_RETURN_IF_ERROR(ReadShape(tensor.dims(), options.max_weight_bytes, weight));
  if (weight.dtype == kStringType) {
    WF_RETURN_IF_ERROR(SetTexts(tensor, texts, weight));
    return weight;
  }
  if (tensor.data_location() == 1) {
    WF_RETURN_IF_ERROR(ReadExternal(tensor, model, options, weight));
    return weight;
  }
  if (tensor.data_location() != 0) return Fail("a data location that is neither here nor external");
  if (!pieces.empty()) {
    WF_RETURN_IF_ERROR(PlacePiece(tensor, pieces, weight));
    return weight;
  }
  std::vector<uint8_t> stored = StoredOf(tensor, weight.dtype);
  weight.held = true;
  if (static_cast<int64_t>(stored.size()) != weight.stored_bytes()) {
    return Fail(fmt::format("{} bytes of elements where its shape takes {}", stored.size(), weight.stored_bytes()));
  }
  if (!IsNarrow(weight.dtype)) {
    weight.bytes = std::move(stored);
    return weight;
  }
  weight.bytes.resize(static_cast<size_t>(weight.size_bytes()));
  base::Unpack(NarrowOf(weight.dtype), stored, weight.bytes);
  return weight;
}

namespace {

Status DecodeVarints(const ByteSource& source, const Weight& weight, std::span<uint8_t> out) {
  const int64_t size = IsNarrow(weight.dtype) ? 1 : base::DTypeSize(weight.dtype);
  std::vector<uint8_t> window;
  uint64_t value = 0;
  int shift = 0;
  size_t written = 0;
  for (uint64_t at = 0; at < weight.length;) {
    window.resize(std::min<uint64_t>(64 << 10, weight.length - at));
    WF_RETURN_IF_ERROR(source.Read(weight.offset + at, window));
    for (const uint8_t byte : window) {
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (written + size > out.size())
        return Fail(fmt::format("`{}`: `{}` holds more elements than its shape", source.name(), weight.name));
      if (weight.dtype == WF_BOOL) value = value != 0 ? 1 : 0;
      std::memcpy(out.data() + written, &value, size);
      written += size;
      value = 0;
      shift = 0;
    }
    at += window.size();
  }
  return written == out.size() ? Status::Ok()
                               : Fail(fmt::format("`{}`: `{}` holds fewer elements than its shape", source.name(), weight.name));
}

}  // namespace

Status ReadElements(const Model& model, const Weight& weight, std::span<uint8_t> out) {
  WF_CHECK(static_cast<int64_t>(out.size()) == weight.size_bytes(), out.size(), weight.size_bytes());
  if (weight.held) {
    std::copy(weight.bytes.begin(), weight.bytes.end(), out.begin());
    return Status::Ok();
  }
  const ByteSource& source = *model.files[weight.file];
  const std::span<uint8_t> stored = out.last(static_cast<size_t>(weight.stored_bytes()));
  if (weight.encoding == Encoding::kVarint) {
    WF_RETURN_IF_ERROR(DecodeVarints(source, weight, stored));
  } else {
    WF_RETURN_IF_ERROR(source.Read(weight.offset, stored));
    if (weight.dtype == WF_BOOL) MakeBools(out);
  }
  if (IsNarrow(weight.dtype)) base::Unpack(NarrowOf(weight.dtype), stored, out);
  return Status::Ok();
}

namespace {

Result<std::vector<uint8_t>> ElementsOf(const Model& model, const Weight& weight) {
  std::vector<uint8_t> bytes(static_cast<size_t>(weight.size_bytes()));
  WF_RETURN_IF_ERROR(ReadElements(model, weight, bytes));
  return bytes;
}

// Where an element lies that has this index in all, or one for each axis; -1: outside.
int64_t PlaceOf(std::span<const int64_t> index, const Weight& dense) {
  if (index.size() == 1) return index[0] < 0 || index[0] >= dense.count() ? -1 : index[0];
  int64_t place = 0;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    if (index[axis] < 0 || index[axis] >= dense.dim[axis]) return -1;
    place = place * dense.dim[axis] + index[axis];
  }
  return place;
}

}  // namespace

int64_t MostSparseBytes(const Model& model) {
  constexpr int64_t kMost = int64_t{16} << 20, kOfEachByte = 16, kLargest = int64_t{1} << 50;
  const uint64_t file = model.files.empty() ? 0 : model.files[0]->size();
  return kMost + kOfEachByte * static_cast<int64_t>(std::min<uint64_t>(file, kLargest));
}

Result<Weight> ReadSparseTensor(const pb::SparseTensorProto& sparse, Model& model, Texts& texts, const ReadOptions& options,
                                int64_t& left_bytes) {
  const auto values = ReadTensor(sparse.values(), {}, model, texts, options), at = ReadTensor(sparse.indices(), {}, model, texts, options);
  for (const auto* each : {&values, &at}) {
    if (!each->ok()) return each->status();
  }
  if (values->dtype == kStringType) return Status(base::kUnimplemented, "sparse strings are not supported");
  Weight dense;
  dense.name = values->name;
  dense.dtype = values->dtype;
  dense.held = true;
  dense.is_sparse = true;
  WF_RETURN_IF_ERROR(ReadShape(sparse.dims(), options.max_weight_bytes, dense));
  if (dense.size_bytes() > left_bytes)
    return Status(base::kOutOfRange, fmt::format("{} bytes of what is stored sparse, {} are left for it", dense.size_bytes(), left_bytes));
  left_bytes -= dense.size_bytes();
  const int64_t count = values->count(), rank = static_cast<int64_t>(dense.dim.size());
  const bool is_flat = at->dim == std::vector<int64_t>{count};
  if (at->dtype != WF_I64 || values->dim.size() != 1 || (!is_flat && at->dim != std::vector<int64_t>{count, rank}))
    return Fail(fmt::format("{} sparse elements with other indices than i64[{}] or i64[{}, {}]", count, count, count, rank));
  const auto elements = ElementsOf(model, *values), places = ElementsOf(model, *at);
  for (const auto* each : {&elements, &places}) {
    if (!each->ok()) return each->status();
  }
  dense.bytes.resize(static_cast<size_t>(dense.size_bytes()));
  const size_t size = static_cast<size_t>(ElementSize(dense.dtype)), width = is_flat ? 1 : static_cast<size_t>(rank);
  std::vector<int64_t> index(width);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    if (width > 0) std::memcpy(index.data(), places->data() + i * width * sizeof(int64_t), width * sizeof(int64_t));
    const int64_t place = PlaceOf(index, dense);
    if (place < 0) return Fail(fmt::format("sparse element {} lies outside of the tensor", i));
    std::memcpy(dense.bytes.data() + static_cast<size_t>(place) * size, elements->data() + i * size, size);
  }
  return dense;
}

}  // namespace wf::onnx
