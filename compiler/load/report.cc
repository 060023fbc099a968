#include "compiler/load/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "compiler/load/duration.h"
#include "runtime/base/json_text.h"
#include "runtime/base/text.h"
#include "runtime/base/units.h"

namespace wf::load {
namespace {

struct Percentile {
  const char* name;
  const char* member;
  double q;
};
constexpr std::array kPercentiles = {Percentile{"p50", "p50", 0.5}, Percentile{"p90", "p90", 0.9}, Percentile{"p99", "p99", 0.99},
                                     Percentile{"p99.9", "p999", 0.999}};

double PerSecond(uint64_t count, const Outcome& outcome) {
  return outcome.measured_ns == 0 ? 0 : static_cast<double>(count) * base::kNsPerSecond / static_cast<double>(outcome.measured_ns);
}

std::string HowText(const Plan& plan) {
  const std::string many = base::Counted(plan.connections, "connection");
  if (plan.rate > 0) return fmt::format("{:g} requests a second over at most {}", plan.rate, many);
  return fmt::format("{}, each with one request after the other", many);
}

std::vector<std::pair<uint64_t, const char*>> Failures(const Outcome& outcome) {
  return {{outcome.lost, "lost"}, {outcome.timed_out, "timed_out"}, {outcome.refused, "refused"}, {outcome.not_sent, "not_sent"}};
}

const char* Explained(std::string_view failure) {
  if (failure == "lost") return "connections ended before the answer";
  if (failure == "timed_out") return "not answered in time";
  if (failure == "refused") return "connections refused";
  return "due, but not sent: all connections waited for answers";
}

std::string ServerText(const ServerTimes& server) {
  if (server.request.count == 0) return "";
  std::string text = fmt::format("\nin the server  {} a request", Duration(server.request.mean() * base::kNsPerSecond));
  if (server.batch.count > 0) text += fmt::format(", {:.1f} rows a batch", server.batch.mean());
  text += "\n";
  size_t width = 4;
  for (const auto& [key, node] : server.nodes) width = std::max(width, key.second.size());
  if (!server.nodes.empty()) text += fmt::format("  {:<{}}  {:>10}  {:>10}\n", "node", width, "compute", "queue");
  for (const auto& [key, node] : server.nodes) {
    const auto cell = [](const Total& total) { return total.count > 0 ? Duration(total.mean() * base::kNsPerSecond) : std::string("-"); };
    text += fmt::format("  {:<{}}  {:>10}  {:>10}\n", key.second, width, cell(node.compute), cell(node.wait));
  }
  return text;
}

std::string LatencyText(const Histogram& answers) {
  if (answers.count() == 0) return "";
  std::string text = "latency  ";
  for (const Percentile& at : kPercentiles) text += fmt::format(" {} {} ", at.name, Duration(static_cast<double>(answers.Quantile(at.q))));
  return text + fmt::format(" max {}  mean {}\n", Duration(static_cast<double>(answers.max())), Duration(answers.mean()));
}

std::string LatencyJson(const Histogram& answers) {
  const auto seconds = [](double ns) { return ns / base::kNsPerSecond; };
  std::string json = "{";
  for (const Percentile& at : kPercentiles)
    json += fmt::format(R"("{}":{},)", at.member, seconds(static_cast<double>(answers.Quantile(at.q))));
  return json + fmt::format(R"("max":{},"mean":{}}})", seconds(static_cast<double>(answers.max())), seconds(answers.mean()));
}

}  // namespace

std::string ReportText(const Report& report) {
  const Outcome& outcome = report.outcome;
  std::string text =
      fmt::format("{}\n{}, {:.1f} s", report.url, HowText(report.plan), static_cast<double>(outcome.measured_ns) / base::kNsPerSecond);
  if (report.warm_up_ns > 0) text += fmt::format(" after {:g} s of warm-up", static_cast<double>(report.warm_up_ns) / base::kNsPerSecond);
  const uint64_t answered = outcome.good.count();
  text += fmt::format("\n\nanswered  {}, {:.1f} a second\n{}", answered, PerSecond(answered, outcome), LatencyText(outcome.good));
  for (const auto& [status, count] : outcome.by_status) {
    if (status >= 400) text += fmt::format("{:<8}  {} answers\n", status, count);
  }
  text += LatencyText(outcome.wrong);
  for (const auto& [count, name] : Failures(outcome)) {
    if (count > 0) text += fmt::format("failed    {} {}\n", count, Explained(name));
  }
  const std::string_view first = outcome.first_wrong;
  if (!first.empty()) text += fmt::format("first     {}\n", first.substr(0, first.find_last_not_of("\r\n") + 1));
  if (report.server) text += ServerText(*report.server);
  return text;
}

std::string ReportJson(const Report& report) {
  const Outcome& outcome = report.outcome;
  const auto seconds = [](double ns) { return ns / base::kNsPerSecond; };
  std::string json;
  const auto out = std::back_inserter(json);
  fmt::format_to(out, R"({{"url":{},"connections":{},"rate":{},"warm_up_seconds":{},"seconds":{},)", base::QuoteJson(report.url),
                 report.plan.connections, report.plan.rate > 0 ? fmt::format("{}", report.plan.rate) : "null",
                 seconds(static_cast<double>(report.warm_up_ns)), seconds(static_cast<double>(outcome.measured_ns)));
  fmt::format_to(out, R"("answered":{},"per_second":{:.3f},"latency_seconds":{},"wrong_latency_seconds":{},"statuses":{{)",
                 outcome.good.count(), PerSecond(outcome.good.count(), outcome), LatencyJson(outcome.good), LatencyJson(outcome.wrong));
  const char* comma = "";
  for (const auto& [status, count] : outcome.by_status) fmt::format_to(out, R"({}"{}":{})", std::exchange(comma, ","), status, count);
  fmt::format_to(out, "}}");
  for (const auto& [count, name] : Failures(outcome)) fmt::format_to(out, R"(,"{}":{})", name, count);
  if (!outcome.first_wrong.empty()) fmt::format_to(out, R"(,"first_wrong":{})", base::QuoteJson(outcome.first_wrong));
  if (report.server) {
    const ServerTimes& server = *report.server;
    fmt::format_to(out, R"(,"server":{{"request_seconds":{},"batch_rows":{},"nodes":[)", server.request.mean(), server.batch.mean());
    comma = "";
    for (const auto& [key, node] : server.nodes) {
      fmt::format_to(out, R"({}{{"workflow":{},"node":{},"compute_seconds":{},"queue_seconds":{}}})", std::exchange(comma, ","),
                     base::QuoteJson(key.first), base::QuoteJson(key.second), node.compute.mean(), node.wait.mean());
    }
    fmt::format_to(out, "]}}");
  }
  return json + "}\n";
}

}  // namespace wf::load
