#include "runtime/server/server.h"
#include "runtime/kernels/memory.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "runtime/abi/view.h"
#include "runtime/base/reserve.h"
#include "runtime/base/units.h"
#include "runtime/observe/log.h"
#include "runtime/sched/certain.h"
#include "runtime/server/allowance.h"
#include "runtime/server/certificates.h"
#include "runtime/server/codings.h"
#include "runtime/server/schedule_page.h"

namespace wf::server {
namespace {

constexpr int kLastLogsMs = 1000;                        // for a slow reader of stderr
constexpr int64_t kLastRunNs = 500'000'000;              // for the run of a measurement, which has the last claim to a CPU
constexpr int64_t kAbortNs = 500'000'000;                // for the last answers to leave
constexpr int64_t kFlushNs = 2 * base::kNsPerSecond;     // for the last spans
constexpr int64_t kDesertedNs = 2 * base::kNsPerSecond;  // for work to end that nobody waits for
constexpr int64_t kKeptByModels = 4;      // of the memory of requests, the part that models may keep from one run to the next
constexpr int64_t kSpinNs = 50'000;       // where every thread has a CPU of its own
constexpr int64_t kWatchNs = 10'000'000;  // a task may hold a loop up for as long, twice at most (sched/long_run.h)
constexpr int64_t kRestNs = 50'000'000;   // the same where none has run for kCalmNs
constexpr int64_t kCalmNs = base::kNsPerSecond;
constexpr int64_t kLoopSilenceNs = 5 * base::kNsPerSecond;
constexpr int64_t kSameSignalNs = 100'000'000;  // as GNU timeout sends it: to the process, and to its group

// CPUs that this process may use: its affinity, cut by the quotas of its cgroups.
int CpuCount(const Allowance& allowance) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int by_affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(CPU_COUNT(&set), 1) : 1;
  return static_cast<int>(std::clamp<double>(std::ceil(allowance.cpus), 1, by_affinity));
}

int LoopCount(const Settings& settings, int cpus) { return settings.io_threads > 0 ? settings.io_threads : std::clamp(cpus / 4, 1, 16); }

// Of models, without a share yet.
ModelMemory MemoryOf(const Settings& settings, const Allowance& allowance) {
  const int64_t physical = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  const int64_t process = std::min(physical, allowance.memory_bytes);
  return {{}, settings.request_bytes.value, settings.memory_bytes.value > 0 ? settings.memory_bytes.value : process / 4, process};
}

int HandedOn(int64_t socket) { return socket > 0 ? static_cast<int>(socket) : -1; }

// What a file that is read again has brought, which may hold something else under the same name.
template <typename T>
std::string_view NewsOf(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& now) {
  if (now == nullptr) return "none";
  return before != nullptr && *before == *now ? "same" : "new";
}

struct Served {
  net::Address address;
  int inherited;  // a socket, as of Listener::Bind
};

// HTTP's first, then gRPC's where that has its own.
std::vector<Served> ServedAt(const Settings& settings) {
  std::vector<Served> all{
      {{settings.host, settings.http_port, settings.listen.path, settings.listen_mode.bits}, HandedOn(settings.http_socket)}};
  if (HasGrpcPort(settings)) all.push_back({{settings.host, *settings.grpc_port.value}, HandedOn(settings.grpc_socket)});
  return all;
}

}  // namespace

// Where clients connect. As a message it closes: what waits is accepted first.
struct Server::Entrance : base::Message {
  Entrance(loop::Loop& loop, net::Listener::Acceptor& door) : listener(loop, door) {}
  void Deliver() noexcept override { listener.Close(); }
  net::Listener listener;
};

// Brings the admin loop to write the log before its next second.
struct Server::LogDrain final : base::Message, base::Waker {
  explicit LogDrain(Server& of) : server(of) {}
  void Wake() noexcept override {
    if (!posted.exchange(true)) server.admin_loop_.mailbox().Post(*this);
  }
  void Deliver() noexcept override {
    posted.store(false);
    server.DrainLog();
  }
  Server& server;
  std::atomic<bool> posted{false};
};

