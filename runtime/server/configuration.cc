#include "runtime/server/configuration.h"

#include <algorithm>

#include "runtime/server/settings_table.h"

namespace wf::server {

Settings Reloaded(const Settings& running, Settings next, std::vector<std::string>* kept, int* changed) {
  *changed = 0;
  const bool turns_tls = running.tls_cert.empty() != next.tls_cert.empty();  // on or off, which would cut off every client
  for (size_t i = 0; i < SettingRows().size(); ++i) {
    const SettingRow& row = SettingRows()[i];
    if (row.same(next, running)) continue;
    if (row.reloadable && !(turns_tls && row.key.starts_with("tls."))) {
      ++*changed;
      continue;
    }
    kept->push_back(next.sources[i] + ": " + Quoted(row.key) + " is " + Quoted(next.values[i]) +
                    ", but changes only with a restart; it stays " + Quoted(running.values[i]));
    row.keep(next, running);
    next.values[i] = running.values[i];
    next.sources[i] = running.sources[i];
  }
  *changed += !std::is_permutation(next.nodes.begin(), next.nodes.end(), running.nodes.begin(), running.nodes.end());
  return next;
}

}  // namespace wf::server
