#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/protocol/coding/coding.h"

namespace wf::coding {

// Takes a coding off. Made once and begun again for each body: its working memory stays.
// Thread: loop-confined.   Owns: at most 8 MiB and some, with zstd; 40 KiB with the others.
class Expander {
 public:
  Expander();
  ~Expander();
  Expander(const Expander&) = delete;
  Expander& operator=(const Expander&) = delete;
  void DropKept() noexcept;  // REQUIRES: no body is under way

  bool Begin(Coding coding);  // false: no memory
  // Moves what fits from the front of `input` to the front of `output`, and drops it there. kEnd: the body may end here; with gzip and
  // zstd another part may follow. kNeedInput where the body ends: it was cut.
  Step Next(std::span<const uint8_t>* input, std::span<uint8_t>* output);

 private:
  struct State;
  Step Inflate(std::span<const uint8_t>* input, std::span<uint8_t>* output);
  Step Unzstd(std::span<const uint8_t>* input, std::span<uint8_t>* output);

  std::unique_ptr<State> state_;
};

}  // namespace wf::coding
