#include "runtime/server/loaded_model.h"

#include "runtime/abi/view.h"
#include "runtime/model/apart.h"
#include "runtime/observe/log.h"

namespace wf::server {
using abi::View;

void SaveChoices(kernels::Choices& choices) {
  if (const base::Status saved = choices.Save(); !saved.ok())
    observe::Log(observe::Level::kWarning, "measured kernels are not kept", {{"reason", saved.message()}});
}

// What a node does across rows may show for numbers alone that are not made up: one that is certain to needs no trial.
base::Status LoadedModel::CheckApart(int instance, int64_t most, const std::atomic<bool>& stop) {
  if (version_->axes().mixing.empty()) return model::CheckRowsApart(*version_, instance, most, stop);
  return {base::kFailedPrecondition, "the signature says `batch`, but " + version_->axes().mixing};
}

void LoadedModel::CheckRows(int instance, int64_t most, const std::atomic<bool>& stop) {
  if (rows(most) != batch::Rows::kUnknown) return;
  const base::Status apart = CheckApart(instance, most, stop);
  if (apart.code() == base::kCancelled) return;
  apart_rows_.store(apart.ok() ? most : -1, std::memory_order_relaxed);
  if (apart.ok()) return;
  const bool is_mixed = apart.code() == base::kFailedPrecondition;
  observe::Log(observe::Level::kWarning,
               is_mixed ? "rows of a model depend on one another: each row runs alone"
                        : "whether rows of a model depend on one another cannot be found out: each row runs alone",
               {{"model", View(row_.name)},
                {"version", version()},
                {"reason", apart.message()},
                {"write", "`batch 1`, a signature in which axis 0 has another name than `batch`, or `mixing allowed` (WF6010)"}});
}

}  // namespace wf::server
