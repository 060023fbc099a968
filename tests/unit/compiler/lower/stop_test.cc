// How soon code that would run for minutes ends once it is told to stop, whichever of its loops it is in.

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kLong = 1 << 20;  // elements: a loop over them in a loop over them takes minutes
constexpr auto kSoon = 3s;          // a loop over them alone takes milliseconds

class StopTest : public BodyTest {
 protected:
  using Inside = std::function<ValueId(ValueId index)>;
  TypeId Vector(DType dtype = DType::kF32) { return Tensor(dtype, {-1}); }
  TypeId F32() { return Scalar(DType::kF32); }
  // What depends on both, and on what is read: no compiler sums it up beforehand.
  ValueId Term(Builder& b, ValueId x, ValueId i, ValueId k) { return b.Mul(b.Load(x, {i}), b.Load(x, {k})); }
  ValueId Reduce(Builder& b, ReduceKind kind, ValueId extent, const Inside& inside) {
    const ir::BlockId block = b.Open({I64()});
    const ValueId value = inside(b.Param(0));
    b.Close(value);
    return b.Reduce(kind, b.DTypeOf(value), extent, block);
  }
  // [.. 1, 1, i] => inside(i)
  ValueId Build(Builder& b, DType dtype, size_t ones, ValueId extent, const Inside& inside) {
    const ir::BlockId block = b.Open(std::vector<TypeId>(ones + 1, I64()));
    b.Close(inside(b.Param(ones)));
    std::vector<ValueId> extents(ones, b.I64(1));
    extents.push_back(extent);
    return b.Build(dtype, extents, block);
  }
  TypeId Row(size_t ones) {
    std::vector<int64_t> dims(ones, 1);
    dims.push_back(-1);
    return Tensor(DType::kF32, dims);
  }

  void CheckThatAllStop() {
    for (const auto& [cpu, opt_level] : {std::pair("generic", 2), std::pair("x86-64-v3", 2), std::pair("x86-64-v3", 0)}) {
      const Loaded loaded(cases_.program, cpu, opt_level);
      for (const Cases::Case& one : cases_.cases) {
        std::vector<ir::Value> inputs(cases_.program.slots.size());
        for (const ir::SlotId slot : one.in) inputs[static_cast<size_t>(slot)] = Ones(cases_.program[slot].type);
        Job job;
        job.budget = uint64_t{4} << 30;
        std::atomic_ref<uint32_t> stop(job.stop);
        std::chrono::steady_clock::time_point told;
        std::thread teller([&] {
          std::this_thread::sleep_for(50ms);
          told = std::chrono::steady_clock::now();
          stop = 1;
        });
        const ir::Outcome outcome = loaded.Run(one.task, inputs, &job);
        const auto ended = std::chrono::steady_clock::now();
        teller.join();
        EXPECT_FALSE(outcome.value.has_value()) << one.name << " on " << cpu << " at -O" << opt_level << ": it has ended by itself";
        EXPECT_LT(ended - told, kSoon) << one.name << " on " << cpu << " at -O" << opt_level;
      }
    }
  }

 private:
  ir::Value Ones(TypeId type) {
    std::string elements(kLong * ir::SizeOf(types()[type].dtype), '\1');  // small numbers of any dtype
    return ir::Value::Tensor({kLong}, std::move(elements));
  }
};

TEST_F(StopTest, ReductionsInRows) {
  for (const size_t ones : {size_t{0}, size_t{1}, size_t{2}}) {
    for (const ReduceKind kind : {ReduceKind::kMin, ReduceKind::kSum}) {
      cases_.Add("row of " + std::to_string(ones) + " ones", {Vector()}, Row(ones), [this, ones, kind](Builder& b, const In& in) {
        const ValueId length = b.Dim(in[0], 0);
        return Build(b, DType::kF32, ones, length,
                     [&](ValueId i) { return Reduce(b, kind, length, [&](ValueId k) { return Term(b, in[0], i, k); }); });
      });
    }
  }
  CheckThatAllStop();
}

TEST_F(StopTest, ReductionsInReductions) {
  for (const DType dtype : {DType::kF32, DType::kI64}) {
    for (const ReduceKind kind : {ReduceKind::kMax, ReduceKind::kSum}) {
      cases_.Add("three deep", {Vector(dtype)}, Scalar(dtype), [this, kind](Builder& b, const In& in) {
        const ValueId length = b.Dim(in[0], 0);
        return Reduce(b, kind, length, [&](ValueId i) {
          return Reduce(b, kind, length, [&](ValueId j) {
            return Reduce(b, kind, length, [&](ValueId k) { return b.Mul(Term(b, in[0], i, j), b.Load(in[0], {k})); });
          });
        });
      });
    }
  }
  CheckThatAllStop();
}

TEST_F(StopTest, FoldsAndBuildsInRows) {
  cases_.Add("fold", {Vector()}, Row(2), [this](Builder& b, const In& in) {
    return Build(b, DType::kF32, 2, b.Dim(in[0], 0), [&](ValueId i) {
      const ir::BlockId step = b.Open({I64(), F32()});
      const ValueId k = b.Param(0), sum = b.Param(1);
      b.Close(b.Add(b.Mul(sum, b.F32(0.5F)), Term(b, in[0], i, k)));
      return b.Emit(OpKind::kFold, F32(), {b.Dim(in[0], 0), b.F32(0)}, 0, {step});
    });
  });
  cases_.Add("build", {Vector()}, Row(1), [this](Builder& b, const In& in) {
    const ValueId length = b.Dim(in[0], 0);
    return Build(b, DType::kF32, 1, length, [&](ValueId i) {
      const ValueId row = Build(b, DType::kF32, 0, length, [&](ValueId k) { return Term(b, in[0], i, k); });
      return b.Load(row, {i});
    });
  });
  CheckThatAllStop();
}

TEST_F(StopTest, LoopsOfKnownExtentsThatAreLong) {
  cases_.Add("known", {Vector()}, F32(), [this](Builder& b, const In& in) {
    const ValueId length = b.I64(kLong);
    return Reduce(b, ReduceKind::kSum, b.I64(4), [&](ValueId i) {
      return Reduce(b, ReduceKind::kSum, length, [&](ValueId j) {
        return Reduce(b, ReduceKind::kMin, length, [&](ValueId k) { return b.Mul(Term(b, in[0], j, k), b.Load(in[0], {i})); });
      });
    });
  });
  CheckThatAllStop();
}

TEST_F(StopTest, ShortLoopsAroundLongOnes) {
  cases_.Add("list", {Vector()}, types().List(F32()), [this](Builder& b, const In& in) {
    const ValueId length = b.Dim(in[0], 0);
    const ir::BlockId item = b.Open({I64()});
    const ValueId at = b.Param(0);
    b.Close(Reduce(b, ReduceKind::kMax, length, [&](ValueId i) {
      return Reduce(b, ReduceKind::kMax, length, [&](ValueId k) { return b.Mul(Term(b, in[0], i, k), b.Load(in[0], {at})); });
    }));
    return b.Emit(OpKind::kListBuild, types().List(F32()), {b.I64(2)}, 0, {item});
  });
  CheckThatAllStop();
}

}  // namespace
}  // namespace wf::lower::testing
