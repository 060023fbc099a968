#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wf::diag {

struct ForeignNumber {
  std::string_view has;  // that none has here: "a suffix"
  std::string ours;      // `3` for `0b11`; empty: the number alone is not all that may be meant
  std::string help;
};

// How `word`, which begins with a digit, is written here, if it is a number as other languages write it: `0b11`, `1u8`, `10L`, `1e`.
// Nothing: it is no number that is known, as `5s` and `7px`.
std::optional<ForeignNumber> ReadForeignNumber(std::string_view word);

}  // namespace wf::diag
