#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "runtime/server/settings.h"

namespace wf::server {

// One row of settings.def.
struct SettingRow {
  std::string_view key, default_text, doc;
  setting::Range range;
  bool is_switch, is_secret, lets_in, reloadable;  // lets_in: names keys, without which everybody is let in
  std::string (*store)(Settings& settings, std::string_view text, const setting::Range& range);  // empty, or what was expected
  bool (*same)(const Settings& a, const Settings& b);                                            // in value, however it is written
  void (*keep)(Settings& settings, const Settings& running);                                     // takes the value of `running`

  std::string flag() const;              // "--limits-connections"
  std::string environment_name() const;  // "WF_LIMITS_CONNECTIONS"
};
std::span<const SettingRow> SettingRows();

}  // namespace wf::server
