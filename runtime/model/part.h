#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/model/budget.h"
#include "runtime/model/cut.h"

namespace wf::model {

bool HasBody(const onnx::Node& node);  // as If and Loop

// The results of a node follow from shapes, and so does all that its kernel must know; `known` learns its results.
bool IsSettled(const Program& program, size_t node, std::vector<onnx::Known>& known);

// What bounds the parts of a run.
struct PartLimits {
  int64_t max_bytes;                // of one tensor, and of one part's results
  Budget* budget;                   // of the run that they are parts of
  kernels::Texts* texts = nullptr;  // the same
  int threads = 1;                  // that work at it
};

// Memory that is counted as long as somebody holds it. Errors: there is none left.
base::Status TakeCounted(const PartLimits& limits, int64_t bytes, std::shared_ptr<uint8_t>& memory);
// What is there of a value, weights loaded; dtype 0 where it is absent (-1).
base::Result<Elements> ElementsAt(const Program& program, int value, std::span<const Elements> values);

// The nodes [begin, end) of a program, prepared for the shapes of what they read and for the elements that they took as parameters.
// Thread: one at a time; REQUIRES kernels::UseOneThread() on it before.   Owns: memory for results, claimed from the budget.
// Borrows: the program, the budget.
class Part {
 public:
  virtual ~Part() = default;

  // The longest that begins at `begin`. values: by value of the program, those that are there. Errors: kInvalidArgument, kUnimplemented,
  // kOutOfRange, kResourceExhausted; the text names the program and the node.   Cost: milliseconds.
  static base::Result<std::unique_ptr<Part>> Make(const Program& program, size_t begin, std::span<const Elements> values,
                                                  const PartLimits& limits);

  // Computes into `values` what its nodes write. Results stay until its next run. Errors: as of Make, and kCancelled.
  virtual base::Status Run(std::vector<Elements>& values) = 0;

  bool Fits(size_t begin, std::span<const Elements> values) const;
  size_t end() const { return end_; }

 protected:
  struct Range {
    size_t begin, end;
    std::vector<std::pair<int, Elements>> reads;  // with what was there when it was made, without elements
    std::vector<std::pair<int, Elements>> fixed;  // what it took as parameters: copies
  };
  explicit Part(Range range) : begin_(range.begin), end_(range.end), reads_(std::move(range.reads)), fixed_(std::move(range.fixed)) {}
  friend class PartMaker;

  // Memory that is counted. Errors: there is none left.
  base::Status Take(Budget& budget, int64_t bytes, std::shared_ptr<uint8_t>& memory);

 private:
  const size_t begin_, end_;
  const std::vector<std::pair<int, Elements>> reads_, fixed_;
  base::MemoryClaim claim_;
};

}  // namespace wf::model
