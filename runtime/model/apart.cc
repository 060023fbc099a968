#include "runtime/model/apart.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/abi/dtype.h"
#include "runtime/abi/view.h"
#include "runtime/base/dtype.h"
#include "runtime/model/numbers.h"
#include "runtime/model/samples.h"

namespace wf::model {
namespace {

using base::Status;

// Of the number itself, and of the largest of its row, from which it may be a small difference. Kernels that add in another order differ by
// some 1e-6 of the largest, and where what lies between operators is rounded to bf16 by some 1e-2, since roundings turn over; another row's
// numbers by as much as samples do, which is by halves and more.
constexpr double kShareOfNumber = 1e-2, kShareOfLargest = 1e-3, kShareOfLargestHalf = 1e-2, kShareOfLargestBf16 = 4e-2;
constexpr double kShareOfInput = 32 * 0x1p-23;  // and of the largest number that went in: a row of zeros may be what is left of such
constexpr size_t kOrder[kSamples] = {0, 2, 3, 4, 5, 6, 1, 7};  // last those whose numbers are all the same
constexpr size_t kSorts = 3;
constexpr int64_t kFew = 8;
constexpr size_t kSortOfFew[kFew] = {0, 1, 2, 0, 0, 2, 1, 1};  // moved by any number of rows, it is another order
constexpr int64_t kMostNs = 200'000'000;                       // of a run of many rows

// Of so many rows; fewer may do.
bool IsTooLarge(const Status& status) {
  return status.code() == base::kResourceExhausted || status.code() == base::kOutOfRange || status.code() == base::kAborted;
}

int64_t CountIn(const wf_tensor& tensor, int from, int to) {
  int64_t count = 1;
  for (int i = from; i < to; ++i) count *= tensor.dim[i];
  return count;
}

// A row's part of a tensor with an axis of rows, or back: `rows` of them lie in `many`.
template <typename Copy>
void ForEachPart(const wf_tensor& many, int axis, int64_t row, Copy&& copy) {
  const int64_t rows = many.dim[axis], parts = CountIn(many, 0, axis);
  const int64_t bytes = CountIn(many, axis + 1, many.rank) * abi::ElementBytes(many.dtype);
  for (int64_t part = 0; part < parts; ++part) copy(static_cast<uint8_t*>(many.data) + (part * rows + row) * bytes, part * bytes, bytes);
}

double LargestOf(const wf_tensor& tensor) {
  double largest = 0;
  for (int64_t i = 0, count = CountIn(tensor, 0, tensor.rank); i < count; ++i) {
    const double number = std::abs(NumberAt(tensor.dtype, static_cast<const uint8_t*>(tensor.data), i));
    if (std::isfinite(number)) largest = std::max(largest, number);
  }
  return largest;
}

// One of the results of a row that ran alone.
struct Computed {
  wf_tensor shape;
  std::vector<uint8_t> bytes;
  std::vector<std::string> texts;  // of strings: what the elements view is gone with the next run

  explicit Computed(const wf_tensor& of)
      : shape(of), bytes(static_cast<size_t>(CountIn(of, 0, of.rank)) * static_cast<size_t>(abi::ElementBytes(of.dtype))) {
    if (!bytes.empty()) std::memcpy(bytes.data(), of.data, bytes.size());
    shape.data = bytes.data();
    for (int64_t i = 0; of.dtype == WF_TEXTS && i < count(); ++i) texts.emplace_back(TextAt(bytes, i));
  }
  static std::string_view TextAt(const std::vector<uint8_t>& elements, int64_t at) {
    return abi::View(reinterpret_cast<const wf_bytes*>(elements.data())[at]);
  }
  int64_t count() const { return CountIn(shape, 0, shape.rank); }
};

// A row that runs on its own: what it is made of, and what it gives.
struct Sort {
  size_t sample, shift;  // of the places of inputs, for other numbers of the same sample
  std::vector<Computed> results;
  double largest_input = 0;
  bool finite = true;
};

class RowsCheck {
 public:
  RowsCheck(Version& version, int instance, const std::atomic<bool>& stop)
      : version_(version), instance_(instance), stop_(stop), axis_(version.axes().axis) {}

  Status FindSorts();
  Status FindLarge();
  // sort_of: of each row. One of large numbers is not held against what it gives alone: of those, roundings decide.
  Status RunBeside(std::span<const size_t> sort_of);
  Status RunFew(int64_t rows) { return RunBeside(std::span(kSortOfFew).first(static_cast<size_t>(rows))); }
  Status RunMany(int64_t rows);
  int64_t row_ns() const { return row_ns_; }  // that a row of the last run took

 private:
  size_t n_in() const { return version_.signature().inputs.size(); }
  void Fill(const Sort& sort, SampleInputs* row) const;
  Status Run(int64_t rows, SampleInputs& inputs, std::vector<wf_tensor>* outputs);
  Status Compare(size_t output, const Sort& sort, const wf_tensor& many, int64_t row) const;

