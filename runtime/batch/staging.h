#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/batch/policy.h"
#include "runtime/batch/runnable.h"

namespace wf::batch {

// Blocks in which the rows of one run lie side by side, each filled up to its bucket. One row that needs no filling needs no copy: the
// model then reads the row's own memory. A list of strings that is not as long as the model takes is kFailedPrecondition.
// Thread: one thread at a time, that of the run.   Owns: input blocks, which grow to the largest run.   Borrows: model.
// Errors: Gather and Scatter fail when memory is refused or a row's shape is not the model's.
// Bounds: the model's share of memory, if it has one.
class Staging {
 public:
  explicit Staging(Runnable& model);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Lays out `size` rows, behind rows.count the first again, since numbers that are made up may be none that the model takes; zero behind
  // each row that is shorter than its bucket. REQUIRES: rows of one group, with their kind.
  base::Status Gather(const RowList& rows, int64_t size, const Padding& padding = {});
  // After Gather: whether what the rows' requests may still take is enough for the run. Errors: kOutOfRange.
  base::Status CheckSize(const RowList& rows, int instance, int64_t size);
  // Ends early where the model can, once nobody waits for any of the rows. Errors: kCancelled then.
  base::Status Run(const RowList& rows, int instance, int64_t size);
  // Copies row by row into memory of the rows, cut to what belongs to the row; a row without memory fails alone. REQUIRES: as at Gather.
  base::Status Scatter(const RowList& rows, int64_t size, const Padding& padding = {});
  // After the last Scatter of a run: blocks, and memory of the model, that may not be kept go back.
  void Trim(int instance);

 private:
  struct Block {
    void* data = nullptr;
    uint64_t bytes = 0;
    base::MemoryClaim claim;
  };
  static void Free(Block& block);
  base::Status GatherPort(const RowList& rows, int64_t size, const Padding& padding, uint32_t port);
  base::Status ScatterPort(const RowList& rows, int64_t size, const Padding& padding, uint32_t port);
  base::Status Reserve(uint32_t port, uint64_t bytes);

  Runnable& model_;
  std::vector<Block> blocks_;  // by input port
  std::vector<wf_tensor> inputs_, outputs_;
};

}  // namespace wf::batch
