#include "runtime/kernels/measure.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/kernels/half.h"

namespace wf::kernels {
namespace {

constexpr int64_t kLeastWork = 1'000'000;                 // products of two numbers: 10 us on a slow CPU
constexpr int64_t kMostMadeUpBytes = int64_t{512} << 20;  // of tensors that are made up
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int64_t kCold = 2;                  // a conversion takes so many times what it does with all in the cache, where it is measured
constexpr int kRounds = 6, kLeastRounds = 3;  // of which the shortest run counts
constexpr double kClearly = 0.93;             // of the own way's time
constexpr double kHopeless = 3, kUnlikely = 1.3;  // times the best, after the first round and the second

// The elements of another constant, from which what is packed goes with this one.
class Trial final : public Constant {
 public:
  Trial(std::shared_ptr<const Constant> base, std::shared_ptr<const uint8_t> elements)
      : Constant(std::make_shared<PackedMemory>()), base_(std::move(base)), elements_(std::move(elements)) {}
  base::Result<std::shared_ptr<const uint8_t>> Load() const override { return elements_; }

 private:
  const std::shared_ptr<const Constant> base_;
  const std::shared_ptr<const uint8_t> elements_;
};

template <typename T, typename Number>
void Fill(uint8_t* memory, int64_t bytes, Number number) {
  auto* const numbers = reinterpret_cast<T*>(memory);
  uint32_t dice = 1;
  for (int64_t i = 0; i < bytes / int64_t{sizeof(T)}; ++i) {
    dice = dice * 1'664'525u + 1'013'904'223u;
    numbers[i] = number(static_cast<float>(dice >> 8) * 0x1p-23F - 1.0F + 0x1p-24F);
  }
}

// Numbers of both signs, none of which is small enough to be slow.
std::shared_ptr<uint8_t> MadeUp(const TensorInfo& tensor) {
  auto memory = Allocate(tensor.size_bytes());
  if (memory == nullptr) return nullptr;
  if (tensor.format != nullptr && tensor.format->is_bf16()) {
    Fill<Brain>(memory.get(), tensor.size_bytes(), [](float x) { return ToBrain(x); });
  } else {
    Fill<float>(memory.get(), tensor.size_bytes(), [](float x) { return x; });
  }
  return memory;
}

class Stopwatch {
 public:
  int64_t Spent() const { return by_work_ ? clock_.WorkedNs() : clock_.Now(); }
  int64_t Now() const { return clock_.Now(); }

 private:
  const base::SystemClock clock_;
  const bool by_work_ = StayOnOneThread();
};

// A kernel bound to memory of its own.
struct Bench {
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Call> call;
  std::vector<std::shared_ptr<uint8_t>> memory;
  int64_t best_ns = kNever;

  uint8_t* Keep(std::shared_ptr<uint8_t> bytes) {
    memory.push_back(std::move(bytes));
    return memory.back().get();
  }

  bool Open(std::unique_ptr<Kernel> of, const std::vector<TensorInfo>& in, TensorInfo out) {
    kernel = std::move(of);
    Buffers buffers;
    for (size_t i = 0; i < in.size(); ++i) {
      TensorInfo read = in[i];
      read.format = kernel->in_format[i];
      const bool is_there = read.dtype != 0 && !kernel->packed_in[i];
      buffers.in.push_back(is_there ? Keep(MadeUp(read)) : nullptr);
      if (is_there && buffers.in.back() == nullptr) return false;
    }
    out.format = kernel->out_format;
    buffers.out.push_back(Keep(Allocate(out.size_bytes())));
    buffers.scratch = Keep(Allocate(kernel->scratch_bytes));
    if (buffers.out[0] == nullptr || buffers.scratch == nullptr) return false;
    auto bound = kernel->Bind(buffers);
    if (!bound.ok()) return false;
    call = *std::move(bound);
    return true;
  }

  int64_t Run(const Stopwatch& watch) {
    const int64_t begin = watch.Spent();
    if (call->Run() != nullptr) return kNever;
    const int64_t took = std::max<int64_t>(watch.Spent() - begin, 1);
    best_ns = std::min(best_ns, took);
    return took;
  }
};

class Contest {
 public:
  Contest(const Operation& operation, int64_t& left_ns) : operation_(operation), left_ns_(left_ns) {}
  ~Contest() { left_ns_ -= std::min(left_ns_, watch_.Now() - begin_); }
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  std::optional<std::string> Run(std::span<const std::string> ways) {
    if (IsOver() || !Borrow()) return std::nullopt;
    auto own = Enter("");
    if (own == nullptr) return std::string();
    const int64_t first = own->bench.Run(watch_);
    if (first == kNever) return std::string();
    if (static_cast<int64_t>(ways.size() + 1) * 2 * first > Left()) return std::nullopt;
    own_out_ = own->bench.kernel->out_format;
    own->extra_ns = ExtraOf(*own->bench.kernel);
    if (own->extra_ns == kNever) return std::string();
    entries_.push_back(std::move(own));
    for (const std::string& way : ways) {
      if (IsOver()) return std::nullopt;
      if (auto entry = Enter(way); entry != nullptr) {
        entry->extra_ns = ExtraOf(*entry->bench.kernel);
        if (entry->extra_ns != kNever) entries_.push_back(std::move(entry));
      }
    }
    return Compete();
  }

