#include "runtime/kernels/choices.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "runtime/kernels/choices_file.h"
#include "runtime/kernels/measure.h"

namespace wf::kernels {
namespace {

std::string Text(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += fmt::format("{}{}", text.empty() ? "" : "x", number);
  return text;
}

std::string Text(const Unary& then) { return fmt::format("{} {} {}", static_cast<int>(then.op), then.alpha, then.beta); }

std::string ParamsText(const Params& params) {
  if (const auto* conv = std::get_if<Conv>(&params)) {
    return fmt::format("stride {} dilation {} pad {} group {} then {}", Text(conv->stride), Text(conv->dilation), Text(conv->pad_begin),
                       conv->group, Text(conv->then));
  }
  const auto* product = std::get_if<MatMul>(&params);
  WF_CHECK(product != nullptr, "an operation that has ways without a text", params.index());
  return fmt::format("turn {:d}{:d} alpha {} beta {} then {}", product->turn_a, product->turn_b, product->alpha, product->beta,
                     Text(product->then));
}

}  // namespace

std::string KeyOf(const Operation& operation) {
  std::string key = fmt::format("{} {}", ContractOf(operation), ParamsText(operation.params));
  for (const TensorInfo& in : operation.in) {
    if (in.dtype == 0) {
      key += ", none";
      continue;
    }
    key += fmt::format(", {} [{}]{}", base::DTypeName(in.dtype), Text(in.dim), in.constant != nullptr ? " constant" : "");
    if (in.format != nullptr) key += " in " + in.format->ToString();
  }
  key += fmt::format(" -> [{}]", Text(operation.out[0].dim));
  if (operation.bf16) key += operation.bf16_out ? " bf16 as bf16" : " bf16";
  return key;
}

Choices::Choices(std::string file) : file_(std::move(file)), machine_(file_.empty() ? "" : MachineText()) {
  if (file_.empty()) return;
  ChoicesRead read = ReadChoices(file_, machine_);
  odd_ = std::move(read.odd);
  is_kept_ = read.is_ours;
  if (is_kept_) {
    const base::Status writable = CheckWritable(file_);
    is_kept_ = writable.ok();
    if (!is_kept_ && read.way.empty()) odd_ = writable.message();  // else it is one that others made
  }
  const base::MutexLock lock(mutex_);
  way_ = std::move(read.way);
}

const std::string* Choices::Find(const std::string& key) {
  const base::MutexLock lock(mutex_);
  const auto found = way_.find(key);
  return found == way_.end() ? nullptr : &found->second;  // entries stay as they are
}

base::Result<std::unique_ptr<Kernel>> Choices::Make(const Operation& operation, int64_t& left_ns) {
  const bool has_ways = std::holds_alternative<Conv>(operation.params) || std::holds_alternative<MatMul>(operation.params);
  if (!has_ways || operation.in[0].dtype != WF_F32 || !IsWorthMeasuring(operation)) return MakeKernel(operation);
  const std::string key = KeyOf(operation);
  const std::string* way = Find(key);
  if (way == nullptr) {
    std::string chosen;
    if (left_ns > 0) {
      std::vector<std::string> ways = Ways(operation);
      if (!is_kept_ && ways.size() > kBriefWays) ways.resize(kBriefWays);
      if (!ways.empty()) chosen = FastestWay(operation, ways, left_ns).value_or("");
    }
    const base::MutexLock lock(mutex_);
    if (way_.size() < kMostChoices || way_.contains(key)) {
      const auto [at, is_first] = way_.try_emplace(key, std::move(chosen));
      is_new_ = is_new_ || is_first;
      way = &at->second;
    }
  }
  if (way == nullptr || way->empty()) return MakeKernel(operation);
  Operation named = operation;
  named.way = *way;
  return MakeKernel(named);
}

base::Status Choices::Save() {
  const base::MutexLock saving(saving_);
  std::map<std::string, std::string> way;
  {
    const base::MutexLock lock(mutex_);
    if (!is_kept_ || !is_new_) return {};
    is_new_ = false;
    way = way_;
  }
  ChoicesRead read = ReadChoices(file_, machine_);
  if (!read.is_ours) return {base::kFailedPrecondition, std::move(read.odd)};
  for (auto& [key, theirs] : read.way) way.insert_or_assign(key, std::move(theirs));
  return WriteChoices(file_, machine_, way);
}

}  // namespace wf::kernels
