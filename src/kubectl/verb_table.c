/* verb_table: see verb_table.h. */
#include "verb_table.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

#define IN_NAMESPACES (TAKES_NAMESPACE | TAKES_ALL)
#define SHOWN (TAKES_FORM | TAKES_NAMES)

#define WHY_NOT_COLUMNS                                                                            \
    "WHY NOT ELSEWHERE\tof these NODES; the nearest first\n"                                       \
    "WHICH\tthe first of them; +8: and 8 more\n"
#define MODEL_COLUMN "MODEL\tof the GPUs; -: unknown\n"
#define RESOURCE_COLUMN "RESOURCE\twhat pods ask for\n"

const struct verb_facts VERB_TABLE[N_VERBS] = {
    [VERB_NODES] = {"nodes", "[NODE]", "GPUs of each node, and the pods that use them",
                    TAKES_MODEL | TAKES_SELECTOR | TAKES_OBJECT | SHOWN,
                    MODEL_COLUMN
                    "GPUS\tthat pods may use\n"
                    "USED\tby pods\n"
                    "FREE\tnot used, also on closed nodes (wide)\n"
                    "USABLE\tfree, on an open node, and pods fit beside them\n"
                    "STRANDED\tfree, but no kind of pod that is here fits beside them\n"
                    "CLOSED\tfree, on a node that is cordoned or not ready\n"
                    "STATE\tReady, NotReady, cordoned, stranded or quarantined\n" RESOURCE_COLUMN
                    "RESERVED\tfor pods that are being bound\n"
                    "CPU, MEMORY\tthat are free on the node (wide)\n"
                    "PODS\tthat use them, each with its GPUs (wide)\n",
                    "nodes --model V100", verbs_nodes},
    [VERB_FIT] = {"fit", "-f FILE", "where a manifest's pods would go; for CI, too",
                  TAKES_MANIFEST | SHOWN,
                  "PODS\tthe template's name, and the numbers of its replicas\n"
                  "GOES TO\tthe node of each pod\n"
                  "ASKS FOR, EACH\teach of these pods\n"
                  "FITS ON\tthe nodes that the pod may go to (wide)\n"
                  "SCORE\tthe best has 10 (wide)\n" WHY_NOT_COLUMNS,
                  "fit -f examples/test-pod.yaml", verbs_fit},
    [VERB_PENDING] = {"pending", "", "the pods that wait for GPUs, and why",
                      IN_NAMESPACES | TAKES_SELECTOR | SHOWN,
                      "WORKLOAD\twhat made the pods, or the pod itself\n"
                      "PODS\thow many of them wait\n"
                      "ASKS FOR, EACH\teach of its pods\n"
                      "WAITS\tthe one that waits longest\n",
                      "pending -n ml-training", verbs_pending},
    [VERB_QUOTA] = {"quota", "", "limits and use of each quota", IN_NAMESPACES | SHOWN,
                    "GPUS\tthe model, or the resource, that the limit is for\n"
                    "USED, LIMIT, LEFT\tGPUs\n"
                    "BORROWED, LENT\tof a quota that lends\n"
                    "UNKNOWN\tused GPUs whose model is unknown\n"
                    "MOST USED BY\tthe namespace that uses most of it\n"
                    "WAITS FOR IT\ta namespace whose pods wait for it, and the GPUs\n"
                    "NAMESPACES\tthat share the quota\n",
                    "quota -n ml-training", verbs_quota},
    [VERB_GROUPS] = {"groups", "", "groups of pods that wait to be bound together",
                     IN_NAMESPACES | SHOWN,
                     "STATE\tforming, waiting, planned or partial\n"
                     "BOUND\thow many of its pods are\n",
                     "groups -n ml-training", verbs_groups},
    [VERB_WHY] = {"why", "POD | KIND/NAME", "one pod node by node: why it waits",
                  TAKES_NAMESPACE | TAKES_OBJECT | NEEDS_OBJECT | SHOWN,
                  WHY_NOT_COLUMNS "FITS ON\tthe nodes that the pod may go to (wide)\n"
                                  "SCORE\tthe best has 10 (wide)\n",
                  "why big-train-0 -n ml-training", verbs_why},
    [VERB_PODS] = {"pods", "", "who holds GPUs: pods, owners, since when",
                   IN_NAMESPACES | TAKES_MODEL | SHOWN,
                   "OWNER, KIND\twhat made the pod; -: nothing did\n"
                   "GPUS\tnumber and model; through claims, too\n"
                   "AGE\tsince the pod was created\n"
                   "PRIORITY\tof the pod (wide)\n"
                   "STATE\tends: it is being deleted (wide)\n",
                   "pods -n ml-training", verbs_pods},
    [VERB_FRAG] = {"frag", "", "free GPUs that typical pods cannot use",
                   TAKES_MODEL | TAKES_SELECTOR | TAKES_FORM,
                   MODEL_COLUMN
                   "FREE\ton open nodes\n"
                   "STRANDED\tfree, but no kind of pod that is here fits beside them\n"
                   "PODS OF 2, OF 4, OF 8\tpods of so many GPUs that fit\n"
                   "SUITS\tthe share of the free GPUs that suits the average pod\n"
                   "STRANDED ON\tthe nodes, and what is used up there\n" RESOURCE_COLUMN,
                   "frag --model V100", verbs_frag},
    [VERB_CLAIMS] = {"claims", "", "claims that hold GPUs, and the pods that use them",
                     IN_NAMESPACES | TAKES_SELECTOR | SHOWN,
                     MODEL_COLUMN "PODS\tthat use it\n"
                                  "STATE\tunused: no pod uses it, and it still holds its GPUs\n"
                                  "DEVICES\tPOOL/DEVICE\n",
                     "claims -A", verbs_claims},
    [VERB_DECISIONS] = {"decisions", "[POD]", "last answers to kube-scheduler; -w: new ones",
                        IN_NAMESPACES | TAKES_WATCH | TAKES_OBJECT | SHOWN,
                        "ASKED\tnodes that kube-scheduler sent\n"
                        "ON\tnodes that the answer passes on\n"
                        "LEDGER\tthe same number: the same data\n",
                        "decisions -n ml-training", verbs_decisions},
    [VERB_DOCTOR] = {"doctor", "", "which answers you get, and what is wrong", TAKES_FORM,
                     "ok, warn, fail\thow a check ended\n"
                     "NAME: TEXT\tthe check, and what it found\n",
                     "doctor", verbs_doctor},
    [VERB_WHAT_IF] = {"what-if", "--drain NODE ...", "where pods would go after changes",
                      TAKES_MANIFEST | TAKES_CHANGES | TAKES_FORM,
                      "OWNER, PRIORITY\tof a pod that moves\n"
                      "FROM, GOES TO\tits node, and the next one\n"
                      "WHY NOT\twhy it finds no place\n" RESOURCE_COLUMN MODEL_COLUMN
                      "FREE, USABLE\tGPUs, before -> after\n"
                      "LARGEST BLOCK\tusable GPUs of one node\n"
                      "WHOLE NODES\twith all GPUs usable\n"
                      "BUDGET, ALLOWS\tPodDisruptionBudgets that a drain meets\n",
                      "what-if --add-nodes h100-1=2", verbs_what_if},
    [VERB_NODE_GROUPS] = {"node-groups", "", "which pods one more node of a group would let run",
                          TAKES_FORM,
                          "GROUP\tnodes of one label, or with the same GPUs\n"
                          "LIKE\tthe node that one more would be like\n"
                          "BY, MODEL\twhat makes them a group; their GPUs (wide)\n"
                          "RUN\thow many waiting pods it would let run\n",
                          "node-groups", verbs_node_groups},
    [VERB_UI] = {"ui", "", "the page, for a browser on this machine", 0, "", "ui", verbs_ui},
    [VERB_VERSION] = {"version", "", "of this program, and of the service that answers", TAKES_FORM,
                      "", "version", verbs_version},
    [VERB_HELP] = {"help", "[VERB]", "a verb's options, columns and an example", TAKES_OBJECT, "",
                   "help fit", NULL},
};

