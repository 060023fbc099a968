#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/dim.h"
#include "runtime/base/dtype.h"
#include "runtime/base/narrow.h"
#include "runtime/base/status.h"

// A model file in our terms: values, nodes in an order in which they can run, and where the bytes of its weights lie.
namespace wf::onnx {

using base::Dim;
using Shape = std::vector<Dim>;

// dtype of ONNX strings, beside the numbers WF_BOOL..WF_F64. Kernels see numbers of texts (ADR 0038). 0 is "not known".
inline constexpr uint8_t kStringType = 64;
// dtypes of the formats that are only stored, base::Narrow behind this. Their elements lie in base::HolderOf the format from the reader on.
inline constexpr uint8_t kNarrowTypes = 64;
constexpr base::Narrow NarrowOf(uint8_t dtype) {  // kNone: of another dtype
  return dtype > kNarrowTypes && dtype - kNarrowTypes < base::kNarrowCount ? static_cast<base::Narrow>(dtype - kNarrowTypes)
                                                                           : base::Narrow::kNone;
}
constexpr bool IsNarrow(uint8_t dtype) { return NarrowOf(dtype) != base::Narrow::kNone; }
// The dtype of elements as they lie in memory, one of WF_BOOL..WF_F64.
constexpr uint8_t ElementType(uint8_t dtype) {
  return dtype == kStringType ? static_cast<uint8_t>(WF_I64) : IsNarrow(dtype) ? base::HolderOf(NarrowOf(dtype)) : dtype;
}
int64_t ElementSize(uint8_t dtype);                       // bytes; of a string those of its number in Graph::texts
std::string TypeName(uint8_t dtype);                      // "f32", "string"
std::string ToString(uint8_t dtype, const Shape& shape);  // "f32[n, 1, 28, 28]"; "f32" for a scalar

// Random access to the bytes of a file.   Thread: thread-safe, reads move no position.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  virtual const std::string& name() const = 0;  // path, for messages
  // Fills `out`. Errors: kInvalidArgument when the range leaves the file (it may have shrunk since it was opened), kUnavailable for a read
  // error.
  virtual base::Status Read(uint64_t offset, std::span<uint8_t> out) const = 0;
};

// How elements are written in a file: as they are, or as protobuf varints, one per element.
enum class Encoding : uint8_t { kRaw, kVarint };

// A constant of the file. Few elements are in `bytes`; others stay in the file until ReadElements is asked for them.
struct Weight {
  std::string name;
  uint8_t dtype = 0;
  std::vector<int64_t> dim;
  Encoding encoding = Encoding::kRaw;
  uint16_t file = 0;                // index into Model::files
  uint64_t offset = 0, length = 0;  // within that file
  std::vector<uint8_t> bytes;       // size_bytes() of them when the elements are held here
  bool held = false;
  bool is_sparse = false;  // the file has few of its elements, the reader wrote out all

  int64_t count() const;         // elements; cannot overflow, the reader has checked
  int64_t size_bytes() const;    // as elements in memory
  int64_t stored_bytes() const;  // as they are in a file, raw
};

struct Attribute {
  enum class Kind : uint8_t { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor, kGraph, kOther };
  std::string name;
  Kind kind = Kind::kOther;
  int64_t i = 0;
  float f = 0;
  std::string s;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;  // bytes as they are, of kString, too
  std::vector<int64_t> texts;        // kString, kStrings that elements may be: their numbers in Graph::texts
  int tensor = -1;                   // kTensor: index into Graph::weights
  int body = -1;                     // kGraph: index into Graph::bodies
  size_t first_capture = 0;          // kGraph: of the inputs of the node, those that the last of the body take: what it reads from outside
};

Attribute IntAttribute(const char* name, int64_t value);
Attribute IntsAttribute(const char* name, std::vector<int64_t> values);

enum class Op : uint16_t;  // op.h
std::string_view OpName(Op op);

struct Trees;  // trees.h

struct Node {
  Op op{};
  std::string name;          // as in the file; may be empty
  int index = 0;             // place among the file's nodes, from 0
  int opset = 0;             // version of the operator's set, whose form it has
  std::vector<int> in, out;  // indices into Graph::values; -1: optional and absent. What bodies read from outside comes last of the inputs
  std::vector<Attribute> attributes;
  std::shared_ptr<const Trees> trees;  // of an ensemble of trees, instead of the attributes that hold them
  // The operator as the file has it, of which the reader may have made another or several; opset 0: no file has it.
  struct Origin {
    Op op{};
    int opset = 0;
  } origin;

  const Attribute* Find(std::string_view attribute) const;
  int64_t Int(std::string_view attribute, int64_t otherwise) const;
  float Float(std::string_view attribute, float otherwise) const;
  std::string_view String(std::string_view attribute, std::string_view otherwise) const;
  // Empty when absent.
  std::span<const int64_t> Ints(std::string_view attribute) const;
  std::span<const float> Floats(std::string_view attribute) const;
  std::span<const int64_t> Texts(std::string_view attribute) const;
  bool has_in(size_t i) const { return i < in.size() && in[i] >= 0; }
  std::string Label() const;     // for tables: "node `conv1` (Conv)", "node 3 (Conv)"
  std::string Describe() const;  // for all that is told of a node: "node 3 (Conv, ai.onnx opset 17)"
};

struct Value {
  std::string name;
  int weight = -1;  // index into Graph::weights, or -1: an input or written by a node
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;  // each reads only inputs, weights and what earlier nodes write
  std::vector<std::shared_ptr<const Weight>> weights;
  std::vector<int> inputs, outputs;                  // values, in the order of the file; inputs without those that have a default
  std::vector<std::shared_ptr<const Graph>> bodies;  // of If, Loop and Scan
  size_t formal_inputs = 0;                          // of a body; the others are what it reads from outside
  std::vector<std::string> texts;  // of a model's graph, each once: what elements of kStringType can be, which are numbers (i64) of these

  const Weight& weight(int index) const { return *weights[static_cast<size_t>(index)]; }
  int Add(Weight weight);  // its index
};

// An input or output of the model, with the file's real axes.
struct Port {
  std::string name;  // as in the file, not sanitised
  uint8_t dtype = 0;
  Shape dim;
  bool optional = false;         // in the file, which could do without; whoever runs the model gives it
  std::string ToString() const;  // "input: f32[n, 1, 28, 28]"
};

// What a model takes and gives. Named dynamic axes are symbols of that name; unnamed ones are distinct unknowns. The axes of outputs come
// from shape inference, in terms of the symbols of the inputs; of what only the data decides it is what the file declares, or an unknown.
struct Signature {
  std::vector<Port> inputs, outputs;
  std::vector<Shape> computed;  // of the outputs, an unknown where the file at most declares it; empty: as the outputs say
  // By output: the node that finds in the data what axis 0 counts, by its Node::Label; "" where none does. Empty: none is known.
  std::vector<std::string> found_by;
};

// A model file that was read and understood.   Thread: immutable, once model::Optimise has taken the graph out.   Owns: open files, for
// ReadElements.
struct Model {
  std::string path, producer;
  int64_t ir_version = 0;
  int opset = 0;
  Graph graph;
  Signature signature;
  std::vector<std::string>
      left_out;  // outputs of strings that are none of it any more (text_ports.h): they are in neither graph nor signature
  std::vector<std::string> notes;                        // what the file says of itself and is not so, for whoever looks at it
  std::vector<std::shared_ptr<const ByteSource>> files;  // [0] the model file itself, then files of external data
};

}  // namespace wf::onnx
