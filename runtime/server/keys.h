#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/protocol/http/head.h"
#include "runtime/server/settings.h"

namespace wf::server {

// What clients show to be let in.
// Thread: immutable.   Bounds: kMostKeys.
// Cost: Has takes as long for a key that is right as for one that is wrong anywhere: its time tells the length of what was shown, no more.
class Keys {
 public:
  static constexpr size_t kMostKeys = 256, kLeastBytes = 16, kMostBytes = 256;

  // Errors: what is wrong with the key, which is not told; nothing of it is kept.
  base::Status Add(std::string_view key);
  bool empty() const { return keys_.empty(); }
  size_t size() const { return keys_.size(); }
  bool Has(std::string_view shown) const noexcept;
  // Does a request show one, as `authorization: Bearer KEY` or `x-api-key: KEY`?
  bool Let(const http::Head& head) const noexcept;
  // Is there anything in these fields that is looked for among the keys? Not so of another scheme, and of a field that stands twice.
  static bool ShowsOne(const http::Head& head) noexcept;
  bool operator==(const Keys&) const = default;

 private:
  struct Key {
    std::array<uint8_t, kMostBytes> bytes{};  // zeros behind it, which no key has
    size_t size = 0;
    bool operator==(const Key&) const = default;
  };
  std::vector<Key> keys_;
};

// Those of WF_AUTH_KEYS and of the file that auth.keys_file names, as it is now; null where neither is set. `again`: see ReadConfigFile.
// Errors: the setting, the file and the line, and what is wrong there.
base::Result<std::shared_ptr<const Keys>> LoadKeys(const Settings& settings, bool again = false);

}  // namespace wf::server
