#include "compiler/codegen/codegen.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>

namespace wf::codegen {
namespace {

class CodegenTest : public ::testing::Test {
 protected:
  llvm::LLVMContext context_;
  std::string Emit(const std::string& text, const Options& options) {
    llvm::SMDiagnostic error;
    const auto module = llvm::parseAssemblyString(text, error, context_);
    EXPECT_NE(module, nullptr) << error.getMessage().str();
    llvm::SmallVector<char, 0> out;
    const base::Status status = EmitObject(*module, options, out);
    EXPECT_TRUE(status.ok()) << status.message();
    return {out.data(), out.size()};
  }
};

// out[i] = in[i] / 255 and *out = a * b + c
constexpr char kScale[] = R"(
define void @scale(ptr noalias %in, ptr noalias %out, i64 %n) #0 {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %p = getelementptr inbounds float, ptr %in, i64 %i
  %x = load float, ptr %p
  %y = fdiv float %x, 2.55e2
  %q = getelementptr inbounds float, ptr %out, i64 %i
  store float %y, ptr %q
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
define float @sum(float %a, float %b, float %c) #0 {
  %p = fmul float %a, %b
  %s = fadd float %p, %c
  ret float %s
}
attributes #0 = { nounwind "target-cpu"="x86-64-v4" "prefer-vector-width"="512" }
)";

TEST_F(CodegenTest, VectorisesToTheFunctionsOwnWidth) {
  const std::string text = Emit(kScale, {.emit = codegen::Emit::kAssembly});
  EXPECT_NE(text.find("zmm"), std::string::npos);
}

TEST_F(CodegenTest, KeepsDivisionsAndNeverContracts) {
  const std::string text = Emit(kScale, {.emit = codegen::Emit::kAssembly, .opt_level = 3});
  EXPECT_NE(text.find("vdivps"), std::string::npos);
  EXPECT_EQ(text.find("vfmadd"), std::string::npos);
}

TEST_F(CodegenTest, SanitizersWatchGeneratedCode) {
  EXPECT_NE(Emit(kScale, {.emit = codegen::Emit::kAssembly, .sanitizer = Sanitizer::kAddress}).find("__asan_"), std::string::npos);
  EXPECT_NE(Emit(kScale, {.emit = codegen::Emit::kAssembly, .sanitizer = Sanitizer::kThread}).find("__tsan_"), std::string::npos);
}

TEST_F(CodegenTest, BigConstantsGoIntoASectionOfTheirOwn) {
  Options options;
  options.big_constants = {{"first", std::make_shared<const std::string>(3, 'a')},
                           {"second", std::make_shared<const std::string>(1000, 'b')}};
  const std::string object = Emit("@first = external hidden constant i8\n@keep = global ptr @first", options);
  EXPECT_NE(object.find(std::string(1000, 'b')), std::string::npos);
  EXPECT_NE(object.find(".rodata.wf_big"), std::string::npos);
  EXPECT_EQ(object.find("/proc/"), std::string::npos);
}

// Two equal functions, their callers, which are equal then, and one that is like them.
constexpr char kEqual[] = R"(
@table = constant <{ ptr, i64, ptr, ptr }> <{ ptr @outer_a, i64 1, ptr @outer_b, ptr @other }>
define internal i32 @inner_a(ptr %p) unnamed_addr noinline {
  %x = load volatile i32, ptr %p
  ret i32 %x
}
define internal i32 @inner_b(ptr %p) unnamed_addr noinline {
  %x = load volatile i32, ptr %p
  ret i32 %x
}
define internal i32 @outer_a(ptr %p) unnamed_addr noinline {
  %x = call i32 @inner_a(ptr %p)
  ret i32 %x
}
define internal i32 @outer_b(ptr %p) unnamed_addr noinline {
  %x = call i32 @inner_b(ptr %p)
  ret i32 %x
}
define internal i32 @other(ptr %p) unnamed_addr noinline {
  %x = call i32 @inner_b(ptr %p)
  %y = add i32 %x, 1
  ret i32 %y
}
)";

TEST_F(CodegenTest, OfEqualFunctionsOneIsLeft) {
  const std::string text = Emit(kEqual, {.emit = codegen::Emit::kLlvm});
  EXPECT_NE(text.find("ptr @outer_a, i64 1, ptr @outer_a, ptr @other"), std::string::npos) << text;
  EXPECT_EQ(text.find("@inner_b"), std::string::npos) << text;
  EXPECT_EQ(text.find("@outer_b"), std::string::npos) << text;
}

TEST_F(CodegenTest, TheBodyOfSeveralNodesIsInNoneOfThem) {
  const std::string text = Emit(R"(
define internal i32 @a(i32 %x) unnamed_addr "wf-body" {
  %y = mul i32 %x, 3
  ret i32 %y
}
define internal i32 @b(i32 %x) unnamed_addr "wf-body" {
  %y = mul i32 %x, 3
  ret i32 %y
}
define internal i32 @alone(i32 %x) unnamed_addr "wf-body" {
  %y = mul i32 %x, 5
  ret i32 %y
}
define i32 @first(i32 %x) {
  %y = call i32 @a(i32 %x)
  %z = call i32 @alone(i32 %y)
  ret i32 %z
}
define i32 @second(i32 %x) {
  %y = call i32 @b(i32 %x)
  ret i32 %y
}
)",
                                {.emit = codegen::Emit::kLlvm});
  EXPECT_NE(text.find("define internal"), std::string::npos) << text;
  EXPECT_EQ(text.find("@b("), std::string::npos) << text;
  EXPECT_EQ(text.find("@alone("), std::string::npos) << text;
}

TEST_F(CodegenTest, FunctionsWhoseAddressMattersStay) {
  std::string compared = kEqual;
  for (size_t at = compared.find(" unnamed_addr"); at != std::string::npos; at = compared.find(" unnamed_addr")) compared.erase(at, 13);
  EXPECT_NE(Emit(compared, {.emit = codegen::Emit::kLlvm}).find("@outer_b"), std::string::npos);
}

TEST_F(CodegenTest, NothingIsMergedWithoutOptimisation) {
  EXPECT_NE(Emit(kEqual, {.emit = codegen::Emit::kLlvm, .opt_level = 0}).find("@inner_b"), std::string::npos);
}

TEST_F(CodegenTest, PrintsLlvmText) {
  EXPECT_NE(Emit(kScale, {.emit = codegen::Emit::kLlvm, .opt_level = 0}).find("define void @scale"), std::string::npos);
}

}  // namespace
}  // namespace wf::codegen
