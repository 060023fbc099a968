#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// Which axis of each port counts samples (docs/semantics.md 13).
struct BatchAxes {
  std::vector<int8_t> axis;  // per port, inputs then outputs: index among the file's axes, -1 none
  bool batched = false;      // runs of several samples are possible
  bool dropped = false;      // the axis is a literal 1: calls do not see it, one sample a run
  std::string reason;        // of the choice, for `check --verbose`
  std::string mixing =
      {};  // how a node is certain to compute across the samples that the signature marks (MixingText); empty: none is known
};

// The name that marks the batch axis in a written signature.
inline constexpr std::string_view kBatchSymbol = "batch";

// Chooses the batch axis of a model. `graph`: of the file; null: axes that only its nodes could show to be of samples are not, and no node
// is known to compute across them. `written`: the signature in the program, or null; its axes are the file's, one of each port possibly
// `batch`. Errors: kInvalidArgument when the written signature does not fit the file, or an output of a model with a batch axis has none.
// Cost: one shape inference (FindMixing); where axis 0 has several names in the file, two more and one for each further name that an
// input's axis 0 has, which end at kMostLengthWork.
base::Result<BatchAxes> ChooseBatchAxis(const Signature& file, const Graph* graph, const Signature* written = nullptr);

// The signature that calls see: without the axes chosen above.
Signature WithoutBatchAxis(const Signature& signature, const BatchAxes& axes);

struct Mismatch {
  std::string text;
  bool is_input;
  std::optional<size_t> port = std::nullopt;  // nothing: there are more or fewer of them
  bool only_name = false;                     // all but the name fits
};

// Why a model with signature `file` cannot stand in for `wanted`; empty when it can: the same ports in the same order, element types, ranks
// and extents; an axis that is dynamic in `wanted` must be dynamic in `file`, and one of an output may not differ whatever the extents of
// the inputs are, those of 0 aside. A list of strings that is of any length in `wanted` may have one in `file`. Used for a written
// signature and for a new version of a model.
std::vector<Mismatch> FindMismatches(const Signature& file, const Signature& wanted);
base::Status CheckSignature(const Signature& file, const Signature& wanted);  // the first of them

// Bytes of one row, at least: each extent that is no number counts as 1. INT64_MAX: as many, or more.
int64_t RowBytes(const Port& port);

// Errors: kOutOfRange when a row of an input or of an output has more bytes than these; the text names the file, which is at `path`, and
// the port.
base::Status CheckRows(const Signature& file, const std::string& path, int64_t most_in, int64_t most_out);

// Which extents of outputs that `wanted` states by symbols do not follow from the file: by output and axis. A symbol that no input has is
// the extent of the first axis, in the order of outputs, that is `a * symbol + b`. REQUIRES: CheckSignature is ok.
std::vector<std::vector<bool>> UnprovedExtents(const Signature& file, const Signature& wanted);

}  // namespace wf::onnx
