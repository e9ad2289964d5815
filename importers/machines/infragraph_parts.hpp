// The parts of a file of InfraGraph: connections as strings (xpu.0.pcie.nic.0) and as edges of slices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "importers/common/draft.hpp"

namespace orrery::importers::machines {

/// An end of a connection: a component of a device, or of an instance.
struct GraphEnd {
  std::string instance;  ///< "server.0"; "" inside a device
  std::string component;
  int index = 0;

  friend bool operator==(const GraphEnd&, const GraphEnd&) = default;
};

struct GraphConnection {
  GraphEnd from;
  GraphEnd to;
  std::string link;
};

struct GraphComponent {
  std::string type;
  std::string description;
  int count = 0;
};

struct GraphDevice {
  std::string name;
  std::string description;
  std::map<std::string, GraphComponent> components;
  std::map<std::string, double> links;  ///< GB/s by name of link, 0 where it has none
  std::vector<GraphConnection> connections;

  /// Returns the name of the component that computes; "" where it has none.
  [[nodiscard]] std::string accelerator() const;
};

struct InfraGraph {
  std::vector<GraphDevice> devices;
  std::map<std::string, std::pair<std::string, int>> instances;  ///< device and count by name
  std::map<std::string, double> links;
  std::vector<GraphConnection> connections;
};

/// Reads what there is; parts that have another form are left out.
[[nodiscard]] InfraGraph infragraph_of(const Json& document);

}  // namespace orrery::importers::machines
