#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wf::source {

enum class Braces : uint8_t { kPlain, kDoubled };  // doubled: where a brace would begin a hole, in expressions

// A text as a program writes it: in quotes, on one line, with the escapes of the language.
std::string Quote(std::string_view text, Braces braces = Braces::kPlain);

// A JSON text that says the same, in which nothing is unseen (utf8.h).
std::string SeenJson(std::string_view json);

}  // namespace wf::source
