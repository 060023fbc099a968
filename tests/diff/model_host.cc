#include "tests/diff/model_host.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "compiler/ir/value.h"
#include "runtime/abi/view.h"
#include "runtime/batch/row.h"
#include "runtime/batch/runnable.h"
#include "runtime/batch/shape.h"

namespace wf::diff {
namespace {

server::Settings SettingsIn(const std::string& folder) {
  server::Settings settings;
  settings.model_root = folder;
  return settings;
}

// 64-aligned, and readable to the next multiple of 64.
class Block {
 public:
  explicit Block(const std::string& bytes) : data_(std::aligned_alloc(64, (bytes.size() / 64 + 1) * 64)) {
    std::memset(data_, 0, (bytes.size() / 64 + 1) * 64);
    std::memcpy(data_, bytes.data(), bytes.size());
  }
  ~Block() { std::free(data_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  void* data() const { return data_; }

 private:
  void* const data_;
};

wf_tensor View(const Array& array, void* data, int axis) {
  wf_tensor row{};
  row.data = data;
  row.dtype = static_cast<uint8_t>(array.dtype);
  row.rank = static_cast<uint8_t>(array.dims.size());
  std::copy(array.dims.begin(), array.dims.end(), row.dim);
  return batch::WithAxis(row, axis, 1);
}

// Its elements, without what stands between rows.
Array Dense(const wf_tensor& tensor) {
  ir::TypeTable types;
  const auto dtype = static_cast<DType>(tensor.dtype);
  const ir::Value value = test::Take(types, types.Tensor(dtype, std::vector<int64_t>(tensor.rank, -1)), &tensor);
  return {dtype, value.dims, *value.text};
}
// Without the axis of samples, which is 1.
Array Row(const wf_tensor& tensor, int axis) {
  Array array = Dense(tensor);
  if (axis >= 0) array.dims.erase(array.dims.begin() + axis);
  return array;
}

// Bit for bit, but that one NaN is as good as another.
bool Same(const Array& a, const Array& b) {
  ir::TypeTable types;
  const ir::TypeId type = types.Tensor(a.dtype, std::vector<int64_t>(a.dims.size(), -1));
  return a.dtype == b.dtype && a.dims == b.dims &&
         ir::SameBits(types, type, ir::Value::Tensor(a.dims, a.bytes), ir::Value::Tensor(b.dims, b.bytes));
}

std::string ToString(std::span<const Array> arrays) {
  std::string text;
  for (const Array& one : arrays) {
    ir::TypeTable types;
    const ir::TypeId type = types.Tensor(one.dtype, std::vector<int64_t>(one.dims.size(), -1));
    text += (text.empty() ? "" : "; ") + ir::ToString(types, type, ir::Value::Tensor(one.dims, one.bytes));
  }
  return text;
}

}  // namespace

ModelHost::ModelHost(const wf_plan& plan, const std::string& folder)
    : plan_(plan), models_(plan, SettingsIn(folder), clock_), catalogue_(1, plan.n_tasks), loaded_(plan.n_models) {
  if (plan.n_models == 0) return;
  base::Status status = models_.Load(kLoops, 0, {});
  if (status.ok()) status = models_.Bind(&catalogue_);
  if (!status.ok()) {
    wrong_ = status.message();
    return;
  }
  const std::atomic<bool> never{false};
  for (uint32_t t = 0; t < plan.n_tasks; ++t) {
    const sched::ModelBinding& binding = catalogue_.by_task[t];
    if (binding.model == nullptr) continue;
    loaded_[plan.tasks[t].target] = binding.model;
    const batch::BatcherOptions& options = binding.batcher->options();
    if (options.policy.max_rows > 1) binding.model->CheckRows(options.measuring_instance, options.policy.max_rows, never);
    binding.batcher->HeedRows();
  }
}

ModelHost::~ModelHost() { (void)models_.Stop(); }

const KnownModel* ModelHost::Known(size_t model) const { return FindModel(std::string(abi::View(plan_.models[model].path))); }

Reported ModelHost::Call(size_t model, std::span<const Array> inputs, std::vector<Array>* outputs) {
  const wf_model& row = plan_.models[model];
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<wf_tensor> in, out(row.n_out);
  for (size_t i = 0; i < inputs.size(); ++i) {
    blocks.push_back(std::make_unique<Block>(inputs[i].bytes));
    in.push_back(View(inputs[i], blocks.back()->data(), row.batch_axis[i]));
  }
  const base::Status status = loaded_[model]->Run(0, 1, in, out, nullptr);
  outputs->clear();
  if (status.ok())
    for (size_t i = 0; i < out.size(); ++i) outputs->push_back(Row(out[i], row.batch_axis[row.n_in + i]));
  if (const KnownModel* known = Known(model); known != nullptr) Check(*known, inputs, status.ok() ? outputs : nullptr);
  if (status.ok()) return {};
  return {batch::CodeOf(status), {}, status.message()};
}

Reported ModelHost::Call(size_t model, const wf_tensor* const* in, wf_tensor* const* out, const std::function<void*(uint64_t)>& allocate) {
  std::vector<Array> inputs, outputs;
  for (size_t i = 0; i < plan_.models[model].n_in; ++i) inputs.push_back(Dense(*in[i]));
  Reported failed = Call(model, inputs, &outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    void* const data = allocate(outputs[i].bytes.size() + 64);
    std::memcpy(data, outputs[i].bytes.data(), outputs[i].bytes.size());
    *out[i] = View(outputs[i], data, -1);
  }
  return failed;
}

void ModelHost::Check(const KnownModel& known, std::span<const Array> inputs, const std::vector<Array>* outputs) {
  if (!wrong_.empty()) return;
  std::vector<Array> wanted(known.call.result.kind == Kind::kTuple ? known.call.result.of.size() : 1);
  const bool computes = known.compute(inputs, wanted);
  if (computes == (outputs != nullptr) && (!computes || std::equal(wanted.begin(), wanted.end(), outputs->begin(), outputs->end(), Same)))
    return;
  wrong_ = "model " + known.call.name + " of " + ToString(inputs) + "\n  wanted " + (computes ? ToString(wanted) : "a failure") +
           "\n  found  " + (outputs != nullptr ? ToString(*outputs) : "a failure");
}

}  // namespace wf::diff
