#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/sema/body.h"

namespace wf::sema {

// What of a node a setting speaks of; kUnbuilt: nothing takes it yet.
enum class Needs : uint8_t { kNothing, kModelCall, kOutsideCall, kLoop, kUnbuilt };

enum class SettingWord : uint8_t {
#define SETTING(enumerator, word, places, needs, takes, about) enumerator,
#include "compiler/sema/settings.def"
#undef SETTING
};
enum Place : uint8_t { kInNode = 1, kInStage = 2, kInModel = 4, kInRemote = 8, kInService = 16, kInExtern = 32 };

struct SettingInfo {
  SettingWord setting;
  std::string_view word;
  uint8_t places;
  Needs needs;
  std::string_view takes, about;  // what stands behind the word, what it means
};
inline constexpr SettingInfo kSettings[] = {
#define SETTING(enumerator, word, places, needs, takes, about) {SettingWord::enumerator, word, places, Needs::needs, takes, about},
#include "compiler/sema/settings.def"
#undef SETTING
};
const SettingInfo* FindSetting(std::string_view word);  // null: no such word

template <typename T>
struct Given {
  T value{};
  Span span;
};
struct BatchSetting {
  bool automatic = false;
  uint32_t max_rows = 0;
  int64_t delay_ns = 0;
};
struct PadSetting {
  std::string symbol;
  Span symbol_span;
  std::vector<int64_t> buckets;
};
struct VersionSetting {
  uint16_t policy = 0;            // WF_LATEST, WF_ALL, WF_SPECIFIC
  std::vector<int64_t> versions;  // WF_LATEST: how many; WF_SPECIFIC: which
};

// One settings block, read: what is written, each with its place. Values that were reported are absent.
struct SettingValues {
  std::optional<Given<BatchSetting>> batch;
  std::optional<Given<PadSetting>> pad;
  std::optional<Given<uint32_t>> queue, instances, threads, retry, limit, inflight, rows;
  std::optional<Given<int64_t>> timeout_ns;
  std::optional<Given<uint64_t>> body_bytes;
  std::optional<Given<uint8_t>> priority;
  std::optional<Given<DType>> precision;  // kNone: auto
  std::optional<Given<bool>> on, mixing;
  std::optional<Given<VersionSetting>> versions;
};

// Reads a block by the table settings.def: unknown and misplaced words, shapes, units, ranges, doubles and contradictions are reported.
SettingValues ReadSettings(Env& env, const std::vector<ast::Setting>& settings, Place place);

// Reports what of the settings in force contradicts each other. `blocks`: that have a say, the nearest to the node first. What one block
// says by itself is the same report again, which stands once.
void CheckContradictions(Env& env, std::initializer_list<const SettingValues*> blocks);

// The policy of a model without settings (docs/semantics.md 12), and the same with a block applied. `batched`: it has a batch axis. A queue
// that nobody wrote is 0: it follows the batch.
ir::Policy DefaultPolicy(bool batched);
void ApplySettings(Env& env, const SettingValues& values, const Model& model, ir::Policy& policy);

// What of a block needs a model call; in the order of the table.
struct NamedSpan {
  std::string_view word;
  Span span;
};
std::vector<NamedSpan> ModelSettingsOf(const SettingValues& values);

}  // namespace wf::sema
