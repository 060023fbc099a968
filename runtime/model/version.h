#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/wanted.h"
#include "runtime/model/loaded.h"
#include "runtime/model/plan.h"
#include "runtime/model/sample_texts.h"

namespace wf::model {

class BoundPlan;
class Runs;

// One version of a model, ready to run: weights packed, plans for the batch sizes, memory of each instance.
// Thread: Run, Prepare, Trim and Release by one thread at a time for each instance, of different instances side by side; everything else is
// immutable after Load.
// Errors: Load and Run name the file, and the node where there is one.
// Bounds: besides those of Prepare at most kMaxPlans shapes are kept ready, one more drops the one unused longest; memory_share().
// Cost: Run of a known shape allocates nothing and takes no lock.
class Version {
 public:
  // Reads and checks the file, packs weights, and runs samples until the results of one are finite (samples.h). Errors: also when those of
  // none are for its weights, whatever the input (origin.h), and, before any is run, when a row is larger than a call or the process may
  // have.   Cost: milliseconds and more: for a loader's thread.
  static base::Result<std::unique_ptr<Version>> Load(const std::string& path, const LoadOptions& options);
  ~Version();

  // Makes what a Run of these shapes by this instance would make first, and keeps it. `inputs`: as for Run, without data.
  base::Status Prepare(int instance, int64_t rows, std::span<const wf_tensor> inputs);
  // The plan of such a Run; null: only a run tells what it does.   Thread: one at a time with all of those that make plans.
  base::Result<std::shared_ptr<const Plan>> PlanFor(const std::vector<onnx::Port>& shapes);
  // Errors: kOutOfRange when a Run of these shapes would take more than most_bytes for activations and results; never of a file that leaves
  // no extent open. A run that depends on data learns as it goes what it takes: the next one of this instance ends where it is more.
  // `inputs`: as for Run, without data.
  base::Status CheckSize(int instance, int64_t rows, std::span<const wf_tensor> inputs, int64_t most_bytes);
  // The outputs of the last Run are gone, and so is memory beyond what an instance may keep.
  void Trim(int instance);
  // Drops memory and plans of an instance. Its outputs are gone.
  void Release(int instance);
  // That work at a run of the instance, from what it does next on, which first makes what they want (before: LoadOptions::threads). On any
  // thread.
  void set_threads(int instance, int threads);

  // Runs `rows` samples. inputs[i] has the shape of the file, `rows` along the batch axis; dense, 64-aligned, readable to the next multiple
  // of 64 bytes. Fills outputs[i]: data, dtype, dims, strides; they stay valid until the next Run or Trim of this instance.
  // Elements that are strings: wf_bytes. wanted: null when nobody will stop it.
  // Errors: kInvalidArgument for tensors that the signature does not take, or an index out of range within the model; kResourceExhausted
  // for memory; kCancelled and kOutOfRange as said at depends_on_data.
  base::Status Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                   const base::Wanted* wanted = nullptr);

  const std::string& name() const { return loaded_.options.name; }
  int64_t version() const { return loaded_.options.version; }
  const std::string& warning() const { return warning_; }                              // what was odd while it was loaded; empty: nothing
  const onnx::Signature& signature() const { return loaded_.file->signature; }         // of the file
  const std::vector<std::string>& left_out() const { return loaded_.file->left_out; }  // outputs of the file that are not in it
  const std::vector<std::string>& notes() const { return loaded_.file->notes; }        // what the file says and is not so
  const onnx::BatchAxes& axes() const { return loaded_.axes; }
  const onnx::Model& file() const { return *loaded_.file; }  // its graph has become the program
  const Contents& contents() const { return loaded_.contents; }
  const Program& program() const { return loaded_.program; }
  int64_t max_rows() const { return loaded_.max_rows(); }
  int instance_count() const { return loaded_.options.instances; }
  int64_t activation_bytes() const { return activation_bytes_; }  // of one sample; 0 when its shape is not known
  // What a run of the warm-up's sample takes; 0: not known, or more than some milliseconds, which the load does not spend twice.
  int64_t row_ns() const { return row_ns_; }
  // With which the warm-up ran: of one row, all constant. Empty: none are known that the nodes take.
  const std::vector<onnx::Port>& sample_shapes() const { return sample_shapes_; }
  const SampleTexts& sample_texts() const { return sample_texts_; }
  void FillTexts(std::span<const wf_tensor> inputs) const;  // of inputs with memory, those of strings, with what nodes are likely to take
  bool has_open_extents() const { return loaded_.is_open; }
  // What a run does, and how long, is decided by the elements of its inputs: it ends early once it is not wanted, and when it takes more
  // than it may (budget.h).
  bool depends_on_data() const { return by_data_; }
  base::MemoryShare memory_share() const {
    return loaded_.is_open || by_data_ ? base::MemoryShare{loaded_.options.share.limit, kept_bytes_} : base::MemoryShare();
  }
  void set_kept_bytes(int64_t bytes) { kept_bytes_ = bytes; }  // of each instance, from now on; on any thread
  uint64_t shape_misses() const;                               // plans that a Run had to make first

 private:
  Version(LoadOptions options, std::shared_ptr<const onnx::Model> file);
  Runs& RunsOf(int instance);
  base::Status CheckRows(const std::string& path) const;
  base::Status CheckSample(const Plan& plan) const;
  base::Result<std::vector<onnx::Port>> SampleShapes();
  bool FindOpenExtents() const;
  std::vector<onnx::Port> PortsWith(int64_t free) const;
  bool FindDependsOnData() const;
  base::Status WarmUp();
  base::Status RunSamples(BoundPlan* bound, std::span<const wf_tensor> inputs);
  base::Status RunSample(std::span<const wf_tensor> inputs, const base::Wanted* wanted);  // finite results, or why not
  int64_t SpentNs() const;
  void MeasureRow(std::span<const wf_tensor> inputs);

  Loaded loaded_;
  std::string warning_;
  std::vector<onnx::Port> sample_shapes_;
  SampleTexts sample_texts_;
  int64_t activation_bytes_ = 0, row_ns_ = 0;
  bool by_data_ = false;  // some shapes depend on data
  std::unique_ptr<Runs> runs_;
  uint64_t misses_of_load_ = 0;
  std::atomic<int64_t> kept_bytes_;
};

}  // namespace wf::model