void Server::Door::OnAccepted(int fd) noexcept {
  Worker* least = workers_.front().get();
  for (const auto& worker : workers_) {
    if (worker->load() < least->load()) least = worker.get();
  }
  least->Adopt(fd);
}

Server::Server(const wf_plan& plan, const Settings& settings)
    : plan_(plan),
      settings_(settings),
      router_(plan),
      model_names_(plan),
      shared_{plan, router_, model_names_, clock_},
      index_(plan),
      factors_(plan),
      admin_loop_(clock_),
      admin_site_(shared_, *this, admin_loop_.mailbox()),
      admin_sessions_(admin_site_, {}),
      admin_sockets_(admin_loop_),
      admin_connections_(admin_sockets_, *this, static_cast<uint32_t>(settings.admin_connections)),
      admin_listener_(admin_loop_, *this),
      signals_(admin_loop_, *this),
      models_(plan, settings, clock_),
      door_(workers_) {
  shared_.all_turn = [this] { return AllTurn(); };
}

Server::~Server() { admin_loop_.Close(); }

base::Status Server::BindAll() {
  WF_RETURN_IF_ERROR(admin_listener_.Bind({settings_.admin_host, settings_.admin_port}, HandedOn(settings_.admin_socket)));
  for (const Served& served : ServedAt(settings_)) {
    entrances_.push_back(std::make_unique<Entrance>(workers_.front()->loop(), door_));
    WF_RETURN_IF_ERROR(entrances_.back()->listener.Bind(served.address, served.inherited));
  }
  return {};
}

base::Status Server::MakeWorkers() {
  const Allowance allowance = ReadAllowance();
  const int cpus = CpuCount(allowance);
  const int loops = LoopCount(settings_, cpus);
  const int threads = settings_.compute_threads > 0 ? settings_.compute_threads : cpus;
  ModelMemory memory = MemoryOf(settings_, allowance);
  memory_ = std::make_unique<bus::ChunkMemory>(memory.requests_bytes, memory.request_bytes);
  memory.share = {memory_.get(), memory.requests_bytes / kKeptByModels};
  for (int i = 0; i < loops; ++i) shared_.loops.push_back(std::make_unique<LoopCounts>(plan_.n_workflows, router_.services()));
  if (const setting::Collector& to = settings_.trace_otlp; !to.host.empty()) {
    for (int i = 0; i < loops; ++i) shared_.spans.push_back(std::make_unique<SpanRing>());
    const std::string first = plan_.n_workflows == 0 ? "" : std::string(abi::View(plan_.workflows[0].service));
    exporter_ = std::make_unique<Exporter>(admin_loop_, clock_, net::PostTarget{to.host, to.port, to.path},
                                           settings_.trace_service.empty() ? first : settings_.trace_service, shared_.spans);
  }
  for (int i = 0; i < loops; ++i) {
    FrontOptions options;
    options.index = i;
    options.max_connections = static_cast<uint32_t>(settings_.max_connections);
    options.secure = certificates_ != nullptr;
    workers_.push_back(std::make_unique<Worker>(shared_, options));
    WF_RETURN_IF_ERROR(workers_.back()->Open());
  }
  WF_RETURN_IF_ERROR(BindAll());
  WF_RETURN_IF_ERROR(models_.Load(loops, threads, memory));
  for (size_t i = 0; i < plan_.n_workflows; ++i) {
    const wf_workflow& workflow = plan_.workflows[i];
    for (const auto& counts : shared_.loops) counts->SetVersions(i, workflow.is_model != 0 ? models_.VersionsOf(workflow.model) : 1);
  }
  codecs_ = std::make_unique<Codecs>(std::max(1, threads / 2));
  shared_.codecs = codecs_.get();
  sched::WorkerPoolOptions pool;
  pool.threads = threads;
  if (loops + threads + models_.threads() <= cpus) pool.spin_ns = kSpinNs;
  cpus_ = cpus;
  spin_ns_ = pool.spin_ns;
  pool_ = std::make_unique<sched::WorkerPool>(pool, clock_);
  engine_.schedule = static_cast<sched::Schedule>(settings_.schedule);
  engine_.data_ids = &data_ids_;
  engine_.factors = &factors_;
  for (int i = 0; i < loops; ++i) {
    sched::EngineOptions engine = engine_;
    engine.loop = i;
    Worker& worker = *workers_[static_cast<size_t>(i)];
    worker.front().MakeEngine(index_, {clock_, worker.mailbox(), *pool_, *memory_}, engine);
    shared_.engines.push_back(&worker.front().engine().stats());
  }
  auto first = Configure(settings_);
  WF_RETURN_IF_ERROR(first.status());
  Publish(*std::move(first));
  models_.StartPreparing();
  return {};
}

