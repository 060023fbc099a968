// What generated code calls with its wf_ctx.

#include "runtime/bus/context.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "runtime/abi/dtype.h"
#include "runtime/abi/extern_shim.h"
#include "runtime/abi/view.h"
#include "runtime/base/ascii.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/reserve.h"
#include "runtime/base/sink.h"
#include "runtime/base/text.h"
#include "runtime/bus/bus.h"
#include "runtime/bus/instance.h"

namespace wf::bus {
namespace {

// Into as many bytes and one; null data when there is no such memory.
std::string_view Copied(void* memory, std::string_view text) {
  if (memory == nullptr) return {};
  auto* const copy = static_cast<char*>(memory);
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

// No protocol can say what is not UTF-8, whoever wrote it.
void MakeUtf8(void* text, size_t bytes) {
  auto* at = static_cast<uint8_t*>(text);
  for (uint8_t* const end = at + bytes; (at += base::FindBadUtf8(at, end) - at) != end;) *at = '?';
}

// Where in its request the failure happened: sample and fan-out elements. The chain of instances does not change while a job of it runs.
void Locate(const Instance* at, const wf_plan& plan, Failure& failure) {
  Failure::Crumb found[Failure::kMaxCrumbs];
  int count = 0;
  for (; at != nullptr; at = at->parent) {
    if (at->entered == nullptr) {
      failure.sample = static_cast<uint32_t>(at->element);
      continue;
    }
    const wf_task& entering = plan.tasks[at->entered->task];
    if (entering.kind != WF_EACH || entering.node == WF_NONE) continue;
    found[count % Failure::kMaxCrumbs] = {entering.node, static_cast<uint32_t>(at->element)};
    ++count;
  }
  failure.n_crumbs = static_cast<uint16_t>(count < Failure::kMaxCrumbs ? count : Failure::kMaxCrumbs);
  for (int i = 0; i < failure.n_crumbs; ++i) failure.crumbs[i] = found[(count - 1 - i) % Failure::kMaxCrumbs];
}

}  // namespace

const Failure& WhyFailed(const wf_sink& answer) noexcept {
  switch (answer.failure()) {
    case base::SinkFailure::kTooLong:
      return kTooLong;
    case base::SinkFailure::kUnwanted:
      return kWithdrawn;
    case base::SinkFailure::kNone:
    case base::SinkFailure::kNoMemory:
      break;
  }
  return kNoRoom;
}

const Failure& WhyRefused(const Budget& budget) noexcept {
  return budget.others_hold.load(std::memory_order_relaxed) ? kNoRoom : kOutOfMemory;
}

const Failure& Context::NoMemory() noexcept { return failure != nullptr ? *failure : Record(WhyRefused(bus->budget)); }

const Failure& Context::Fail(wf_code code, uint32_t site, std::string_view text, bool for_memory) noexcept {
  if (failure != nullptr) return *failure;
  void* const memory = arena->AllocateToReport(text.size() + 1, 1);
  if (memory == nullptr) return NoMemory();
  const std::string_view copy = Copied(memory, text);
  MakeUtf8(memory, text.size());
  return Record({.code = code, .site = site, .message = copy, .for_memory = for_memory});
}

const Failure& Context::Record(const Failure& what) noexcept {
  void* const memory = arena->AllocateToReport(sizeof(Failure), alignof(Failure));
  if (memory == nullptr) {
    failure = &WhyRefused(bus->budget);
    return *failure;
  }
  auto* const made = new (memory) Failure(what);
  made->task = task;
  if (task != WF_NONE)
    made->node = bus->plan().tasks[task].node;
  else if (bus->state() == BusState::kAnswered)  // while the results are written
    made->node = bus->plan().regions[bus->workflow().root].node;
  Locate(instance, bus->plan(), *made);
  failure = made;
  return *failure;
}

const Failure& Context::TakeFailure(wf_code returned) noexcept {
  const Failure& taken = failure != nullptr ? *failure : Fail(returned > 0 ? returned : code::kUnknown, 0, {});
  failure = nullptr;
  return taken;
}

}  // namespace wf::bus

using wf::bus::Context;

extern "C" {

void* wf_alloc(wf_ctx* ctx, uint64_t bytes, uint64_t align) noexcept {
  Context& context = Context::Of(ctx);
  void* const memory = context.arena->Allocate(bytes, align);
  if (memory == nullptr) context.NoMemory();
  return memory;
}

void wf_let_new_fail(int32_t may_fail) noexcept { wf::base::Reserve::LetFail(may_fail != 0); }

void* wf_grow(wf_ctx* ctx, const void* block, uint64_t used, uint64_t bytes) noexcept {
  Context& context = Context::Of(ctx);
  void* const memory = context.arena->Grow(block, used, bytes);
  if (memory == nullptr) context.NoMemory();
  return memory;
}

int32_t wf_claim(wf_ctx* ctx, uint64_t bytes) noexcept {
  Context& context = Context::Of(ctx);
  if (context.arena->Claim(bytes)) return 1;
  context.NoMemory();
  return 0;
}

void wf_unclaim(wf_ctx* ctx, uint64_t bytes) noexcept { Context::Of(ctx).arena->Unclaim(bytes); }

wf_code wf_fail(wf_ctx* ctx, wf_code code, uint32_t site, wf_bytes text) noexcept {
  Context::Of(ctx).Fail(code, site, wf::abi::View(text));
  return WF_FAILED;
}

// Headers come in small letters, whatever the client wrote; parameters of other protocols as they are.
int32_t wf_meta(const wf_ctx* ctx, wf_bytes key, wf_bytes* value) noexcept {
  const std::string_view wanted = wf::abi::View(key);
  const auto is_header = [&](std::string_view name) {
    return std::equal(name.begin(), name.end(), wanted.begin(), wanted.end(), [](char a, char b) { return a == wf::base::Lower(b); });
  };
  for (const wf::bus::Metadata& entry : reinterpret_cast<const Context*>(ctx)->bus->metadata) {
    if (entry.key != wanted && !is_header(entry.key)) continue;
    *value = {reinterpret_cast<const uint8_t*>(entry.value.data()), entry.value.size()};
    return 1;
  }
  return 0;
}

wf_code wf_annotate(wf_ctx* ctx, wf_bytes key, wf_bytes value) noexcept {
  Context& context = Context::Of(ctx);
  auto* const made = context.arena->New<wf::bus::Annotation>();
  if (made != nullptr) {
    const auto copied = [&](std::string_view text) { return wf::bus::Copied(context.arena->Allocate(text.size() + 1, 1), text); };
    made->key = copied(wf::abi::View(key));
    made->value = copied(wf::abi::View(value));
    made->place = context.task == WF_NONE ? 0 : context.bus->plan().tasks[context.task].window;
    made->next = context.annotations;
  }
  if (made == nullptr || made->key.data() == nullptr || made->value.data() == nullptr) {
    context.NoMemory();
    return WF_FAILED;
  }
  context.annotations = made;
  return 0;
}

wf_code wf_out(wf_ctx* ctx, void* const* frame, uint16_t slot) noexcept {
  Context& context = Context::Of(ctx);
  const wf_slot& row = context.bus->plan().slots[slot];
  auto* const own = static_cast<char*>(frame[0]);
  auto* const tensor = reinterpret_cast<wf_tensor*>(own + row.offset);
  if (std::any_of(tensor->dim, tensor->dim + tensor->rank, [](int64_t extent) { return extent < 0; })) {
    context.Fail(wf::code::kDimension, 0, "a tensor with an extent below 0");
    return WF_FAILED;
  }
  const uint64_t bytes = wf::abi::DenseBytes(tensor->dtype, tensor->rank, tensor->dim);
  if (bytes == UINT64_MAX) {  // more than any memory is more than a request may have
    context.NoMemory();
    return WF_FAILED;
  }
  int64_t stride = 1;
  for (int i = tensor->rank - 1; i >= 0; --i) {
    tensor->stride[i] = stride;
    stride *= tensor->dim[i];
  }
  tensor->space = 0;
  tensor->flags = 0;
  tensor->device = 0;
  tensor->data = row.store == WF_IN_FRAME ? own + row.data : wf_alloc(ctx, bytes == 0 ? 64 : bytes, WF_ALIGN);
  return tensor->data == nullptr ? WF_FAILED : 0;
}

}  // extern "C"
