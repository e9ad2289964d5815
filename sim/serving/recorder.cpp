#include "sim/serving/recorder.hpp"

namespace orrery {

ServingRecorder::ServingRecorder(ServingRecord* record, std::uint32_t stages) : record_(record) {
  if (record != nullptr) record->stages = stages;
}

bool ServingRecorder::is_full() const {
  return record_->left_out > 0 || record_->iterations.size() >= record_->most ||
         record_->states.size() >= record_->most;
}

void ServingRecorder::iteration(std::uint32_t replica, const IterationBatch& batch,
                                const std::vector<StageSpan>& spans, Picoseconds end) {
  if (is_full()) {
    ++record_->left_out;
    return;
  }
  record_->recorded_until_ps = now_;
  record_->iterations.push_back({replica, static_cast<std::uint32_t>(batch.prompt_requests),
                                 static_cast<std::uint32_t>(batch.decode_requests),
                                 static_cast<std::uint32_t>(batch.decode_tokens), batch.prompt_tokens, end});
  record_->spans.insert(record_->spans.end(), spans.begin(), spans.end());
}

/// Records one state for each time; a later state of the same time replaces the earlier one.
void ServingRecorder::state(const ReplicaState& state) {
  if (is_full()) return;
  if (last_.size() <= state.replica) last_.resize(state.replica + 1);
  std::size_t& last = last_[state.replica];
  if (last > 0) {
    ReplicaState& known = record_->states[last - 1];
    if (known.at_ps == state.at_ps) {
      known = state;
      return;
    }
    if (known.pages == state.pages && known.running == state.running && known.waiting == state.waiting)
      return;
  }
  record_->states.push_back(state);
  last = record_->states.size();
}

void ServingRecorder::preempted(std::uint32_t request) {
  if (preemptions_.size() <= request) preemptions_.resize(request + 1);
  ++preemptions_[request];
}

void ServingRecorder::add_requests(const std::vector<ServedRequest>& requests) {
  record_->requests.reserve(requests.size());
  for (std::size_t r = 0; r < requests.size(); ++r) {
    const ServedRequest& of = requests[r];
    const bool travelled = of.transfer_start_ps != ServedRequest::kNotYet;
    record_->requests.push_back({of.spec, of.replica, travelled ? of.decode_replica : of.replica,
                                 r < preemptions_.size() ? preemptions_[r] : 0, of.start_ps,
                                 of.first_token_ps, of.transfer_start_ps, of.transfer_end_ps, of.end_ps});
  }
}

}  // namespace orrery
