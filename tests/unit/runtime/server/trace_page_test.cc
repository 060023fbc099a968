#include "runtime/server/trace_page.h"

#include <gtest/gtest.h>

#include <string>

namespace wf::server {
namespace {

TEST(TracePage, WhatOverlapsIsInSlotsAndWhatFollowsTakesTheFirstFreeOne) {
  base::SliceRecording recording(nullptr);
  const base::TimePoint t = recording.begin();
  const auto note = [t](base::SliceKind kind, int64_t begin, int64_t end, uint64_t id) {
    base::NoteSlice({kind, 0, "W", t + begin, t + end, id});
  };
  note(base::SliceKind::kRequest, 0, 1000, 1);
  note(base::SliceKind::kRequest, 500, 2000, 2);
  note(base::SliceKind::kRequest, 1000, 1500, 3);
  note(base::SliceKind::kWait, 600, 700, 2);
  note(base::SliceKind::kTask, 100, 200, 1);
  recording.Collect();
  wf_sink sink;
  TracePage(recording, &sink);
  std::string text;
  for (const base::SinkPiece& piece : sink.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  const auto has = [&text](std::string_view part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(R"({"ph":"X","pid":2,"tid":1,"name":"W","cat":"request","ts":0.000,"dur":1.000,"args":{"data_id":1,"code":0}})")) << text;
  EXPECT_TRUE(has(R"({"ph":"X","pid":2,"tid":2,"name":"W","cat":"request","ts":0.500,"dur":1.500,"args":{"data_id":2,"code":0}})")) << text;
  EXPECT_TRUE(has(R"({"ph":"X","pid":2,"tid":1,"name":"W","cat":"request","ts":1.000,"dur":0.500,"args":{"data_id":3,"code":0}})")) << text;
  EXPECT_TRUE(has(R"({"ph":"X","pid":3,"tid":1,"name":"W","cat":"wait","ts":0.600,"dur":0.100,"args":{"data_id":2}})")) << text;
  EXPECT_TRUE(has(R"("pid":1,"tid":)")) << text;
  EXPECT_TRUE(has(R"("name":"W","cat":"task","ts":0.100,"dur":0.100,"args":{"data_id":1}})")) << text;
  EXPECT_TRUE(has(R"("otherData":{"dropped":0})"));
}

}  // namespace
}  // namespace wf::server
