#pragma once

#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/base/status.h"
#include "runtime/onnx/signature.h"

namespace wf::server {

// What the file of a model has to be like for the program that was compiled.
struct CompiledSignature {
  onnx::Signature signature;               // with the axis of samples put back
  std::vector<std::vector<bool>> checked;  // by output and axis: calls hold its extent against the signature
};
CompiledSignature ReadCompiled(const wf_model& row);

// Names are compared by place: the program may have its own for what ONNX calls `x:0`.
base::Status CheckCompiled(const onnx::Signature& file, const CompiledSignature& compiled);
// Of a file whose axes nobody marks: what a version's nodes compute may not be of samples where that of the version compiled in was.
base::Status CheckAxes(const onnx::BatchAxes& axes, const wf_model& row);

}  // namespace wf::server
