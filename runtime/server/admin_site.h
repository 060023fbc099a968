#pragma once

#include <functional>
#include <string>

#include "runtime/base/sink.h"
#include "runtime/server/exchange.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {

// The admin port: /metrics and the probes.
// Thread: loop-confined (the admin loop).   Borrows: shared state; `page` makes the text of /metrics.
class AdminSite final : public Site {
 public:
  AdminSite(const Shared& shared, std::function<std::string()> page) : shared_(shared), page_(std::move(page)) {}

  void set_settings(const Settings& settings) { code_from_ = static_cast<uint64_t>(settings.compress_from.value); }

  void OnHead(Exchange& exchange) noexcept override;
  bool Claim(Exchange&, int64_t) noexcept override { return true; }
  bool ClaimUnsent(int64_t) noexcept override { return true; }  // what the memory is short of can be asked when it is short
  void UnclaimUnsent(int64_t) noexcept override {}
  void OnRequest(Exchange& exchange) noexcept override;
  void OnAnswered(Exchange&) noexcept override {}
  void OnHidden(const Exchange&, const bus::Bus&, const bus::Failure&, const bus::Failure*) noexcept override {}
  uint64_t OnRefused(Exchange&) noexcept override { return 0; }
  void Cancel(Exchange&) noexcept override {}
  void OnGone(Exchange&) noexcept override {}
  void OnFinished(Exchange&) noexcept override {}
  bool closing() const noexcept override { return false; }

 private:
  const Shared& shared_;
  const std::function<std::string()> page_;
  uint64_t code_from_ = 0;
  wf_sink body_;
  std::vector<char> path_;  // percent-decoded
};

}  // namespace wf::server
