#include "runtime/kernels/lookup/lookup.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

constexpr int64_t kNowhere = -1;

// A total order in which NaN is its own equal.
bool Before(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }
bool Before(int64_t a, int64_t b) { return a < b; }

// Keys in order, each once, and where it stood first.
template <typename K>
class Index {
 public:
  explicit Index(const std::vector<K>& keys) {
    std::vector<size_t> order(keys.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return Before(keys[a], keys[b]); });
    for (const size_t i : order) {
      if (!keys_.empty() && !Before(keys_.back(), keys[i])) continue;
      keys_.push_back(keys[i]);
      at_.push_back(static_cast<int64_t>(i));
    }
    if constexpr (std::is_integral_v<K>) {
      const auto span = [this] { return static_cast<uint64_t>(keys_.back()) - static_cast<uint64_t>(keys_.front()); };
      dense_ = !keys_.empty() && span() == keys_.size() - 1;
    }
  }

  int64_t Find(K key) const {
    if (dense_) return key < keys_.front() || key > keys_.back() ? kNowhere : at_[static_cast<size_t>(key - keys_.front())];
    const auto found = std::lower_bound(keys_.begin(), keys_.end(), key, [](K a, K b) { return Before(a, b); });
    return found == keys_.end() || Before(key, *found) ? kNowhere : at_[static_cast<size_t>(found - keys_.begin())];
  }

 private:
  std::vector<K> keys_;
  std::vector<int64_t> at_;
  bool dense_ = false;
};

template <typename V>
std::vector<V> ElementsOf(const std::vector<uint8_t>& bytes) {
  std::vector<V> values(bytes.size() / sizeof(V));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(V));
  return values;
}

// V: an unsigned integer of the size of a value.
template <typename X, typename V>
std::unique_ptr<Kernel> Make(const Lookup& lookup, int64_t n) {
  using K = std::conditional_t<std::is_integral_v<X>, int64_t, double>;
  const std::vector<K>* keys = nullptr;
  if constexpr (std::is_integral_v<X>) {
    keys = &lookup.whole_keys;
  } else {
    keys = &lookup.keys;
  }
  return MakeFunction(1,
                      [n, index = Index<K>(*keys), values = ElementsOf<V>(lookup.values),
                       otherwise = ElementsOf<V>(lookup.otherwise)[0]](const Buffers& b) -> const char* {
                        const X* x = static_cast<const X*>(b.in[0]);
                        V* y = static_cast<V*>(b.out[0]);
                        for (int64_t i = 0; i < n; ++i) {
                          const int64_t at = index.Find(static_cast<K>(x[i]));
                          y[i] = at == kNowhere ? otherwise : values[static_cast<size_t>(at)];
                        }
                        return nullptr;
                      });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeLookup(const Operation& operation) {
  const Lookup& lookup = std::get<Lookup>(operation.params);
  const int64_t n = operation.in[0].count();
  return ForType<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, float, double>(operation.in[0].dtype, [&]<typename X>() {
    switch (lookup.otherwise.size()) {
      case 1:
        return Make<X, uint8_t>(lookup, n);
      case 2:
        return Make<X, uint16_t>(lookup, n);
      case 4:
        return Make<X, uint32_t>(lookup, n);
      case 8:
        return Make<X, uint64_t>(lookup, n);
      default:
        return std::unique_ptr<Kernel>();
    }
  });
}

base::Result<std::unique_ptr<Kernel>> MakeOneOfCategories(const Operation& operation) {
  const OneOfCategories& of = std::get<OneOfCategories>(operation.params);
  const int64_t n = operation.in[0].count(), width = static_cast<int64_t>(of.categories.size());
  return ForType<float, double, int32_t, int64_t>(operation.in[0].dtype, [&]<typename X>() {
    return MakeFunction(1, [=, zeros = of.zeros, index = Index<int64_t>(of.categories)](const Buffers& b) -> const char* {
      const X* x = static_cast<const X*>(b.in[0]);
      float* y = static_cast<float*>(b.out[0]);
      std::fill_n(y, n * width, 0.0f);
      for (int64_t i = 0; i < n; ++i) {
        int64_t key = 0;
        if constexpr (std::is_integral_v<X>) {
          key = x[i];
        } else {
          key = Saturated<int64_t>(static_cast<double>(x[i]));
        }
        const int64_t at = index.Find(key);
        if (at == kNowhere && !zeros) return "an element is none of the categories";
        if (at != kNowhere) y[i * width + at] = 1;
      }
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
