#include "compiler/sema/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "runtime/abi/dtype.h"

namespace wf::sema {
namespace {

using base::Status;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 65'536;
constexpr std::array<std::pair<std::string_view, ir::DType>, 12> kTypes = {{{"|b1", ir::DType::kBool},
                                                                            {"|i1", ir::DType::kI8},
                                                                            {"|u1", ir::DType::kU8},
                                                                            {"<i2", ir::DType::kI16},
                                                                            {"<u2", ir::DType::kU16},
                                                                            {"<i4", ir::DType::kI32},
                                                                            {"<u4", ir::DType::kU32},
                                                                            {"<i8", ir::DType::kI64},
                                                                            {"<u8", ir::DType::kU64},
                                                                            {"<f2", ir::DType::kF16},
                                                                            {"<f4", ir::DType::kF32},
                                                                            {"<f8", ir::DType::kF64}}};

Status Wrong(std::string what) { return {base::kInvalidArgument, std::move(what)}; }

// The header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  Status Read(NpyArray& array) {
    if (!Take('{')) return Wrong("its header is no dictionary");
    while (!Take('}')) {
      const std::optional<std::string_view> key = String();
      if (!key || !Take(':')) return Wrong("its header is no dictionary");
      WF_RETURN_IF_ERROR(Entry(*key, array));
      if (!Take(',') && Peek() != '}') return Wrong("its header is no dictionary");
    }
    if (array.dtype == ir::DType::kNone || !has_order_ || !has_shape_) return Wrong("its header lacks `descr`, `fortran_order` or `shape`");
    if (!Rest().empty()) return Wrong("its header does not end where it says");
    if (is_fortran_ && array.dims.size() > 1) return Wrong("its elements stand column by column; save `numpy.ascontiguousarray(x)`");
    return {};
  }

 private:
  std::string_view Rest() {
    const size_t at = text_.find_first_not_of(" \t\n\r");
    text_.remove_prefix(std::min(at, text_.size()));
    return text_;
  }
  char Peek() { return Rest().empty() ? '\0' : text_[0]; }
  bool Take(char wanted) {
    if (Peek() != wanted || wanted == '\0') return false;
    text_.remove_prefix(1);
    return true;
  }
  bool TakeWord(std::string_view word) {
    if (!Rest().starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> String() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return text;
  }

  Status Entry(std::string_view key, NpyArray& array) {
    if (key == "descr") return Descr(array);
    if (key == "shape") return Shape(array);
    if (key != "fortran_order") return Wrong("its header has an entry `" + std::string(key.substr(0, 40)) + "`");
    has_order_ = true;
    is_fortran_ = TakeWord("True");
    return is_fortran_ || TakeWord("False") ? Status() : Wrong("`fortran_order` is neither True nor False");
  }

  Status Descr(NpyArray& array) {
    const std::optional<std::string_view> descr = String();
    if (!descr) return Wrong("its elements are records; one number each is needed");
    const auto known = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& row) { return row.first == *descr; });
    if (known == kTypes.end()) {
      const std::string name(descr->substr(0, 40));
      if (descr->starts_with('>'))
        return Wrong("its elements are big-endian (`" + name + "`); save `x.astype(\"<" + name.substr(1) + "\")`");
      return Wrong("its elements are `" + name + "`; numbers and bools can be read");
    }
    array.dtype = known->second;
    return {};
  }

  Status Shape(NpyArray& array) {
    has_shape_ = true;
    array.dims.clear();
    if (!Take('(')) return Wrong("`shape` is no tuple");
    while (!Take(')')) {
      Rest();
      int64_t extent = -1;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) return Wrong("`shape` holds what is no extent");
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      array.dims.push_back(extent);
      if (!Take(',') && Peek() != ')') return Wrong("`shape` is no tuple");
    }
    if (array.dims.size() <= WF_MAX_RANK) return {};
    return Wrong("it has " + std::to_string(array.dims.size()) + " axes; at most " + std::to_string(WF_MAX_RANK) + " are possible");
  }

  std::string_view text_;
  bool has_order_ = false, has_shape_ = false, is_fortran_ = false;
};

}  // namespace

base::Result<NpyArray> ReadNpy(std::string_view content) {
  constexpr size_t kVersionAt = 6, kLengthAt = 8;
  if (!content.starts_with(kMagic) || content.size() < kLengthAt) return Wrong("it is no file of numpy.save");
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(content[at]); };
  const int version = byte(kVersionAt);
  if (version < 1 || version > 3) return Wrong("its format is " + std::to_string(version) + "; 1 to 3 can be read");
  const size_t length_bytes = version == 1 ? 2 : 4, header_at = kLengthAt + length_bytes;
  if (content.size() < header_at) return Wrong("it ends within its header");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= size_t{byte(kLengthAt + i)} << (8 * i);
  if (length > kMaxHeader) return Wrong("its header is longer than " + std::to_string(kMaxHeader) + " bytes");
  if (content.size() - header_at < length) return Wrong("it ends within its header");
  NpyArray array;
  WF_RETURN_IF_ERROR(HeaderReader(content.substr(header_at, length)).Read(array));
  array.elements = content.substr(header_at + length);
  const uint64_t bytes = abi::DenseBytes(static_cast<uint8_t>(array.dtype), static_cast<uint32_t>(array.dims.size()), array.dims.data());
  if (bytes != array.elements.size()) {
    const std::string wanted =
        bytes == UINT64_MAX ? "more bytes of elements than any memory has" : std::to_string(bytes) + " bytes of elements";
    return Wrong("its shape needs " + wanted + ", found " + std::to_string(array.elements.size()));
  }
  const auto is_no_bool = [](char value) { return value != 0 && value != 1; };
  if (array.dtype == ir::DType::kBool && std::any_of(array.elements.begin(), array.elements.end(), is_no_bool)) {
    return Wrong("it holds bools that are neither 0 nor 1");
  }
  return array;
}

}  // namespace wf::sema
