#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "compiler/ir/interpret.h"

namespace wf::sema {

// What constants that take long came to, by the operations that they are: an editor's program is checked at each keystroke, and most of
// it is as it was.
// Thread: one.   Bounds: kMostBytes of values; those that were not asked for longest are dropped.
class Folded {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;
  static constexpr uint64_t kLong = 20'000;  // steps: what takes fewer is folded again

  // What decides the value of a body without slots; `program` holds the types and constants that it reads, and nothing else.
  using Key = std::array<uint8_t, 32>;
  static Key KeyOf(const ir::Program& program, const ir::Body& body);

  struct Known {
    ir::Outcome outcome;
    uint64_t steps = 0, bytes = 0;  // that it took
  };
  const Known* Find(const Key& key);  // null: it is not kept
  void Add(const Key& key, Known known);

 private:
  struct Kept {
    Known known;
    size_t bytes;
    uint64_t used;  // when
  };
  std::map<Key, Kept> kept_;
  size_t bytes_ = 0;
  uint64_t now_ = 0;
};

}  // namespace wf::sema
