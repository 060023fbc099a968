#pragma once

#include <memory>

#include "runtime/base/status.h"
#include "runtime/protocol/tls/context.h"
#include "runtime/server/settings.h"

namespace wf::server {

// What connections are secured with: the files that tls.* name, as they are now; null where none are named. The log warns of certificates
// whose time is over or yet to come. `again`: see ReadConfigFile.
// Errors: the setting and the file, and what is wrong with it.
base::Result<std::shared_ptr<const tls::Context>> LoadCertificates(const Settings& settings, bool again = false);

}  // namespace wf::server
