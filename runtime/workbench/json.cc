#include "runtime/workbench/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/base/json_text.h"
#include "runtime/base/text.h"
#include "runtime/workbench/agree.h"
#include "runtime/workbench/convert.h"

namespace wf::workbench {
namespace {

using base::Result;
using base::Status;

constexpr int kMostDepth = 32;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Reads a document from front to back.   Borrows: the text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  char Peek() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  size_t at() const { return at_; }
  std::string_view Since(size_t begin) const { return text_.substr(begin, at_ - begin); }
  bool at_end() { return Peek() == '\0' && at_ == text_.size(); }

  // What stands until the next mark: a number, `true`, a word that is none.
  std::string_view Word() {
    Peek();
    const size_t begin = at_;
    while (at_ < text_.size() && !IsSpace(text_[at_]) && std::string_view(",]}:[{\"").find(text_[at_]) == std::string_view::npos) ++at_;
    return Since(begin);
  }

  // A string without its quotes, as it stands.
  std::optional<std::string_view> Quoted() {
    if (!Take('"')) return std::nullopt;
    const size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return std::nullopt;
      if (text_[at_] == '\\') ++at_;
    }
    if (at_ >= text_.size()) return std::nullopt;
    return text_.substr(begin, at_++ - begin);
  }

  // Past a value of any kind; its brackets are paired, what stands between them is looked at by who reads it.
  bool Skip() {
    std::string open;
    do {
      const char c = Peek();
      if (c == '[' || c == '{') {
        if (open.size() == kMostDepth) return false;
        open += c == '[' ? ']' : '}';
        ++at_;
      } else if (c == ']' || c == '}') {
        if (open.empty() || open.back() != c) return false;
        open.pop_back();
        ++at_;
      } else if (!open.empty() && (c == ',' || c == ':')) {
        ++at_;
      } else if (c == '"' ? !Quoted() : Word().empty()) {
        return false;
      }
    } while (!open.empty());
    return true;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

void PutUtf8(uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

std::optional<uint32_t> Hex4(std::string_view text) {
  uint32_t code = 0;
  if (text.size() < 4) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + 4, code, 16);
  return error == std::errc() && end == text.data() + 4 ? std::optional(code) : std::nullopt;
}

// What a string says whose escapes stand as they were written.
std::optional<std::string> Unescaped(std::string_view text) {
  constexpr std::string_view kMarks = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    const char mark = text[++at];  // Quoted() ends at no backslash
    if (const size_t which = kMarks.find(mark); which != std::string_view::npos) {
      out += kMeant[which];
      continue;
    }
    auto code = mark == 'u' ? Hex4(text.substr(at + 1)) : std::nullopt;
    if (!code) return std::nullopt;
    at += 4;
    if (*code >= 0xd800 && *code < 0xdc00 && text.substr(at + 1).starts_with("\\u")) {
      const auto low = Hex4(text.substr(at + 3));
      if (!low || *low < 0xdc00 || *low > 0xdfff) return std::nullopt;
      code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
      at += 6;
    }
    if (*code >= 0xd800 && *code <= 0xdfff) return std::nullopt;
    PutUtf8(*code, out);
  }
  return base::IsUtf8(out) ? std::optional(std::move(out)) : std::nullopt;
}

bool IsNumber(std::string_view text) {  // of JSON: 1, -0.5, 1e9
  size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - begin;
  };
  const bool zero = at < text.size() && text[at] == '0';
  if (const size_t whole = digits(); whole == 0 || (zero && whole > 1)) return false;
  if (at < text.size() && text[at] == '.' && (++at, digits() == 0)) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

template <typename T>
bool Store(std::string_view text, bool is_quoted, void* out) {
  T value{};
  if constexpr (std::is_floating_point_v<T>) {
    if (is_quoted) {
      if (text != "nan" && text != "inf" && text != "-inf") return false;
      value = text == "nan"   ? std::numeric_limits<T>::quiet_NaN()
              : text == "inf" ? std::numeric_limits<T>::infinity()
                              : -std::numeric_limits<T>::infinity();
      std::memcpy(out, &value, sizeof(value));
      return true;
    }
  }
  if (is_quoted || !IsNumber(text)) return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if constexpr (std::is_floating_point_v<T>) {
    // Too small a number is 0; one that is too large has no element.
    if (error == std::errc::result_out_of_range && std::fabs(std::strtod(std::string(text).c_str(), nullptr)) < 1) {
      value = text[0] == '-' ? -T{0} : T{0};
      error = std::errc();
    }
  }
  if (error != std::errc() || end != text.data() + text.size()) return false;
  std::memcpy(out, &value, sizeof(value));
  return true;
}

bool StoreBool(std::string_view text, bool is_quoted, void* out) {
  const bool value = text == "true" || text == "1";
  if (is_quoted || (!value && text != "false" && text != "0")) return false;
  *static_cast<uint8_t*>(out) = value ? 1 : 0;
  return true;
}

using StoreFn = bool (*)(std::string_view, bool, void*);
StoreFn StoreOf(uint8_t dtype) {
  constexpr StoreFn kStores[] = {nullptr,        StoreBool,      Store<int8_t>,   Store<int16_t>,  Store<int32_t>,
                                 Store<int64_t>, Store<uint8_t>, Store<uint16_t>, Store<uint32_t>, Store<uint64_t>,
                                 Store<float>,   Store<float>,   Store<float>,    Store<double>};
  static_assert(std::size(kStores) == WF_DTYPE_COUNT);
  return kStores[dtype];
}

// Reads the arrays of one value twice: for their extents, then for their elements.
class ArrayReader {
 public:
  ArrayReader(std::string_view text, const onnx::Port& port) : text_(text), port_(port) {}