base::Result<std::unique_ptr<Configuration>> Server::Configure(Settings settings) {
  const uint64_t epoch = configurations_.empty() ? 1 : configurations_.back()->epoch() + 1;
  auto next = std::make_unique<Configuration>(epoch, plan_, std::move(settings), static_cast<int>(workers_.size()));
  WF_RETURN_IF_ERROR(models_.Bind(next.get()));
  return next;
}

void Server::Publish(std::unique_ptr<Configuration> next) {
  next->certificates = certificates_;
  next->keys = keys_;
  const bool first = configurations_.empty();
  configurations_.push_back(std::move(next));
  admin_site_.set_settings(current());
  const SessionLimits limits = LimitsOf(current());
  admin_sessions_.set_limits(limits);
  admin_connections_.set_limits(limits.of_connection);
  for (const auto& worker : workers_) {
    if (first)
      worker->Use(*configurations_.back());
    else
      worker->Publish(*configurations_.back());
  }
}

void Server::Retire() {
  std::erase_if(configurations_, [this](const auto& at) {
    if (at == configurations_.back() || !at->unused()) return false;
    models_.Unbind(*at);
    return true;
  });
  models_.Sweep();
}

void Server::KeepOld(std::span<const std::string> errors) {
  for (const std::string& error : errors) observe::Log(observe::Level::kError, error);
  ++reloads_.failed;
  observe::Log(observe::Level::kError, "the configuration cannot be read again; the old one stays");
}

void Server::WarnOfOpening(const Settings& next, bool has_keys) const {
  if (keys_ != nullptr && !has_keys)
    observe::Log(observe::Level::kWarning, "no keys are set any more: everybody is let in",
                 {{"write", "`auth.keys_file`, or `WF_AUTH_KEYS`"}});
  if (!current().tls_client_ca.empty() && next.tls_client_ca.empty())
    observe::Log(observe::Level::kWarning, "clients need no certificates any more: everybody is let in", {{"write", "`tls.client_ca`"}});
}

void Server::Reload() {
  const Loaded loaded = reload_();
  for (const std::string& warning : loaded.warnings) observe::Log(observe::Level::kWarning, warning);
  if (!loaded.errors.empty()) return KeepOld(loaded.errors);
  std::vector<std::string> kept;
  int changed = 0;
  Settings next = Reloaded(current(), loaded.settings, &kept, &changed);
  auto certificates = LoadCertificates(next, true);
  if (!certificates.ok()) return KeepOld({&certificates.status().message(), 1});
  auto keys = LoadKeys(next, true);
  if (!keys.ok()) return KeepOld({&keys.status().message(), 1});
  const bool has_files = *certificates != nullptr || *keys != nullptr;  // which may hold something else under the same name
  Retire();
  std::unique_ptr<Configuration> made;
  if (changed > 0 || has_files) {
    auto configured = Configure(next);
    if (!configured.ok()) return KeepOld({&configured.status().message(), 1});
    made = *std::move(configured);
  }
  WarnOfOpening(next, *keys != nullptr);
  const std::string_view of_certificates = NewsOf(certificates_, *certificates), of_keys = NewsOf(keys_, *keys);
  certificates_ = *std::move(certificates);
  keys_ = *std::move(keys);
  for (const std::string& line : kept) observe::Log(observe::Level::kWarning, line);
  observe::SetLogLevel(static_cast<observe::Level>(next.log_level));
  if (made != nullptr) Publish(std::move(made));
  ++reloads_.done;
  observe::Log(observe::Level::kInfo, "the configuration was read again",
               {{"changed", changed}, {"kept", static_cast<int64_t>(kept.size())}, {"certificates", of_certificates}, {"keys", of_keys}});
}

