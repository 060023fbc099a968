#pragma once

#include <cstdint>
#include <unordered_map>

#include "compiler/ir/builder.h"

namespace wf::ir {

// The least and the greatest that an integer may be.
struct Bounds {
  int64_t least, most;
  // At most 2^63, whatever the sign.
  double magnitude() const;
};

// Of loops that count: their parameter, and how many turns they have.
using Counters = std::unordered_map<ValueId, ValueId>;

// What every run keeps to, and every place where passes write the value: a build that nobody keeps may become part of another loop, so that
// no memory bounds how long it is. Nothing is known of a u64 and of parameters beyond their type. Integers alone.
Bounds BoundsOf(const Builder& b, const Counters& counters, ValueId value);

}  // namespace wf::ir
