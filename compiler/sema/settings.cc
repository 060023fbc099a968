#include "compiler/sema/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "compiler/base/written_integer.h"
#include "compiler/diag/foreign.h"
#include "compiler/sema/names.h"
#include "compiler/sema/resolve_type.h"
#include "runtime/abi/bounds.h"
#include "runtime/abi/defaults.h"
#include "runtime/abi/plan.h"
#include "runtime/base/units.h"

namespace wf::sema {
namespace {

struct PlaceName {
  Place place;
  std::string_view name;
};
constexpr std::array<PlaceName, 6> kPlaces = {{{kInNode, "a node"},
                                               {kInStage, "a stage"},
                                               {kInModel, "a model"},
                                               {kInRemote, "a remote"},
                                               {kInService, "a service"},
                                               {kInExtern, "an extern"}}};

std::string NamesOf(uint8_t places) {
  std::string names;
  for (const PlaceName& row : kPlaces) {
    if ((places & row.place) != 0) names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

// Reads the arguments of one setting. Each function returns nothing after a report.
class Reader {
 public:
  Reader(Env& env, const ast::Setting& setting, const SettingInfo& row) : env_(env), setting_(setting), row_(row) {}

  bool WrongShape(const Span& span, const std::string& here = "") {
    auto builder = env_.Report(span, kSettingShape, {row_.word, row_.takes}).Here(here);
    for (const ast::SettingArg& arg : setting_.args) {
      const bool word =
          arg.kind == ast::SettingArg::Kind::kPath && arg.path.parts.size() == 1 && FindSetting(arg.path.parts[0].text) != nullptr;
      if (!word) continue;
      if (&arg == &setting_.args.front()) {  // a `;` would leave nothing before it
        const bool twice = arg.path.parts[0].text == row_.word;
        builder.Help(twice ? "the word stands twice" : "what it takes is missing before `" + arg.path.parts[0].text + "`");
        continue;
      }
      const Span before{arg.span.file, arg.span.begin, arg.span.begin};
      builder.Help("is a `;` missing before `" + arg.path.parts[0].text + "`?").Fix(before, "; ");
    }
    return false;
  }
  bool Count(size_t wanted) { return setting_.args.size() == wanted || WrongShape(setting_.span); }

  std::string_view Word(size_t at) const {
    if (at >= setting_.args.size()) return {};
    const ast::SettingArg& arg = setting_.args[at];
    return arg.kind == ast::SettingArg::Kind::kPath && arg.path.parts.size() == 1 ? std::string_view(arg.path.parts[0].text)
                                                                                  : std::string_view();
  }

  template <typename T = uint32_t>
  std::optional<T> Integer(size_t at, int64_t low, int64_t high) {
    const ast::SettingArg& arg = setting_.args[at];
    if (arg.kind != ast::SettingArg::Kind::kNumber || arg.number_kind != ast::NumberKind::kInt) {
      WrongShape(arg.span);
      return std::nullopt;
    }
    const std::optional<uint64_t> value = source::ReadWrittenInteger(arg.text);
    if (value && !arg.negative && std::cmp_greater_equal(*value, low) && std::cmp_less_equal(*value, high)) return static_cast<T>(*value);
    env_.Report(arg.span, kSettingRange, {row_.word, Shown(arg), std::to_string(low) + " to " + std::to_string(high)});
    return std::nullopt;
  }

  std::optional<int64_t> Duration(size_t at, int64_t high) {
    const ast::SettingArg& arg = setting_.args[at];
    if (!Measure(arg, "2ms")) return std::nullopt;
    const auto value = base::ReadMeasure(arg.text, base::kTimeUnits);
    if (!value) return UnitUnknown(arg, "time", "`ns`, `us`, `ms`, `s`, `m` and `h`", base::kTimeUnits);
    if (*value > 0 && *value <= high && !arg.negative) return value;
    env_.Report(arg.span, kSettingRange, {WordBefore(arg), Shown(arg), "more than 0, at most " + base::DurationText(high)});
    return std::nullopt;
  }

  std::optional<uint64_t> Size(size_t at) {
    const ast::SettingArg& arg = setting_.args[at];
    if (!Measure(arg, "64MiB")) return std::nullopt;
    const auto value = base::ReadMeasure(arg.text, base::kSizeUnits);
    if (!value) return UnitUnknown(arg, "size", "`B`, `KiB`, `MiB` and `GiB`", base::kSizeUnits);
    constexpr int64_t kLow = 1024, kHigh = int64_t{4} << 30;
    if (*value >= kLow && *value <= kHigh && !arg.negative) return static_cast<uint64_t>(*value);
    env_.Report(arg.span, kSettingRange, {row_.word, Shown(arg), "1KiB to 4GiB"});
    return std::nullopt;
  }

  diag::Builder NotBuilt(std::string_view what) { return env_.Report(setting_.span, kNotBuiltYet, {what}); }
  const ast::Setting& setting() const { return setting_; }
  Env& env() { return env_; }

 private:
  static std::string Shown(const ast::SettingArg& arg) { return (arg.negative ? "-" : "") + arg.text; }
  bool Measure(const ast::SettingArg& arg, std::string_view example) {
    if (arg.kind != ast::SettingArg::Kind::kNumber) return WrongShape(arg.span);
    const bool has_unit = base::SplitMeasure(arg.text).unit.find_first_of("0123456789") == std::string_view::npos;  // and `1e3s` has none
    if (arg.number_kind == ast::NumberKind::kMeasure) return has_unit || WrongShape(arg.span);
    const std::string word(WordBefore(arg));
    env_.Report(arg.span, kUnitMissing, {word, word + ' ' + std::string(example)});
    return false;
  }
  std::nullopt_t UnitUnknown(const ast::SettingArg& arg, std::string_view what, std::string_view known, std::span<const base::Unit> units) {
    auto builder = env_.Report(arg.span, kUnitUnknown, {arg.text, what, known});
    const std::string meant = base::MeasureMeant(arg.text, units);
    if (!meant.empty() && !arg.negative) builder.Help("did you mean `" + meant + "`?").Fix(arg.span, meant);
    return std::nullopt;
  }
  // The setting's own word, but not in `batch 16 within 2ms`.
  std::string_view WordBefore(const ast::SettingArg& arg) const {
    return &arg == &setting_.args[0] ? row_.word : Word(static_cast<size_t>(&arg - &setting_.args[0]) - 1);
  }
  Env& env_;
  const ast::Setting& setting_;
  const SettingInfo& row_;
};

void ReadBatch(Reader& reader, SettingValues& out) {
  const auto& args = reader.setting().args;
  BatchSetting batch;
  if (reader.Word(0) == "auto") {
    if (!reader.Count(1)) return;
    batch.automatic = true;
  } else {
    if ((args.size() != 1 && args.size() != 3) || (args.size() == 3 && reader.Word(1) != "within")) {
      reader.WrongShape(reader.setting().span);
      return;
    }
    const auto rows = reader.Integer(0, 1, abi::kMostBatchRows);
    if (!rows) return;
    batch.max_rows = *rows;
    if (args.size() == 3) {
      const auto delay = reader.Duration(2, abi::kMostWithinNs);
      if (!delay) return;
      batch.delay_ns = *delay;
    }
    if (batch.max_rows == 1 && batch.delay_ns > 0) {
      reader.env().Report(reader.setting().span, kSettingContradiction, {"batch 1", "within", "one row waits for no company"});
      return;
    }
  }
  out.batch = Given<BatchSetting>{batch, reader.setting().span};
}

// Ascending extents between brackets; none after a report of their order.
std::optional<std::vector<int64_t>> ReadExtents(Reader& reader, const ast::SettingArg& arg) {
  const auto* list = arg.kind == ast::SettingArg::Kind::kList && arg.list ? ast::DynAs<ast::ListExpr>(*arg.list) : nullptr;
  if (list == nullptr || list->elements.empty()) {
    reader.WrongShape(arg.span);
    return std::nullopt;
  }
  std::vector<int64_t> extents;
  for (const ast::ExprPtr& element : list->elements) {
    const auto* number = ast::DynAs<ast::NumberExpr>(*element);
    int64_t value = 0;
    if (number == nullptr || number->number_kind != ast::NumberKind::kInt) {
      reader.WrongShape(element->span, "a size is an integer");
      return std::nullopt;
    }
    constexpr int64_t kMostExtent = int64_t{1} << 30;
    std::string digits = number->text;
    std::erase(digits, '_');
    const bool sound = std::from_chars(digits.data(), digits.data() + digits.size(), value).ptr == digits.data() + digits.size();
    if (!sound || value < 1 || value > kMostExtent) {
      reader.env().Report(element->span, kSettingRange, {reader.setting().name.text, number->text, "1 to " + std::to_string(kMostExtent)});
      return std::nullopt;
    }
    extents.push_back(value);
  }
  if (!std::is_sorted(extents.begin(), extents.end(), std::less_equal<>())) {
    reader.env().Report(arg.span, kSettingRange, {reader.setting().name.text, "out of order", "its sizes ascending, each once"});
    extents.clear();
  }
  return extents;
}

void ReadPad(Reader& reader, SettingValues& out) {
  const std::vector<ast::SettingArg>& args = reader.setting().args;
  if (!args.empty() && args.size() < 3 && args.back().kind == ast::SettingArg::Kind::kList) {
    const bool is_named = !reader.Word(0).empty();
    reader.WrongShape(args.back().span, is_named
                                            ? "`to` is missing in front of the sizes"
                                            : "no dimension is named in front of the sizes: a symbol of the model's signature, and `to`");
    return;
  }
  if (!reader.Count(3)) return;
  if (reader.Word(0).empty() || reader.Word(1) != "to") {
    reader.WrongShape(reader.setting().span);
    return;
  }
  auto buckets = ReadExtents(reader, reader.setting().args[2]);
  if (!buckets) return;
  out.pad = Given<PadSetting>{{std::string(reader.Word(0)), reader.setting().args[0].span, std::move(*buckets)}, reader.setting().span};
}

void ReadOn(Reader& reader, SettingValues& out) {
  if (!reader.Count(1)) return;
  const ast::SettingArg& arg = reader.setting().args[0];
  const bool cuda = arg.kind == ast::SettingArg::Kind::kCall && arg.path.parts.size() == 1 && arg.path.parts[0].text == "cuda";
  if (cuda || reader.Word(0) == "cuda") {
    reader.NotBuilt("`on cuda`");
  } else if (reader.Word(0) == "cpu") {
    out.on = Given<bool>{true, reader.setting().span};
  } else {
    reader.WrongShape(arg.span);
  }
}

void ReadPrecision(Reader& reader, SettingValues& out) {
  if (!reader.Count(1)) return;
  const std::string_view word = reader.Word(0);
  if (word == "i8") {
    reader.NotBuilt("`precision i8`").Help("a file that was quantised computes in 8 bits by itself");
  } else if (word == "f32" || word == "bf16" || word == "auto") {
    const DType dtype = word == "f32" ? DType::kF32 : word == "bf16" ? DType::kBf16 : DType::kNone;
    out.precision = Given<DType>{dtype, reader.setting().span};
  } else {
    reader.WrongShape(reader.setting().args[0].span);
  }
}

void ReadPriority(Reader& reader, SettingValues& out) {
  if (!reader.Count(1)) return;
  const std::string_view word = reader.Word(0);
  if (word != "high" && word != "normal" && word != "low") {
    reader.WrongShape(reader.setting().args[0].span);
    return;
  }
  const uint8_t priority = word == "high" ? WF_HIGH : word == "normal" ? WF_NORMAL : WF_LOW;
  out.priority = Given<uint8_t>{priority, reader.setting().span};
}

void ReadVersions(Reader& reader, SettingValues& out) {
  const auto& args = reader.setting().args;
  VersionSetting versions;
  if (reader.Word(0) == "all" && args.size() == 1) {
    versions.policy = WF_ALL;
  } else if (reader.Word(0) == "latest" && args.size() == 2) {
    const auto count = reader.Integer(1, 1, 1000);
    if (!count) return;
    versions.versions.push_back(*count);
  } else if (reader.Word(0) == "specific" && args.size() >= 2) {
    versions.policy = WF_SPECIFIC;
    for (size_t at = 1; at < args.size(); ++at) {
      const auto version = reader.Integer<int64_t>(at, 0, INT64_MAX);  // as folders are called
      if (!version) return;
      versions.versions.push_back(*version);
    }
  } else {
    reader.WrongShape(reader.setting().span);
    return;
  }
  out.versions = Given<VersionSetting>{std::move(versions), reader.setting().span};
}

void ReadMixing(Reader& reader, SettingValues& out) {
  if (!reader.Count(1)) return;
  if (reader.Word(0) != "allowed") {
    reader.WrongShape(reader.setting().args[0].span);
    return;
  }
  out.mixing = Given<bool>{true, reader.setting().span};
}

void ReadNumber(Reader& reader, std::optional<Given<uint32_t>>& out, int64_t low, int64_t high) {
  if (!reader.Count(1)) return;
  if (const auto value = reader.Integer(0, low, high)) out = Given<uint32_t>{*value, reader.setting().span};
}

void ReadTimeout(Reader& reader, SettingValues& out, Place place) {
  if (!reader.Count(1)) return;
  const int64_t high = place == kInService ? abi::kTimeoutCapNs.value : abi::kMostNodeTimeoutNs;
  if (const auto value = reader.Duration(0, high)) out.timeout_ns = Given<int64_t>{*value, reader.setting().span};
}

void ReadOne(Reader& reader, SettingWord setting, Place place, SettingValues& out) {
  switch (setting) {
    case SettingWord::kBatch:
      return ReadBatch(reader, out);
    case SettingWord::kPad:
      return ReadPad(reader, out);
    case SettingWord::kQueue:
      return ReadNumber(reader, out.queue, 1, abi::kMostQueuedRows);
    case SettingWord::kOn:
      return ReadOn(reader, out);
    case SettingWord::kPrecision:
      return ReadPrecision(reader, out);
    case SettingWord::kInstances:
      return ReadNumber(reader, out.instances, 1, abi::kMostInstances);
    case SettingWord::kThreads:
      return ReadNumber(reader, out.threads, 1, abi::kMostRunThreads);
    case SettingWord::kTimeout:
      return ReadTimeout(reader, out, place);
    case SettingWord::kRetry:
      return ReadNumber(reader, out.retry, 0, 100);
    case SettingWord::kPriority:
      return ReadPriority(reader, out);
    case SettingWord::kLimit:
      return ReadNumber(reader, out.limit, 1, abi::kMostElements);
    case SettingWord::kVersions:
      return ReadVersions(reader, out);
    case SettingWord::kInflight:
      return ReadNumber(reader, out.inflight, 1, 1'000'000);
    case SettingWord::kRows:
      return ReadNumber(reader, out.rows, 1, abi::kMostRows);
    case SettingWord::kBody:
      if (reader.Count(1)) {
        if (const auto size = reader.Size(0)) out.body_bytes = Given<uint64_t>{*size, reader.setting().span};
      }
      return;
    case SettingWord::kMixing:
      return ReadMixing(reader, out);
    case SettingWord::kBalance:
      if (reader.Count(1) && reader.Word(0) != "least" && reader.Word(0) != "round") reader.WrongShape(reader.setting().args[0].span);
      return;
    case SettingWord::kHedge:
    case SettingWord::kCache:
    case SettingWord::kRun:
    case SettingWord::kSplit:
    case SettingWord::kShadow:
      return;  // kUnbuilt
  }
}

bool IsMethod(std::string_view word) { return word == "GET" || word == "POST" || word == "PUT" || word == "PATCH" || word == "DELETE"; }

void ReportUnknown(Env& env, const ast::Setting& setting, Place place) {
  std::vector<std::string> known;
  for (const SettingInfo& row : kSettings) {
    if ((row.places & place) != 0 && row.needs != Needs::kUnbuilt) known.emplace_back(row.word);
  }
  if (place == kInService) known.insert(known.end(), {"workflow", "model"});
  auto builder = env.Report(setting.name.span, kUnknownSetting, {setting.name.text});
  const Entity* entity = place == kInService ? FindEntity(env.modules.front(), setting.name.text) : nullptr;
  if (entity != nullptr && (entity->kind == EntityKind::kWorkflow || entity->kind == EntityKind::kModel)) {
    builder.Help("it is published by `" + std::string(entity->kind == EntityKind::kModel ? "model " : "workflow ") + setting.name.text +
                 ";`");
  } else if (setting.name.text == "within" && std::find(known.begin(), known.end(), "batch") != known.end()) {
    const bool has_time = setting.args.size() == 1 && setting.args[0].kind == ast::SettingArg::Kind::kNumber;
    builder.Help("it is a part of `batch`, without a `;` before it: `batch 32 within " + (has_time ? setting.args[0].text : "2ms") + ";`");
  } else if (place == kInService && IsMethod(setting.name.text)) {
    builder.Help("a workflow is published by its name, and called by `POST /Service/name`: `workflow W as \"name\";`");
  } else if (place == kInService && (setting.name.text == "rpc" || setting.name.text == "method")) {
    builder.Help("a service publishes workflows, and what they take and yield is declared with them: `workflow Get;`");
  } else if (place == kInService && setting.name.text == "port") {
    builder.Help("ports are chosen when the server starts: `--http-port 8080`");
  } else if (const auto ours = diag::OursFor(diag::Foreign::kSettingName, setting.name.text);
             std::find(known.begin(), known.end(), ours) != known.end()) {
    builder.Help("that is `" + std::string(ours) + "` here");
  } else {
    builder.DidYouMeanOneOf(setting.name.span, setting.name.text, known);
  }
}

}  // namespace

const SettingInfo* FindSetting(std::string_view word) {
  const auto* row = std::find_if(std::begin(kSettings), std::end(kSettings), [&](const SettingInfo& one) { return one.word == word; });
  return row == std::end(kSettings) ? nullptr : row;
}

SettingValues ReadSettings(Env& env, const std::vector<ast::Setting>& settings, Place place) {
  SettingValues values;
  std::map<std::string, Span> seen;
  for (const ast::Setting& setting : settings) {
    const SettingInfo* row = FindSetting(setting.name.text);
    if (row == nullptr) {
      ReportUnknown(env, setting, place);
      continue;
    }
    if ((row->places & place) == 0) {
      const auto here = std::find_if(kPlaces.begin(), kPlaces.end(), [&](const PlaceName& name) { return name.place == place; });
      env.Report(setting.name.span, kSettingElsewhere, {row->word, here->name, NamesOf(row->places)});
      continue;
    }
    const auto [at, fresh] = seen.emplace(setting.name.text, setting.name.span);
    if (!fresh) {
      env.Report(setting.name.span, kSettingTwice, {setting.name.text}).Label(at->second, "first set here");
      continue;
    }
    Reader reader(env, setting, *row);
    if (row->needs == Needs::kUnbuilt) reader.NotBuilt("`" + std::string(row->word) + "`");
    ReadOne(reader, row->setting, place, values);
  }
  CheckContradictions(env, {&values});
  return values;
}

namespace {

// A setting in force, and how far outside it is written; null: nobody wrote it.
template <typename T>
struct InForce {
  const Given<T>* given = nullptr;
  size_t block = 0;
};

template <typename T>
InForce<T> FirstOf(std::initializer_list<const SettingValues*> blocks, std::optional<Given<T>> SettingValues::* member) {
  InForce<T> first;
  for (const SettingValues* values : blocks) {
    if (values->*member) {
      first.given = &*(values->*member);
      return first;
    }
    ++first.block;
  }
  return first;
}

struct Side {
  std::string_view word;
  Span span;
  size_t block;
};

void ReportContradiction(Env& env, Side a, Side b, std::string_view why) {
  const bool inherits = a.block != b.block;
  if (a.block > b.block) std::swap(a, b);
  env.Report(a.span, kSettingContradiction, {a.word, b.word, why}).Label(b.span, inherits ? "inherited from here" : "set here");
}

}  // namespace

void CheckContradictions(Env& env, std::initializer_list<const SettingValues*> blocks) {
  const auto batch = FirstOf(blocks, &SettingValues::batch);
  const auto queue = FirstOf(blocks, &SettingValues::queue);
  const auto timeout = FirstOf(blocks, &SettingValues::timeout_ns);
  if (batch.given == nullptr) return;
  const BatchSetting& rows = batch.given->value;
  if (queue.given != nullptr && !rows.automatic && queue.given->value < rows.max_rows) {
    ReportContradiction(env, {"queue", queue.given->span, queue.block}, {"batch", batch.given->span, batch.block},
                        "a batch of " + std::to_string(rows.max_rows) + " never fits");
  }
  if (timeout.given != nullptr && rows.delay_ns >= timeout.given->value) {
    ReportContradiction(env, {"within", batch.given->span, batch.block}, {"timeout", timeout.given->span, timeout.block},
                        "the time is over before the wait is");
  }
}

ir::Policy DefaultPolicy(bool batched) {
  ir::Policy policy;
  policy.batch_max = batched ? 0 : 1;
  return policy;
}

std::vector<NamedSpan> ModelSettingsOf(const SettingValues& values) {
  std::vector<NamedSpan> found;
  if (values.batch) found.push_back({"batch", values.batch->span});
  if (values.pad) found.push_back({"pad", values.pad->span});
  if (values.queue) found.push_back({"queue", values.queue->span});
  if (values.on) found.push_back({"on", values.on->span});
  if (values.precision) found.push_back({"precision", values.precision->span});
  if (values.instances) found.push_back({"instances", values.instances->span});
  if (values.threads) found.push_back({"threads", values.threads->span});
  return found;
}

}  // namespace wf::sema
