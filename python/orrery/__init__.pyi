# Types of the package's public names; docstrings are in the modules.
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple

import networkx
import numpy
import numpy.typing
import pandas

__version__: str
__all__: list[str]

# A dict, the path of a JSON or YAML file, or its text.
_Experiment = Mapping[str, Any] | str | PathLike[str]
_Overrides = Mapping[str, Any] | Sequence[str] | None
_Paths = str | PathLike[str] | Iterable[str | PathLike[str]]
_Matrix = numpy.typing.NDArray[numpy.float64]

class Diagnostic(NamedTuple):
    source: str
    line: int
    column: int
    pointer: str
    message: str

class ExperimentError(ValueError):
    diagnostics: list[Diagnostic]
    index: int | None
    def __init__(self, diagnostics: Iterable[Sequence[Any]], index: int | None = ...) -> None: ...

class RunError(RuntimeError): ...

class Section(dict[str, Any]):
    def __getattr__(self, name: str) -> Any: ...

class Result:
    name: str
    feasible: bool
    reasons: list[str]
    assumptions: list[str]
    warnings: list[str]
    model: str
    cluster: str
    stack: str
    plan: Section
    data_parallel_sync: Section
    asynchrony: Section | None
    parameters: int
    active_parameters: int
    gpus: int
    step_time_s: float | None
    step_time_s_p10: float | None
    step_time_s_p90: float | None
    training_days: float | None
    samples_per_s: float | None
    tokens_per_s: float | None
    model_flops_per_step: float
    hardware_flops_per_step: float
    model_tflops_per_gpu: float | None
    hardware_tflops_per_gpu: float | None
    mfu: float | None
    hfu: float | None
    energy_kwh: float | None
    cost_usd: float | None
    training_energy_kwh: float | None
    training_cost_usd: float | None
    breakdown_s: Section
    kernels_s: Section | None
    pipeline_bubble_fraction: float | None
    utilization: Section
    memory: Section
    communication: Section
    critical_path_s: Section
    stats: Section
    what_if: list[Section] | None
    # Of experiments that serve requests; others have none of them.
    ttft_s: float | None
    ttft_s_p50: float | None
    ttft_s_p90: float | None
    ttft_s_p95: float | None
    ttft_s_p99: float | None
    tpot_s: float | None
    tpot_s_p50: float | None
    tpot_s_p90: float | None
    tpot_s_p95: float | None
    tpot_s_p99: float | None
    inter_token_latency_s: float | None
    inter_token_latency_s_p50: float | None
    inter_token_latency_s_p90: float | None
    inter_token_latency_s_p95: float | None
    inter_token_latency_s_p99: float | None
    end_to_end_s: float | None
    end_to_end_s_p50: float | None
    end_to_end_s_p90: float | None
    end_to_end_s_p95: float | None
    end_to_end_s_p99: float | None
    queue_s: float | None
    queue_s_p50: float | None
    queue_s_p90: float | None
    queue_s_p95: float | None
    queue_s_p99: float | None
    requests_per_s: float | None
    output_tokens_per_s: float | None
    output_tokens_per_s_per_gpu: float | None
    tokens_per_s_per_gpu: float | None
    goodput_requests_per_s: float | None
    usd_per_million_output_tokens: float | None
    usd_per_million_tokens: float | None
    kwh_per_million_tokens: float | None
    # Where they are asked for.
    max_requests_per_s: float | None
    max_requests_per_s_per_gpu: float | None
    max_requests_per_usd: float | None
    max_requests_limited_by: str | None
    run: Section | None
    serving: Section
    @property
    def timeline(self) -> numpy.typing.NDArray[numpy.void]: ...
    def record(self, ranks: Sequence[int] | None = ..., steps: Sequence[int] | None = ...,
               most_rows: int = ...) -> numpy.typing.NDArray[numpy.void]: ...
    def write_svg(self, path: str | PathLike[str], *, stages: Sequence[int] | None = ..., from_s: float = ...,
                  to_s: float | None = ..., width: int = ..., memory: bool = ...) -> None: ...
    def write_trace(self, path: str | PathLike[str]) -> None: ...
    def write_page(self, path: str | PathLike[str]) -> None: ...
    def write_kineto(self, folder: str | PathLike[str], *, ranks: Sequence[int] | None = ...) -> None: ...
    def write_chakra(self, folder: str | PathLike[str], *, ranks: Sequence[int] | None = ...) -> None: ...
    def __getitem__(self, path: str) -> Any: ...
    def __contains__(self, path: str) -> bool: ...
    def keys(self) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def row(self) -> dict[str, Any]: ...
    def to_json(self, indent: int = ...) -> str: ...
    def summary(self) -> str: ...

