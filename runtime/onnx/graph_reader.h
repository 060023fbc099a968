#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/onnx/counts.h"
#include "runtime/onnx/functions.h"
#include "runtime/onnx/infer.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/operators.h"
#include "runtime/onnx/reader.h"
#include "runtime/onnx/texts.h"
#include "runtime/onnx/wire.h"

namespace wf::onnx {

// Inside the reader: builds one model. reader.cc has its ports, read_nodes.cc its nodes, read_sequences.cc what is written out while it is
// read: sequences, and bodies that run a known number of times (ADR 0057). Its methods return text with the file's name.
// Thread: confined.   Borrows: model, options.
class GraphReader {
 public:
  GraphReader(Model& model, const ReadOptions& options) : model_(model), options_(options), texts_(model.graph.texts) {}

  base::Status Build(const ByteSource& source);

 private:
  // What a name stands for that is no tensor: a sequence of so many tensors, or an optional value that is not there.
  struct Sequence {
    std::vector<int> elements;  // values of the scope's graph
    bool is_absent = false;
    int stacked = -1;  // instead of elements: a tensor of them along its axis 0, as many as a run tells
  };
  struct Thing {
    int value = -1;                    // a tensor; -1: it is none
    std::optional<Sequence> sequence;  // nothing, and no value: there is no such name
  };
  // A graph that is being read, and the names in it.
  struct Scope {
    Graph* graph;
    const pb::GraphProto* proto;
    Scope* outer;                                         // null: it is the model's
    bool is_written_out;                                  // a body whose nodes become those of the graph around it
    std::unordered_map<std::string, int> values;          // by the name in the file
    std::unordered_map<std::string, Sequence> sequences;  // the same
    std::vector<int> captured;                            // values of `outer`, which the last inputs of the graph are
  };
  struct Body {
    std::string attribute;
    std::vector<int> captured;  // values around it
    std::vector<int> results;   // of each: kTensor, kAbsent, or how many tensors the sequence has
  };
  static constexpr int kTensor = -1, kAbsent = -2;
  static constexpr int kMostDepth = 16;  // of bodies in bodies

  Graph& graph() { return *scope_->graph; }
  bool is_of_model() const { return scope_->graph == &model_.graph; }

  base::Status Fail(const std::string& text) const { return {base::kInvalidArgument, fmt::format("`{}`: {}", model_.path, text)}; }
  base::Status NotBuilt(const std::string& text) const { return {base::kUnimplemented, fmt::format("`{}`: {}", model_.path, text)}; }
  base::Status NotBuiltAt(const Node& node, std::string_view text) const { return NotBuilt(fmt::format("{}: {}", node.Describe(), text)); }
  base::Status Prefixed(const base::Status& status, const std::string& what) const;

  // reader.cc: the model and its ports.
  // Node i of the model's graph, until the next is asked for. Errors: it has not the types of the format.
  base::Status NodeAt(size_t i, const pb::NodeProto*& out);
  size_t node_count() const { return are_nodes_whole_ ? static_cast<size_t>(graph_.node_size()) : skeleton_.node_count(); }
  base::Status ReadWholeNodes();  // into graph_: where functions are written out, and to tell what is wrong with the graph
  std::string WhyAbsent(const Node& node, const std::string& value);
  void LetGo();  // what nothing asks for once all nodes are read
  base::Status ReadImports();
  base::Status ReadInitializers(const std::vector<std::vector<Piece>>& pieces);
  base::Status ReadSparseInitializers(const pb::GraphProto& proto);  // of the model or a body
  base::Status ReadInputs();
  base::Status ReadInput(const pb::ValueInfoProto& input);
  base::Status ReadSequenceInput(const pb::ValueInfoProto& input, Port port);
  base::Status ReadPortName(const pb::ValueInfoProto& info, const char* what, Port& port) const;
  base::Status ReadPortType(const pb::TypeProto& type, const char* what, Port& port);
  base::Status ReadOutputs();
  base::Status AddOutput(int value, Port port, bool has_shape);
  // Constant indices that were left in the file, so that shape inference sees whether they lie within their axis.
  base::Status HoldIndices();
  std::string WriterOf(int value) const;
  // The axes of outputs are computed; what the file says about them is only checked, or gives a name where nothing can be computed.
  base::Status InferOutputs();
  std::unordered_set<std::string> GivenExtents() const;  // symbols of axes of inputs
  // Its steps, which let go what is known of the values between: of very many nodes that is much.
  base::Status InferWhole(std::vector<Known>& of_outputs, Counts& counts);
  std::vector<Known> InferExactly() const;  // of the outputs; empty where it does not succeed
  std::vector<Known> OfOutputs(const std::vector<Known>& known) const;

