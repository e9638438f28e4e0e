/*
 * Reads any bytes as a cluster file. Nothing crashes; the ledger is either correct or the old one,
 * unchanged; equal bytes give equal ledgers; the metrics can be written.
 */
#include "base/log.h"
#include "inventory/inventory.h"
#include "memory_file.h"
#include "require.h"

#include <string.h>

#define MAX_OBJECTS 20

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The counts of an inventory. */
struct counts {
    size_t n_nodes;
    size_t n_pods;
    size_t n_problems;
    bool ready;
};

static struct counts count(struct inventory *inventory)
{
    struct err err;
    const bool ready = inventory_waiting_for(inventory) == NULL;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    const struct counts counts = {
        .n_nodes = cluster_n_nodes(view.cluster),
        .n_pods = cluster_n_pods(view.cluster),
        .n_problems = view.n_all_problems,
        .ready = ready,
    };
    require(cluster_check_in_place(view.cluster, &err) == 0);
    require(counts.n_nodes <= MAX_OBJECTS && counts.n_pods <= MAX_OBJECTS);
    return counts;
}

static void check_fork(struct inventory *inventory, size_t n_nodes)
{
    struct cluster *fork = inventory_fork(inventory, PEERS_REPELLING);
    require(cluster_n_nodes(fork) == n_nodes);
    inventory_fork_free(inventory, fork);
}

static void check_metrics(struct inventory *inventory)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    inventory_metrics(inventory, &text);
    require(strstr(buf_text(&text), "gpu_extender_nodes ") != NULL);
    buf_fini(&text);
}

/* Loads the file, and if that succeeds, loads it again. */
static void check_file(struct inventory *inventory, const char *path)
{
    struct err err = {""};
    if (inventory_load_file(inventory, path, &err) < 0) {
        require(strncmp(err.text, path, strlen(path)) == 0);
        const struct counts none = count(inventory);
        require(none.n_nodes + none.n_pods + none.n_problems == 0 && !none.ready);
        return;
    }
    const struct counts first = count(inventory);
    check_fork(inventory, first.n_nodes);
    check_metrics(inventory);
    require(inventory_load_file(inventory, path, &err) == 0);
    const struct counts again = count(inventory);
    require(first.n_nodes == again.n_nodes && first.n_pods == again.n_pods &&
            first.n_problems == again.n_problems && again.ready);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    log_configure(LOG_ERROR, LOG_KEY_VALUE);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct inventory_limits LIMITS = {.max_file_bytes = 1 << 20,
                                                   .max_object_bytes = 1 << 16,
                                                   .max_nodes = MAX_OBJECTS,
                                                   .max_pods = MAX_OBJECTS};
    struct policy policy;
    struct memory_file file;
    policy_init(&policy);
    struct inventory *inventory = inventory_new(&policy, &LIMITS);
    memory_file_init(&file, (const char *)data, size);
    check_file(inventory, file.path);
    memory_file_fini(&file);
    inventory_free(inventory);
    policy_fini(&policy);
    return 0;
}
