#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// What a run gives of inputs that are not simply a tensor each.
struct Given {
  std::vector<Port> inputs;      // among them the tensors of sequences, `x[0]`, `x[1]`, ..., as many as there are
  std::set<std::string> absent;  // optional inputs that are not there
};

struct ReadOptions {
  uint64_t max_graph_bytes = uint64_t{256} << 20;  // of the file without the elements of initialisers
  uint64_t max_weight_bytes = uint64_t{1} << 40;   // of one constant, in memory
  std::optional<Given> given = {};                 // nothing: a model that takes sequences is refused
  bool narrow = false;                             // what is only stored stays as inputs and outputs
  bool external_data = true;                       // false: refuse every file beside the model
};

// Reads a model file: structure, small constants and the signature; the elements of large initialisers stay in the file.
// Errors, each naming the file and, where there is one, the node: kNotFound, kPermissionDenied; kInvalidArgument for bytes that are no
// sound model; kUnimplemented for an operator, type or feature that is not built.
// Bounds: memory is about 1 KiB for each node, value, weight and shape of the file, which may have 20 bytes, and a small multiple of the
// rest without the elements of initialisers.   Cost: one pass over the structure, elements are skipped by offset.
base::Result<Model> ReadModel(const std::string& path, const ReadOptions& options = {});

// The same from memory, which must outlive the model; external data is refused. `name` stands for the path in messages.
base::Result<Model> ReadModelBytes(std::span<const uint8_t> bytes, const std::string& name, const ReadOptions& options = {});

// The inputs, but for those with a default, and outputs as the file declares them, and nothing more of it.
// Errors: as of ReadModel.
struct DeclaredPort {
  std::string name;
  bool is_optional = false, is_sequence = false;
};
struct Declared {
  std::vector<DeclaredPort> inputs, outputs;
};
base::Result<Declared> ReadDeclared(const std::string& path);

// Writes the elements of `weight` to `out`, which has weight.size_bytes() bytes.   Thread: thread-safe.   Errors: the file has shrunk or
// cannot be read.
base::Status ReadElements(const Model& model, const Weight& weight, std::span<uint8_t> out);

struct VersionFile {
  int64_t version;
  std::string path;
  friend bool operator==(const VersionFile&, const VersionFile&) = default;
};

// The versions that `path` offers, oldest first: a file is version 1; a folder offers N for each sub-folder N/ that holds a model.onnx.
// Adds to `skipped` what looks like a version and is none, with the reason.
// Errors: kNotFound when there is none, with the reason.
base::Result<std::vector<VersionFile>> FindVersions(const std::string& path, std::vector<std::string>* skipped = nullptr);

}  // namespace wf::onnx
