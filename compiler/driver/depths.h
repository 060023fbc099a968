#pragma once

#include <cstddef>
#include <vector>

namespace wf::driver {

using Reads = std::vector<std::vector<size_t>>;  // of each, by number, those that it reads

// All, each behind what it reads as far as there are no circles.
std::vector<size_t> InOrder(const Reads& reads);

// The length of the longest way to each, along `reads`; what is read in a circle counts once.
std::vector<size_t> Depths(const Reads& reads);

// The same along `reads` and `waits`. Of what lies in circles the ways count that lead on: along `reads`, and along `waits` to what reads
// no more than what it waits for, or to what has a higher `rank` if that is equal.
std::vector<size_t> Depths(const Reads& reads, const Reads& waits, const std::vector<size_t>& rank);

}  // namespace wf::driver
