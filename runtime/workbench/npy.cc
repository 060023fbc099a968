#include "runtime/workbench/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/base/dtype.h"
#include "runtime/model/numbers.h"
#include "runtime/workbench/npy_text.h"

namespace wf::workbench {
namespace {

using base::Result;
using base::Status;

constexpr std::string_view kMagic = "\x93NUMPY";

struct ElementType {
  std::string_view text;  // behind the byte order
  uint8_t dtype;
};
constexpr std::array kTypes = {ElementType{"b1", WF_BOOL}, ElementType{"i1", WF_I8},  ElementType{"i2", WF_I16}, ElementType{"i4", WF_I32},
                               ElementType{"i8", WF_I64},  ElementType{"u1", WF_U8},  ElementType{"u2", WF_U16}, ElementType{"u4", WF_U32},
                               ElementType{"u8", WF_U64},  ElementType{"f2", WF_F16}, ElementType{"f4", WF_F32}, ElementType{"f8", WF_F64},
                               ElementType{"V2", WF_BF16}};

// The head of a file: a dictionary as Python writes it, `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
struct Head {
  std::string type;  // byte order and element
  bool columns_first = false;
  std::vector<int64_t> dim;
};

class HeadReader {
 public:
  explicit HeadReader(std::string_view text) : text_(text) {}

  std::optional<Head> Read() {
    Head head;
    std::array<bool, 3> seen{};
    if (!Take('{')) return std::nullopt;
    while (!Take('}')) {
      const auto key = Text();
      if (!key || !Take(':')) return std::nullopt;
      const size_t which = *key == "descr" ? 0 : *key == "fortran_order" ? 1 : *key == "shape" ? 2 : 3;
      if (which == 3 || std::exchange(seen[which], true) || !Value(which, head)) return std::nullopt;
      if (!Take(',') && Peek() != '}') return std::nullopt;
    }
    const bool whole = seen[0] && seen[1] && seen[2] && Peek() == '\0' && at_ == text_.size();
    return whole ? std::optional(std::move(head)) : std::nullopt;
  }

 private:
  char Peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    Peek();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  std::optional<std::string> Text() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(text);
  }
  bool Value(size_t which, Head& head) {
    if (which == 2) return Shape(head.dim);
    if (which == 1) return (head.columns_first = TakeWord("True")) || TakeWord("False");
    const auto text = Text();
    head.type = text.value_or("");
    return text.has_value();
  }
  bool Shape(std::vector<int64_t>& dim) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      int64_t extent = 0;
      Peek();
      const char* const end = text_.data() + text_.size();
      const auto [next, error] = std::from_chars(text_.data() + at_, end, extent);
      if (error != std::errc() || extent < 0 || dim.size() > WF_MAX_RANK) return false;
      at_ = static_cast<size_t>(next - text_.data());
      TakeWord("L");  // Python 2
      dim.push_back(extent);
      if (!Take(',') && Peek() != ')') return false;
    }
    return true;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

// The text of the head, and where the elements begin.
std::optional<std::pair<std::string_view, size_t>> FindHead(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic) || bytes.size() < 12 || bytes[6] < 1 || bytes[6] > 3) return std::nullopt;
  const bool is_short = bytes[6] == 1;
  const size_t begin = is_short ? 10 : 12;
  const size_t length = bytes[8] | bytes[9] << 8 | (is_short ? size_t{0} : size_t{bytes[10]} << 16 | size_t{bytes[11]} << 24);
  if (length > bytes.size() - begin) return std::nullopt;
  return std::pair(text.substr(begin, length), begin + length);
}

// Elements of `size` bytes whose first axis runs fastest, to those whose last does.
void TakeColumns(const uint8_t* from, size_t size, const std::vector<int64_t>& dim, std::span<uint8_t> to) {
  std::vector<int64_t> index(dim.size()), step(dim.size(), 1);
  for (size_t axis = 1; axis < step.size(); ++axis) step[axis] = step[axis - 1] * dim[axis - 1];
  int64_t at = 0;
  for (size_t i = 0; i < to.size(); i += size) {
    std::memcpy(to.data() + i, from + static_cast<size_t>(at) * size, size);
    for (size_t axis = index.size(); axis-- > 0;) {
      at += step[axis];
      if (++index[axis] < dim[axis]) break;
      at -= step[axis] * std::exchange(index[axis], 0);
    }
  }
}

void SwapBytes(Tensor& tensor, size_t size) {
  uint8_t* const end = tensor.elements.get() + tensor.size_bytes();
  for (uint8_t* at = tensor.elements.get(); at < end; at += size) std::reverse(at, at + size);
}

std::optional<uint8_t> DTypeOf(std::string_view type) {
  if (type.size() != 3 || std::string_view("<>|=").find(type[0]) == std::string_view::npos) return std::nullopt;
  const auto row = std::find_if(kTypes.begin(), kTypes.end(), [&](const ElementType& each) { return each.text == type.substr(1); });
  return row == kTypes.end() ? std::nullopt : std::optional(row->dtype);
}

// Bytes of a file, for messages.
std::string Plain(std::string text) {
  text.resize(std::min<size_t>(text.size(), 60));
  for (char& c : text) c = c < ' ' || c > '~' ? '?' : c;
  return text;
}