base::Status Server::Start() {
  WF_RETURN_IF_ERROR(admin_loop_.Open());
  WF_RETURN_IF_ERROR(signals_.Watch({SIGHUP}));  // one that comes while models load is acted on afterwards
  auto certificates = LoadCertificates(settings_);
  WF_RETURN_IF_ERROR(certificates.status());
  certificates_ = *std::move(certificates);
  auto keys = LoadKeys(settings_);
  WF_RETURN_IF_ERROR(keys.status());
  keys_ = *std::move(keys);
  WF_RETURN_IF_ERROR(MakeWorkers());
  WF_RETURN_IF_ERROR(admin_listener_.Start());
  WF_RETURN_IF_ERROR(signals_.Watch({SIGTERM, SIGINT}));
  for (const auto& entrance : entrances_) WF_RETURN_IF_ERROR(entrance->listener.Start());
  WF_RETURN_IF_ERROR(net::CheckDescriptors());
  log_drain_ = std::make_unique<LogDrain>(*this);
  observe::SetLogWaker(log_drain_.get());
  shared_.ready.store(true, std::memory_order_release);
  for (const auto& worker : workers_) worker->Run();
  return {};
}

std::string Server::ListeningLine() const {
  const auto at = [](const auto& entrance) { return entrance->listener.address().ToString(); };
  return "listening http=" + at(entrances_.front()) + " grpc=" + at(entrances_.back()) + " admin=" + admin_listener_.address().ToString() +
         (certificates_ == nullptr ? "\n" : " tls=on\n");
}

void Server::RemoveFiles() noexcept {
  for (const auto& entrance : entrances_) entrance->listener.RemoveFile();
}

int Server::Run() {
  observe::PrepareLog();
  admin_loop_.Run(*this);
  admin_site_.StopRecording();
  for (const auto& worker : workers_) worker->Stop();
  for (const auto& worker : workers_) worker->Join();
  // Whoever hands on goes before who is handed to: a strand's thread wakes the executor, all of them wake the loops.
  pool_.reset();
  if (!models_.Stop(clock_.Now() + kLastRunNs)) EndNow(exit_status_);
  codecs_.reset();
  for (const auto& worker : workers_) worker->Close();
  observe::SetLogWaker(nullptr);
  if (exporter_ != nullptr) {
    exporter_->Close();
    if (exporter_->holds_loop()) EndNow(exit_status_);
  }
  admin_connections_.CloseAll();
  admin_listener_.Close();
  admin_loop_.Close();
  observe::FlushLogs(STDERR_FILENO, kLastLogsMs);
  return exit_status_;
}

void Server::OnFlush() noexcept {
  admin_sessions_.ResumeWaiting();
  admin_connections_.FlushDirty();
}

void Server::OnSecond() noexcept {
  admin_connections_.OnSecond();
  WatchMemory();
  DrainLog();
  Retire();
}

// What `free` has taken back of requests and connections it keeps for good, unless it is asked.
void Server::TrimMemory() noexcept {
  constexpr int64_t kConnectionBytes = 16 * 1024;  // of HTTP/2, more or less
  constexpr int64_t kLeastFall = int64_t{32} << 20;
  constexpr base::TimePoint kEveryNs = 10 * base::kNsPerSecond;
  int64_t now_bytes = memory_->in_use_bytes();
  for (const auto& loop : shared_.loops) now_bytes += loop->connections.value() * kConnectionBytes;
  most_in_use_ = std::max(most_in_use_, now_bytes);
  if (most_in_use_ - now_bytes < kLeastFall || clock_.Now() < trim_at_) return;
  most_in_use_ = now_bytes;
  trim_at_ = clock_.Now() + kEveryNs;
  kernels::GiveBackFreed();
}

