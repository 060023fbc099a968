#pragma once

#include <functional>
#include <memory>
#include <span>

#include "runtime/base/mutex.h"
#include "runtime/kernels/onednn/library.h"

namespace wf::kernels::onednn {

bool LosesNan(const Fused& fused);

// Puts back the NaN that oneDNN's Relu, Clip, Exp, Softmax and MaxPool lose, which take one for less than anything. Their instructions
// (MAXPS, MINPS, CMPPS of Intel's manual) raise the CPU's sticky flag of invalid operations over a NaN: a run that leaves it down has lost
// none, and only after others is it looked where NaN had been. A MaxPool begins with the least number, too, which is more than -infinity.
// Thread: thread-safe.   Cost: a few ns a run without NaN; another run, allocation and a lock with one.
class NanKeeper {
 public:
  using DescMaker = std::function<PrimitiveDesc()>;
  // Of a function behind an operation. plain: the operation alone, in the same formats.
  NanKeeper(DescMaker plain, const dnnl_memory_desc_t& dst) : kind_(Kind::kBehind), make_plain_(std::move(plain)), dst_(dst) {}
  // Of maxima over windows.
  NanKeeper(const dnnl_memory_desc_t& src, const dnnl_memory_desc_t& dst) : kind_(Kind::kMaximum), src_(src), dst_(dst) {}
  // Of elements, which lie apart from their results.
  explicit NanKeeper(const dnnl_memory_desc_t& src) : kind_(Kind::kElements), src_(src) {}
  // Of rows, of which each gives as many results: all NaN where one is, or where the largest is infinite. The results lie apart from them.
  NanKeeper(const dnnl_memory_desc_t& src, int64_t row) : kind_(Kind::kRows), src_(src), row_(row) {}

  enum class Lost : uint8_t { kNan, kInfinity };

  // Executes the primitive with these arguments. Null, or why it did not run.
  const char* Run(dnnl_primitive_t primitive, dnnl_stream_t stream, std::span<const dnnl_exec_arg_t> args) const;

 private:
  enum class Kind : uint8_t { kBehind, kMaximum, kElements, kRows };
  struct Plain;
  std::shared_ptr<const Plain> PlainPrimitive() const;
  void RestoreElements(std::span<const dnnl_exec_arg_t> args) const;
  void RestoreRows(std::span<const dnnl_exec_arg_t> args) const;
  const char* RestoreBehind(dnnl_stream_t stream, std::span<const dnnl_exec_arg_t> args) const;
  // Of windows that hold a NaN; of those that hold nothing but -infinity, whose result is the least number though none holds that.
  const char* RestoreMaximum(dnnl_primitive_t primitive, dnnl_stream_t stream, std::span<const dnnl_exec_arg_t> args, Lost lost) const;
  bool HasLost(std::span<const dnnl_exec_arg_t> args) const;  // perhaps an infinity

  const Kind kind_;
  const DescMaker make_plain_;
  const dnnl_memory_desc_t src_{}, dst_{};
  const int64_t row_ = 0;
  mutable base::Mutex mutex_;
  mutable std::shared_ptr<const Plain> plain_ WF_GUARDED_BY(mutex_);  // made when it is first needed
};

}  // namespace wf::kernels::onednn
