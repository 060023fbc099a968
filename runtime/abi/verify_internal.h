// Shared by verify.cc and verify_tasks.cc only.
#pragma once

#include <string>
#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/base/status.h"

namespace wf::abi::internal {

inline constexpr int kMaxDepth = 64;  // of regions and of types

inline base::Status Broken(const char* table, size_t row, const std::string& rule) {
  return base::Status(base::kInternal, std::string("plan: ") + table + " " + std::to_string(row) + ": " + rule);
}

// What tasks say about regions and slots, gathered while they are checked one by one.
struct Links {
  std::vector<uint16_t> writer;      // by slot: the task, or WF_NONE
  std::vector<uint8_t> given;        // by slot: has its value when the region starts (parameters, err)
  std::vector<uint16_t> entered_by;  // by region: the task that enters it, or WF_NONE; a fallback region has that of its attempts
};

base::Status CheckTasks(const wf_plan& plan, Links& links);

}  // namespace wf::abi::internal
