#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "runtime/abi/plan.h"
#include "runtime/base/clock.h"
#include "runtime/base/memory_limit.h"
#include "runtime/base/status.h"
#include "runtime/base/wanted.h"

namespace wf::batch {

// What is known of rows that share a run.
enum class Rows : uint8_t {
  kUnknown,
  kApart,  // each is given what it would be given alone
  kMixed,  // or could be given another one's numbers
};

// A loaded model, as the executor sees it.
// Thread: Run, Prepare, Trim and Release of different instances may be called at the same time; of one instance by one thread at a time.
class Runnable {
 public:
  virtual ~Runnable() = default;

  // Ports, batch axes, whether rows may share a run. Port shapes are those that calls see, without the batch axis.
  virtual const wf_model& model() const = 0;
  virtual int64_t version() const = 0;
  // Most rows of one Run; 1 when the model has no batch axis.
  virtual int64_t max_rows() const = 0;
  // Copies that may run side by side: `instance` is below this.
  virtual int instance_count() const = 0;
  // Memory that one row's activations need, for the choice between the loop and the batcher. 0: unknown.
  virtual int64_t activation_bytes() const { return 0; }

  // What a run of one row takes, as measured when the model was loaded; 0: not known. Of the shapes of all runs where they are fixed.
  virtual int64_t row_ns() const { return 0; }
  // A run does all of its work on the thread that calls it: what that thread works is then what the run takes, whoever else has the CPU.
  virtual bool stays_on_thread() const { return true; }

  // What rows of different calls do to each other in runs of up to `most`: only such as are computed apart share one. Any thread.
  virtual Rows rows(int64_t /*most*/) const { return Rows::kApart; }
  // Finds that out, by runs of an instance that serves nobody; what is found stays. No further run begins once it is to stop, which leaves
  // it unknown. One thread at a time.
  virtual void CheckRows(int /*instance*/, int64_t /*most*/, const std::atomic<bool>& /*stop*/) {}

  // Puts strings that it is likely to take in the place of empty ones, where inputs have such.
  virtual void FillTexts(std::span<const wf_tensor> /*inputs*/) {}
  // Makes first what a Run of these shapes by this instance would otherwise make: plan, memory. `inputs`: as for Run, without data.
  virtual base::Status Prepare(int /*instance*/, int64_t /*rows*/, std::span<const wf_tensor> /*inputs*/) { return {}; }
  // Whether a run of these shapes, its results included, takes no more than most_bytes, as far as the shapes are the request's to decide.
  // Errors: kOutOfRange when it takes more; one that depends on data learns it as it goes, and the next Run of this instance ends then.
  // `inputs`: as for Run, without data.
  virtual base::Status CheckSize(int /*instance*/, int64_t /*rows*/, std::span<const wf_tensor> /*inputs*/, int64_t /*most_bytes*/) {
    return {};
  }
  // The file leaves extents of inputs, other than that of samples, to the request.
  virtual bool has_open_extents() const { return false; }
  // The elements of its inputs decide what a run does, and how long: what others took tells nothing, and no loop may wait for one.
  virtual bool depends_on_data() const { return false; }
  // For memory whose size requests decide: of a model that has open extents.
  virtual base::MemoryShare memory_share() const { return {}; }
  // What the last Run of an instance answered is read: memory that it may not keep goes back.
  virtual void Trim(int /*instance*/) {}
  // Gives back the memory of an instance that will not run again soon.
  virtual void Release(int /*instance*/) {}
  // Shapes that a Run had to make ready first.
  virtual uint64_t shape_misses() const { return 0; }

  // Runs `rows` samples. inputs[i] holds them along the port's batch axis (model().batch_axis[i], in the file's shape); a port of axis -1
  // has the call's shape; all dense, 64-aligned, readable to the next multiple of 64 bytes. The model fills outputs[i] whole: data, dims,
  // strides, in the file's shape; they stay valid until the next Run or Trim of this instance. `rows` is a power of two or max_rows().
  // Errors: what the world does (no memory for a shape, an extent the file cannot take); the message names the model and the port or node.
  // kCancelled: it depends on data and is no longer wanted; null: it always is.
  virtual base::Status Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                           const base::Wanted* wanted) = 0;
};

// Before and after a run on one thread: the difference is what it has taken.
inline int64_t SpentNs(const Runnable& model, const base::Clock& clock) { return model.stays_on_thread() ? clock.WorkedNs() : clock.Now(); }

}  // namespace wf::batch
