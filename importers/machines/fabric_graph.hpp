// A fabric as hosts and switches joined link by link, and the fabric of Orrery that it is: one switch, a fat
// tree or rails.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "importers/common/draft.hpp"

namespace orrery::importers::machines {

/// A fabric in the words of an experiment.
struct FabricShape {
  std::size_t nodes = 0;
  std::size_t nics_per_node = 0;
  double nic_gbps = 0;  ///< 0: no link has a rate
  std::string kind;     ///< of cluster.fabric
  std::vector<std::int64_t> shape;
  double oversubscription = 0;  ///< 0: unknown
  std::size_t other_hosts = 0;  ///< hosts with another number of NICs, which do not count as nodes
  std::size_t leaves = 0;
  std::size_t switches = 0;
};

class FabricGraph {
 public:
  /// Joins a NIC of the host to a switch, at a rate in Gb/s; 0: unknown.
  void join_host(const std::string& host, const std::string& to, double gbps);
  void join_switches(const std::string& a, const std::string& b, double gbps);
  [[nodiscard]] bool empty() const { return hosts_.empty(); }
  [[nodiscard]] FabricShape shape() const;

 private:
  struct Link {
    std::string to;
    double gbps = 0;
  };
  using Groups = std::map<std::string, std::string>;  ///< a representative of each switch

  [[nodiscard]] std::size_t usual_nics() const;
  [[nodiscard]] std::map<std::string, std::size_t> hosts_of_leaves(std::size_t nics) const;
  [[nodiscard]] std::map<std::string, int> levels(const std::map<std::string, std::size_t>& leaves) const;
  [[nodiscard]] Groups groups_below(const std::map<std::string, int>& levels, int level) const;
  [[nodiscard]] std::vector<std::int64_t> tree_shape(const std::map<std::string, std::size_t>& leaves) const;
  [[nodiscard]] double oversubscription_of(const std::map<std::string, std::size_t>& leaves) const;
  [[nodiscard]] bool has_rails(std::size_t nics) const;
  [[nodiscard]] double usual_rate(std::size_t nics) const;

  std::map<std::string, std::vector<Link>> hosts_;     ///< NICs by host
  std::map<std::string, std::vector<Link>> switches_;  ///< links to other switches
};

/// Puts nodes and fabric into the draft; `where` is the key that stands for all of them.
void map_fabric(const FabricShape& fabric, const SourceKey& where, Draft& draft);

}  // namespace orrery::importers::machines
