#include "runtime/server/trace_page.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/protocol/json/builder.h"

namespace wf::server {
namespace {

using base::Slice;
using base::SliceKind;

constexpr std::string_view kKinds[] = {"serve", "read", "task", "model", "batch", "gather", "run", "scatter", "write", "request", "wait"};
enum Process : int64_t { kThreads = 1, kRequests, kWaits };

bool IsOfThread(const Slice& slice) { return slice.kind < SliceKind::kRequest; }

class Page {
 public:
  Page(const base::SliceRecording& recording, wf_sink* out) : recording_(recording), json_(out) {}

  void Put() {
    json_.Object().Name("displayTimeUnit").Text("ms");
    json_.Name("otherData").Object().Name("dropped").Number(static_cast<int64_t>(recording_.dropped())).End();
    json_.Name("traceEvents").Array();
    PutName("process_name", kThreads, 0, "threads");
    PutName("process_name", kRequests, 0, "requests");
    PutName("process_name", kWaits, 0, "rows waiting");
    PutThreads();
    PutSlots(SliceKind::kRequest, kRequests);
    PutSlots(SliceKind::kWait, kWaits);
    json_.End().End();
  }

 private:
  void PutThreads() {
    for (size_t i = 0; i < recording_.lanes().size(); ++i) {
      const base::SliceRecording::Lane& lane = recording_.lanes()[i];
      const auto thread = static_cast<int64_t>(i) + 1;
      bool named = false;
      for (const Slice& slice : lane.slices) {
        if (!IsOfThread(slice)) continue;
        if (!std::exchange(named, true)) PutName("thread_name", kThreads, thread, lane.name + " " + std::to_string(thread));
        PutSlice(slice, kThreads, thread);
      }
    }
  }

  // Of what overlaps each gets the first slot that is free.
  void PutSlots(SliceKind kind, Process process) {
    std::vector<const Slice*> slices;
    for (const base::SliceRecording::Lane& lane : recording_.lanes()) {
      for (const Slice& slice : lane.slices)
        if (slice.kind == kind) slices.push_back(&slice);
    }
    std::stable_sort(slices.begin(), slices.end(), [](const Slice* a, const Slice* b) { return a->begin < b->begin; });
    std::vector<base::TimePoint> free_at;
    for (const Slice* slice : slices) {
      auto slot = std::find_if(free_at.begin(), free_at.end(), [slice](base::TimePoint at) { return at <= slice->begin; });
      if (slot == free_at.end()) {
        slot = free_at.insert(slot, 0);
        PutName("thread_name", process, static_cast<int64_t>(free_at.size()), "slot " + std::to_string(free_at.size()));
      }
      *slot = slice->end;
      PutSlice(*slice, process, slot - free_at.begin() + 1);
    }
  }

  void PutName(std::string_view what, Process process, int64_t lane, std::string_view name) {
    json_.Line().Object().Name("ph").Text("M").Name("pid").Number(process).Name("tid").Number(lane).Name("name").Text(what);
    json_.Name("args").Object().Name("name").Text(name).End().End();
  }

  void PutSlice(const Slice& slice, Process process, int64_t lane) {
    json_.Line().Object().Name("ph").Text("X").Name("pid").Number(process).Name("tid").Number(lane);
    json_.Name("name").Text(slice.name).Name("cat").Text(kKinds[static_cast<size_t>(slice.kind)]);
    json_.Name("ts").Thousandths(slice.begin - recording_.begin()).Name("dur").Thousandths(slice.end - slice.begin);
    json_.Name("args").Object();
    if (slice.data_id != 0) json_.Name("data_id").Number(static_cast<int64_t>(slice.data_id));
    if (slice.kind == SliceKind::kRequest) json_.Name("code").Number(slice.code);
    if (slice.rows != 0) json_.Name("rows").Number(slice.rows);
    if (slice.detail != nullptr) json_.Name("closed").Text(slice.detail);
    json_.End().End();
  }

  const base::SliceRecording& recording_;
  json::Builder json_;
};

}  // namespace

void TracePage(const base::SliceRecording& recording, wf_sink* out) { Page(recording, out).Put(); }

}  // namespace wf::server
