#include "compiler/codegen/codegen.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/codegen/parts.h"

namespace wf::codegen {
namespace {

class CodegenTest : public ::testing::Test {
 protected:
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> Parse(const std::string& text) {
    llvm::SMDiagnostic error;
    auto module = llvm::parseAssemblyString(text, error, context_);
    EXPECT_NE(module, nullptr) << error.getMessage().str();
    return module;
  }
  std::string Emit(const std::string& text, const Options& options) {
    const auto module = Parse(text);
    llvm::SmallVector<char, 0> out;
    const base::Status status = EmitObject(*module, options, out);
    EXPECT_TRUE(status.ok()) << status.message();
    return {out.data(), out.size()};
  }
};

std::string TextOf(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

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

// Two bodies, the constant and the function that both read, a number that changes, and a long table: all but the bodies for the first part.
constexpr char kBodies[] = R"(
@small = private constant [2 x i32] [i32 7, i32 9]
@large = private constant [5000 x i8] zeroinitializer
@count = internal global i32 0
define internal i32 @twice(i32 %x) unnamed_addr noinline {
  %y = mul i32 %x, 2
  ret i32 %y
}
define internal i32 @body.v3(i64 %i) unnamed_addr noinline "wf-body" {
  %p = getelementptr [2 x i32], ptr @small, i64 0, i64 %i
  %x = load i32, ptr %p
  %y = call i32 @twice(i32 %x)
  store i32 %y, ptr @count
  ret i32 %y
}
define internal i32 @body.v4(i64 %i) unnamed_addr noinline "wf-body" {
  %p = getelementptr [5000 x i8], ptr @large, i64 0, i64 %i
  %x = load i8, ptr %p
  %y = zext i8 %x to i32
  %z = call i32 @twice(i32 %y)
  ret i32 %z
}
define i32 @entry(i64 %i) {
  %x = call i32 @body.v3(i64 %i)
  %y = call i32 @body.v4(i64 %i)
  %z = add i32 %x, %y
  %c = load i32, ptr @count
  %d = add i32 %z, %c
  ret i32 %d
}
)";

TEST_F(CodegenTest, BodiesGoIntoPartsWithWhatTheyRead) {
  const auto module = Parse(kBodies);
  const Parts parts(*module, 3, 5);
  ASSERT_EQ(parts.others(), 2U);
  const std::string first = TextOf(*module);
  EXPECT_NE(first.find("declare hidden i32 @part.body.v3"), std::string::npos) << first;
  EXPECT_NE(first.find("@part.count = hidden global i32 0"), std::string::npos) << first;
  EXPECT_NE(first.find("@part.large = hidden constant"), std::string::npos) << first;
  std::string others;
  for (size_t i = 0; i < parts.others(); ++i) {
    llvm::LLVMContext context;
    const std::string text = TextOf(*parts.Read(i, context));
    EXPECT_NE(text.find("define internal i32 @twice"), std::string::npos) << text;  // copied
    EXPECT_EQ(text.find("define i32 @entry"), std::string::npos) << text;
    EXPECT_EQ(text.find("@part.count = hidden global i32 0"), std::string::npos) << text;
    others += text;
  }
  EXPECT_NE(others.find("define hidden i32 @part.body.v3"), std::string::npos) << others;
  EXPECT_NE(others.find("define hidden i32 @part.body.v4"), std::string::npos) << others;
  EXPECT_NE(others.find("@small = private constant [2 x i32] [i32 7, i32 9]"), std::string::npos) << others;
  EXPECT_NE(others.find("@part.large = external hidden constant"), std::string::npos) << others;
}

TEST_F(CodegenTest, ASmallModuleIsOneObject) {
  const auto module = Parse(kBodies);
  const auto objects = EmitObjects(*module, {});
  ASSERT_TRUE(objects.ok()) << objects.status().message();
  EXPECT_EQ(objects->size(), 1U);
}

TEST_F(CodegenTest, TheSameModuleGivesTheSameObjects) {
  const Options options{.verify = true, .least_instructions = 5};
  const auto first = EmitObjects(*Parse(kBodies), options), second = EmitObjects(*Parse(kBodies), options);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->size(), 3U);
  EXPECT_EQ(*first, *second);
}

TEST_F(CodegenTest, PrintsLlvmText) {
  EXPECT_NE(Emit(kScale, {.emit = codegen::Emit::kLlvm, .opt_level = 0}).find("define void @scale"), std::string::npos);
}

}  // namespace
}  // namespace wf::codegen
