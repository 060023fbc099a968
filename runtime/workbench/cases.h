#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/workbench/agree.h"

namespace wf::workbench {

// A model with inputs and the outputs that are expected, in the form of ONNX's backend tests: a folder with model.onnx and
// test_data_set_K/input_J.pb and output_J.pb.
struct Case {
  std::string name, folder;  // the name is that of the folder
};

// The cases at `path` and below it, by name; links to folders are not followed. Errors: kNotFound where there is none, or no folder.
base::Result<std::vector<Case>> FindCases(const std::string& path);

enum class Verdict { kPassed, kFailed, kUnsupported };
struct Outcome {
  Verdict verdict = Verdict::kPassed;
  std::string reason;  // empty when passed
};
// Unsupported: the model, or its data, needs what is not built (kUnimplemented).
Outcome RunCase(const Case& each, const Tolerance& tolerance);

}  // namespace wf::workbench
