#pragma once

#include <string>
#include <vector>

#include "compiler/interface/interface.h"

namespace wf::interface {

// What a change of the interface means to clients that were written for the old one; in SemVer: patch, minor, major.
enum class Impact : uint8_t { kNone, kDetail, kAddition, kBreaking };

struct Change {
  Impact impact = Impact::kNone;
  std::string where;    // "Service", "Service/call", or empty for the whole program
  std::string message;  // names in backticks
  Place place;          // in the new source; line 0: it is not there
};

// The changes, call by call in the order of the old interface, then what is new.
std::vector<Change> Compare(const Interface& old, const Interface& now);
Impact Worst(const std::vector<Change>& changes);

// Parts of Compare. Each says what it found through the calls of `found`.
using Found = std::vector<Change>;
// A call's parameters and results: names, types, shapes, defaults.
struct CallOf {
  const Interface& interface;
  const Call& call;
};
void ComparePorts(const CallOf& old, const CallOf& now, const std::string& where, Found& found);

}  // namespace wf::interface
