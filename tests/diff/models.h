#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/diff/writer.h"

namespace wf::diff {

// The tensor of one call.
struct Array {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  std::string bytes;
};

// A model that programs call: the file `models/NAME.onnx`, and what it computes. A model may round otherwise from one number of rows to the
// next (docs/semantics.md 32), so these compute what has one answer in whatever order: a single operation for each element, or sums of
// numbers that are small and whole.
struct KnownModel {
  Function call;          // `name`: of the file; `result`: of several outputs a tuple
  std::string signature;  // to be written; empty: that of the file
  bool is_batched = true;
  std::string pad;        // the symbol that `pad` may take; empty: none
  std::string (*file)();  // its bytes
  // Of one row. False: a model fails for these inputs, and says why itself.
  bool (*compute)(std::span<const Array> in, std::span<Array> out);
};

const std::vector<KnownModel>& KnownModels();
const KnownModel* FindModel(const std::string& path);  // `models/NAME.onnx`; null: none of these

// What a file declares where programs of it share the model. The queue is never full, which would be an answer that depends on timing.
std::string DeclarationOf(const KnownModel& model, const std::string& name, const std::string& settings);
void WriteFiles(const std::string& folder);  // those that programs name, into FOLDER/models

}  // namespace wf::diff
