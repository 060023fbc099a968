#include <sys/random.h>

#include <bit>
#include <cstring>

#include "runtime/abi/plan.h"
#include "runtime/base/half.h"
#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/scratch.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

// Another one in each process, so that no client knows which texts share a place of the table.
uint64_t Seed() {
  static const uint64_t seed = [] {
    uint64_t bits = 0;
    return getrandom(&bits, sizeof bits, GRND_NONBLOCK) == sizeof bits ? bits : 0;
  }();
  return seed;
}

uint64_t Mixed(uint64_t hash, uint64_t bits) {
  hash = (hash ^ bits) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 32;
}

template <typename T>
T At(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// What `==` of the language compares: two values that are no NaN are equal exactly if the bits are.
struct Key {
  uint64_t bits;
  bool is_nan;
};
Key KeyOf(double value) { return {value == 0 ? 0 : std::bit_cast<uint64_t>(value), value != value}; }
Key KeyOfScalar(uint8_t dtype, const uint8_t* at) {
  switch (dtype) {
    case WF_F16:
      return KeyOf(base::DoubleFromHalf(At<uint16_t>(at)));
    case WF_BF16:
      return KeyOf(static_cast<double>(base::FloatFromBfloat(At<uint16_t>(at))));
    case WF_F32:
      return KeyOf(static_cast<double>(At<float>(at)));
    case WF_F64:
      return KeyOf(At<double>(at));
    case WF_I64:
    case WF_U64:
      return {At<uint64_t>(at), false};
    case WF_I32:
    case WF_U32:
      return {At<uint32_t>(at), false};
    case WF_I16:
    case WF_U16:
      return {At<uint16_t>(at), false};
    default:
      return {*at, false};
  }
}

// Values of the program's types, whose depth the compiler limits.
class Values {
 public:
  Values(wf_ctx* ctx, const wf_type* types) : ctx_(ctx), types_(types) {}

  bool stopped() const { return stopped_; }
  bool has_nan() const { return has_nan_; }

  // Equal ones have equal hashes. One that holds a NaN is equal to none: has_nan().
  uint64_t HashOf(uint32_t type, const uint8_t* at) {
    has_nan_ = false;
    return Hash(type, at, Seed());
  }

  // REQUIRES: neither holds a NaN.
  bool Equal(uint32_t type, const uint8_t* a, const uint8_t* b) {
    const wf_type& row = types_[type];
    if (IsStopped()) return false;
    switch (row.kind) {
      case WF_T_SCALAR:
        return KeyOfScalar(row.dtype, a).bits == KeyOfScalar(row.dtype, b).bits;
      case WF_T_STRING:
      case WF_T_BYTES: {
        const auto x = At<wf_bytes>(a), y = At<wf_bytes>(b);
        return x.len == y.len && (x.len == 0 || std::memcmp(x.ptr, y.ptr, x.len) == 0);
      }
      case WF_T_RECORD:
        for (uint16_t i = 0; i < row.n_fields; ++i) {
          const uint32_t offset = row.fields[i].offset;
          if (!Equal(row.fields[i].type, a + offset, b + offset)) return false;
        }
        return true;
      case WF_T_OPTIONAL:
        return a[row.has_offset] == b[row.has_offset] && (a[row.has_offset] == 0 || Equal(row.element, a, b));
      default:
        break;
    }
    const auto x = At<wf_list>(a), y = At<wf_list>(b);
    bool same = x.len == y.len;
    for (uint64_t i = 0; same && i < x.len; ++i) same = Equal(row.element, ElementOf(x, row.element, i), ElementOf(y, row.element, i));
    return same;
  }

  const uint8_t* ElementOf(const wf_list& list, uint32_t type, uint64_t i) const {
    return static_cast<const uint8_t*>(list.ptr) + i * types_[type].size;
  }

 private:
  uint64_t Hash(uint32_t type, const uint8_t* at, uint64_t hash) {
    const wf_type& row = types_[type];
    if (IsStopped()) return hash;
    switch (row.kind) {
      case WF_T_SCALAR: {
        const Key key = KeyOfScalar(row.dtype, at);
        has_nan_ = has_nan_ || key.is_nan;
        return Mixed(hash, key.bits);
      }
      case WF_T_STRING:
      case WF_T_BYTES: {
        const auto text = At<wf_bytes>(at);
        uint64_t mixed = 0;
        stopped_ = wf_n_xxh64(ctx_, &text, &hash, &mixed) != 0;
        return mixed;
      }
      case WF_T_RECORD:
        for (uint16_t i = 0; i < row.n_fields; ++i) hash = Hash(row.fields[i].type, at + row.fields[i].offset, hash);
        return hash;
      case WF_T_OPTIONAL:
        return at[row.has_offset] == 0 ? Mixed(hash, 0) : Hash(row.element, at, Mixed(hash, 1));
      default:
        break;
    }
    const auto list = At<wf_list>(at);
    hash = Mixed(hash, list.len);
    for (uint64_t i = 0; i < list.len && !stopped_; ++i) hash = Hash(row.element, ElementOf(list, row.element, i), hash);
    return hash;
  }

  bool IsStopped() {
    if (++visited_ % kElementsPerStopCheck == 0) stopped_ = stopped_ || Stopped(ctx_);
    return stopped_;
  }

  wf_ctx* ctx_;
  const wf_type* types_;
  int64_t visited_ = 0;
  bool stopped_ = false, has_nan_ = false;
};

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_first_equal(wf_ctx* ctx, const wf_list* xs, const wf_type* types, uint32_t type, wf_tensor* first) noexcept {
  using namespace wf::nodes;
  const auto n = static_cast<int64_t>(xs->len);
  Scratch<int64_t> table(ctx);  // by hash, the next one where that is taken: a place of `xs`, or -1
  Scratch<uint64_t> hashes(ctx);
  const uint64_t slots = std::bit_ceil(2 * xs->len + 1);
  if (Stopped(ctx) || !AllocateTensor(ctx, WF_I64, {&n, 1}, first) || !table.Reserve(slots) || !hashes.Reserve(xs->len)) return WF_FAILED;
  std::memset(table.data(), 0xff, slots * sizeof(int64_t));
  auto* const out = static_cast<int64_t*>(first->data);
  const uint32_t element = types[type].element;
  Values values(ctx, types);
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t* const x = values.ElementOf(*xs, element, static_cast<uint64_t>(i));
    const uint64_t hash = hashes[static_cast<uint64_t>(i)] = values.HashOf(element, x);
    uint64_t slot = hash & (slots - 1);
    out[i] = i;
    for (; !values.has_nan() && out[i] == i && table[slot] >= 0; slot = (slot + 1) & (slots - 1)) {
      const auto other = static_cast<uint64_t>(table[slot]);
      if (hashes[other] == hash && values.Equal(element, x, values.ElementOf(*xs, element, other))) out[i] = table[slot];
    }
    if (values.stopped()) return WF_FAILED;
    if (out[i] == i && !values.has_nan()) table[slot] = i;
  }
  return 0;
}
