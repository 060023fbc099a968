#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/kernels/memory.h"

// What a kernel is: an operator's code, chosen and prepared for fixed shapes, element types and memory formats (when a plan is made), then
// bound to buffers (per instance), then run without allocation, locks or checks.
namespace wf::kernels {

// How the elements of a tensor lie in memory when not row-major, or not stored in its type: known only to the library that chose it
// (oneDNN).   Thread: immutable.
class Format {
 public:
  virtual ~Format() = default;
  virtual bool Same(const Format& other) const = 0;
  virtual int64_t size_bytes() const = 0;
  virtual bool is_bf16() const = 0;          // the elements of a tensor of f32 are stored as bf16
  virtual std::string ToString() const = 0;  // one line: the same for the same format in every process
};
using FormatRef = std::shared_ptr<const Format>;  // null: row-major, in the tensor's type
bool SameFormat(const FormatRef& a, const FormatRef& b);

// Elements that are known when a plan is made, row-major, 64-aligned. They may be far larger than what is prepared from them, so they are
// loaded on demand and let go: a kernel keeps the result only when it reads it at run time.
// Thread: one at a time, where plans are made.   Errors: of Load, kResourceExhausted for memory and those of reading the file.
class Constant {
 public:
  explicit Constant(std::shared_ptr<PackedMemory> packed_memory) : packed_memory_(std::move(packed_memory)) {}
  virtual ~Constant() = default;
  virtual base::Result<std::shared_ptr<const uint8_t>> Load() const = 0;
  // What was prepared from it before, by a key of the preparing library: plans of several batch sizes share packed weights.
  std::shared_ptr<const void>& Packed(const std::string& key) const { return packed_[key]; }
  PackedMemory& packed_memory() const { return *packed_memory_; }  // for what is prepared
  const std::shared_ptr<PackedMemory>& shared_packed_memory() const { return packed_memory_; }

 private:
  const std::shared_ptr<PackedMemory> packed_memory_;  // of the model
  mutable std::map<std::string, std::shared_ptr<const void>> packed_;
};

struct TensorInfo {
  uint8_t dtype = 0;
  std::vector<int64_t> dim;
  FormatRef format;
  std::shared_ptr<const Constant> constant;  // null: computed at run time
  uint8_t meaning = 0;  // the dtype of the file that the elements stand for, as numbers of Texts do for strings; 0: their own

  int64_t count() const;
  int64_t size_bytes() const;  // in its format
};

class Texts;

struct Buffers {
  std::vector<const void*> in;  // null where an input is absent
  std::vector<void*> out;       // null where nobody reads an output but the first
  void* scratch = nullptr;      // scratch_bytes() of the kernel, 64-aligned
  Texts* texts = nullptr;       // what elements that are strings stand for; null where no such kernel is run
};

// A kernel bound to buffers.   Thread: compute-thread, one at a time; REQUIRES UseOneThread() on it before.   Cost: no allocation.
class Call {
 public:
  virtual ~Call() = default;
  virtual const char* Run() = 0;  // null, or why the data cannot be computed with (an index out of range): a static text
  virtual void SetIn(size_t i, const void* data) = 0;
};

// A prepared kernel: shared by all instances of a model.
// Thread: immutable.   Errors: of Bind, kResourceExhausted for memory, and those of the library that it is of.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual base::Result<std::unique_ptr<Call>> Bind(const Buffers& buffers) const = 0;

  std::string impl;                  // of the row: "ref", "onednn"
  std::vector<bool> packed_in;       // inputs that were constant and live in the kernel: they need no buffer
  std::vector<FormatRef> in_format;  // wanted; the caller converts
  FormatRef out_format;              // of output 0; others are row-major
  int64_t scratch_bytes = 0;
  bool in_place = false;  // the output, the only one, may lie on input 0
};

// A kernel that is a function. It captures what it needs, constants included.
using Body = std::function<const char*(const Buffers&)>;
std::unique_ptr<Kernel> MakeFunction(size_t inputs, Body body, bool in_place = false);

}  // namespace wf::kernels