const struct option_facts OPTION_TABLE[N_OPTIONS] = {
    {"cluster-file", "FILE", KEY_CLUSTER_FILE, 0, "a saved cluster, in this process"},
    {"config", "FILE", KEY_CONFIG, 0, "the policy of that cluster"},
    {"url", "URL", KEY_URL, 0, "a gpu-extender, such as http://127.0.0.1:8888"},
    {"filename", "FILE", KEY_MANIFEST, TAKES_MANIFEST,
     "a file, a folder or - (standard input); repeatable"},
    {"recursive", NULL, KEY_RECURSIVE, TAKES_MANIFEST, "also the folders in these folders"},
    {"namespace", "NAME", KEY_NAMESPACE, TAKES_NAMESPACE, "that namespace only"},
    {"all-namespaces", NULL, KEY_ALL, TAKES_ALL, "all namespaces"},
    {"selector", "LABELS", KEY_SELECTOR, TAKES_SELECTOR,
     "only with these labels, as in kubectl get -l"},
    {"model", "MODEL", KEY_MODEL, TAKES_MODEL, "that GPU model only"},
    {"watch", NULL, KEY_WATCH, TAKES_WATCH, "go on with new decisions"},
    {"output", "FORM", KEY_OUTPUT, TAKES_FORM,
     "table, wide (all columns, folded), json, yaml or name"},
    {"no-headers", NULL, KEY_NO_HEADERS, TAKES_FORM, "tables without headings"},
    {"add-nodes", "NODE=N", KEY_ADD_NODES, TAKES_CHANGES, "N more nodes like NODE"},
    {"cordon", "NODE,...", KEY_CORDON, TAKES_CHANGES, "no new pods on these nodes"},
    {"drain", "NODE,...", KEY_DRAIN, TAKES_CHANGES, "the same, and their pods are evicted"},
    {"lift", "NODE,...", KEY_LIFT, TAKES_CHANGES, "without the quarantine of these nodes"},
    {"remove-pods", "POD,...", KEY_REMOVE_PODS, TAKES_CHANGES,
     "without these pods: NAMESPACE/NAME"},
    {"changes", "FILE", KEY_CHANGES, TAKES_CHANGES,
     "a list of changes, as POST /v1/what-if takes them"},
    {"as", "NAME", KEY_OF_KUBECTL, 0, NULL},
    {"as-group", "NAME", KEY_OF_KUBECTL, 0, NULL},
    {"as-uid", "UID", KEY_OF_KUBECTL, 0, NULL},
    {"cache-dir", "FOLDER", KEY_OF_KUBECTL, 0, NULL},
    {"certificate-authority", "FILE", KEY_AUTHORITY, 0, NULL},
    {"client-certificate", "FILE", KEY_CERTIFICATE, 0, NULL},
    {"client-key", "FILE", KEY_KEY, 0, NULL},
    {"cluster", "NAME", KEY_OF_KUBECTL, 0, NULL},
    {"context", "NAME", KEY_OF_KUBECTL, 0, NULL},
    {"insecure-skip-tls-verify", NULL, KEY_INSECURE, 0, NULL},
    {"kubeconfig", "FILE", KEY_OF_KUBECTL, 0, NULL},
    {"request-timeout", "TIME", KEY_OF_KUBECTL, 0, NULL},
    {"server", "URL", KEY_SERVER, 0, NULL},
    {"tls-server-name", "NAME", KEY_TLS_SERVER_NAME, 0, NULL},
    {"token", "TOKEN", KEY_TOKEN, 0, NULL},
    {"user", "NAME", KEY_OF_KUBECTL, 0, NULL},
    {"version", NULL, KEY_VERSION, 0, NULL},
    {"help", NULL, KEY_HELP, 0, NULL},
};

