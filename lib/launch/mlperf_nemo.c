/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The config files of NVIDIA's MLPerf submissions: a shell script of exports, which the benchmark reads. MINIBS is the batch
 * of one replica of the model, so that the global batch is MINIBS x dp. The rules are Megatron-LM's, which runs below.
 */
#include <string.h>
#include "launch/launch_reading.h"

static int64_t either(struct launch_reading *r, const char *name, const char *other, int64_t otherwise) {
    return reading_variable(r, name, reading_variable(r, other, otherwise));
}

static int is_true(struct launch_reading *r, const char *name, int otherwise) {
    const char *word = reading_variable_word(r, name);
    if (word == NULL) return otherwise;
    return strcmp(word, "True") == 0 || strcmp(word, "true") == 0 || strcmp(word, "1") == 0;
}

static void read_shape(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    const char *size = reading_variable_word(r, "MODEL_SIZE");
    static const struct {
        const char *size, *shape;
        int64_t seq_length;
    } shapes[] = {{"405b", "llama31-405b", 8192}, {"70b", "llama31-70b", 8192}, {"8b", "llama31-8b", 8192}};
    const char *shape = "gpt3-175b";
    int64_t length = 2048;
    for (size_t i = 0; size && i < sizeof shapes / sizeof *shapes; i++)
        if (strcasecmp(size, shapes[i].size) == 0) shape = shapes[i].shape, length = shapes[i].seq_length;
    if (reading_variable_word(r, "LORA_A2A") || reading_variable_word(r, "SKIP_EVALS"))
        shape = "llama2-70b", length = 8192;
    launch_shape(&l->config, shape);
    reading_assume(r, "model", "%s%s", shape, size ? ", by MODEL_SIZE" : ", the benchmark's: MODEL_SIZE is not set");
    l->seq_length = either(r, "SEQ_LENGTH", "SEQ_LEN", 0);
    if (l->seq_length == 0) {
        l->seq_length = length;
        reading_assume(r, "seq_length", "%lld, the benchmark's", (long long)length);
    }
}

static void read(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    struct kerf_layout *layout = &l->layout;
    read_shape(r);
    layout->tp1 = either(r, "TENSOR_MODEL_PARALLEL", "TP", 1);
    layout->pp = either(r, "PIPELINE_MODEL_PARALLEL", "PP", 1);
    layout->cp = (int32_t)either(r, "CONTEXT_PARALLEL", "CP", 1);
    layout->ep = (int32_t)either(r, "EXPERT_PARALLEL", "EP", 1);
    layout->etp = 1;
    if (layout->cp > 1) layout->cp_comm = KERF_CP_COMM_RING;
    int64_t vpp = either(r, "INTERLEAVED_PIPELINE", "VP", 1);
    layout->vpp = vpp >= 1 && vpp <= 4096 ? (int32_t)vpp : 1;
    layout->micro_batch = either(r, "MICRO_BATCH_SIZE", "MBS", 1);
    layout->zero = is_true(r, "USE_DIST_OPTIMIZER", 1) ? 1 : 0;
    layout->recompute = KERF_RECOMPUTE_NONE;
    const char *recompute = reading_variable_word(r, "RECOMPUTE_GRANULARITY");
    if (recompute == NULL) recompute = reading_variable_word(r, "ACT_CKPT_GRANULARITY");
    if (recompute && strcmp(recompute, "full") == 0) layout->recompute = KERF_RECOMPUTE_FULL;
    if (recompute && strcmp(recompute, "selective") == 0) layout->recompute = KERF_RECOMPUTE_SELECTIVE;
    l->has_sequence_parallel = is_true(r, "SEQ_PARALLEL", 1) && layout->tp1 > 1;
    int is_fp4 = is_true(r, "FP4", 0) || is_true(r, "NVFP4", 0);
    strcpy(l->precision, is_fp4 ? "fp4" : is_true(r, "FP8", 0) ? "fp8" : "bf16");
    strcpy(l->gradients, is_true(r, "USE_BF16_GRADS", 0) || is_true(r, "GRAD_REDUCE_IN_BF16", 0) ? "bf16" : "fp32");
    int64_t nodes = reading_variable(r, "DGXNNODES", 0), devices = reading_variable(r, "DGXNGPU", 8);
    if (l->gpus == 0 && nodes > 0) l->gpus = nodes * devices;

    /* one layer less at an end, where the embedding or the loss takes its place */
    int64_t stages = layout->pp * layout->vpp, layers = l->config.num_hidden_layers;
    int32_t of[4096];
    int embedding = is_true(r, "ASYM_PP_EMBED", 0), loss = is_true(r, "ASYM_PP_LOSS", 0);
    if (stages > 1 && stages <= 4096 && layers + embedding + loss > 0 && (layers + embedding + loss) % stages == 0) {
        for (int64_t i = 0; i < stages; i++) of[i] = (int32_t)((layers + embedding + loss) / stages);
        of[0] -= embedding, of[stages - 1] -= loss;
        if (embedding || loss) launch_stage_layers(r, of, (int32_t)stages);
    } else if (stages > 1) {
        reading_refuse(r, "TransformerConfig", "%lld layers do not divide over pp %lld x vpp %d", (long long)layers,
                       (long long)layout->pp, layout->vpp);
    }
}

static void check(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    int64_t mini = reading_variable(r, "MINIBS", 0);
    if (mini && l->layout.dp > 0) l->global_batch = mini * l->layout.dp;
    if (mini % (l->layout.micro_batch > 0 ? l->layout.micro_batch : 1))
        reading_refuse(r, "num_microbatches_calculator", "MINIBS %lld is not divisible by MICRO_BATCH_SIZE %lld",
                       (long long)mini, (long long)l->layout.micro_batch);
    if (l->config.num_attention_heads % l->layout.tp1)
        reading_refuse(r, "TransformerConfig", "%lld attention heads are not divisible by tp %lld",
                       (long long)l->config.num_attention_heads, (long long)l->layout.tp1);
}

static int32_t score(struct launch_reading *r) {
    static const char *const names[] = {"MINIBS", "DGXNNODES", "DGXNGPU", "TENSOR_MODEL_PARALLEL",
                                        "PIPELINE_MODEL_PARALLEL"};
    int32_t found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) found += launch_find(&r->variables, names[i]) != NULL;
    return r->form == LAUNCH_SCRIPT && found >= 2 && r->table.count == 0 ? found : 0;
}

const struct launch_reader launch_mlperf_nemo = {KERF_FRAMEWORK_MLPERF_NEMO, score, read, check};