def simulate(experiment: _Experiment, overrides: _Overrides = ..., *, calibrations: _Paths = ...,
             only: str | Iterable[str] | None = ..., skip_infeasible: bool = ..., **keywords: Any) -> Result: ...
def run(experiment: _Experiment, overrides: _Overrides = ..., *, calibrations: _Paths = ...,
        only: str | Iterable[str] | None = ..., **keywords: Any) -> Result: ...
def simulate_many(experiments: Iterable[_Experiment], *, threads: int = ..., overrides: _Overrides = ...,
                  calibrations: _Paths = ..., only: str | Iterable[str] | None = ..., skip_infeasible: bool = ...,
                  errors: Literal["raise", "return"] = ...) -> Iterator[Any]: ...
def memory(experiment: _Experiment, overrides: _Overrides = ..., *, calibrations: _Paths = ...,
           accounting: Literal["orrery", "explorer"] = ..., **keywords: Any) -> Any: ...
def resolve(experiment: _Experiment, overrides: _Overrides = ..., *, calibrations: _Paths = ...,
            **keywords: Any) -> dict[str, Any]: ...
def resolved_text(experiment: _Experiment, overrides: _Overrides = ..., *, calibrations: _Paths = ...,
                  **keywords: Any) -> str: ...
def to_pandas(results: Iterable[Result | Exception], keys: Sequence[str] | None = ...) -> pandas.DataFrame: ...

class Survey(NamedTuple):
    distinct: list[int]
    valid: list[int]
    removed: dict[str, int]

class Space:
    def __init__(self, description: _Experiment, experiment: _Experiment | None = ..., overrides: _Overrides = ..., *,
                 calibrations: _Paths = ...) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    @property
    def values(self) -> dict[str, list[Any]]: ...
    def index(self, point: Mapping[str, Any]) -> int: ...
    def experiment(self, point: int | Mapping[str, Any]) -> dict[str, Any]: ...
    def experiments(self) -> Iterator[dict[str, Any]]: ...
    def problem(self, point: int | Mapping[str, Any]) -> str | None: ...
    def survey(self) -> Survey: ...

METHODS: dict[str, str]

class Plan(Section):
    text: str
    space: Space
    best: list[Section]
    optimal: bool
    gap: float | None

def plan(experiment: _Experiment | None = ..., search: str = ..., *, space: Space | _Experiment | None = ...,
         objective: str | None = ..., budget: int | str | None = ..., top: int = ..., pareto: str | Iterable[str] = ...,
         limits: Mapping[str, float] | None = ...,
         seed: int = ..., threads: int = ..., overrides: _Overrides = ..., calibrations: _Paths = ...,
         progress: Callable[[int], object] | None = ..., **keywords: Any) -> Plan: ...

class Explanation(Section):
    text: str
    name: str
    of: str
    simulated_s: float | None
    measured_s: float | None
    measured_s_p10: float
    measured_s_p90: float
    measurements: int
    difference_s: float | None
    terms: list[Section]
    findings: list[Section]
    messages: list[Section]
    collectives: list[Section]
    figures: list[Section]
    constants: list[Section]
    read: list[str]
    not_lined_up: list[str]
    confidence: str
    def to_pandas(self, part: str = ...) -> pandas.DataFrame: ...

def explain(experiment: _Experiment, files: _Paths, overrides: _Overrides = ..., *, calibrations: _Paths = ...,
            **keywords: Any) -> Explanation: ...

class Imported(Section):
    text: str
    yaml: str
    files: list[Section]
    experiment: Section
    def to_pandas(self) -> pandas.DataFrame: ...

