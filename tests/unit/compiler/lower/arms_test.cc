#include "compiler/lower/arms.h"

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

constexpr int kDear = 60;

// Some work that depends on x.
ValueId Work(Builder& b, ValueId x, int operations) {
  for (int i = 0; i < operations; ++i) x = i % 2 == 0 ? b.Mul(x, b.F32(0.75F)) : b.Add(x, b.F32(0.125F));
  return x;
}

class ArmsTest : public BodyTest {
 protected:
  using Element = std::function<ValueId(Builder&, ValueId x, ValueId is_large)>;
  // y[i] = element(x[i], 1 < x[i])
  void Add(const std::string& name, const Element& element) {
    const TypeId vector = Tensor(DType::kF32, {-1});
    cases_.Add(name, {vector}, vector, [this, element](Builder& b, const In& in) {
      const ir::BlockId block = b.Open({I64()});
      const ValueId x = b.Load(in[0], {b.Param(0)});
      b.Close(element(b, x, b.Binary(OpKind::kLt, b.F32(1), x)));
      return b.Build(DType::kF32, {b.Dim(in[0], 0)}, block);
    });
  }
  // How many operations of the last case's element its arms hold.
  size_t Inside() const {
    const ir::Body& body = cases_.program.tasks[cases_.cases.back().task].body;
    for (const ir::Op& op : body.ops) {
      if (op.kind != OpKind::kBuild) continue;
      const ir::Block& block = body[op.blocks[0]];
      const Arms arms(body, block);
      return static_cast<size_t>(std::count_if(block.ops.begin(), block.ops.end(), [&](ValueId id) { return arms.Has(id); }));
    }
    return 0;
  }
};

TEST_F(ArmsTest, HoldWhatOneSideOfOneConditionReads) {
  Add("then", [](Builder& b, ValueId x, ValueId is_large) { return b.Select(is_large, Work(b, x, kDear), x); });
  EXPECT_EQ(Inside(), kDear);
  Add("else", [](Builder& b, ValueId x, ValueId is_large) { return b.Select(is_large, x, Work(b, x, kDear)); });
  EXPECT_EQ(Inside(), kDear);
  Add("both", [](Builder& b, ValueId x, ValueId is_large) {
    const ValueId one = Work(b, x, kDear), other = Work(b, b.Add(x, x), kDear);
    return b.Select(is_large, one, other);
  });
  EXPECT_EQ(Inside(), 2 * kDear + 1);
  Add("two results", [](Builder& b, ValueId x, ValueId is_large) {
    const ValueId half = Work(b, x, kDear / 2), whole = Work(b, half, kDear / 2);
    return b.Add(b.Select(is_large, half, x), b.Select(is_large, whole, b.F32(2)));
  });
  EXPECT_EQ(Inside(), kDear);
  Add("an arm within a cheap one", [](Builder& b, ValueId x, ValueId is_large) {
    const ValueId inner = b.Select(b.Binary(OpKind::kLt, x, b.F32(9)), Work(b, x, kDear), x);
    return b.Select(is_large, b.Add(inner, x), x);
  });
  EXPECT_EQ(Inside(), kDear);
  Add("an arm within a dear one", [](Builder& b, ValueId x, ValueId is_large) {
    const ValueId inner = b.Select(b.Binary(OpKind::kLt, x, b.F32(9)), Work(b, x, kDear), x);
    return b.Select(is_large, Work(b, inner, kDear), x);
  });
  EXPECT_EQ(Inside(), 2 * kDear + 2);
  Add("in an arm and outside", [](Builder& b, ValueId x, ValueId is_large) {
    const ValueId is_odd = b.Binary(OpKind::kLt, x, b.F32(9)), work = Work(b, x, kDear);
    const ValueId inner = Work(b, b.Select(is_odd, work, x), kDear);
    return b.Add(b.Select(is_large, inner, x), b.Select(is_odd, work, x));
  });
  EXPECT_EQ(Inside(), kDear + 1);
  Check(kSizes, 2);
}

TEST_F(ArmsTest, HoldNothingThatIsCheapOrReadElsewhere) {
  Add("cheap", [](Builder& b, ValueId x, ValueId is_large) { return b.Select(is_large, Work(b, x, 40), Work(b, b.Add(x, x), 30)); });
  EXPECT_EQ(Inside(), 0);
  Add("read elsewhere", [](Builder& b, ValueId x, ValueId is_large) {
    const ValueId work = Work(b, x, kDear);
    return b.Add(b.Select(is_large, work, x), work);
  });
  EXPECT_EQ(Inside(), 0);
  Add("both sides", [](Builder& b, ValueId x, ValueId is_large) {
    const ValueId work = Work(b, x, kDear);
    return b.Add(b.Select(is_large, work, x), b.Select(is_large, x, work));
  });
  EXPECT_EQ(Inside(), 0);
  Add("made after it is read", [](Builder& b, ValueId x, ValueId is_large) {
    const ValueId early = b.Select(is_large, b.Mul(x, b.F32(3)), x);
    return b.Select(is_large, Work(b, early, kDear), early);
  });
  EXPECT_EQ(Inside(), 0);
  Check(kSizes, 2);
}

}  // namespace
}  // namespace wf::lower::testing