  // read_nodes.cc
  // All that are not supported are told at once: whoever converts the model again wants to know them all.
  base::Status FindOperators();
  base::Status ReadNode(const pb::NodeProto& proto, int index, const OperatorRow* row);
  base::Status ReadAnyForm(const pb::NodeProto& proto, int index, const OperatorRow* row);
  base::Status ReadNewer(const pb::NodeProto& proto, int index, const OperatorRow* row);  // of a form from kOldestForm on
  Node Begin(const pb::NodeProto& proto, int index, Op op) const;                         // what it is called
  base::Status ReadCompound(const pb::NodeProto& proto, int index, const OperatorRow& row);
  base::Status FinishMl(const pb::NodeProto& proto, Node& node);  // what nodes of ai.onnx.ml have besides attributes and edges
  base::Status FindRow(const pb::NodeProto& proto, int index, const OperatorRow*& row) const;
  base::Status ReadAttributes(const pb::NodeProto& proto, std::string_view known, Node& node);
  base::Status ReadAttribute(const pb::AttributeProto& proto, const Node& node, Attribute& out);
  base::Status ReadInEdges(const pb::NodeProto& proto, int min_in, Node& node);
  base::Status ReadOutEdges(const pb::NodeProto& proto, Node& node);
  base::Status FoldConstant(const Node& node);  // it is a weight, and does not stay a node
  int Define(const std::string& name);
  void SetWeight(int value, Weight weight);
  // The value of a name; -1: there is none. What a body reads from outside becomes an input of it.
  int Find(Scope& scope, const std::string& name);
  int Capture(Scope& scope, int outside, const std::string& name);
  base::Status ReadBody(const pb::GraphProto& proto, const Node& node, Attribute& attribute);
  // Names of its inputs but for initialisers, which files of an old format list there, too.
  static std::vector<std::string> GivenInputs(const pb::GraphProto& body);
  base::Status ReadInner(const pb::GraphProto& proto, Body& body);
  base::Status ReadInnerNodes(const pb::GraphProto& proto);
  // What its bodies read from outside, behind the node's own inputs.
  static void AddCaptures(const std::vector<Body>& bodies, Node& node);