def read_files(files: _Paths, settings: Mapping[str, Any] | None = ..., *, kind: str = ...,
               approximate: bool = ...) -> Imported: ...

class Sweep:
    file: str
    id: int
    points: int
    distinct: int
    feasible: int
    infeasible: int
    failed: int
    removed: dict[str, int]
    complete: bool
    def __init__(self, file: str | PathLike[str], sweep: int = ...) -> None: ...
    @property
    def columns(self) -> list[str]: ...
    def best(self, most: int = ..., by: str = ...) -> list[dict[str, Any]]: ...
    def pareto(self, keys: str | Iterable[str]) -> list[dict[str, Any]]: ...
    def rows(self) -> list[dict[str, Any]]: ...
    def to_pandas(self) -> pandas.DataFrame: ...

def sweep(space: Space | _Experiment, out: str | PathLike[str], *, threads: int = ..., client: Any = ...,
          only: str | Iterable[str] | None = ..., progress: Callable[[int, int], object] | None = ...) -> Sweep: ...

# A gymnasium.Env where that package is installed.
class Environment:
    space: Space
    objective: str
    baseline: float
    infeasible_reward: float
    keys: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    action_space: Any
    observation_space: Any
    def __init__(self, space: Space | _Experiment, objective: str = ..., *, baseline: float | None = ...,
                 infeasible_reward: float = ...) -> None: ...
    def reset(self, *, seed: int | None = ...,
              options: dict[str, Any] | None = ...) -> tuple[numpy.typing.NDArray[numpy.int64], dict[str, Any]]: ...
    def step(self, action: Any) -> tuple[numpy.typing.NDArray[numpy.int64], float, bool, bool, dict[str, Any]]: ...
    def action_masks(self) -> numpy.typing.NDArray[numpy.bool_]: ...
    def close(self) -> None: ...

KINDS: tuple[str, ...]
LINK_KINDS: tuple[str, ...]
OPERATION_KINDS: tuple[str, ...]
OPERATION_NAMES: tuple[str, ...]
PHASES: tuple[str, ...]
RESULT_KEYS: tuple[str, ...]
STREAMS: tuple[str, ...]

def stream_name(number: int) -> str: ...
def names(kind: str) -> dict[str, str]: ...
def entry(kind: str, name: str) -> dict[str, Any]: ...
def schema(which: str = ...) -> dict[str, Any]: ...

class Topology:
    gpus: int
    gpus_per_node: int
    vertices: int
    links: numpy.typing.NDArray[numpy.void]
    def route(self, source: int, target: int) -> list[int]: ...
    def vertex_names(self) -> tuple[str, ...]: ...
    def edges(self) -> numpy.typing.NDArray[numpy.uint32]: ...
    def to_networkx(self) -> networkx.MultiDiGraph: ...

def topology(cluster: _Experiment, overrides: _Overrides = ..., *, calibrations: _Paths = ...) -> Topology: ...
def cluster_of_graph(graph: networkx.Graph, gpu: str | Mapping[str, Any],
                     gpus_per_node: int | None = ...) -> dict[str, Any]: ...

class GossipGraph:
    topology: str
    workers: int
    rounds: int
    @classmethod
    def from_matrices(cls, matrices: _Matrix | Sequence[_Matrix]) -> GossipGraph: ...
    @classmethod
    def from_networkx(cls, graph: networkx.Graph) -> GossipGraph: ...
    def matrix(self, round: int = ...) -> _Matrix: ...
    def edges(self, round: int = ...) -> tuple[numpy.typing.NDArray[numpy.uint32], _Matrix]: ...
    def to_networkx(self, round: int = ...) -> networkx.DiGraph: ...
    def neighbour_lists(self) -> list[list[int]]: ...
    def spectral_gap(self) -> float: ...
    def averaging_period(self) -> int | None: ...
    def degree(self) -> int: ...
    def messages_per_step(self) -> float: ...
    def is_doubly_stochastic(self) -> bool: ...

def gossip_graph(topology: str, workers: int, *, weights: str = ..., workers_per_node: int = ...,
                 random_rounds: int = ..., seed: int = ..., shape: Sequence[int] = ..., probability: float | None = ...,
                 peers: int = ...) -> GossipGraph: ...
