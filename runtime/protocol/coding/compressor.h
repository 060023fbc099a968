#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/protocol/coding/coding.h"

namespace wf::coding {

// Puts a coding on, at the level that costs least. Made once and begun again for each body: its working memory stays.
// Thread: loop-confined.   Owns: at most some 600 KiB.
class Compressor {
 public:
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  void DropKept() noexcept;  // REQUIRES: no body is under way

  bool Begin(Coding coding);  // not identity; false: no memory
  // Moves what fits from the front of `input` to the front of `output`, and drops it there. `last`: nothing follows the input, so the step
  // is kEnd once all is written; never kEnd without it.
  Step Next(std::span<const uint8_t>* input, bool last, std::span<uint8_t>* output);

 private:
  struct State;
  Step Deflate(std::span<const uint8_t>* input, bool last, std::span<uint8_t>* output);
  Step Zstd(std::span<const uint8_t>* input, bool last, std::span<uint8_t>* output);

  std::unique_ptr<State> state_;
};

}  // namespace wf::coding
