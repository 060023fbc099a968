#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/driver/console.h"

namespace wf::driver {

// Of "listening http=HOST:PORT admin=.." the HOST:PORT that one can call, by the name before it, or unix:FILE; empty for any other line.
std::string AddressIn(const std::string& line, std::string_view name);
std::string UrlIn(const std::string& line);  // of HTTP, as curl takes it: of a Unix socket with the flag before it

// What a server of `program` is started with: models lie beside the program unless `given` or the environment may say where.
std::vector<std::string> ServerArguments(const std::string& program, std::vector<std::string> given);

// Runs a server until it ends; a signal that ends wfc ends it first. What it prints goes to the console; `on_ready` is called with the URL
// when it says that it listens. Returns its exit status.
int Serve(const std::string& binary, const std::vector<std::string>& arguments, const std::function<void(const std::string&)>& on_ready,
          Console& console);

}  // namespace wf::driver
