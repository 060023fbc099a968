#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/json/number.h"
#include "runtime/protocol/json/reader.h"

namespace wf::json {
namespace {

std::string_view Elements(int64_t count) { return count == 1 ? " element" : " elements"; }

// A tensor on its way in: elements arrive in row-major order, so that free extents need no second look at the text.
// Bounds: the buffer doubles, so it is at most twice the elements seen, plus the first guess of at most two elements per three bytes of
// text.
class TensorReader {
 public:
  TensorReader(wf_json* in, const wf_type& type, wf_tensor* out)
      : in_(in), type_(type), out_(out), element_bytes_(DtypeBytes(type.dtype)) {}

  wf_code Read();

 private:
  wf_code ReadAxis(uint32_t axis);
  template <typename T>
  wf_code ReadRow(int64_t* extent);
  wf_code ReadElement();
  wf_code Fix(uint32_t axis, int64_t extent, const uint8_t* place);
  wf_code Grow(uint64_t wanted);
  wf_code FirstBuffer();
  wf_code FailedElement(const uint8_t* place);

  wf_json* in_;
  const wf_type& type_;
  wf_tensor* out_;
  size_t element_bytes_;
  uint8_t* data_ = nullptr;
  uint64_t capacity_ = 0, count_ = 0;  // elements
  int64_t index_[WF_MAX_RANK] = {};    // where the cursor stands, for messages
  bool fixed_[WF_MAX_RANK] = {};
};

constexpr uint64_t kPadBytes = 64;

wf_code TensorReader::Read() {
  out_->dtype = type_.dtype;
  out_->rank = type_.rank;
  out_->space = 0;
  out_->flags = 0;
  out_->device = 0;
  for (uint32_t axis = 0; axis < type_.rank; ++axis) {
    const int64_t extent = type_.dim == nullptr ? -1 : type_.dim[axis];
    fixed_[axis] = extent >= 0;
    out_->dim[axis] = std::max<int64_t>(extent, 0);
  }
  if (FirstBuffer() != 0) return WF_FAILED;
  if (type_.rank == 0) {
    if (ReadElement() != 0) return WF_FAILED;
  } else if (ReadAxis(0) != 0) {
    return WF_FAILED;
  }
  int64_t stride = 1;
  for (uint32_t axis = type_.rank; axis-- > 0;) {
    out_->stride[axis] = stride;
    stride *= std::max<int64_t>(out_->dim[axis], 1);
  }
  out_->data = data_;
  return 0;
}

// Commas from an opening bracket to the one that closes it: in numbers, one less than there are elements. Blocks that cannot hold the end
// are counted as a whole.
uint64_t CountCommas(const uint8_t* at, const uint8_t* end) {
  constexpr int kBlock = 64;
  uint64_t commas = 0;
  int64_t depth = 0;
  while (at != end) {
    if (end - at >= kBlock && depth > 0) {
      uint8_t here = 0, opened = 0, closed = 0;
      for (int i = 0; i < kBlock; ++i) {
        here = static_cast<uint8_t>(here + (at[i] == ','));
        opened = static_cast<uint8_t>(opened + (at[i] == '['));
        closed = static_cast<uint8_t>(closed + (at[i] == ']'));
      }
      if (depth > closed) {
        commas += here;
        depth += opened - closed;
        at += kBlock;
        continue;
      }
    }
    const uint8_t* const stop = at + std::min<ptrdiff_t>(kBlock, end - at);
    for (; at != stop; ++at) {
      commas += *at == ',';
      depth += *at == '[';
      if (*at == ']' && --depth <= 0) return commas;
    }
  }
  return commas;
}

// The whole tensor. A text too short for its tensor fails at the first short row, so memory follows the text, not the signature.
wf_code TensorReader::FirstBuffer() {
  uint64_t elements = 1;
  bool known = true;
  for (uint32_t axis = 0; axis < type_.rank; ++axis) {
    known = known && fixed_[axis];
    if (fixed_[axis] && __builtin_mul_overflow(elements, static_cast<uint64_t>(out_->dim[axis]), &elements)) elements = UINT64_MAX;
  }
  const auto most = static_cast<uint64_t>(in_->end - in_->at) / 2 + 1;  // an element takes a digit and a comma
  if (known && elements <= most) return Grow(elements);
  return Grow(Peek(in_) == '[' ? CountCommas(in_->at, in_->end) + 1 : 1);
}

wf_code TensorReader::Grow(uint64_t wanted) {
  const uint64_t capacity = std::max<uint64_t>({wanted, capacity_ * 2, 4});
  const uint64_t bytes = (capacity * element_bytes_ + kPadBytes - 1) / kPadBytes * kPadBytes;
  auto* data = static_cast<uint8_t*>(wf_alloc(in_->ctx, bytes, WF_ALIGN));
  if (data == nullptr) return WF_FAILED;
  if (count_ != 0) std::memcpy(data, data_, count_ * element_bytes_);
  data_ = data;
  capacity_ = bytes / element_bytes_;
  return 0;
}

// Says why no element of this type stands at `place`.
wf_code TensorReader::FailedElement(const uint8_t* place) {
  in_->at = place;
  Number number;
  base::TextBuilder message;
  PutPath(in_, in_->depth, &message, {index_, type_.rank});
  if (type_.dtype == WF_BOOL || !ScanNumber(place, in_->end, &number)) {
    const std::string_view problem = type_.dtype == WF_BOOL ? std::string_view() : NumberProblem(place, in_->end);
    message << (problem.empty() ? "expected " : problem);
    if (problem.empty()) message << (type_.dtype == WF_BOOL ? "`true` or `false`" : "a number") << ", found ";
    if (Peek(in_) == '[')
      message << "an array: more than the " << static_cast<uint32_t>(type_.rank) << (type_.rank == 1 ? " axis of " : " axes of ")
              << View(type_.name);
    else if (problem.empty())
      PutFound(in_, &message);
  } else {
    uint64_t ignored = 0;
    PutUnfit(number, type_.dtype, StoreNumber(number, type_.dtype, &ignored), &message);
  }
  PutPlace(in_, in_->at, &message);
  return Record(in_->ctx, code::kInputParams, message);
}

// Checks the extent of a finished array against the signature or the first array of this axis.
wf_code TensorReader::Fix(uint32_t axis, int64_t extent, const uint8_t* place) {
  if (!fixed_[axis]) {
    fixed_[axis] = true;
    out_->dim[axis] = extent;
    return 0;
  }
  if (out_->dim[axis] == extent) return 0;
  in_->at = place;
  base::TextBuilder message;
  PutPath(in_, in_->depth, &message);
  message << "expected " << out_->dim[axis] << Elements(out_->dim[axis]) << " on axis " << axis << " of " << View(type_.name) << ", found "
          << extent;
  PutPlace(in_, in_->at, &message);
  return Record(in_->ctx, code::kInputParams, message);
}

template <typename T>
inline Stored StoreAs(const Number& number, uint32_t dtype, T* out) {
  if constexpr (std::is_same_v<T, float>)
    return StoreFloat(number, out);
  else if constexpr (std::is_same_v<T, double>)
    return StoreDouble(number, out);
  else {
    if (dtype == WF_F16 || dtype == WF_BF16) return StoreNumber(number, dtype, out);
    return StoreInteger(number, out);
  }
}

// The innermost axis: the loop that a large body spends its time in.
template <typename T>
wf_code TensorReader::ReadRow(int64_t* extent) {
  int64_t n = 0;
  if (Take(in_, ']')) {
    *extent = 0;
    return 0;
  }
  while (true) {
    SkipSpace(in_);
    if (count_ == capacity_ && Grow(count_ + 1) != 0) return WF_FAILED;
    Number number;
    const uint8_t* place = in_->at;
    if (!ScanNumber(place, in_->end, &number) || StoreAs(number, type_.dtype, reinterpret_cast<T*>(data_) + count_) != Stored::kOk) {
      index_[type_.rank - 1] = n;
      return FailedElement(place);
    }
    in_->at = number.end;
    ++count_;
    ++n;
    const uint8_t next = Peek(in_);
    if (next == ',') {
      ++in_->at;
    } else if (next == ']') {
      ++in_->at;
      *extent = n;
      return 0;
    } else {
      return Expected(in_, "`,` or `]`");
    }
  }
}

// A bool, or the one number of a tensor without axes.
wf_code TensorReader::ReadElement() {
  if (count_ == capacity_ && Grow(count_ + 1) != 0) return WF_FAILED;
  uint8_t* to = data_ + count_ * element_bytes_;
  SkipSpace(in_);
  const uint8_t* place = in_->at;
  if (type_.dtype == WF_BOOL) {
    const bool yes = TakeWord(in_, "true");
    if (!yes && !TakeWord(in_, "false")) return FailedElement(place);
    *to = yes ? 1 : 0;
  } else {
    Number number;
    if (!ScanNumber(place, in_->end, &number) || StoreNumber(number, type_.dtype, to) != Stored::kOk) return FailedElement(place);
    in_->at = number.end;
  }
  ++count_;
  return 0;
}

// Recursion is on the signature's rank, at most WF_MAX_RANK, whatever the text holds.
wf_code TensorReader::ReadAxis(uint32_t axis) {
  if (Peek(in_) != '[') {
    base::TextBuilder what;
    what << "an array (axis " << axis << " of " << View(type_.name) << ")";
    return Expected(in_, what.view());
  }
  const uint8_t* place = in_->at++;
  int64_t extent = 0;
  if (axis + 1 == type_.rank && type_.dtype != WF_BOOL) {
    wf_code code = 0;
    switch (type_.dtype) {
      case WF_I8:
        code = ReadRow<int8_t>(&extent);
        break;
      case WF_I16:
        code = ReadRow<int16_t>(&extent);
        break;
      case WF_I32:
        code = ReadRow<int32_t>(&extent);
        break;
      case WF_I64:
        code = ReadRow<int64_t>(&extent);
        break;
      case WF_U8:
        code = ReadRow<uint8_t>(&extent);
        break;
      case WF_U32:
        code = ReadRow<uint32_t>(&extent);
        break;
      case WF_U64:
        code = ReadRow<uint64_t>(&extent);
        break;
      case WF_F32:
        code = ReadRow<float>(&extent);
        break;
      case WF_F64:
        code = ReadRow<double>(&extent);
        break;
      default:
        code = ReadRow<uint16_t>(&extent);
        break;
    }
    return code != 0 ? code : Fix(axis, extent, place);
  }
  if (!Take(in_, ']')) {
    while (true) {
      index_[axis] = extent;
      const wf_code code = axis + 1 == type_.rank ? ReadElement() : ReadAxis(axis + 1);
      if (code != 0) return code;
      ++extent;
      if (Take(in_, ']')) break;
      if (!Take(in_, ',')) return Expected(in_, "`,` or `]`");
    }
  }
  return Fix(axis, extent, place);
}

// Numbers or strings of a declared shape; `read` takes one element.
template <typename ReadElementAt>
class ShapeWalker {
 public:
  ShapeWalker(wf_json* in, std::span<const int64_t> extents, ReadElementAt read) : in_(in), extents_(extents), read_(std::move(read)) {}

