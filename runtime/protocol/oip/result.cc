#include "runtime/protocol/oip/result.h"

#include <algorithm>
#include <new>
#include <numeric>

#include "runtime/base/error_codes.h"
#include "runtime/base/half.h"
#include "runtime/protocol/json/number.h"

namespace wf::oip {
namespace {

template <typename T>
T Load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
T* Allocate(bus::Bus& bus, uint64_t count) {
  return static_cast<T*>(wf_alloc(bus.ctx(), std::max<uint64_t>(count, 1) * sizeof(T), alignof(T)));
}

// Orders places of numbers, the greatest first, of equals the earlier; NaN stands last.
template <typename T, typename Value>
void Rank(const std::byte* numbers, uint32_t* first, uint32_t* middle, uint32_t* last, Value value) {
  std::partial_sort(first, middle, last, [numbers, value](uint32_t a, uint32_t b) {
    const auto x = value(Load<T>(numbers + a * sizeof(T))), y = value(Load<T>(numbers + b * sizeof(T)));
    if (x > y || y > x) return x > y;
    const bool x_is_nan = x != x, y_is_nan = y != y;
    return x_is_nan == y_is_nan ? a < b : y_is_nan;
  });
}

void RankAs(uint8_t dtype, const std::byte* numbers, uint32_t* first, uint32_t* middle, uint32_t* last) {
  const auto same = [](auto value) { return value; };
  switch (dtype) {
    case WF_I8:
      return Rank<int8_t>(numbers, first, middle, last, same);
    case WF_I16:
      return Rank<int16_t>(numbers, first, middle, last, same);
    case WF_I32:
      return Rank<int32_t>(numbers, first, middle, last, same);
    case WF_I64:
      return Rank<int64_t>(numbers, first, middle, last, same);
    case WF_U16:
      return Rank<uint16_t>(numbers, first, middle, last, same);
    case WF_U32:
      return Rank<uint32_t>(numbers, first, middle, last, same);
    case WF_U64:
      return Rank<uint64_t>(numbers, first, middle, last, same);
    case WF_F16:
      return Rank<uint16_t>(numbers, first, middle, last, base::DoubleFromHalf);
    case WF_BF16:
      return Rank<uint16_t>(numbers, first, middle, last, base::FloatFromBfloat);
    case WF_F32:
      return Rank<float>(numbers, first, middle, last, same);
    case WF_F64:
      return Rank<double>(numbers, first, middle, last, same);
    default:  // WF_BOOL, WF_U8
      return Rank<uint8_t>(numbers, first, middle, last, same);
  }
}

}  // namespace

const std::byte* Result::ValueOf(const bus::Bus& bus, uint32_t sample) const {
  return static_cast<const std::byte*>(bus.frame(sample)) + bus.plan().slots[port_->slot].offset;
}

// Extents of a sample's value, without the axis of samples.
uint32_t Result::ExtentsOf(const bus::Bus& bus, uint32_t sample, int64_t (&dim)[WF_MAX_RANK]) const {
  if (shape_.form == Form::kTensor && shape_.type->kind == WF_T_TENSOR) {
    const auto tensor = Load<wf_tensor>(ValueOf(bus, sample));
    std::copy(tensor.dim, tensor.dim + tensor.rank, dim);
    return tensor.rank;
  }
  if (shape_.rank == 0) return 0;
  dim[0] = static_cast<int64_t>(Load<wf_list>(ValueOf(bus, sample)).len);
  return 1;
}

wf_code Result::Prepare(bus::Bus& bus, const InferRequest& request, AskedOutput asked) {
  port_ = &bus.workflow().out[asked.result];
  shape_ = ResultShapeOf(bus.plan(), *port_);
  samples_ = bus.samples();
  stacked_ = request.stacked();
  binary_ = request.is_binary(asked);
  if (Stack(bus) != 0) return WF_FAILED;
  if (asked.classes != 0) return GatherClasses(bus, asked.classes);
  return shape_.dtype == 0 ? GatherBytes(bus) : 0;
}

wf_code Result::Stack(bus::Bus& bus) {
  int64_t dim[WF_MAX_RANK];
  const uint32_t rank = ExtentsOf(bus, 0, dim);
  for (uint32_t s = 1; s < samples_; ++s) {
    int64_t other[WF_MAX_RANK];
    if (ExtentsOf(bus, s, other) == rank && std::equal(dim, dim + rank, other)) continue;
    base::TextBuilder message;
    message << "output `" << name() << "` of sample " << s << " has another shape than that of sample 0, so they cannot be stacked";
    return json::Record(bus.ctx(), code::kInference, message);
  }
  axes_ = 0;
  if (stacked_) extent_[axes_++] = samples_;
  std::copy(dim, dim + rank, extent_ + axes_);
  axes_ += rank;
  per_sample_ =
      std::accumulate(dim, dim + rank, uint64_t{1}, [](uint64_t all, int64_t extent) { return all * static_cast<uint64_t>(extent); });
  return 0;
}

// Says which output, and which sample, a failure is of.
wf_code Result::NameSample(bus::Bus& bus, uint32_t sample, wf_code code) const {
  const bus::Failure& failure = bus.main.TakeFailure(code);
  base::TextBuilder message;
  message << "output `" << name() << "`";
  if (stacked_) message << " of sample " << sample;
  message << ": " << failure.message;
  return json::Record(bus.ctx(), failure.code, message);
}

wf_code Result::GatherBytes(bus::Bus& bus) {
  is_text_ = shape_.form != Form::kBytes && shape_.form != Form::kByteses;
  auto* const elements = Allocate<wf_bytes>(bus, per_sample_ * samples_);
  if (elements == nullptr) return WF_FAILED;
  elements_ = elements;
  for (uint32_t s = 0; s < samples_; ++s) {
    if (const wf_code code = TakeBytes(bus, s, elements + s * per_sample_); code != 0) return NameSample(bus, s, code);
  }
  return 0;
}

wf_code Result::TakeBytes(bus::Bus& bus, uint32_t sample, wf_bytes* elements) {
  const std::byte* const value = ValueOf(bus, sample);
  if (shape_.rank != 0) {
    const auto list = Load<wf_list>(value);
    std::copy_n(static_cast<const wf_bytes*>(list.ptr), list.len, elements);
    return 0;
  }
  if (shape_.form != Form::kJson) {
    *elements = Load<wf_bytes>(value);
    return 0;
  }
  wf_sink text;
  if (const wf_code code = wf_json_put_value(bus.ctx(), &text, bus.plan().types, port_->type, value); code != 0) return code;
  auto* const joined = Allocate<uint8_t>(bus, text.size());
  if (joined == nullptr) return WF_FAILED;
  uint8_t* at = joined;
  for (const base::SinkPiece& piece : text.Pieces()) at = std::copy(piece.data, piece.data + piece.bytes, at);
  *elements = {joined, static_cast<uint64_t>(at - joined)};
  return 0;
}

// Of each sample's numbers, all axes taken together, the greatest: "value:index".
wf_code Result::GatherClasses(bus::Bus& bus, uint32_t classes) {
  const uint64_t count = std::min<uint64_t>(classes, per_sample_);
  auto* const elements = Allocate<wf_bytes>(bus, count * samples_);
  if (elements == nullptr) return WF_FAILED;
  for (uint32_t s = 0; s < samples_; ++s) {
    if (const wf_code code = PutClasses(bus, s, count, elements + s * count); code != 0) return NameSample(bus, s, code);
  }
  elements_ = elements;
  per_sample_ = count;
  axes_ = stacked_ ? 1 : 0;
  extent_[axes_++] = static_cast<int64_t>(count);
  return 0;
}

wf_code Result::PutClasses(bus::Bus& bus, uint32_t sample, uint64_t count, wf_bytes* elements) {
  constexpr size_t kMaxText = json::kMaxElementText + 12;
  const size_t size = json::DtypeBytes(shape_.dtype);
  if (per_sample_ > UINT32_MAX) return wf_fail(bus.ctx(), code::kInference, 0, json::Bytes("has too many numbers for classes"));
  auto* const numbers = Allocate<std::byte>(bus, per_sample_ * size);
  auto* const places = Allocate<uint32_t>(bus, per_sample_);
  auto* text = Allocate<char>(bus, count * kMaxText);
  if (numbers == nullptr || places == nullptr || text == nullptr) return WF_FAILED;
  std::byte* end = numbers;
  const wf_code copied = ForRunsOf(bus, sample, [&end, size](const std::byte* run, uint64_t length) {
    end = std::copy(run, run + length * size, end);
    return 0;
  });
  if (copied != 0) return copied;
  std::iota(places, places + per_sample_, 0U);
  RankAs(shape_.dtype, numbers, places, places + count, places + per_sample_);
  for (uint64_t i = 0; i < count; ++i) {
    char* const begin = text;
    text = json::PrintElementText(shape_.dtype, numbers + places[i] * size, text);
    base::TextBuilder index;
    index << ":" << places[i];
    text = std::copy(index.view().begin(), index.view().end(), text);
    elements[i] = {reinterpret_cast<const uint8_t*>(begin), static_cast<uint64_t>(text - begin)};
  }
  return 0;
}

std::span<const Result> PrepareAll(bus::Bus& bus, const InferRequest& request) {
  const uint32_t count = request.n_answered();
  auto* const results = Allocate<Result>(bus, count);
  if (results == nullptr) return {};
  for (uint32_t i = 0; i < count; ++i) {
    if ((new (results + i) Result)->Prepare(bus, request, request.answered(i)) != 0) return {};
  }
  return {results, count};
}

uint64_t Result::raw_bytes() const {
  if (!is_bytes()) return per_sample_ * samples_ * json::DtypeBytes(shape_.dtype);
  uint64_t bytes = 0;
  for (const wf_bytes& element : elements()) bytes += kLengthBytes + element.len;
  return bytes;
}

void Result::PutRaw(bus::Bus& bus, wf_sink* out) const {
  if (!is_bytes()) {
    const size_t size = json::DtypeBytes(shape_.dtype);
    ForRuns(bus, [out, size](const std::byte* run, uint64_t count) {
      out->Put(run, count * size);
      return 0;
    });
    return;
  }
  for (const wf_bytes& element : elements()) {
    const auto length = static_cast<uint32_t>(element.len);  // a request's memory is below 4 GiB
    out->Put(&length, sizeof length);
    out->Put(element.ptr, element.len);
  }
}

}  // namespace wf::oip
