#include "importers/models/known_keys.hpp"

#include <algorithm>
#include <array>

#include "importers/models/families.hpp"

namespace orrery::importers::models {
namespace {

struct Reason {
  std::string_view keys;  ///< names with blanks between; one that ends in * stands for all that begin so, and
                          ///< one that begins with it for all that end so
  std::string_view reason;
};

constexpr const char* kTokens = "numbers of tokens change no amount of work";
constexpr const char* kTurning = "positions cost the same whatever their angles";
constexpr const char* kValues = "values of weights change no amount of work";
constexpr const char* kRouting = "how experts are scored changes no amount of work";
constexpr const char* kMaking = "a choice of whoever makes text, not of the model";
constexpr const char* kCode = "names code of other libraries";
constexpr const char* kNorms = "a constant of norms";
constexpr const char* kScale = "a factor on values changes no amount of work";
constexpr const char* kVision = "images and sound: only the language model is read";
constexpr const char* kTraining = "a choice of a training run, not of the model";

const std::array kReasons{
    Reason{"*_token_id *_token_ids *_token *_token_index prefix image_token_id video_token_id ignore_index "
           "placeholder_token_id *placeholder pad_id eos_id bos_id",
           kTokens},
    Reason{
        "rope_* rope* rotary_* partial_rotary_factor rotary_dim rotary_pct rotary_emb_base use_dynamic_ntk "
        "use_logn_attn original_max_position_embeddings initial_context_length swa_rope_theta "
        "local_rope_theta rope_local_base_freq compress_rope_theta mla_use_nope position_embedding_type "
        "indexer_rope_interleave apply_rotary_pos_emb original_rope no_rope_layer_interval alibi "
        "position_encoding_2d interleaved_* mrope_* attn_temperature_tuning floor_scale attn_scale "
        "relative_attention_num_buckets relative_attention_max_distance seq_length_interpolation "
        "max_relative_positions embd_position attn_config.rope* attn_config.alibi_bias_max "
        "attn_config.prefix_lm attn_config.attn_impl attn_config.attn_uses_sequence_id",
        kTurning},
    Reason{"initializer_range initializer_factor init_std init_config* embedding_init_* init_device "
           "small_init rescale_prenorm_residual time_step* depth_scale scale_init *_std init_method*",
           kValues},
    Reason{"router_* output_router_logits norm_topk_prob routed_scaling_factor scoring_func topk_method "
           "aux_loss_alpha seq_aux use_routing_bias router_aux_loss_coef moe_router_* moe_renormalize "
           "norm_expert_weight ffn_config.moe_* moe_use_aux_free use_moe_router_bias input_jitter_noise "
           "score_function num_hash_layers use_grouped_topk route_norm route_scale load_balance_coeff "
           "moe_layer_use_* moe_random_routing_dropped_token moe_drop_tokens moe_capacity* "
           "capacity_factor moe_norm_* moe_gate* use_mixed_mlp_moe moe_use_* router expert_capacity "
           "moe_router_scaling_factor moe_shared_expert_overlap ep_size routing_* moe_topk_group topk_group "
           "jitter_noise *jitter*",
           kRouting},
    Reason{"do_sample early_stopping num_beams num_beam_groups diversity_penalty temperature top_k top_p "
           "typical_p repetition_penalty length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size "
           "bad_words_ids num_return_sequences max_length min_length max_new_tokens use_cache "
           "return_dict return_dict_in_generate output_scores output_attentions output_hidden_states "
           "output_past forced_decoder_ids suppress_tokens begin_suppress_tokens remove_invalid_values "
           "exponential_decay_length_penalty num_logits_to_keep pre_allocate_kv_cache pad_key_length "
           "max_batch_size inference_runner validate_runner_input",
           kMaking},
    Reason{
        "architectures auto_map transformers_version _commit_hash tokenizer_class torchscript "
        "_attn_implementation* attn_implementation use_flash_attn* use_mamba_kernels use_bfloat16 fp16 "
        "bf16 fp32 onnx_safe language model_version _flash_attn* flash_attention use_fast* "
        "attn_impl fused_* softmax_in_fp32 unsloth* library_name use_sdpa _name_or_path name_or_path "
        "use_bass use_fused* transformers.js_config model_type verbose revision custom_* _from_model_config "
        "masked_softmax_fusion offset_alibi skip_bias_add* slow_but_exact is_llama_config "
        "use_parallel_embedding save_* kv_cache_quantization* use_cache_quantization "
        "use_cache_kernel logits_to_keep bias_dropout_fusion",
        kCode},
    Reason{"rms_norm_eps layer_norm_eps layer_norm_epsilon layernorm_epsilon norm_eps *_eps use_gemma_norm "
           "norm_type "
           "layernorm_compute_fp32 rmsnorm norm_reduction normalization_type layer_norm_elementwise_affine "
           "_remove_final_layer_norm apply_layernorm_1p norm_after",
           kNorms},
    Reason{"*_multiplier *scale* logit_scale *softcap* query_pre_attn_scalar scale_emb scale_depth "
           "attention_value_scale logits_scaling swiglu_limit* swiglu_alpha clip_qkv* attn_config.clip_qkv "
           "attn_config.softmax_scale dim_model_base mup_* *softcapping output_multiplier* "
           "embedding_multiplier_scale hidden_clamp* logit_*  activation_situ* emb_scale",
           kScale},
    Reason{"hidden_act hidden_activation activation_function activation ffn_act_fn activation_type "
           "mlp_hidden_act mamba_hidden_act ffn_config.ffn_act_fn.name ffn_config.ffn_type act_fn "
           "dense_act_fn is_gated_act hidden_act_moe activations",
           "activations of one value cost alike; whether an MLP has a gate is known of the family"},
    Reason{"torch_dtype dtype params_dtype mamba_ssm_dtype mamba_ssm_cache_dtype residual_in_fp32 "
           "fp32_residual_connection attention_softmax_in_fp32 expert_dtype",
           "the format of the released weights: a plan says in which the model computes"},
    Reason{"mamba_proj_bias use_conv_bias mamba_conv_bias mamba_rms_norm mamba_inner_layernorms expand "
           "mamba_dt_rank",
           "Mamba-2 has a bias in its convolution and none in its products"},
    Reason{"pretraining_tp tensor_parallel_degree summary_* gradient_checkpointing layerdrop "
           "decoder_layerdrop encoder_layerdrop "
           "router_z_loss_coef problem_type num_labels finetuning_task use_mtp mtp_loss_scaling_factor "
           "mtp_use_dedicated_embeddings freeze_* unfreeze_* tune_* emb_pdrop",
           kTraining},
    Reason{"mm_* image_* vision_* video_* audio_* use_mm_proj num_image_with_embedding projector_* patch_* "
           "downsample_ratio dynamic_image_size force_image_size min_dynamic_patch max_dynamic_patch "
           "use_thumbnail ps_version select_layer template pad2square use_backbone_lora "
           "use_llm_lora multimodal_projector_bias spatial_merge_size talker_* enable_audio_output "
           "enable_talker media_* media_proj* deepstack* tokens_per_second use_bidirectional_attention",
           kVision},
    Reason{
        "is_decoder is_encoder_decoder add_cross_attention tie_encoder_decoder cross_attention_hidden_size "
        "chunk_size_feed_forward decoder_start_token_id pruned_heads do_layer_norm_before "
        "apply_residual_connection_post_layernorm post_layer_norm ffn_config.* attn_config.* "
        "emb_prj_bias learned_pos_emb use_cache_kv interleave_sliding_window",
        "the family is known by model_type"},
    Reason{"id2label label2id classifier_* num_classes", "names of classes"},
    Reason{"tie_word_embeddings", "the language model says it for itself"},
    Reason{"relative_attention* d_kv sliding_window_sizes qk_norm_type attn_type_list attention_output_gate",
           "known of the family"},
};

bool matches(std::string_view pattern, std::string_view key) {
  if (pattern.ends_with('*')) {
    pattern.remove_suffix(1);
    if (pattern.starts_with('*')) return key.find(pattern.substr(1)) != std::string_view::npos;
    return key.starts_with(pattern);
  }
  if (pattern.starts_with('*')) return key.ends_with(pattern.substr(1));
  return pattern == key;
}

bool any_matches(std::string_view list, std::string_view key) {
  while (!list.empty()) {
    const std::size_t end = list.find(' ');
    if (end > 0 && matches(list.substr(0, end), key)) return true;
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return false;
}

const std::array kParts{
    Reason{
        "vision_config visual vision_tower vision_model_config vit_config visual_config vision_tower_config "
        "mm_vision_config img_processor embd_layer image_config vqmodel_config vq_config vision_lora "
        "projector_config resampler_config",
        "the encoder of images is dropped: only the language model is read"},
    Reason{"audio_config speech_config audio_processor audio_tower talker_config token2wav_config tts_config "
           "code2wav_config speech_lora audio_encoder_config",
           "the encoder or maker of sound is dropped: only the language model is read"},
    Reason{"task_specific_params id2label label2id pruned_heads", "names and choices of tasks"},
    Reason{"auto_map", kCode},
    Reason{"rope_scaling rope_parameters", kTurning},
    Reason{"init_config", kValues},
    Reason{"sparse_attention_config", "how blocks are picked: use_sparse_attention says if they are"},
};

}  // namespace

std::string_view reason_to_ignore(std::string_view key) {
  const auto row =
      std::ranges::find_if(kReasons, [key](const Reason& r) { return any_matches(r.keys, key); });
  return row == kReasons.end() ? std::string_view{} : row->reason;
}

std::string_view part_of(std::string_view key) {
  const std::string_view part = key.substr(0, key.find('.'));
  const auto row = std::ranges::find_if(kParts, [part](const Reason& r) { return is_among(r.keys, part); });
  return row == kParts.end() ? std::string_view{} : part;
}

std::string_view reason_to_ignore_part(std::string_view part) {
  const auto row = std::ranges::find_if(kParts, [part](const Reason& r) { return is_among(r.keys, part); });
  return row == kParts.end() ? std::string_view{} : row->reason;
}

}  // namespace orrery::importers::models