// Text without the file.
Result<Tensor> TextsOf(const TextType& type, const Head& head, std::span<const uint8_t> elements) {
  WF_RETURN_IF_ERROR(CheckShape(onnx::kStringType, head.dim));
  const int64_t count = Tensor{onnx::kStringType, head.dim, nullptr}.count();
  int64_t size = 0;
  if (count > 0 && type.length == 0) return Status(base::kInvalidArgument, "strings of length 0, for which it has no elements");
  if (__builtin_mul_overflow(type.size_bytes(), count, &size) || static_cast<int64_t>(elements.size()) != size)
    return Status(base::kInvalidArgument,
                  fmt::format("{} bytes of elements where {} strings have {} each", elements.size(), count, type.size_bytes()));
  if (!head.columns_first) return ReadTexts(type, head.dim, elements);
  std::vector<uint8_t> rows(elements.size());
  TakeColumns(elements.data(), static_cast<size_t>(type.size_bytes()), head.dim, rows);
  return ReadTexts(type, head.dim, rows);
}

// All of a file before the elements.
std::vector<uint8_t> HeadOf(std::string_view type, const std::vector<int64_t>& dim) {
  std::string shape;
  for (const int64_t extent : dim) shape += fmt::format("{}, ", extent);
  if (dim.size() > 1) shape.resize(shape.size() - 2);
  std::string head = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  head.resize((kMagic.size() + 4 + head.size() + 1 + 63) / 64 * 64 - kMagic.size() - 4, ' ');
  head.back() = '\n';
  std::vector<uint8_t> bytes(kMagic.begin(), kMagic.end());
  for (const size_t byte : {size_t{1}, size_t{0}, head.size() & 0xff, head.size() >> 8}) bytes.push_back(static_cast<uint8_t>(byte));
  bytes.insert(bytes.end(), head.begin(), head.end());
  return bytes;
}

}  // namespace

Result<Tensor> ReadNpy(std::span<const uint8_t> bytes, const std::string& name) {
  const auto fail = [&name](std::string text) { return Status(base::kInvalidArgument, fmt::format("`{}`: {}", name, text)); };
  const auto found = FindHead(bytes);
  if (!found) return fail("it is no .npy file");
  const auto head = HeadReader(found->first).Read();
  if (!head) return fail("the head of the .npy file cannot be read");
  const auto named = [&name](const Status& status) { return Status(status.code(), fmt::format("`{}`: {}", name, status.message())); };
  const std::span<const uint8_t> elements = bytes.subspan(found->second);
  if (const auto texts = TextTypeOf(head->type)) {
    auto read = TextsOf(*texts, *head, elements);
    return read.ok() ? std::move(read) : Result<Tensor>(named(read.status()));
  }
  const auto dtype = DTypeOf(head->type);
  if (!dtype)
    return Status(base::kUnimplemented, fmt::format("`{}`: elements of type `{}` are none that models take", name, Plain(head->type)));
  if (const Status fits = CheckShape(*dtype, head->dim); !fits.ok()) return named(fits);
  const Tensor shape{*dtype, head->dim, nullptr};
  if (static_cast<int64_t>(elements.size()) != shape.size_bytes())
    return fail(fmt::format("{} bytes of elements where {} has {}", elements.size(), shape.ToString(), shape.size_bytes()));
  auto tensor = MakeTensor(*dtype, head->dim);
  if (!tensor.ok()) return named(tensor.status());
  const auto size = static_cast<size_t>(base::DTypeSize(*dtype));
  if (head->columns_first) {
    TakeColumns(elements.data(), size, tensor->dim, {tensor->elements.get(), static_cast<size_t>(tensor->size_bytes())});
  } else if (!elements.empty()) {
    std::memcpy(tensor->elements.get(), elements.data(), elements.size());
  }
  if (head->type[0] == '>') SwapBytes(*tensor, size);
  MakeBools(*tensor);
  return tensor;
}

Result<std::vector<uint8_t>> WriteNpy(const Tensor& tensor) {
  if (tensor.dtype == onnx::kStringType) {
    const auto texts = WriteTexts(tensor);
    if (!texts.ok()) return texts.status();
    std::vector<uint8_t> bytes = HeadOf(texts->type, tensor.dim);
    bytes.insert(bytes.end(), texts->elements.begin(), texts->elements.end());
    return bytes;
  }
  if (onnx::IsNarrow(tensor.dtype)) return WriteNpy(InHolder(tensor));
  const uint8_t dtype = tensor.dtype == WF_BF16 ? uint8_t{WF_F32} : tensor.dtype;
  const auto row = std::find_if(kTypes.begin(), kTypes.end(), [&](const ElementType& each) { return each.dtype == dtype; });
  WF_CHECK(row != kTypes.end(), int{dtype});
  std::vector<uint8_t> bytes = HeadOf(fmt::format("{}{}", base::DTypeSize(dtype) == 1 ? '|' : '<', row->text), tensor.dim);
  if (dtype == tensor.dtype) {
    bytes.insert(bytes.end(), tensor.elements.get(), tensor.elements.get() + tensor.size_bytes());
    return bytes;
  }
  for (int64_t at = 0, count = tensor.count(); at < count; ++at) {
    const auto number = static_cast<float>(model::NumberAt(tensor.dtype, tensor.elements.get(), at));
    const auto* const first = reinterpret_cast<const uint8_t*>(&number);
    bytes.insert(bytes.end(), first, first + sizeof(number));
  }
  return bytes;
}

}  // namespace wf::workbench