void Server::WatchMemory() noexcept {
  TrimMemory();
  if (base::Reserve::memory_is_short()) {
    admin_connections_.DropPooled();
    admin_sessions_.DropIdle();
    memory_->DropKept();
    wf_sink::DropKept();
    DropCoders();
    if (codecs_ != nullptr) codecs_->DropKept();
    kernels::GiveBackFreed();
  }
  if (base::Reserve::memory_is_short() && !memory_was_short_)
    observe::Log(observe::Level::kError, "the process is out of memory; requests are refused until there is some again");
  if (base::Reserve::Refill()) observe::Log(observe::Level::kInfo, "there is memory again");
  memory_was_short_ = base::Reserve::memory_is_short();
}

bool Server::AllTurn() const {
  const base::TimePoint now = clock_.Now();
  return std::all_of(workers_.begin(), workers_.end(), [now](const auto& worker) {
    const base::TimePoint last = worker->loop().last_turn_at();
    return last == 0 || now - last < kLoopSilenceNs;  // or it is about to begin
  });
}

std::string Server::Metrics() const {
  const Configuration& running = *configurations_.back();
  Reloads reloads = reloads_;
  for (const auto& each : configurations_) reloads.done -= each->holds() ? 0 : 1;  // not before it does on all loops
  return MetricsPage(shared_, {shared_.engines,
                               models_.batchers(),
                               models_.removed(),
                               models_.served(),
                               reloads,
                               {running.tuned, running.settings.nodes},
                               {memory_->in_use_bytes(), memory_->limit_bytes()},
                               exporter_.get()});
}

void Server::Schedule(bool json, wf_sink* out) const {
  SchedulePage(
      {plan_, shared_.engines, models_.batchers(), *configurations_.back(), engine_, pool_->threads(), models_.threads(), cpus_, spin_ns_},
      json, out);
}

void Server::OnSignal(int signal) noexcept {
  if (signal == SIGHUP) {
    if (reload_ && !shared_.draining.load(std::memory_order_relaxed)) Reload();
    return;
  }
  if (shared_.draining.load(std::memory_order_relaxed)) {
    if (clock_.Now() - drain_since_ < kSameSignalNs) return;
    observe::Log(observe::Level::kWarning, "stopped by a second signal; requests in flight are lost");
    EndNow(0);
  }
  BeginDrain();
}

// Not ready at once; what waits in the listening socket is accepted, then it closes; connections close as they become idle.
void Server::BeginDrain() noexcept {
  observe::Log(observe::Level::kInfo, "draining", {{"seconds", current().drain_seconds.ns / base::kNsPerSecond}});
  shared_.draining.store(true, std::memory_order_release);
  for (const auto& entrance : entrances_) workers_.front()->mailbox().Post(*entrance);
  for (const auto& worker : workers_) worker->BeginDrain();
  models_.BeginDrain();
  drain_since_ = clock_.Now();
  drain_until_ = drain_since_ + current().drain_seconds.ns;
  drain_tick_at_ = drain_since_ + kDrainTickNs;
}

base::TimePoint Server::NextTimerAt() noexcept {
  return admin_sessions_.has_waiting() ? clock_.Now()
                                       : std::min({drain_tick_at_, log_drain_at_, watch_at_, admin_site_.NextTimerAt(),
                                                   exporter_ == nullptr ? INT64_MAX : exporter_->NextTimerAt()});
}

// A full pipe is tried again soon while its reader goes on, and ever more seldom when it has stopped.
void Server::DrainLog() noexcept {
  constexpr int64_t kLeastNs = 1'000'000;
  const observe::Drained drained = observe::DrainLogs(STDERR_FILENO);
  log_wait_ns_ = drained == observe::Drained::kNothing ? std::min(2 * log_wait_ns_, base::kNsPerSecond) : kLeastNs;
  log_drain_at_ = drained == observe::Drained::kAll ? INT64_MAX : clock_.Now() + log_wait_ns_;
}

