#include "tests/unit/support/random_plan.h"

namespace wf::test {
namespace {

enum class Control : uint8_t { kNone, kRequire, kFlow };  // what may stand in a region: kFlow: early returns, too

struct Value {
  int slot;
  Kind kind;
};

class Generator {
 public:
  Generator(PlanBuilder& builder, std::mt19937_64& random, const RandomPlanOptions& options)
      : builder_(builder), random_(random), options_(options) {}

  void Root() {
    const int root = builder_.Region();
    std::vector<Value> known;
    const int first = builder_.Slot(root, Kind::kInt), second = builder_.Slot(root, Kind::kInt);
    known.push_back({first, Kind::kInt});
    known.push_back({second, Kind::kInt});
    const int out = builder_.Slot(root, Kind::kInt);
    for (int i = 0; options_.with_models && i < 2; ++i) builder_.AddModel(i == 0);
    MakePolicies();
    std::vector<int> controls;
    FillRegion(root, 0, known, controls, Control::kFlow);
    const int value = Summary(root, known, controls);
    builder_.Return(root, {value}, controls);
    builder_.Workflow(root, {first, second}, {out});
  }

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }
  bool Chance(int percent) { return Below(100) < static_cast<uint64_t>(percent); }

  void MakePolicies() {
    for (int i = 0; i < 4; ++i) {
      wf_policy policy{};
      policy.timeout_ns = options_.with_timeouts && i != 0 ? static_cast<int64_t>(1 + Below(4)) * 1'000'000 : 0;
      policy.retry = static_cast<uint16_t>(i == 0 ? 0 : Below(3));
      policy.delay_ns = i % 2 == 0 ? 0 : 500'000;
      policy.priority = static_cast<uint8_t>(Below(3));
      builder_.Policy(policy);
    }
  }

  Body RandomBody(int fail_percent) {
    Body body;
    body.salt = static_cast<int64_t>(Below(1000));
    if (Chance(fail_percent)) {
      body.fail_modulus = static_cast<int64_t>(2 + Below(4));
      body.fail_at = 0;
      body.fail_code = Chance(30) ? 8000 : 100001;
    }
    return body;
  }

  RunOptions RandomRun(const std::vector<int>& controls, int fail_percent) {
    RunOptions options;
    options.body = RandomBody(fail_percent);
    options.compute = Chance(40);
    options.blocking = Chance(5);
    options.cost_ns = options.compute ? 400'000 : 500;
    options.after = controls;
    return options;
  }

  std::vector<int> Some(const std::vector<Value>& known, size_t most) {
    std::vector<int> picked;
    const size_t count = 1 + Below(most);
    for (size_t i = 0; i < count; ++i) {
      const int slot = known[Below(known.size())].slot;
      bool twice = false;
      for (const int other : picked) twice = twice || other == slot;
      if (!twice) picked.push_back(slot);
    }
    return picked;
  }

  static std::vector<int> All(const std::vector<Value>& known) {
    std::vector<int> slots;
    for (const Value& value : known) slots.push_back(value.slot);
    return slots;
  }

  // A number that depends on the last values of the region.
  int Summary(int region, const std::vector<Value>& known, const std::vector<int>& controls) {
    const int slot = builder_.Slot(region, Kind::kInt);
    std::vector<Value> last(known.end() - static_cast<ptrdiff_t>(std::min<size_t>(known.size(), 3)), known.end());
    RunOptions options = RandomRun(controls, 5);
    options.blocking = false;
    builder_.Run(region, All(last), slot, options);
    return slot;
  }

  // A region with a result of its own that reads `known` of the regions around.
  int Inner(int parent, int depth, std::vector<Value> known) {
    const int region = builder_.Region(parent);
    FillInner(region, depth, known);
    return region;
  }
  void FillInner(int region, int depth, std::vector<Value>& known) {
    std::vector<int> controls;
    FillRegion(region, depth, known, controls, Chance(30) ? Control::kRequire : Control::kNone);
    builder_.SetResult(region, Summary(region, known, controls));
  }

  void FillRegion(int region, int depth, std::vector<Value>& known, std::vector<int>& controls, Control control) {
    const int nodes = 1 + static_cast<int>(Below(static_cast<uint64_t>(options_.most_nodes)) >> depth);
    for (int i = 0; i < nodes && tasks_ < 70; ++i) AddNode(region, depth, known, controls, control);
  }

  void AddNode(int region, int depth, std::vector<Value>& known, std::vector<int>& controls, Control control) {
    ++tasks_;
    const uint64_t kind = Below(100);
    const bool deeper = depth < options_.most_depth;
    if (control == Control::kFlow && deeper && kind < 7) return AddBranch(region, depth, known, controls);
    if (control != Control::kNone && kind < 14) return AddControl(region, depth, known, controls);
    if (options_.with_models && kind < 40) return AddModelCall(region, known, controls);
    if (deeper && kind < 55) return AddEnter(region, depth, known, controls);
    if (deeper && kind < 68) return AddSelect(region, depth, known, controls);
    if (deeper && options_.with_fan_out && kind < 78) return AddEach(region, depth, known, controls);
    const int slot = builder_.Slot(region, Chance(30) ? Kind::kTensor : Kind::kInt);
    builder_.Run(region, Some(known, 3), slot, RandomRun(controls, 12));
    known.push_back({slot, Kind::kInt});
  }