 private:
  struct Entry {
    std::string way;
    Bench bench;
    int64_t extra_ns = 0;
    int64_t total() const { return bench.best_ns == kNever ? kNever : bench.best_ns + kCold * extra_ns; }
  };

  int64_t Left() const { return left_ns_ - (watch_.Now() - begin_); }
  bool IsOver() const { return Left() <= 0; }

  bool Borrow() {
    int64_t bytes = operation_.out[0].size_bytes();
    for (TensorInfo& in : operation_.in) {
      bytes += in.dtype == 0 ? 0 : in.size_bytes();
      if (in.constant == nullptr) continue;
      auto elements = in.constant->Load();
      if (!elements.ok()) return false;
      in.constant = std::make_shared<Trial>(in.constant, *std::move(elements));
    }
    return bytes <= kMostMadeUpBytes;
  }

  // Null: it is not there, or there is no memory.
  std::unique_ptr<Entry> Enter(const std::string& way) {
    operation_.way = way;
    auto kernel = MakeKernel(operation_);
    if (!kernel.ok() || (!way.empty() && (*kernel)->impl.find(way) == std::string::npos)) return nullptr;
    auto entry = std::make_unique<Entry>();
    entry->way = way;
    return entry->bench.Open(*std::move(kernel), operation_.in, operation_.out[0]) ? std::move(entry) : nullptr;
  }

  int64_t ReorderNs(TensorInfo from, const FormatRef& to) {
    if (SameFormat(from.format, to)) return 0;
    from.constant = nullptr;
    auto kernel = MakeReorder(from, to);
    if (!kernel.ok()) return kNever;
    (*kernel)->in_format[0] = from.format;
    Bench bench;
    if (!bench.Open(*std::move(kernel), {from}, from)) return kNever;
    for (int i = 0; i < kLeastRounds; ++i) bench.Run(watch_);
    return bench.best_ns;
  }

  int64_t ExtraOf(const Kernel& kernel) {
    int64_t extra = 0;
    const auto add = [&extra](int64_t ns) { extra = extra == kNever || ns == kNever ? kNever : extra + ns; };
    for (size_t i = 0; i < operation_.in.size(); ++i) {
      if (operation_.in[i].dtype != 0 && !kernel.packed_in[i]) add(ReorderNs(operation_.in[i], kernel.in_format[i]));
    }
    TensorInfo out = operation_.out[0];
    out.format = kernel.out_format;
    add(ReorderNs(out, own_out_));
    return extra;
  }

  std::optional<std::string> Compete() {
    for (int round = 0; round < kRounds && entries_.size() > 1; ++round) {
      if (IsOver()) {
        if (round < kLeastRounds) return std::nullopt;
        break;
      }
      for (const auto& entry : entries_) entry->bench.Run(watch_);
      if (round > 1) continue;
      int64_t best = kNever;
      for (const auto& entry : entries_) best = std::min(best, entry->total());
      const double bound = static_cast<double>(best) * (round == 0 ? kHopeless : kUnlikely);
      std::erase_if(entries_, [bound](const auto& entry) { return !entry->way.empty() && static_cast<double>(entry->total()) > bound; });
    }
    const auto shorter = [](const auto& a, const auto& b) { return a->total() < b->total(); };
    const auto& best = *std::min_element(entries_.begin(), entries_.end(), shorter);
    const bool is_clear = static_cast<double>(best->total()) < kClearly * static_cast<double>(entries_.front()->total());
    return is_clear ? best->way : std::string();
  }

  Operation operation_;
  int64_t& left_ns_;
  const Stopwatch watch_;
  const int64_t begin_ = watch_.Now();
  FormatRef own_out_;
  std::vector<std::unique_ptr<Entry>> entries_;  // the own way first
};

}  // namespace

bool IsWorthMeasuring(const Operation& operation) {
  if (operation.in.size() < 2 || operation.out[0].count() == 0) return false;
  const std::vector<int64_t>& w = operation.in[1].dim;
  int64_t each = 0;  // products for an element of the result
  if (std::holds_alternative<Conv>(operation.params)) each = operation.in[1].count() / std::max<int64_t>(w[0], 1);
  if (std::holds_alternative<MatMul>(operation.params) && !operation.in[0].dim.empty()) {
    const bool turned = std::get<MatMul>(operation.params).turn_a;
    each = turned ? operation.in[0].dim.front() : operation.in[0].dim.back();
  }
  return each > 0 && operation.out[0].count() >= (kLeastWork + each - 1) / each;
}

std::optional<std::string> FastestWay(const Operation& operation, std::span<const std::string> ways, int64_t& left_ns) {
  return Contest(operation, left_ns).Run(ways);
}

}  // namespace wf::kernels