  // Nested exactly as the shape says, or one flat array.
  wf_code Walk(uint64_t count) {
    if (Peek(in_) != '[') return Expected(in_, "an array");
    const uint8_t* const begin = in_->at++;
    const bool nested = Peek(in_) == '[';
    in_->at = begin;
    return nested && extents_.size() > 1 ? WalkAxis(0) : WalkFlat(count);
  }

 private:
  wf_code WalkFlat(uint64_t count) {
    ++in_->at;
    if (!Take(in_, ']')) {
      do {
        if (n_ == count) {
          base::TextBuilder what;
          what << "more than the " << count << Elements(static_cast<int64_t>(count)) << " of the shape";
          return Refuse(in_, what.view());
        }
        if (read_(n_++) != 0) return WF_FAILED;
      } while (Take(in_, ','));
      if (!Take(in_, ']')) return Expected(in_, "`,` or `]`");
    }
    if (n_ == count) return 0;
    base::TextBuilder what;
    what << "expected " << count << Elements(static_cast<int64_t>(count)) << ", as the shape says, found " << n_;
    return Refuse(in_, what.view());
  }

  // Recursion is on the axes of the shape, which are few, whatever the text holds.
  wf_code WalkAxis(size_t axis) {
    if (Peek(in_) != '[') return Expected(in_, "an array, as the others of its axis");
    ++in_->at;
    int64_t extent = 0;
    if (!Take(in_, ']')) {
      ++in_->depth;
      do {
        if (extent == extents_[axis]) return --in_->depth, WrongExtent(axis, "more");
        if (in_->depth <= kPathLevels) in_->path[in_->depth - 1] = {nullptr, static_cast<uint64_t>(extent) + 1};
        ++extent;
        if ((axis + 1 == extents_.size() ? read_(n_++) : WalkAxis(axis + 1)) != 0) return WF_FAILED;
      } while (Take(in_, ','));
      --in_->depth;
      if (!Take(in_, ']')) return Expected(in_, "`,` or `]`");
    }
    if (extent == extents_[axis]) return 0;
    base::TextBuilder found;
    found << extent;
    return WrongExtent(axis, found.view());
  }

