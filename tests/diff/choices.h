#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace wf::diff {

inline uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// What a generator asks, answered at random or as written down before. 0 is the plainest answer: a program is made smaller by making its
// list of answers shorter and lower, and whatever the list says is a well-typed program.
class Choices {
 public:
  explicit Choices(uint64_t seed) : seed_(seed) {}
  explicit Choices(std::vector<uint32_t> kept) : kept_(std::move(kept)), is_kept_(true) {}

  uint32_t Below(uint32_t n) {
    uint32_t answer = 0;
    if (is_kept_) {
      answer = made_.size() < kept_.size() ? kept_[made_.size()] % n : 0;
    } else {
      seed_ = Mix(seed_);
      answer = static_cast<uint32_t>(seed_ >> 32) % n;
    }
    made_.push_back(answer);
    return answer;
  }
  bool OneIn(uint32_t n) { return Below(n) == n - 1; }
  const std::vector<uint32_t>& made() const { return made_; }

 private:
  uint64_t seed_ = 0;
  std::vector<uint32_t> kept_, made_;
  bool is_kept_ = false;
};

}  // namespace wf::diff
