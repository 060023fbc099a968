#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/kernels/kernel.h"

// The memory formats that images mostly have, as dense row-major tensors of their own: what moves elements about need not know more.
namespace wf::kernels::onednn {

enum class Order : uint8_t {
  kRowMajor,      // [n, c, s...]
  kChannelsLast,  // [n, s..., c]
  kBlocked,       // [n, c / block, s..., block]
};
// A tensor as [outer, blocks of channels, middle, channels of a block].
struct Channels {
  int64_t outer = 1, blocks = 1, middle = 1, block = 1;
};

struct Layout {
  Order order = Order::kRowMajor;
  int64_t block = 1;  // of kBlocked

  bool operator==(const Layout&) const = default;
  bool Takes(const std::vector<int64_t>& dim) const;                 // without padding
  std::vector<int64_t> Seen(const std::vector<int64_t>& dim) const;  // REQUIRES: Takes(dim)
  size_t Axis(size_t axis, size_t rank) const;                       // where an axis lies; that of channels: of the blocks
  Channels ChannelsOf(const std::vector<int64_t>& dim) const;        // REQUIRES: Takes(dim)
  FormatRef Format(const std::vector<int64_t>& dim) const;           // of an f32 tensor of this shape
};

// Nothing: padded, or in another order. Of f32 with two axes or more.
std::optional<Layout> LayoutOf(const FormatRef& format, const std::vector<int64_t>& dim);

}  // namespace wf::kernels::onednn