/* ---- help ---- */

#define LEFT 23 /* characters of an option */

static void print_option(const struct option_facts *facts)
{
    char left[64];
    const char *value = facts->value ? facts->value : "";
    if (facts->key < KEY_OF_KUBECTL)
        (void)snprintf(left, sizeof left, "-%c, --%s %s", facts->key, facts->name, value);
    else
        (void)snprintf(left, sizeof left, "--%s %s", facts->name, value);
    (void)printf("  %-*s%s\n", LEFT, left, facts->help);
}

/* Those with one of the bits; 0: those of all verbs. Options of kubectl have no help. */
static void print_options(const char *heading, unsigned takes)
{
    (void)printf("\n%s:\n", heading);
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option_facts *facts = &OPTION_TABLE[i];
        if (facts->help && (facts->takes & takes || (takes == 0 && facts->takes == 0)))
            print_option(facts);
    }
}

static void print_verbs(const char *program)
{
    (void)printf("Usage: %s VERB [OPTION...]\n"
                 "GPUs of a cluster, as gpu-extender sees them.\n\n",
                 program);
    for (size_t i = 0; i < N_VERBS; i++)
        (void)printf("  %-12s%-17s%s\n", VERB_TABLE[i].name, VERB_TABLE[i].object,
                     VERB_TABLE[i].help);
}