  Result<Tensor> Read() {
    WF_RETURN_IF_ERROR(FindExtents());
    // 16-bit floats are made of what f32 holds of the numbers.
    const bool is_narrow = port_.dtype == WF_F16 || port_.dtype == WF_BF16;
    int64_t least = 1;  // of the first elements, when each has a digit
    for (const int64_t extent : dim_) {
      if (__builtin_mul_overflow(least, extent, &least)) return Uneven({}, 0);
    }
    if (least > static_cast<int64_t>(text_.size())) return Uneven({}, 0);
    const bool is_text = port_.dtype == onnx::kStringType;
    auto tensor = is_text ? Result(Tensor{port_.dtype, dim_, nullptr}) : MakeTensor(is_narrow ? uint8_t{WF_F32} : port_.dtype, dim_);
    if (!tensor.ok()) return tensor;
    WF_RETURN_IF_ERROR(ReadElements(*tensor));
    if (is_text) return MakeTexts(std::move(texts_), dim_);
    return is_narrow ? Convert(*tensor, port_.dtype) : tensor;
  }

 private:
  Status Fail(const std::string& text) const { return Status(base::kInvalidArgument, text); }

  // Along the first elements; where one is empty, the axes behind it are the port's.
  Status FindExtents() {
    const size_t rank = port_.dim.size();
    Cursor cursor(text_);
    bool is_empty = false;
    for (size_t axis = 0; axis < rank; ++axis) {
      dim_.push_back(port_.dim[axis].constant().value_or(0));
      if (is_empty) continue;
      Cursor here = cursor;
      if (!here.Take('[')) return Fail(fmt::format("an array of {} axes is wanted, there {} {}", rank, axis == 1 ? "is" : "are", axis));
      cursor = here;
      dim_.back() = 0;
      is_empty = here.Peek() == ']';
      while (!is_empty) {
        if (!here.Skip()) return Fail("it is no array of JSON");
        ++dim_.back();
        if (!here.Take(',')) break;
      }
    }
    return Status::Ok();
  }

  Status ReadElements(Tensor& tensor) {
    const size_t rank = dim_.size();
    Cursor cursor(text_);
    std::vector<int64_t> index(rank + 1);
    size_t axis = 0;  // arrays that are open
    int64_t at = 0;
    while (true) {
      if (axis < rank) {
        if (!cursor.Take('[')) return Uneven(index, axis);
        index[axis++] = 0;
        if (dim_[axis - 1] != 0) continue;
      } else {
        WF_RETURN_IF_ERROR(ReadElement(cursor, tensor, at++));
      }
      // Behind an element, or in an empty array: to the next element, closing what is full.
      while (axis > 0) {
        const bool full = dim_[axis - 1] == 0 || ++index[axis - 1] == dim_[axis - 1];
        if (!cursor.Take(full ? ']' : ',')) return Uneven(index, axis);
        if (!full) break;
        --axis;
      }
      if (axis == 0) break;
    }
    return cursor.at_end() ? Status::Ok() : Fail(fmt::format("byte {} is behind its end", cursor.at()));
  }

