#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wf::coding {

enum class Coding : uint8_t { kIdentity, kGzip, kDeflate, kZstd };

// Of one name, as a `grpc-encoding` has; none: not known, or several.
std::optional<Coding> CodingOf(std::string_view name);
// Of a `content-encoding`, which may name several; `identity` among them changes nothing. None: one is not known, or two change something.
std::optional<Coding> CodingOfAll(std::string_view names);
std::string_view NameOf(Coding coding);

// The coding of an answer to this `accept-encoding`: the one of the highest weight, of equal ones the fastest; identity when none of ours
// is asked for by its name or by `*`. Source: RFC 9110, 12.5.3.
Coding Choose(std::string_view accept_encoding);

// What a step of an Expander or Compressor stopped for.
enum class Step : uint8_t {
  kNeedInput,   // all input is taken
  kNeedOutput,  // all output is written
  kEnd,         // everything that came is written, and it is whole
  kBroken,      // for good: the bytes are not of this coding, go on behind its end, or ask for a window above 8 MiB
  kNoMemory,    // for good
};

}  // namespace wf::coding