static void print_all(const char *program)
{
    print_verbs(program);
    print_options("Where to ask (without these: through kubectl and the aggregated API)", 0);
    (void)printf("  --context, --kubeconfig, --as, --token, --server ...: as kubectl's\n");
    print_options("Manifests (fit, what-if)", TAKES_MANIFEST);
    print_options("What to show", TAKES_NAMESPACE | TAKES_ALL | TAKES_SELECTOR | TAKES_MODEL |
                                      TAKES_WATCH | TAKES_FORM);
    print_options("Changes of what-if, one after another", TAKES_CHANGES);
    (void)printf("\nExit status:\n"
                 "  0  answered; of fit: every pod fits; of what-if: displaced pods and\n"
                 "     workloads find a place, and no pending pod loses one; of doctor: nothing\n"
                 "     fails\n"
                 "  1  of fit, what-if: not all of that; of doctor: something fails; of why: no\n"
                 "     pod of the controller waits\n"
                 "  2  wrong options, or a name that nothing has; of fit, what-if: not judged,\n"
                 "     mistakes in the manifest or the changes, or parts not understood\n"
                 "  3  no answer: unreachable, no right; of fit, what-if: or the data are stale\n"
                 "\nExamples:\n"
                 "  %s nodes\n"
                 "  %s why job/train --namespace ml\n"
                 "  %s fit -f job.yaml --cluster-file cluster.yaml\n"
                 "  %s what-if --drain a100-80-1 --add-nodes h100-1=2\n",
                 program, program, program, program);
}

/* "NAME\ttext\n" each. */
static void print_columns(const char *columns)
{
    (void)printf("\nColumns:\n");
    while (*columns) {
        const int n_name = (int)strcspn(columns, "\t");
        const int n_text = (int)strcspn(columns + n_name, "\n");
        (void)printf("  %-*.*s%.*s\n", LEFT, n_name, columns, n_text - 1, columns + n_name + 1);
        columns += n_name + n_text + 1;
    }
}

static void print_one(const char *program, const struct verb_facts *verb)
{
    (void)printf("Usage: %s %s%s%s [OPTION...]\n%s: %s.\n", program, verb->name,
                 *verb->object ? " " : "", verb->object, verb->name, verb->help);
    if (verb->takes & ~(unsigned)(TAKES_OBJECT | NEEDS_OBJECT))
        print_options("Options", verb->takes);
    (void)printf("\nWhere to ask, and the exit status: %s --help\n", program);
    if (*verb->columns)
        print_columns(verb->columns);
    (void)printf("\nExample:\n  %s %s\n", program, verb->example);
}

void verb_table_print(const char *program, const struct verb_facts *verb)
{
    if (verb)
        print_one(program, verb);
    else
        print_all(program);
}
