#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace wf::kernels {

// The strings of one run, by number: first those of the model's file, then those that its inputs bring and its nodes make. Equal strings
// have one number, so that what only moves or compares elements needs no more than these (ADR 0059).
// Thread: confined.   Owns: the strings of the run.   Borrows: those of the file.
// Bounds: strings of the run have kMostBytes with what keeping them takes.   Cost: an allocation for each that is new.
class Texts {
 public:
  static constexpr int64_t kMostBytes = int64_t{256} << 20;

  explicit Texts(std::span<const std::string> of_file, int64_t most_bytes = kMostBytes);

  void Clear();                               // those of the run before
  int64_t Number(std::string_view text);      // -1: there is no room for it
  std::string_view At(int64_t number) const;  // until Clear; empty for what is none of them

 private:
  const std::span<const std::string> of_file_;
  const int64_t most_bytes_;
  std::deque<std::string> of_run_;
  std::unordered_map<std::string_view, int64_t> numbers_;
  int64_t bytes_ = 0;
};

}  // namespace wf::kernels
