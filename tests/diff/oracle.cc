#include "tests/diff/oracle.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "compiler/natives/natives.h"
#include "runtime/base/check.h"
#include "runtime/bus/bus.h"
#include "runtime/nodes/nodes.h"
#include "tests/diff/externs.h"
#include "tests/diff/model_host.h"
#include "tests/diff/scratch.h"

namespace wf::diff {
namespace {

// Below what a server gives a request, which counts the same values otherwise.
constexpr uint64_t kMostSteps = 20'000'000, kMostBytes = uint64_t{32} << 20;

wf_tensor View(ir::DType dtype, const ir::Value& value) {
  wf_tensor tensor{};
  tensor.data = const_cast<char*>(value.text->data());
  tensor.dtype = static_cast<uint8_t>(dtype);
  tensor.rank = static_cast<uint8_t>(value.dims.size());
  int64_t stride = 1;
  for (size_t axis = value.dims.size(); axis-- > 0; stride *= value.dims[axis]) {
    tensor.dim[axis] = value.dims[axis];
    tensor.stride[axis] = stride;
  }
  return tensor;
}

}  // namespace

ir::Outcome CallNative(const ir::Program& program, const std::string& symbol, std::span<const ir::Value> args, ir::TypeId result) {
  Scratch scratch;
  const ir::Type& type = program.types[result];
  const auto ended = [&](wf_code code, const void* at) -> ir::Outcome {
    if (code == 0) return {.value = test::Take(program.types, result, at), .failure = {}};
    const bus::Failure& failure = scratch.bus.main.TakeFailure(code);
    return {.value = {}, .failure = ir::Failure{.code = failure.code, .message = std::string(failure.message), .line = failure.site}};
  };
  if (symbol == "wf_n_top_k") {
    const wf_tensor x = View(program.types[type.fields[0].type].dtype, args[0]);
    const auto k = static_cast<int64_t>(args[1].bits);
    wf_top_k_result best{};
    return ended(wf_n_top_k(scratch.bus.ctx(), &x, &k, &best), &best);
  }
  if (symbol == "wf_n_sort" || symbol == "wf_n_cumsum") {
    const wf_tensor x = View(type.dtype, args[0]);
    wf_tensor made{};
    return ended((symbol == "wf_n_sort" ? wf_n_sort : wf_n_cumsum)(scratch.bus.ctx(), &x, &made), &made);
  }
  if (symbol == "wf_n_argmax" ||
      symbol == "wf_n_argmax_rows") {  // the result does not tell the type of x: no two that are written have one size
    static constexpr ir::DType kTypes[] = {ir::DType::kU8, ir::DType::kF16, ir::DType::kF32, ir::DType::kI64};
    int64_t count = 1;
    for (const int64_t extent : args[0].dims) count *= extent;
    const size_t bytes = count == 0 ? 1 : args[0].text->size() / static_cast<size_t>(count);
    const wf_tensor x = View(*std::ranges::find(kTypes, bytes, ir::SizeOf), args[0]);
    int64_t index = 0;
    if (symbol == "wf_n_argmax") return ended(wf_n_argmax(scratch.bus.ctx(), &x, &index), &index);
    wf_tensor indices{};
    return ended(wf_n_argmax_rows(scratch.bus.ctx(), &x, &indices), &indices);
  }
  if (symbol.starts_with("wf_n_json_")) return natives::Call(program.types, symbol, args, result, kMostBytes);
  const KnownExtern* const known = FindExtern(symbol);
  WF_CHECK(known != nullptr, symbol);
  return known->compute(args);
}

namespace {

Array ArrayOf(const ir::Type& type, const ir::Value& value) {
  if (type.kind == ir::TypeKind::kTensor) return {type.dtype, value.dims, *value.text};
  return {type.dtype, {}, std::string(reinterpret_cast<const char*>(&value.bits), ir::SizeOf(type.dtype))};
}

ir::Value ValueOf(const ir::Type& type, const Array& array) {
  if (type.kind == ir::TypeKind::kTensor) return ir::Value::Tensor(array.dims, array.bytes);
  uint64_t bits = 0;
  std::memcpy(&bits, array.bytes.data(), array.bytes.size());
  return ir::Value::Scalar(bits);
}

ir::Outcome CallModel(const ir::Program& program, ir::ModelId id, std::span<const ir::Value> args, ir::TypeId result, ModelHost& models) {
  const ir::Model& model = program.models[static_cast<size_t>(id)];
  std::vector<Array> inputs, outputs;
  for (size_t i = 0; i < args.size(); ++i) inputs.push_back(ArrayOf(program.types[model.in[i].type], args[i]));
  const Reported failed = models.Call(static_cast<size_t>(id), inputs, &outputs);
  if (failed.code != 0) return {.value = {}, .failure = ir::Failure{.code = failed.code, .message = failed.message}};
  const ir::Type& type = program.types[result];
  if (type.kind != ir::TypeKind::kRecord) return {.value = ValueOf(type, outputs[0]), .failure = {}};
  std::vector<ir::Value> items;
  for (size_t i = 0; i < outputs.size(); ++i) items.push_back(ValueOf(program.types[type.fields[i].type], outputs[i]));
  return {.value = ir::Value::Items(std::move(items)), .failure = {}};
}

}  // namespace

Ending Interpreted(const ir::Program& program, size_t workflow, std::vector<ir::Value> inputs, const Input& input, ModelHost& models) {
  ir::Hooks hooks;
  hooks.model = [&](ir::ModelId model, std::span<const ir::Value> args, ir::TypeId result) {
    return CallModel(program, model, args, result, models);
  };
  hooks.native = [&](const std::string& symbol, std::span<const ir::Value> args, ir::TypeId result) {
    return CallNative(program, symbol, args, result);
  };
  hooks.meta = [&](const std::string& key) -> std::optional<std::string> {
    for (const auto& [name, text] : input.metadata)
      if (name == key) return text;
    return {};
  };
  ir::Interpreter interpreter(program, hooks, {.max_steps = kMostSteps, .max_bytes = kMostBytes});
  ir::Interpreter::Reply reply = interpreter.RunWorkflow(workflow, std::move(inputs));
  const bool is_cut = interpreter.is_spent();
  if (!reply.failure) return {std::move(*reply.outputs), interpreter.annotations(), {}, is_cut};
  return {{}, {}, {reply.failure->code, reply.failure->path, reply.failure->message}, is_cut};
}

std::string ToString(const ir::Program& program, size_t workflow, const Ending& ending) {
  if (ending.failure.code != 0)
    return "failure " + std::to_string(ending.failure.code) + " `" + ending.failure.message + "` at `" + ending.failure.path + "`";
  std::string text;
  for (size_t i = 0; i < ending.values.size(); ++i) {
    const ir::Port& port = program.workflows[workflow].out[i];
    text += (i == 0 ? "" : "; ") + port.name + " = " + ir::ToString(program.types, program[port.slot].type, ending.values[i]);
  }
  for (const ir::Annotation& one : ending.annotations)
    text += (one.is_certain ? "; annotated " : "; perhaps annotated ") + one.key + " = `" + one.text + "`";
  return text;
}

namespace {

// Null: there is none.
const std::string* LastOf(const std::string& key, const std::vector<ir::Annotation>& annotations) {
  const auto found = std::find_if(annotations.rbegin(), annotations.rend(), [&](const ir::Annotation& one) { return one.key == key; });
  return found == annotations.rend() ? nullptr : &found->text;
}

bool MayBeLast(const std::string* text, const std::string& key, const std::vector<ir::Annotation>& wanted) {
  for (auto one = wanted.rbegin(); one != wanted.rend(); ++one) {
    if (one->key != key) continue;
    if (text != nullptr && one->text == *text) return true;
    if (one->is_certain) return false;
  }
  return text == nullptr;
}

bool MayAnnotate(const std::vector<ir::Annotation>& wanted, const std::vector<ir::Annotation>& got) {
  const auto fits = [&](const ir::Annotation& one) { return MayBeLast(LastOf(one.key, got), one.key, wanted); };
  return std::all_of(wanted.begin(), wanted.end(), fits) && std::all_of(got.begin(), got.end(), fits);
}

std::vector<ir::Value> Read(const ir::Program& program, const std::vector<ir::Port>& ports, const wf_port* rows, const wf_plan& plan,
                            const void* frame) {
  std::vector<ir::Value> values;
  for (size_t i = 0; i < ports.size(); ++i)
    values.push_back(
        test::Take(program.types, program[ports[i].slot].type, static_cast<const std::byte*>(frame) + plan.slots[rows[i].slot].offset));
  return values;
}

}  // namespace

bool SameEnding(const ir::Program& program, size_t workflow, const Ending& wanted, const Ending& got) {
  if (wanted.failure != got.failure || wanted.values.size() != got.values.size()) return false;
  if (!MayAnnotate(wanted.annotations, got.annotations)) return false;
  for (size_t i = 0; i < wanted.values.size(); ++i)
    if (!ir::SameBits(program.types, program[program.workflows[workflow].out[i].slot].type, wanted.values[i], got.values[i])) return false;
  return true;
}

std::vector<ir::Value> Inputs(const ir::Program& program, size_t workflow, const wf_plan& plan, const void* frame) {
  return Read(program, program.workflows[workflow].in, plan.workflows[workflow].in, plan, frame);
}

std::vector<ir::Annotation> Annotations(const bus::Bus& bus) {
  std::map<std::string, std::pair<std::string, uint16_t>> last;
  for (const bus::Annotation* at = bus.annotations(); at != nullptr; at = at->next) {
    const auto [row, is_first] = last.try_emplace(std::string(at->key), std::string(at->value), at->place);
    if (!is_first && at->place > row->second.second) row->second = {std::string(at->value), at->place};
  }
  std::vector<ir::Annotation> texts;
  for (auto& [key, row] : last) texts.push_back({key, std::move(row.first), true});
  return texts;
}

std::vector<bus::Metadata> MetadataOf(const Input& input) {
  std::vector<bus::Metadata> metadata;
  for (const auto& [key, value] : input.metadata) metadata.push_back({key, value});
  return metadata;
}

std::vector<ir::Value> Outputs(const ir::Program& program, size_t workflow, const wf_plan& plan, const void* frame) {
  return Read(program, program.workflows[workflow].out, plan.workflows[workflow].out, plan, frame);
}

}  // namespace wf::diff
