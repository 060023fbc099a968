#include "runtime/onnx/upgrade.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/onnx/tensor.h"

namespace wf::onnx {
namespace {

using base::Status;

constexpr int kMostTensorType = 32;

void SetInts(pb::NodeProto& node, const char* name, std::initializer_list<int64_t> values) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::INTS);
  attribute.mutable_ints()->Add(values.begin(), values.end());
}

void SetInt(pb::NodeProto& node, const char* name, int64_t value) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::INT);
  attribute.set_i(value);
}

void SetFloat(pb::NodeProto& node, const char* name, float value) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::FLOAT);
  attribute.set_f(value);
}

class Upgrader {
 public:
  Upgrader(const pb::NodeProto& node, int opset, std::vector<pb::NodeProto>& nodes) : node_(node), opset_(opset), nodes_(nodes) {}

  Status Run() {
    if (opset_ < 6) Drop("consumed_inputs");  // which of its inputs it might overwrite
    const auto changed = [this](const Form& form) { return form.op == node_.op_type() && opset_ < form.until; };
    const auto* const form = std::find_if(std::begin(kForms), std::end(kForms), changed);
    if (form != std::end(kForms)) WF_RETURN_IF_ERROR((this->*form->upgrade)());
    nodes_.push_back(std::move(node_));
    return Status::Ok();
  }

 private:
  struct Form {
    std::string_view op;
    int until;  // the opset that has it no longer
    Status (Upgrader::*upgrade)();
  };
  static const Form kForms[27];

  pb::AttributeProto* Find(std::string_view name) {
    for (pb::AttributeProto& attribute : *node_.mutable_attribute()) {
      if (attribute.name() == name) return &attribute;
    }
    return nullptr;
  }

  void Drop(std::string_view name) {
    auto& all = *node_.mutable_attribute();
    const auto has_name = [&](const pb::AttributeProto& attribute) { return attribute.name() == name; };
    all.erase(std::remove_if(all.begin(), all.end(), has_name), all.end());
  }

  static Status Refused(std::string text) { return {base::kInvalidArgument, std::move(text)}; }

  // Input 1 went along the axes of input 0 from `axis` on, or along the last ones.
  Status Broadcast() {
    const pb::AttributeProto *broadcast = Find("broadcast"), *axis = Find("axis");
    const bool along = broadcast != nullptr && broadcast->i() != 0 && axis != nullptr;
    const int64_t at = along ? axis->i() : 0;
    Drop("broadcast");
    Drop("axis");
    return along ? Align(at) : Status::Ok();
  }

  Status DropBroadcast() {
    Drop("broadcast");
    return Status::Ok();
  }

  Status Slope() { return Align(1); }

  pb::NodeProto& Add(const char* op, const std::vector<std::string>& in, const std::string& out) {
    pb::NodeProto& added = nodes_.emplace_back();
    added.set_op_type(op);
    added.set_name(node_.name());
    for (const std::string& each : in) added.add_input(each);
    added.add_output(out);
    return added;
  }

  // Input 1 gets axes of extent 1 behind its own, until its first lies under axis `axis` of input 0.
  Status Align(int64_t axis) {
    if (axis < 0 || axis > WF_MAX_RANK) return Refused(fmt::format("axis {}, wanted 0 to {}", axis, int{WF_MAX_RANK}));
    if (node_.input_size() < 2 || node_.output_size() < 1) return Status::Ok();  // the reader tells
    const std::string p = node_.output(0) + "#";
    Add("Shape", {node_.input(0)}, p + "x");
    Add("Shape", {node_.input(1)}, p + "y");
    Add("Shape", {p + "y"}, p + "axes");
    SetInts(Add("Constant", {}, p + "axis"), "value_ints", {axis});
    SetInts(Add("Constant", {}, p + "end"), "value_ints", {INT64_MAX});
    Add("Add", {p + "axis", p + "axes"}, p + "begin");
    Add("Slice", {p + "x", p + "begin", p + "end"}, p + "behind");
    Add("Shape", {p + "behind"}, p + "count");
    pb::AttributeProto& one = *Add("ConstantOfShape", {p + "count"}, p + "ones").add_attribute();
    one.set_name("value");
    one.set_type(pb::AttributeProto::TENSOR);
    one.mutable_t()->set_data_type(7);  // INT64
    one.mutable_t()->add_dims(1);
    one.mutable_t()->add_int64_data(1);
    SetInt(Add("Concat", {p + "y", p + "ones"}, p + "shape"), "axis", 0);
    Add("Reshape", {node_.input(1), p + "shape"}, p + "aligned");
    node_.set_input(1, p + "aligned");
    return Status::Ok();
  }