  Version& version_;
  const int instance_;
  const std::atomic<bool>& stop_;
  const std::vector<int8_t>& axis_;
  SampleInputs one_;
  int64_t row_ns_ = 0;
  std::vector<Sort> sorts_;  // kSorts, and behind them that of large numbers, if it runs
};

// An input without an axis of rows is the same for all of them.
void RowsCheck::Fill(const Sort& sort, SampleInputs* row) const {
  for (size_t i = 0; i < n_in(); ++i) {
    const Sort& of = axis_[i] >= 0 || sorts_.empty() ? sort : sorts_.front();
    FillWithSample({of.sample, i, of.shift * n_in()}, version_.sample_texts(), row->tensors[i]);
  }
}

Status RowsCheck::Run(int64_t rows, SampleInputs& inputs, std::vector<wf_tensor>* outputs) {
  if (stop_) return Status(base::kCancelled, "it is to stop");
  outputs->resize(version_.signature().outputs.size());
  WF_RETURN_IF_ERROR(version_.Prepare(instance_, rows, inputs.tensors));
  const base::UntilStopped wanted(stop_);
  const auto start = std::chrono::steady_clock::now();
  Status ran = version_.Run(instance_, rows, inputs.tensors, *outputs, &wanted);
  row_ns_ = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count() / rows;
  return ran;
}

// Finite ones if there are any: of two numbers that are NaN nobody knows whether they are the same.
Status RowsCheck::FindSorts() {
  if (version_.sample_shapes().size() != n_in())
    return Status(base::kUnimplemented, "no extents of its open axes are known that its nodes take");
  WF_RETURN_IF_ERROR(MakeInputs(version_.sample_shapes(), axis_, 1, one_));
  std::vector<Sort> others;
  Status first;
  for (size_t shift = 0; shift < kSorts && sorts_.size() < kSorts; ++shift) {
    for (size_t i = 0; i < kSamples && sorts_.size() < kSorts; ++i) {
      Sort sort{.sample = kOrder[i], .shift = shift, .results = {}};
      Fill(sort, &one_);
      std::vector<wf_tensor> outputs;
      if (const Status ran = Run(1, one_, &outputs); !ran.ok()) {
        if (ran.code() == base::kCancelled) return ran;
        if (first.ok()) first = Status(base::kInvalidArgument, ran.message());  // of a row alone: it tells nothing of rows beside others
        continue;
      }
      for (const wf_tensor& input : one_.tensors) {
        if (base::IsFloat(input.dtype)) sort.largest_input = std::max(sort.largest_input, LargestOf(input));
      }
      for (const wf_tensor& output : outputs) {
        sort.results.emplace_back(output);
        sort.finite = sort.finite && KindsOf(output.dtype, output.data, sort.results.back().count()).all_finite();
      }
      if (sort.finite || others.size() < kSorts) (sort.finite ? sorts_ : others).push_back(std::move(sort));
    }
  }
  while (sorts_.size() < kSorts && !others.empty()) {
    sorts_.push_back(std::move(others.front()));
    others.erase(others.begin());
  }
  if (sorts_.size() == kSorts) return Status::Ok();
  return Status(base::kUnimplemented, fmt::format("too few of its runs with made-up numbers succeed: {}", first.message()));
}

Status RowsCheck::FindLarge() {
  for (size_t i = 0; i < kLargeSamples; ++i) {
    Sort sort{.sample = kSamples + i, .shift = 0, .results = {}};
    Fill(sort, &one_);
    std::vector<wf_tensor> outputs;
    const Status ran = Run(1, one_, &outputs);
    if (ran.code() == base::kCancelled) return ran;
    if (!ran.ok()) continue;
    sorts_.push_back(std::move(sort));
    return Status::Ok();
  }
  return Status::Ok();
}

Status RowsCheck::RunMany(int64_t rows) {
  std::minstd_rand random;
  std::vector<size_t> sort_of(static_cast<size_t>(rows));
  for (size_t& sort : sort_of) sort = (random() >> 8) % sorts_.size();
  sort_of.front() = sort_of.back() = sorts_.size() - 1;  // what takes one row for all takes the first or the last
  sort_of[sort_of.size() / 2] = kSorts - 1;
  return RunBeside(sort_of);
}

Status RowsCheck::RunBeside(std::span<const size_t> sort_of) {
  const auto rows = static_cast<int64_t>(sort_of.size());
  SampleInputs many;
  WF_RETURN_IF_ERROR(MakeInputs(version_.sample_shapes(), axis_, rows, many));
  for (int64_t row = 0; row < rows; ++row) {
    Fill(sorts_[sort_of[static_cast<size_t>(row)]], &one_);
    for (size_t i = 0; i < n_in(); ++i) {
      const auto* const from = static_cast<const uint8_t*>(one_.tensors[i].data);
      const wf_tensor& to = many.tensors[i];
      if (axis_[i] < 0)
        std::memcpy(to.data, from, abi::DenseBytes(to.dtype, to.rank, to.dim));
      else
        ForEachPart(to, axis_[i], row, [from](uint8_t* part, int64_t at, int64_t bytes) { std::memcpy(part, from + at, bytes); });
    }
  }
  std::vector<wf_tensor> outputs;
  if (const Status ran = Run(rows, many, &outputs); !ran.ok()) {
    if (ran.code() == base::kCancelled || IsTooLarge(ran)) return ran;
    return Status(base::kFailedPrecondition,
                  fmt::format("each of {} rows can be computed alone, but not all in one run: {}", rows, ran.message()));
  }
  for (int64_t row = 0; row < rows; ++row) {
    const size_t sort = sort_of[static_cast<size_t>(row)];
    for (size_t i = 0; i < outputs.size() && sort < kSorts; ++i) WF_RETURN_IF_ERROR(Compare(i, sorts_[sort], outputs[i], row));
  }
  return Status::Ok();
}

bool AreSame(uint8_t dtype, const uint8_t* alone, const uint8_t* beside, int64_t at, double noise) {
  const auto size = static_cast<int64_t>(base::DTypeSize(dtype));
  if (std::memcmp(alone + at * size, beside + at * size, static_cast<size_t>(size)) == 0) return true;
  if (!base::IsFloat(dtype)) return false;
  const double a = NumberAt(dtype, alone, at), b = NumberAt(dtype, beside, at);
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= kShareOfNumber * std::max(std::abs(a), std::abs(b)) + noise;
}

Status RowsCheck::Compare(size_t output, const Sort& sort, const wf_tensor& many, int64_t row) const {
  const Computed& alone = sort.results[output];
  const std::string& name = version_.signature().outputs[output].name;
  const int axis = axis_[n_in() + output];
  wf_tensor expected = alone.shape;
  expected.dim[axis] = many.dim[axis];  // held against the rows by the run
  if (many.rank != expected.rank || !std::equal(expected.dim, expected.dim + expected.rank, many.dim))
    return Status(base::kFailedPrecondition, fmt::format("output `{}` of a row has another shape beside other rows than alone", name));
  std::vector<uint8_t> beside(alone.bytes.size());
  ForEachPart(many, axis, row, [&beside](const uint8_t* part, int64_t at, int64_t bytes) { std::memcpy(beside.data() + at, part, bytes); });
  for (size_t i = 0; i < alone.texts.size(); ++i) {
    const std::string_view text = Computed::TextAt(beside, static_cast<int64_t>(i));
    if (text != alone.texts[i])
      return Status(base::kFailedPrecondition,
                    fmt::format("output `{}` has `{}` for a row beside others that has `{}` for it alone", name, text, alone.texts[i]));
  }
  if (many.dtype == WF_TEXTS || beside == alone.bytes) return Status::Ok();
  const bool is_half = many.dtype == WF_F16 || many.dtype == WF_BF16;
  const double share = version_.program().bf16 ? kShareOfLargestBf16 : is_half ? kShareOfLargestHalf : kShareOfLargest;
  const double noise = share * LargestOf(alone.shape) + kShareOfInput * sort.largest_input;
  for (int64_t i = 0; i < alone.count(); ++i) {
    if (AreSame(many.dtype, alone.bytes.data(), beside.data(), i, noise)) continue;
    return Status(base::kFailedPrecondition,
                  fmt::format("output `{}` has {:.6g} for a row beside others that has {:.6g} for it alone", name,
                              NumberAt(many.dtype, beside.data(), i), NumberAt(many.dtype, alone.bytes.data(), i)));
  }
  return Status::Ok();
}

}  // namespace

Status CheckRowsApart(Version& version, int instance, int64_t rows, const std::atomic<bool>& stop) {
  RowsCheck check(version, instance, stop);
  WF_RETURN_IF_ERROR(check.FindSorts());
  WF_RETURN_IF_ERROR(check.FindLarge());
  const auto halved = [](int64_t count) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count)) / 2); };
  const auto run = [&](int64_t count, const auto& beside) {
    for (;; count = halved(count)) {
      const Status apart = beside(count);
      if (!IsTooLarge(apart) || count < 4) return apart;
    }
  };
  WF_RETURN_IF_ERROR(run(std::min(rows, kFew), [&](int64_t count) { return check.RunFew(count); }));
  while (rows > kFew && rows > kMostNs / std::max<int64_t>(check.row_ns(), 1)) rows = std::max(halved(rows), kFew);
  return run(rows, [&](int64_t count) { return check.RunMany(count); });
}

}  // namespace wf::model
