#pragma once

#include <cstdint>
#include <string_view>

namespace wf::diag {

// Where a word of another language stands there.
enum class Foreign : uint8_t {
  kStart,      // ours: the word that begins such a declaration here
  kModifier,   // nothing of ours
  kStatement,  // of the others the help, but as said
  kSetting,    // with a value behind it
  kCall,
  kMember,
  kOperator,  // ours
  kPrefix,
  kInfix,
  kType,     // ours
  kGeneric,  // ours, with `..` for what it holds
  kName,
  kModule,
  kSettingName,  // ours
};

// Is it one?
bool IsForeign(Foreign kind, std::string_view word);
// Ours for it, or the help; empty: it is none.
std::string_view OursFor(Foreign kind, std::string_view word);

}  // namespace wf::diag