  void AddModelCall(int region, std::vector<Value>& known, const std::vector<int>& controls) {
    const int input = builder_.Slot(region, Kind::kTensor);
    builder_.Run(region, Some(known, 2), input, RandomRun(controls, 8));
    const int slot = builder_.Slot(region, Kind::kTensor);
    const int policy = Chance(50) ? static_cast<int>(Below(4)) : -1;
    builder_.Model(region, static_cast<int>(Below(2)), input, slot,
                   {.policy = policy, .after = Chance(50) ? controls : std::vector<int>()});
    known.push_back({slot, Kind::kTensor});
  }

  // `require`, or an early return.
  void AddControl(int region, int depth, std::vector<Value>& known, std::vector<int>& controls) {
    RunOptions options;
    options.body = RandomBody(25);
    options.control = true;
    options.after = controls;
    int handle;
    if (depth == 0 && Chance(40)) {
      const int arm = builder_.Region(region);
      const int value = Summary(arm, known, {});
      builder_.Return(arm, {value});
      options.body.arms = static_cast<int64_t>(2 + Below(4));  // arm 0 returns, others pass
      handle = builder_.Select(region, {arm}, All(known), -1, options);
    } else {
      options.body.fail_modulus = options.body.fail_modulus == 0 ? 0 : 5;
      handle = builder_.Run(region, Some(known, 2), -1, options);
    }
    controls = {handle};
  }

  // Arms that wait themselves for what they read, with control points of their own; some return, others let control pass.
  void AddBranch(int region, int depth, const std::vector<Value>& known, std::vector<int>& controls) {
    std::vector<int> arms(1 + Below(2));
    for (int& arm : arms) arm = builder_.Region(region);
    for (const int arm : arms) {
      std::vector<Value> seen = known;
      std::vector<int> inside;
      FillRegion(arm, depth + 1, seen, inside, Control::kFlow);
      if (Chance(60)) builder_.Return(arm, {Summary(arm, seen, inside)}, inside);
    }
    RunOptions options;
    options.body = RandomBody(10);
    options.body.arms = static_cast<int64_t>(arms.size() + Below(3));
    options.control = options.lets_in_early = true;
    options.after = controls;
    controls = {builder_.Select(region, {arms[0], static_cast<int>(arms.size())}, Some(known, 2), -1, options)};
  }

  void AddEnter(int region, int depth, std::vector<Value>& known, const std::vector<int>& controls) {
    const int target = Inner(region, depth + 1, known);
    if (Chance(60)) {
      const int fallback = builder_.Region(region);
      builder_.SetFallback(target, fallback);
      std::vector<Value> seen = {{known[Below(known.size())].slot, Kind::kInt}, {builder_.FirstSlot(fallback), Kind::kError}};
      FillInner(fallback, depth + 1, seen);
    }
    const int slot = builder_.Slot(region, Kind::kInt);
    builder_.Enter(region, target, Some(known, 3), slot, {.policy = Chance(70) ? static_cast<int>(Below(4)) : -1, .after = controls});
    known.push_back({slot, Kind::kInt});
  }

  void AddSelect(int region, int depth, std::vector<Value>& known, const std::vector<int>& controls) {
    const int first = builder_.Region(region), second = builder_.Region(region);
    std::vector<Value> seen = known;
    FillInner(first, depth + 1, seen);
    seen = known;
    FillInner(second, depth + 1, seen);
    RunOptions options;
    options.body = RandomBody(8);
    options.body.arms = 2;
    options.after = controls;
    const int slot = builder_.Slot(region, Kind::kInt);
    builder_.Select(region, {first, 2}, Some(known, 3), slot, options);
    known.push_back({slot, Kind::kInt});
  }

  void AddEach(int region, int depth, std::vector<Value>& known, const std::vector<int>& controls) {
    const int body = Inner(region, depth + 1, known);
    RunOptions options;
    options.body = RandomBody(5);
    options.body.arms = static_cast<int64_t>(1 + Below(9));
    options.after = controls;
    const int slot = builder_.Slot(region, Kind::kList);
    builder_.Each(region, {body, static_cast<int>(1 + Below(4))}, Some(known, 2), slot, options);
    known.push_back({slot, Kind::kList});
  }

  PlanBuilder& builder_;
  std::mt19937_64& random_;
  const RandomPlanOptions& options_;
  int tasks_ = 0;
};

}  // namespace

const wf_plan& MakeRandomPlan(PlanBuilder& builder, std::mt19937_64& random, const RandomPlanOptions& options) {
  Generator(builder, random, options).Root();
  return builder.Finish(/*with_strands=*/true);
}

}  // namespace wf::test
