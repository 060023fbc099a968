#pragma once

// What names are made of, whatever the locale.
namespace wf::base {

constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace wf::base
