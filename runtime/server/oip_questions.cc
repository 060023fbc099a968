#include "runtime/server/oip_questions.h"

#include <algorithm>
#include <span>
#include <string>

#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/observe/log.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/oip/metadata.h"
#include "runtime/protocol/oip/settings.h"
#include "runtime/server/own_answers.h"

namespace wf::server {
namespace {

using oip::Call;

bool FindVersion(const WorkflowSite& site, const wf_workflow& workflow, Exchange& exchange) {
  const std::string_view text = exchange.oip.version;
  if (text.empty()) return true;
  const std::vector<int64_t> versions = site.VersionsOf(workflow);
  const auto found = std::find_if(versions.begin(), versions.end(), [text](int64_t version) { return std::to_string(version) == text; });
  if (found == versions.end()) return false;
  exchange.version = *found;
  return true;
}

wf_code NotBuilt(wf_ctx* scratch, std::string_view what) {
  base::TextBuilder message;
  message << what;
  return json::Record(scratch, code::kNotImplemented, message);
}

bool IsReady(const WorkflowSite& site) { return ProbeFailure(site.shared(), kReadyPath) == nullptr; }

// Of all loops and protocols. `version`: as LoopCounts::Of.
oip::Statistics Count(const Shared& shared, const wf_workflow& workflow, size_t version) {
  oip::Statistics sum;
  const auto index = static_cast<size_t>(&workflow - shared.plan.workflows);
  uint64_t all_ns = 0;
  for (const auto& loop : shared.loops) {
    for (int p = 0; p < kProtocols; ++p) {
      const RequestCounts& counts = loop->Of(index, static_cast<Protocol>(p), version);
      sum.success.count += counts.ok.value();
      sum.success.ns += counts.ok_ns.value();
      sum.queue_ns += counts.queue_ns.value();
      sum.compute_ns += counts.compute_ns.value();
      for (const auto& row : counts.by_size) {
        const oip::Statistics::Parts parts{row.count.load(std::memory_order_relaxed), row.input_ns.value(), row.compute_ns.value(),
                                           row.output_ns.value()};
        const uint32_t samples = row.samples.load(std::memory_order_relaxed);
        if (parts.count != 0) (samples == 0 ? sum.of_others : sum.by_samples[samples]).Add(parts);
      }
      sum.inferences += counts.samples.value();
      sum.last_ms = std::max(sum.last_ms, counts.last_ms.value());
      sum.fail.count += counts.failures.sum();
      all_ns += counts.duration.sum_ns();
    }
  }
  sum.fail.ns = all_ns - std::min(all_ns, sum.success.ns);
  return sum;
}

// Calls put(name, workflow) for the model that is asked for, else for all.
template <typename Put>
void ForModels(const Shared& shared, const Exchange& exchange, Put&& put) {
  if (exchange.workflow != nullptr) return put(exchange.oip.model, *exchange.workflow);
  for (const std::string& name : shared.models.All()) put(std::string_view(name), *shared.models.Find(name)->second);
}

void PutAllStatistics(const WorkflowSite& site, const Exchange& exchange, oip::Fields& fields) {
  fields.BeginList({"model_stats", 1});
  ForModels(site.shared(), exchange, [&](std::string_view name, const wf_workflow& workflow) {
    const std::vector<int64_t> versions = site.VersionsOf(workflow);
    for (size_t i = 0; i < versions.size(); ++i) {
      const bool is_wanted = exchange.version == 0 || exchange.version == versions[i];
      if (is_wanted) oip::PutStatistics(fields, name, versions[i], Count(site.shared(), workflow, versions.size() - 1 - i));
    }
  });
  fields.EndList();
}

wf_code PutRepository(const WorkflowSite& site, const Exchange& exchange, wf_ctx* scratch, oip::QuestionBody body, oip::Fields& fields) {
  bool ready_only = false;
  if (oip::ReadIndexRequest(scratch, body, &ready_only) != 0) return WF_FAILED;
  const bool ready = IsReady(site);
  fields.BeginList({"models", 1});
  ForModels(site.shared(), exchange, [&](std::string_view name, const wf_workflow& workflow) {
    const std::vector<int64_t> versions = site.VersionsOf(workflow);
    if (ready || !ready_only) oip::PutIndex(fields, {name, &workflow, versions, ready});
  });
  fields.EndList();
  return 0;
}

// A workflow is part of the program: it is there already. Versions of a model's file are read when the server starts.
wf_code Load(const Exchange& exchange, wf_ctx* scratch, oip::QuestionBody body) {
  if (exchange.workflow->is_model != 0) return NotBuilt(scratch, "versions of a model are loaded when the server starts; start it again");
  return oip::CheckLoad(scratch, body);
}

wf_code PutSettings(wf_ctx* scratch, oip::QuestionBody body, std::span<const oip::Setting> settings, oip::Fields& fields) {
  const wf_code code =
      body.is_message ? oip::CheckSettingsMessage(scratch, body.bytes, settings) : oip::CheckSettings(scratch, body.bytes, settings);
  if (code == 0) oip::PutSettings(fields, settings);
  return code;
}

wf_code PutLog(wf_ctx* scratch, oip::QuestionBody body, oip::Fields& fields) {
  oip::Setting rows[6];
  const oip::LogFacts facts = {observe::LogsAt(observe::Level::kWarning), observe::LogsAt(observe::Level::kInfo),
                               observe::LogsAt(observe::Level::kDebug)};
  return PutSettings(scratch, body, oip::LogSettings(facts, rows), fields);
}

}  // namespace

bool FindModel(const WorkflowSite& site, Exchange& exchange) {
  const Shared& shared = site.shared();
  const std::string_view name = exchange.oip.model;
  const oip::Names::Entry* const model = shared.models.Find(name);
  base::TextBuilder message;
  if (!exchange.let && (model == nullptr || !FindVersion(site, *model->second, exchange))) {
    message << "there is no such model, or no such version of it";  // what there is else is told to those with a key
  } else if (model == nullptr) {
    const std::string_view nearest = shared.models.Nearest(name);
    message << "no model is called `";
    message.Quote(name) << "`";
    if (!nearest.empty()) message << "; did you mean `" << nearest << "`";
  } else if (!FindVersion(site, *model->second, exchange)) {
    message << "model `" << model->first << "` has no version `";
    message.Quote(exchange.oip.version) << "`; it has";
    for (const int64_t version : site.VersionsOf(*model->second)) message << " " << version;
  } else {
    exchange.oip.model = model->first;
    exchange.oip.version = {};
    exchange.workflow = model->second;
    return true;
  }
  exchange.oip.model = exchange.oip.version = {};
  exchange.Refuse(404, code::kNoService, message.view());
  return false;
}

wf_code PutAnswer(const WorkflowSite& site, const Exchange& exchange, wf_ctx* scratch, oip::QuestionBody body, oip::Fields& fields) {
  const Shared& shared = site.shared();
  const bool named = exchange.workflow != nullptr;
  const std::vector<int64_t> versions = named ? site.VersionsOf(*exchange.workflow) : std::vector<int64_t>();
  const oip::ModelFacts model = {exchange.oip.model, exchange.workflow, versions, IsReady(site)};
  switch (exchange.oip.call) {
    case Call::kServerMetadata:
      oip::PutServerMetadata(fields);
      return 0;
    case Call::kServerLive:
      fields.Bool({"live", 1}, ProbeFailure(shared, kLivePath) == nullptr);
      return 0;
    case Call::kServerReady:
      fields.Bool({"ready", 1}, model.ready);
      return 0;
    case Call::kModelMetadata:
      oip::PutModelMetadata(fields, shared.plan, model);
      return 0;
    case Call::kModelReady:
      oip::PutModelReady(fields, model.name, model.ready);
      return 0;
    case Call::kModelConfig:
      if (body.is_message) fields.Begin({"config", 1});
      oip::PutModelConfig(fields, shared.plan, model);
      if (body.is_message) fields.End();
      return 0;
    case Call::kStatistics:
      PutAllStatistics(site, exchange, fields);
      return 0;
    case Call::kIndex:
      return PutRepository(site, exchange, scratch, body, fields);
    case Call::kLoad:
      return Load(exchange, scratch, body);
    case Call::kUnload:
      return NotBuilt(scratch, "models are part of the program and stay loaded");
    case Call::kTrace:
      return PutSettings(scratch, body, oip::TraceSettings(), fields);
    case Call::kLog:
      return PutLog(scratch, body, fields);
    case Call::kSharedMemory:
      return NotBuilt(scratch, "shared memory is not built; send tensors in the body");
    case Call::kInfer:
    case Call::kNone:
      break;
  }
  return WF_FAILED;
}

}  // namespace wf::server