  // read_sequences.cc
  // Null: the name is none of a sequence, or of an absent value. As Find for what lies outside.
  const Sequence* FindSequence(Scope& scope, const std::string& name);
  Thing FindThing(const std::string& name);
  base::Status Bind(const Node& node, const std::string& name, Thing thing);
  // The results of its bodies, some of which are sequences, become its outputs.
  base::Status AddBodyOutputs(const pb::NodeProto& proto, const std::vector<Body>& bodies, Node& node);
  // Of a node that takes or gives sequences or optional values, or has a body that can be written out: what it becomes. `done`: all.
  base::Status ReadWrittenOut(const pb::NodeProto& proto, const OperatorRow* row, Node& node, bool& done);
  base::Status ReadAlias(const pb::NodeProto& proto, const Node& node, bool& done);
  base::Status ReadOptional(const pb::NodeProto& proto, const Node& node, bool& done);
  base::Status ReadSequenceNode(const pb::NodeProto& proto, const Node& node);
  base::Status ReadInsert(const pb::NodeProto& proto, const Node& node);
  base::Status ReadErase(const pb::NodeProto& proto, const Node& node);
  base::Status ReadAt(const pb::NodeProto& proto, const Node& node);
  base::Status ReadSplit(const pb::NodeProto& proto, const Node& node);
  base::Status ReadConcat(const pb::NodeProto& proto, const Node& node);
  base::Status ReadSequenceMap(const pb::NodeProto& proto, const Node& node);
  base::Status ReadKnownIf(const pb::NodeProto& proto, const Node& node, bool& done);
  base::Status ReadKnownLoop(const pb::NodeProto& proto, const Node& node, bool& done);
  base::Status WriteOutLoop(const pb::NodeProto& proto, const Node& node, const pb::GraphProto& body, int64_t turns);
  base::Status CountWrittenOut(const pb::GraphProto& body, const Node& node);
  base::Status CheckElements(const Node& node) const;
  base::Status WriteOutBody(const pb::GraphProto& body, const Node& node, std::vector<Thing> inputs, std::vector<Thing>& results);
  base::Status TakeSequence(const pb::NodeProto& proto, const Node& node, int input, const Sequence*& out);
  base::Status TakeTensor(const pb::NodeProto& proto, const Node& node, int input, int& value);
  base::Status CheckSameTypes(const Node& node, const std::vector<int>& values);
  // The sizes of the parts of SplitToSequence along an axis; nothing: 1 each, and only a run tells how many.
  base::Status PartsOf(const pb::NodeProto& proto, const Node& node, int value, int64_t axis, std::optional<std::vector<int64_t>>& sizes);
  base::Result<int64_t> PositionOf(const pb::NodeProto& proto, const Node& node, int input, int64_t count, int64_t most);
  base::Status GatherAt(const Node& node, const std::vector<int>& elements, int position, int& value);
  // A new node that stands for a part of `node`, its outputs new values.
  std::vector<int> AddNode(const Node& node, Op op, std::vector<int> in, size_t outs, std::vector<Attribute> attributes);
  int AddConstant(const Node& node, uint8_t dtype, int64_t number);
  // What is known of a value by now without running the model; null: nothing is.
  const Known* KnownOf(int value);
  // Its integers, when it is a constant or follows from shapes and has no more than so many.
  std::optional<std::vector<int64_t>> IntegersOf(int value, size_t most = 1);

  // read_growing.cc. `done`: it was a loop that puts one tensor behind each sequence that it carries, and nothing else with them.
  base::Status ReadGrowingLoop(const pb::NodeProto& proto, const Node& node, bool& done);
  base::Status StackParts(const Node& node, int value, bool keeps_axis, int& stacked);  // those of SplitToSequence, of 1 each
  base::Status ReadStacked(const pb::NodeProto& proto, const Node& node, int stacked);

  Model& model_;
  const ReadOptions& options_;
  Skeleton skeleton_;
  pb::ModelProto proto_;
  pb::GraphProto graph_;          // of the model, its nodes
  bool are_nodes_whole_ = false;  // if so; else they are in skeleton_
  pb::NodeProto node_;            // of NodeAt
  Scope top_{&model_.graph, &graph_, nullptr, false, {}, {}, {}};
  Scope* scope_ = &top_;
  int depth_ = 0;              // of bodies
  std::vector<Body> bodies_;   // of the node that is being read
  int written_out_nodes_ = 0;  // of bodies
  uint64_t written_out_bytes_ = 0;
  int64_t sparse_left_bytes_ = 0;  // for what is stored sparse
  size_t elements_ = 0;            // of all sequences, each time one is made
  std::vector<Known> known_;       // of the values of the model's graph that nodes were read of, as far as somebody asked
  Followed followed_;
  size_t known_nodes_ = 0;
  bool is_stuck_ = false;  // a node is none that inference takes
  Node::Origin origin_;    // of the node that is read
  Opsets opsets_;
  NodeOpsets node_opsets_;
  const Opsets* imports_ = nullptr;  // of the node that is being read, of the model's or of a body
  Texts texts_;
  std::unordered_set<std::string> maps_;  // outputs of ZipMap
  std::vector<const OperatorRow*> rows_;  // by node
  std::vector<bool> output_has_shape_;
  base::UnknownDims unknown_{"f"};
};

}  // namespace wf::onnx
