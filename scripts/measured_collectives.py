"""Curves of measured collectives for tests/workloads/collectives/measured-links.csv: which cluster of the catalog they
were measured on, and in what they count their bytes."""

# GPU of a source table: cluster of the catalog, GPUs of a node.
AIC = {"H100-SXM-80GB": ("dgx-h100", 8), "B200-SXM": ("dgx-b200", 8), "GB200": ("gb200-nvl72", 4)}
AIC_NAMES = {"H100-SXM-80GB": "aic-h100", "B200-SXM": "aic-b200", "GB200": "aic-gb200"}
KINDS = {"all_reduce": "all-reduce", "all_gather": "all-gather", "reduce_scatter": "reduce-scatter",
         "alltoall": "all-to-all"}
SHORT = 16384  # bytes


def row(name, cluster, nodes, gpus, collective, size, time, source):
    return {"name": name, "cluster": cluster, "cluster.nodes": nodes, "cluster.gpus_per_node": gpus,
            "collective": collective, "bytes": size, "measured.time_us": time, "source": source}


def inside_nodes(rows):
    """Yields rows of AIConfigurator: NCCL 2.29 alone, groups that are one node each."""
    for entry in rows:
        gpu = entry["gpu"]
        if gpu not in AIC or entry["implementation"] != "NCCL 2.29.2":
            continue
        kind = KINDS[entry["collective"]]
        yield row(f"{AIC_NAMES[gpu]}-{kind}-{entry['ranks']}", AIC[gpu][0], 1, int(entry["ranks"]), kind,
                  int(entry["size_bytes"]), float(entry["time_us"]), entry["source"].replace("github:", "github "))


def inside_domains(rows):
    """Yields rows of OpenXLA: domains of an NVL72, 4 GPUs a tray, with more GPUs than one tray. All-to-alls are left out: among
    many members each message has a cost of its own, which Orrery does not count."""
    for entry in rows:
        members = int(entry["devices_per_group"])
        if "GB200" not in entry["gpu"] or members < 8 or members % 4 != 0 or entry["op"] not in (
                "all-reduce", "all-gather", "reduce-scatter"):
            continue
        yield row(f"xla-nvl72-{entry['op']}-{members}", "gb200-nvl72", members // 4, 4, entry["op"],
                  int(entry["size_bytes"]), float(entry["time_us"]),
                  "OpenXLA xla/service/gpu/model/collective_interpolator_data.h")


def between_nodes(rows):
    """Short all-reduces among 4 + 4 GPUs of two H100 nodes. Of long ones nothing can be said: the NICs are not
    published."""
    for entry in rows:
        if entry["name"].startswith("h100-2x4") and int(entry["bytes"]) <= SHORT:
            yield row("h100-2x4-all-reduce-8", "dgx-h100", 2, 4, "all-reduce", int(entry["bytes"]),
                      float(entry["measured.time_us"]), entry["source"])


def links(inside, domains, between):
    return sorted([*inside_nodes(inside), *inside_domains(domains), *between_nodes(between)],
                  key=lambda entry: (entry["name"], entry["bytes"]))


TABLES = {"measured-links": (["collectives-aic.csv", "collectives-xla.csv", "collectives.csv"], links)}
