#pragma once

#include <vector>

#include "runtime/batch/padding.h"

namespace wf::test {

// The tables of one `pad w to [..]`.
class Pads {
 public:
  Pads(std::vector<int64_t> buckets, std::vector<wf_pad> pads, std::vector<wf_pad> crops)
      : buckets_(std::move(buckets)), pads_(std::move(pads)), crops_(std::move(crops)) {
    policy_.bucket = buckets_.data();
    policy_.n_buckets = static_cast<uint16_t>(buckets_.size());
    policy_.pad = pads_.data();
    policy_.n_pads = static_cast<uint16_t>(pads_.size());
    policy_.crop = crops_.data();
    policy_.n_crops = static_cast<uint16_t>(crops_.size());
  }
  Pads(const Pads&) = delete;
  Pads& operator=(const Pads&) = delete;
  batch::Padding padding() const { return batch::Padding(policy_); }

 private:
  std::vector<int64_t> buckets_;
  std::vector<wf_pad> pads_, crops_;
  wf_policy policy_{};
};

}  // namespace wf::test