  wf_code WrongExtent(size_t axis, std::string_view found) {
    base::TextBuilder what;
    what << "expected " << extents_[axis] << Elements(extents_[axis]) << " on axis " << static_cast<uint64_t>(axis)
         << " of the shape, found " << found;
    return Refuse(in_, what.view());
  }

  wf_json* in_;
  std::span<const int64_t> extents_;
  ReadElementAt read_;
  uint64_t n_ = 0;
};

// Is the next element a `null`, where one may be? Then it is zero.
bool TakeNullAt(wf_json* in, uint8_t* nulls, uint64_t n, void* place, size_t bytes) {
  if (nulls == nullptr || !TakeNull(in)) return false;
  nulls[n] = 1;
  std::memset(place, 0, bytes);
  return true;
}

}  // namespace

wf_code ReadShaped(wf_json* in, uint32_t dtype, const ShapedText& text, void* out) {
  const size_t element_bytes = DtypeBytes(dtype);
  auto* to = static_cast<uint8_t*>(out);
  const auto read = [&](uint64_t n) {
    uint8_t* const place = to + n * element_bytes;
    return TakeNullAt(in, text.nulls, n, place, element_bytes) ? 0 : wf_json_scalar(in, dtype, place);
  };
  return ShapeWalker(in, text.extents, read).Walk(text.count);
}

wf_code ReadShapedStrings(wf_json* in, const ShapedText& text, wf_bytes* out) {
  const auto read = [&](uint64_t n) { return TakeNullAt(in, text.nulls, n, out + n, sizeof *out) ? 0 : wf_json_string(in, out + n); };
  return ShapeWalker(in, text.extents, read).Walk(text.count);
}

}  // namespace wf::json

extern "C" wf_code wf_json_tensor(wf_json* in, const wf_type* type, wf_tensor* out) noexcept {
  return wf::json::TensorReader(in, *type, out).Read();
}
