// The server of the page: on this machine alone unless asked otherwise, and for those alone who know its
// address.
#pragma once

#include <functional>
#include <string>

namespace orrery::explore {

inline constexpr const char* kLoopback = "127.0.0.1";

struct ServerOptions {
  std::string address = kLoopback;
  int port = 0;  ///< 0: any free one
  unsigned threads = 1;
  std::string version;  ///< shown on the page
  std::string setup;    ///< the experiment to begin with, JSON or YAML; "" for the page's own
};

/// Serves until the process ends. Every request carries the token of the printed address; requests whose Host
/// or Origin is another than that address are refused, so that no other site's page can ask. Where others
/// reach the server its names are not known, and the Origin has to be that of the Host.
/// @param listening  is told the address of the page once requests are taken
/// @throws RunError if the port cannot be had
void serve(const ServerOptions& options, const std::function<void(const std::string& address)>& listening);

}  // namespace orrery::explore