  Status ReadElement(Cursor& cursor, Tensor& tensor, int64_t at) {
    const char first = cursor.Peek();
    const auto quoted = first == '"' ? cursor.Quoted() : std::nullopt;
    const std::string_view text = quoted ? *quoted : cursor.Word();
    if (tensor.dtype == onnx::kStringType) {
      if (auto meant = quoted ? Unescaped(text) : std::nullopt) {
        texts_.push_back(*std::move(meant));
        return Status::Ok();
      }
    } else if (uint8_t* const out = tensor.elements.get() + at * base::DTypeSize(tensor.dtype);
               StoreOf(tensor.dtype)(text, quoted.has_value(), out)) {
      return Status::Ok();
    }
    const std::string index = IndexText(dim_, at);
    return Fail(fmt::format("{} is no {}", index.empty() ? "it" : "element " + index, onnx::TypeName(port_.dtype)));
  }

  Status Uneven(const std::vector<int64_t>& index, size_t axis) const {
    const std::vector<int64_t> place(index.begin(), index.begin() + static_cast<ptrdiff_t>(axis));
    return Fail(fmt::format("its arrays are not even: at [{}] they leave {}", fmt::join(place, ", "), ToTensorText()));
  }
  std::string ToTensorText() const { return fmt::format("[{}]", fmt::join(dim_, ", ")); }

  const std::string_view text_;
  const onnx::Port& port_;
  std::vector<int64_t> dim_;
  std::vector<std::string> texts_;  // elements so far, where they are strings
};

}  // namespace

Result<std::map<std::string, std::string_view>> MembersOf(std::string_view document) {
  Cursor cursor(document);
  std::map<std::string, std::string_view> members;
  const auto fail = [&] { return Status(base::kInvalidArgument, fmt::format("byte {}: it is no JSON of tensors", cursor.at())); };
  if (cursor.Peek() != '{') {
    const size_t begin = cursor.at();
    if (!cursor.Skip()) return fail();
    members[""] = cursor.Since(begin);
    return cursor.at_end() ? Result(std::move(members)) : Result<std::map<std::string, std::string_view>>(fail());
  }
  cursor.Take('{');
  for (bool first = true; !cursor.Take('}'); first = false) {
    if (!first && !cursor.Take(',')) return fail();
    const auto quoted = cursor.Quoted();
    const auto name = quoted ? Unescaped(*quoted) : std::nullopt;
    if (!name || !cursor.Take(':')) return fail();
    cursor.Peek();
    const size_t begin = cursor.at();
    if (!cursor.Skip()) return fail();
    if (!members.emplace(*name, cursor.Since(begin)).second) return Status(base::kInvalidArgument, fmt::format("`{}` stands twice", *name));
  }
  return cursor.at_end() ? Result(std::move(members)) : Result<std::map<std::string, std::string_view>>(fail());
}

Result<Tensor> TensorOfJson(std::string_view value, const onnx::Port& port) {
  if (port.dtype == 0 || (port.dtype >= WF_DTYPE_COUNT && port.dtype != onnx::kStringType))
    return Status(base::kUnimplemented, fmt::format("elements of type {} are not read", onnx::TypeName(port.dtype)));
  return ArrayReader(value, port).Read();
}

std::string JsonOf(const Tensor& tensor) {
  const size_t rank = tensor.dim.size();
  std::string out;
  const auto element = [&](int64_t at) {
    if (tensor.dtype == onnx::kStringType) {
      out += base::QuoteJson(TextAt(tensor, at));
      return;
    }
    const std::string text = ElementText(tensor, at);
    const bool is_word = text.ends_with("nan") || text.ends_with("inf");
    out += !is_word ? text : text.ends_with("nan") ? "\"nan\"" : '"' + text + '"';
  };
  const auto array = [&](const auto& self, size_t axis, int64_t at, int64_t step) -> void {  // at most WF_MAX_RANK deep
    if (axis == rank) return element(at);
    out += '[';
    const int64_t extent = tensor.dim[axis], inner = extent == 0 ? 0 : step / extent;
    for (int64_t i = 0; i < extent; ++i) {
      if (i > 0) out += ", ";
      self(self, axis + 1, at + i * inner, inner);
    }
    out += ']';
  };
  array(array, 0, 0, tensor.count());
  return out;
}

}  // namespace wf::workbench
