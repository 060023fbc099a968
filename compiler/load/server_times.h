#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/status.h"

namespace wf::load {

// A histogram of a server's metrics, added up.
struct Total {
  double sum = 0;
  double count = 0;
  double mean() const { return count <= 0 ? 0 : sum / count; }
};

// What a server says of its own times, from its /metrics: seconds since it started.
struct ServerTimes {
  struct Node {
    Total compute;  // of executions that are timed
    Total wait;     // for a batch
  };
  using Names = std::pair<std::string, std::string>;
  Total request;                     // from the end of the head to the answer
  Total batch;                       // rows
  std::map<Names, Total> workflows;  // requests, by service and workflow
  std::map<Names, Total> stages;     // by workflow and stage
  std::map<Names, Node> nodes;       // by workflow and node
  // What a configuration has changed, as it is in force, by workflow and node: counts and seconds by the name of the setting.
  std::map<Names, std::map<std::string, double>> settings;
};

// Reads the text format of Prometheus (version 0.0.4); what it does not know, or cannot read, is passed over.
ServerTimes ReadServerTimes(std::string_view metrics);
// Of the server whose admin address the URL is, whatever its path.   Errors: no URL; no metrics there, with the reason.
base::Result<ServerTimes> AskServer(std::string_view url);
ServerTimes Since(const ServerTimes& before, ServerTimes after);  // nodes in which nothing ran are left out

}  // namespace wf::load
