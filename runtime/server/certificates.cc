#include "runtime/server/certificates.h"

#include <utility>

#include "runtime/observe/log.h"
#include "runtime/server/config_file.h"

namespace wf::server {
namespace {

base::Status Read(std::string_view key, const std::string& path, bool again, tls::Pem* pem) {
  const std::string begin = "`" + std::string(key) + "`: ";
  auto text = ReadConfigFile(path, again);
  if (!text.ok()) return {text.status().code(), begin + text.status().message()};
  *pem = {begin + path, *std::move(text)};
  return {};
}

}  // namespace

base::Result<std::shared_ptr<const tls::Context>> LoadCertificates(const Settings& settings, bool again) {
  if (settings.tls_cert.empty()) return std::shared_ptr<const tls::Context>();
  tls::ContextOptions options;
  options.only_1_3 = settings.tls_min_version == TlsVersion::k1_3;
  WF_RETURN_IF_ERROR(Read("tls.cert", settings.tls_cert, again, &options.certificates));
  WF_RETURN_IF_ERROR(Read("tls.key", settings.tls_key, again, &options.key));
  if (!settings.tls_client_ca.empty())
    WF_RETURN_IF_ERROR(Read("tls.client_ca", settings.tls_client_ca, again, &options.client_ca.emplace()));
  auto context = tls::Context::Load(options);
  WF_RETURN_IF_ERROR(context.status());
  for (const std::string& warning : context->warnings()) observe::Log(observe::Level::kWarning, warning);
  return std::make_shared<const tls::Context>(*std::move(context));
}

}  // namespace wf::server