  Status Inference() {
    const pb::AttributeProto* is_test = Find("is_test");
    if (is_test != nullptr && is_test->i() == 0)
      return {base::kUnimplemented, fmt::format("training, is_test 0, is not supported before opset {}", kOldestForm)};
    Drop("is_test");
    return Status::Ok();
  }

  Status CastTarget() {
    pb::AttributeProto* to = Find("to");
    if (to == nullptr || to->type() != pb::AttributeProto::STRING) return Refused("`to` is not the name of a type");
    int type = 0;
    while (type < kMostTensorType && TensorTypeName(type) != to->s()) ++type;
    to->set_type(pb::AttributeProto::INT);
    to->clear_s();
    to->set_i(type);
    return Status::Ok();
  }

  Status JoinedAxis() {
    if (Find("axis") == nullptr) SetInt(node_, "axis", 1);
    return Status::Ok();
  }

  Status DropSequence() {
    Drop("output_sequence");
    return Status::Ok();
  }

  Status WholePower() {
    pb::AttributeProto* p = Find("p");
    if (p == nullptr || p->type() != pb::AttributeProto::FLOAT) return Status::Ok();
    if (!(p->f() >= 1 && p->f() <= 1024) || p->f() != std::floor(p->f()))
      return {base::kUnimplemented, fmt::format("a norm of p {} is not supported", p->f())};
    p->set_type(pb::AttributeProto::INT);
    p->set_i(static_cast<int64_t>(p->f()));
    return Status::Ok();
  }

  Status Paddings() {
    if (pb::AttributeProto* pads = Find("paddings")) pads->set_name("pads");
    return Status::Ok();
  }

  Status ShapeInput() {
    pb::AttributeProto* shape = Find("shape");
    if (shape == nullptr || node_.input_size() != 1 || node_.output_size() < 1) return Refused("wanted one input and a `shape`");
    pb::NodeProto& constant = Add("Constant", {}, node_.output(0) + "#shape");
    *constant.add_attribute() = *shape;
    constant.mutable_attribute(0)->set_name("value_ints");
    node_.add_input(constant.output(0));
    Drop("shape");
    return Status::Ok();
  }

  Status SeluDefaults() {
    if (Find("alpha") == nullptr) SetFloat(node_, "alpha", 1.6732f);
    if (Find("gamma") == nullptr) SetFloat(node_, "gamma", 1.0507f);
    return Status::Ok();
  }

  Status Scales() {
    const pb::AttributeProto *height = Find("height_scale"), *width = Find("width_scale");
    if (height == nullptr || width == nullptr) return Refused("it lacks `height_scale` or `width_scale`");
    const float down = height->f(), right = width->f();
    if (pb::AttributeProto* mode = Find("mode"); mode != nullptr && mode->s() == "bilinear") mode->set_s("linear");
    Drop("height_scale");
    Drop("width_scale");
    SetFloat(node_, "scales", 0);
    pb::AttributeProto& scales = *node_.mutable_attribute(node_.attribute_size() - 1);
    scales.set_type(pb::AttributeProto::FLOATS);
    for (const float each : {1.0f, 1.0f, down, right}) scales.add_floats(each);
    return Status::Ok();
  }