void Server::OnTime() noexcept {
  const base::TimePoint now = clock_.Now();
  if (now >= log_drain_at_) DrainLog();
  if (now >= watch_at_) {
    for (const auto& worker : workers_)
      if (worker->WatchTasks(now)) ran_at_ = now;
    watch_at_ = now + (now - ran_at_ < kCalmNs ? kWatchNs : kRestNs);
  }
  admin_site_.OnTime();
  if (exporter_ != nullptr) exporter_->OnTime();
  if (now >= drain_tick_at_) OnDrainTick();
}

void Server::OnDrainTick() noexcept {
  const base::TimePoint now = clock_.Now();
  drain_tick_at_ = now + kDrainTickNs;
  const bool deserted = std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->deserted(); });
  if (deserted_at_ == INT64_MAX || !deserted) deserted_at_ = deserted ? now : INT64_MAX;
  const bool idle = std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->idle(); });
  const bool left = deserted && now - deserted_at_ >= kDesertedNs;
  if (!idle && !left && now < drain_until_) return;
  if (admin_site_.FinishRecording()) return;  // whose answer leaves until the next tick
  if (idle) {
    EndDrain();
  } else if (left) {
    observe::Log(observe::Level::kInfo, "nobody waits for the work that is still under way");
    EndNow(0);
  } else {
    if (aborted_) EndNow(0);
    aborted_ = true;
    observe::Log(observe::Level::kWarning, "the drain's limit has come; what is under way is answered as unavailable");
    for (const auto& worker : workers_) worker->Abort();
    drain_until_ = now + kAbortNs;
  }
}

// The last spans are given a moment to leave.
void Server::EndDrain() noexcept {
  if (exporter_ != nullptr && flush_until_ == 0) {
    flush_until_ = clock_.Now() + kFlushNs;
    exporter_->BeginFlush();
  }
  if (exporter_ != nullptr && !exporter_->flushed() && clock_.Now() < flush_until_) return;
  drain_tick_at_ = INT64_MAX;
  admin_loop_.Stop();
}

// Work may still be under way on other threads, and its memory must stay until it ends: so nothing is torn down.
void Server::EndNow(int status) noexcept {
  if (exporter_ != nullptr) exporter_->Close();
  RemoveFiles();
  observe::FlushLogs(STDERR_FILENO, kLastLogsMs);
  _exit(status);
}

// In the order of Start, and what that keeps is kept: there are to be descriptors for all of it at once.
base::Status CheckStart(const wf_plan& plan, const Settings& settings) {
  const base::SystemClock clock;
  Models models(plan, settings, clock);  // which begins to load libraries
  loop::Loop admin(clock);
  WF_RETURN_IF_ERROR(admin.Open());
  WF_RETURN_IF_ERROR(LoadCertificates(settings).status());
  WF_RETURN_IF_ERROR(LoadKeys(settings).status());
  const Allowance allowance = ReadAllowance();
  std::vector<std::unique_ptr<loop::Loop>> loops(static_cast<size_t>(LoopCount(settings, CpuCount(allowance))));
  for (auto& loop : loops) WF_RETURN_IF_ERROR((loop = std::make_unique<loop::Loop>(clock))->Open());
  std::vector<base::Descriptor> held;
  WF_RETURN_IF_ERROR(net::CheckAddress({settings.admin_host, settings.admin_port}, HandedOn(settings.admin_socket), &held));
  for (const Served& served : ServedAt(settings)) WF_RETURN_IF_ERROR(net::CheckAddress(served.address, served.inherited, &held));
  WF_RETURN_IF_ERROR(models.LoadVersions(1, MemoryOf(settings, allowance)));
  return net::CheckDescriptors();
}

}  // namespace wf::server
