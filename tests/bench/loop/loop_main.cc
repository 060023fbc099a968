#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/bench/loop/bare_server.h"
#include "tests/bench/loop/recorder.h"

// loop INPUT SECONDS MODEL_ROOT: prints ns per request and the number of steps, of the plan's first workflow. SECONDS `serve`: does that
// work behind a bare server.
int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s INPUT SECONDS|serve MODEL_ROOT\n", argv[0]);
    return 2;
  }
  const wf_plan& plan = wf_plan_main;
  std::vector<std::unique_ptr<wf::model::Version>> models;
  for (uint32_t i = 0; i < plan.n_models; ++i) models.push_back(wf::bench::LoadModel(plan.models[i], argv[3]));
  const std::string name = argv[1];
  std::ifstream stream(name, std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(stream), {}};

  wf::bench::Recorder recorder(plan, std::move(models));
  const std::string failed = recorder.Record(plan.workflows[0], input, name.ends_with(".json"));
  if (!failed.empty()) {
    std::fprintf(stderr, "%s\n", failed.c_str());
    return 1;
  }
  if (argv[2] == std::string_view("serve")) wf::bench::ServeBare([&recorder] { recorder.Repeat(); });
  using Clock = std::chrono::steady_clock;
  const auto wanted = std::chrono::duration<double>(std::strtod(argv[2], nullptr));
  size_t steps = 0;
  for (int i = 0; i < 100; ++i) steps = recorder.Repeat();
  const auto started = Clock::now();
  int64_t requests = 0;
  do {
    for (int i = 0; i < 16; ++i) recorder.Repeat();
    requests += 16;
  } while (Clock::now() - started < wanted);
  const double ns = std::chrono::duration<double, std::nano>(Clock::now() - started).count();
  std::printf("%.1f %zu\n", ns / static_cast<double>(requests), steps);
  return 0;
}