  // Each sample of a batch was scanned on its own, which is what a scan of the samples does.
  Status Batch() {
    if (node_.input_size() < 2 || node_.output_size() < 1) return Refused("it has no input to walk, or no output");
    if (!node_.input(0).empty()) return {base::kUnimplemented, "lengths of sequences are not supported before opset 9"};
    pb::NodeProto samples, inner;
    inner.Swap(&node_);
    samples.set_op_type(inner.op_type());
    samples.set_name(inner.name());
    pb::AttributeProto& body = *samples.add_attribute();
    body.set_name("body");
    body.set_type(pb::AttributeProto::GRAPH);
    const std::string p = inner.output(0) + "#";
    for (int i = 1; i < inner.input_size(); ++i) {
      samples.add_input(inner.input(i));
      inner.set_input(i, p + "in" + std::to_string(i));
      body.mutable_g()->add_input()->set_name(inner.input(i));
    }
    inner.mutable_input()->erase(inner.input().begin());
    for (int i = 0; i < inner.output_size(); ++i) {
      samples.add_output(inner.output(i));
      inner.set_output(i, p + "out" + std::to_string(i));
      body.mutable_g()->add_output()->set_name(inner.output(i));
    }
    for (pb::AttributeProto& attribute : *inner.mutable_attribute()) {
      if (attribute.name() == "directions") attribute.set_name("scan_input_directions");
    }
    SetInts(inner, "scan_input_axes", {});
    body.mutable_g()->add_node()->Swap(&inner);
    SetInt(samples, "num_scan_inputs", samples.input_size());
    node_.Swap(&samples);
    return Status::Ok();
  }

  pb::NodeProto node_;
  const int opset_;
  std::vector<pb::NodeProto>& nodes_;
};

const Upgrader::Form Upgrader::kForms[] = {
    {"Add", 7, &Upgrader::Broadcast},
    {"And", 7, &Upgrader::Broadcast},
    {"BatchNormalization", 7, &Upgrader::Inference},
    {"Cast", 6, &Upgrader::CastTarget},
    {"Concat", 4, &Upgrader::JoinedAxis},
    {"Div", 7, &Upgrader::Broadcast},
    {"Dropout", 7, &Upgrader::Inference},
    {"Equal", 7, &Upgrader::Broadcast},
    {"GRU", 7, &Upgrader::DropSequence},
    {"Gemm", 7, &Upgrader::DropBroadcast},
    {"GlobalLpPool", 2, &Upgrader::WholePower},
    {"Greater", 7, &Upgrader::Broadcast},
    {"LSTM", 7, &Upgrader::DropSequence},
    {"Less", 7, &Upgrader::Broadcast},
    {"LpPool", 2, &Upgrader::WholePower},
    {"Mul", 7, &Upgrader::Broadcast},
    {"Or", 7, &Upgrader::Broadcast},
    {"PRelu", 7, &Upgrader::Slope},
    {"Pad", 2, &Upgrader::Paddings},
    {"Pow", 7, &Upgrader::Broadcast},
    {"RNN", 7, &Upgrader::DropSequence},
    {"Reshape", 5, &Upgrader::ShapeInput},
    {"Scan", 9, &Upgrader::Batch},
    {"Selu", 6, &Upgrader::SeluDefaults},
    {"Sub", 7, &Upgrader::Broadcast},
    {"Upsample", 7, &Upgrader::Scales},
    {"Xor", 7, &Upgrader::Broadcast},
};

}  // namespace

bool IsOldForm(const pb::NodeProto& node, int opset) {
  const auto none = [&](auto is) { return std::none_of(node.attribute().begin(), node.attribute().end(), is); };
  if (opset == 8 && node.op_type() == "Scan") return none([](const auto& each) { return each.name() == "scan_input_axes"; });
  return opset < kOldestForm && none([](const auto& each) { return each.has_g() || each.has_t(); });
}

Status Upgrade(const pb::NodeProto& node, int opset, std::vector<pb::NodeProto>& nodes) { return Upgrader(node, opset, nodes).Run(); }

}  // namespace wf::onnx
