#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/sink.h"
#include "runtime/base/slices.h"
#include "runtime/server/exchange.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {

// What the admin port shows of the server.
// Thread: the admin loop.
class AdminPages {
 public:
  virtual ~AdminPages() = default;
  virtual std::string Metrics() const = 0;
  virtual void Schedule(bool json, wf_sink* out) const = 0;
};

// The admin port: pages for operators, and the probes.
// Thread: loop-confined (the admin loop).   Borrows: shared state, pages, the loop's mailbox.   Bounds: one recording at a time;
// kMostUnsent of what its connections hold, which are not the bytes of requests: what memory is short of can be asked when it is short.
class AdminSite final : public Site {
 public:
  static constexpr int64_t kMostUnsent = int64_t{16} << 20;

  AdminSite(const Shared& shared, const AdminPages& pages, base::Mailbox& mailbox)
      : shared_(shared), pages_(pages), collect_(*this, mailbox) {}

  void set_settings(const Settings& settings) { code_from_ = static_cast<uint64_t>(settings.compress_from.value); }

  void OnHead(Exchange& exchange) noexcept override;
  bool Claim(Exchange&, int64_t) noexcept override { return true; }
  bool ClaimUnsent(int64_t bytes) noexcept override;
  void UnclaimUnsent(int64_t bytes) noexcept override { unsent_bytes_ -= bytes; }
  void OnRequest(Exchange& exchange) noexcept override;
  void OnAnswered(Exchange&) noexcept override {}
  void OnHidden(const Exchange&, const bus::Bus&, const bus::Failure&, const bus::Failure*) noexcept override {}
  uint64_t OnRefused(Exchange&) noexcept override { return 0; }
  void Cancel(Exchange& exchange) noexcept override { LeaveRecording(exchange); }
  void OnGone(Exchange&) noexcept override {}
  void OnFinished(Exchange& exchange) noexcept override { LeaveRecording(exchange); }
  bool closing() const noexcept override { return false; }

  base::TimePoint NextTimerAt() const noexcept { return recording_ ? collect_at_ : INT64_MAX; }
  void OnTime() noexcept;  // NextTimerAt may have come
  // Answers with what it has by now. False: there was none.
  bool FinishRecording() noexcept;
  // Nobody notes anything any more. Before the threads end that this may be woken by.
  void StopRecording() noexcept { recording_.reset(); }

 private:
  // A thread has much to hand over.
  struct Collect final : base::Message, base::Waker {
    Collect(AdminSite& of, base::Mailbox& to) : site(of), mailbox(to) {}
    void Wake() noexcept override {
      if (!posted.exchange(true)) mailbox.Post(*this);
    }
    void Deliver() noexcept override;
    AdminSite& site;
    base::Mailbox& mailbox;
    std::atomic<bool> posted{false};
  };

  void RefuseQuery(Exchange& exchange, const std::string& wrong) noexcept;
  void StartRecording(Exchange& exchange) noexcept;
  void LeaveRecording(const Exchange& exchange) noexcept;

  const Shared& shared_;
  const AdminPages& pages_;
  uint64_t code_from_ = 0;
  int64_t unsent_bytes_ = 0;
  wf_sink body_;
  std::vector<char> path_;  // percent-decoded
  Collect collect_;
  std::optional<base::SliceRecording> recording_;
  Exchange* asker_ = nullptr;  // of the recording
  base::TimePoint collect_at_ = 0, recorded_at_ = 0;
};

}  // namespace wf::server
