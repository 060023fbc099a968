// What traced requests tell of their nodes.

#include "runtime/sched/core.h"

namespace wf::sched {

// The span that the task's node has open in this instance, else a new one; null: there are enough, or there is no memory.
bus::NodeSpan* EngineCore::SpanOf(const bus::Instance& instance, uint16_t node) {
  bus::SpanList& list = *instance.bus->spans_;
  for (bus::NodeSpan* at = list.last; at != nullptr; at = at->next)
    if (at->open && at->instance == &instance && at->node == node) return at;
  auto* const made = list.count == bus::SpanList::kMost ? nullptr : instance.bus->arena.New<bus::NodeSpan>();
  if (made == nullptr) {
    ++list.left_out;
    return nullptr;
  }
  ++list.count;
  made->next = list.last;
  list.last = made;
  made->instance = &instance;
  made->node = node;
  for (const bus::Instance* at = &instance; at != nullptr && made->element < 0; at = at->parent) {
    const bus::EnteredBy how = index_.region(at->region).how;
    if (how == bus::EnteredBy::kEach) made->element = static_cast<int64_t>(at->element);
    if (how == bus::EnteredBy::kEnter && at == &instance) made->attempt = static_cast<uint32_t>(at->element);
  }
  return made;
}

void EngineCore::NoteSpan(bus::Instance& instance, uint16_t id, const Execution& execution) {
  const uint16_t node = plan_.tasks[id].node;
  if (node == WF_NONE || plan_.nodes[node].stage >= plan_.n_stages) return;  // what a workflow does outside of its nodes
  bus::NodeSpan* const span = SpanOf(instance, node);
  if (span == nullptr) return;
  if (span->begin == 0) span->begin = execution.begin;
  span->end = execution.end;
  span->code = execution.code;
  span->open = index_.task(id).share != WF_NONE && !index_.task(id).ends_node && execution.code == 0;
  if (execution.row == nullptr) return;
  span->wait_ns = execution.row->taken_at - execution.row->arrived_at;
  span->rows = execution.row->batch_rows;
}

}  // namespace wf::sched
