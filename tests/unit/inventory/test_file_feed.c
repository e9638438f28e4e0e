/* file_feed: objects of a cluster file that enter the ledger, are left out, or make the file
 * invalid. */
#include "shown.h"
#include "small_cluster.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

/* A node with GPUs, and a pod that uses some. */
#define NODE(name, gpus)                                                                           \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                      \
    "\"},\"status\":{\"allocatable\":{\"nvidia.com/gpu\":\"" gpus "\"}}}"
#define POD(name, uid, node, gpus)                                                                 \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                       \
    "\",\"namespace\":\"ml\"," uid "\"labels\":{}},\"spec\":{\"nodeName\":\"" node                 \
    "\",\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"" gpus     \
    "\"}}}]},\"status\":{\"phase\":\"Running\"}}"
#define UID(uid) "\"uid\":\"" uid "\","
#define LIST(items) "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[" items "]}"

static void check_shown(const char *text, const char *expected)
{
    struct small_cluster cluster;
    struct err err = {""};
    struct buf shown;
    buf_init(&shown, 1 << 20);
    small_cluster_init(&cluster, NULL);
    if (small_cluster_load(&cluster, text, &err) < 0)
        fail_msg("%s\n%s", text, err.text);
    const struct inventory_view view = inventory_read(cluster.inventory);
    shown_view(&view, &shown);
    assert_int_equal(cluster_check_in_place(view.cluster, &err), 0);
    inventory_done(&view);
    assert_string_equal(buf_text(&shown), expected);
    buf_fini(&shown);
    small_cluster_fini(&cluster);
}

/* The message starts with the path, which is not compared. */
static void check_refused(const char *text, int code, const char *expected)
{
    struct small_cluster cluster;
    struct err err = {""};
    small_cluster_init(&cluster, NULL);
    assert_int_equal(small_cluster_load(&cluster, text, &err), -code);
    const char *message = strchr(err.text, ':');
    assert_non_null(message);
    assert_string_equal(message + 2, expected);
    assert_non_null(inventory_waiting_for(cluster.inventory));
    small_cluster_fini(&cluster);
}

static void test_json_and_yaml(void **state)
{
    (void)state;
    static const char EXPECTED[] = "node a gpus=2/8\npod ml/p a\n";
    check_shown(LIST(NODE("a", "8") "," POD("p", UID("u"), "a", "2")), EXPECTED);
    check_shown(LIST(POD("p", UID("u"), "a", "2") "," NODE("a", "8")), EXPECTED);
    check_shown(NODE("a", "8") "\n" POD("p", UID("u"), "a", "2"), EXPECTED);
    check_shown(LIST(NODE("a", "8")) LIST(POD("p", "", "a", "2")), EXPECTED);
    check_shown("---\n" NODE("a", "8") "\n---\n" POD("p", "", "a", "2"), EXPECTED);
    check_shown("kind: List\nitems:\n- " NODE("a", "8") "\n- " POD("p", "", "a", "2"), EXPECTED);
}

static void test_items_may_take_their_kind_from_the_list(void **state)
{
    (void)state;
    check_shown("{\"kind\":\"NodeList\",\"items\":[{\"metadata\":{\"name\":\"a\"}}]}", "node a\n");
    check_shown("{\"items\":[{\"metadata\":{\"name\":\"a\"}}],\"kind\":\"NodeList\"}", "node a\n");
    check_shown("items:\n- metadata: {name: p, namespace: ml}\nkind: PodList\n", "pod ml/p \n");
    check_refused(
        "{\"kind\":\"List\",\"items\":[{\"metadata\":{\"name\":\"a\"}}]}", EINVAL,
        "1:1: the list's items have no kind, and the list is neither a NodeList nor a PodList");
}

static void test_other_kinds_are_skipped(void **state)
{
    (void)state;
    check_shown(LIST("{\"kind\":\"Service\",\"metadata\":{\"name\":\"s\"}}," NODE("a", "1")),
                "node a gpus=0/1\n");
    check_shown(
        "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}", "");
    check_shown(LIST(""), "");
}

/* No duplicate can be trusted, so all are left out. */
static void test_all_copies_of_a_duplicate_are_left_out(void **state)
{
    (void)state;
    check_shown(LIST(NODE("a", "8") "," NODE("b", "4") "," NODE("a", "2")),
                "node b gpus=0/4\n"
                "problem Node a: is there more than once; all of them are left out\n");
    check_shown(LIST(NODE("a", "8") "," NODE("a", "8") "," NODE("a", "8")),
                "problem Node a: is there more than once; all of them are left out\n");
    check_shown(LIST(POD("p", UID("u"), "a", "1") "," POD("q", UID("u"), "a", "1")),
                "problem Pod ml/q: its UID is there more than once; all that have it are left "
                "out\n");
    check_shown(LIST(POD("p", UID("u"), "a", "1") "," POD("p", UID("v"), "a", "1")),
                "problem Pod ml/p: is there more than once; all of them are left out\n");
    check_shown(LIST(POD("p", "", "a", "1") "," POD("p", "", "a", "1")),
                "problem Pod ml/p: is there more than once; all of them are left out\n");
}

#define DEFAULT_POD(metadata) "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"" metadata "}}"

/* A pod without a namespace is in "default"; without a UID its name identifies it. */
static void test_duplicates_without_namespace_or_uid(void **state)
{
    (void)state;
    static const char EXPECTED[] =
        "problem Pod default/p: is there more than once; all of them are left out\n";
    static const char IN_DEFAULT[] = DEFAULT_POD(",\"namespace\":\"default\"");
    struct buf text;
    buf_init(&text, 1 << 20);
    check_shown(LIST(DEFAULT_POD("") "," DEFAULT_POD("")), EXPECTED);
    buf_printf(&text, "%s%s", DEFAULT_POD(""), IN_DEFAULT);
    check_shown(buf_text(&text), EXPECTED);
    buf_clear(&text);
    buf_printf(&text, "%s%s", IN_DEFAULT, DEFAULT_POD(",\"uid\":\"u\""));
    check_shown(buf_text(&text), EXPECTED);
    buf_fini(&text);
}

/* A UID stays taken when its object was left out for its name. */
static void test_the_uid_of_a_duplicate_stays_taken(void **state)
{
    (void)state;
    check_shown(LIST(POD("p", UID("u"), "a", "1") "," POD("p", UID("v"), "a",
                                                          "1") "," POD("q", UID("v"), "a", "1")),
                "problem Pod ml/p: is there more than once; all of them are left out\n"
                "problem Pod ml/q: its UID is there more than once; all that have it are left "
                "out\n");
}

static void test_a_bad_object_is_left_out(void **state)
{
    (void)state;
    check_shown(LIST(NODE("a", "1.5") "," NODE("b", "4")),
                "node b gpus=0/4\n"
                "problem Node a: status.allocatable[\"nvidia.com/gpu\"]: \"1.5\" is not "
                "whole: it must be a whole number, 0 or more\n");
    check_shown(LIST("{\"kind\":\"Node\",\"metadata\":{}}," NODE("b", "4")),
                "node b gpus=0/4\nproblem Node (unnamed): has no metadata.name\n");
    check_shown(LIST("{\"kind\":3}," NODE("b", "4")),
                "node b gpus=0/4\n"
                "problem (unknown) (unnamed): kind: is the number 3, should be a string\n");
}

static void test_a_broken_file_is_refused(void **state)
{
    (void)state;
    check_refused("{\"kind\":\"List\",\n\"items\":[" NODE("a", "1") "}", EINVAL,
                  "2:115: found '}', should be ',' or ']'");
    check_refused("kind: List\nitems:\n- kind: Node\n   metadata: x\n", EINVAL,
                  "4:12: mapping values are not allowed in this context");
    check_refused("{\"a\":1}", EINVAL, "1:1: is not a Kubernetes object: it has no kind");
    check_refused("hello", EINVAL, "1:1: is not a Kubernetes object: it has no kind");
}

/* A failed kubectl leaves an empty file, which is no cluster without nodes. */
static void test_an_empty_file_is_refused(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"", " \n", "# a comment\n", "---\n---\n"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++)
        check_refused(TEXTS[i], EINVAL,
                      "is empty, should be what kubectl get nodes,pods -A -o yaml writes");
    check_shown(LIST(""), "");
}

/* n nodes named n0, n1, ..., one document each. */
static char *many_nodes(int n)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < n; i++)
        buf_printf(&text, "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n%d\"}}\n", i);
    return buf_take(&text);
}

static char *many_pods(int n)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < n; i++)
        buf_printf(&text, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p%d\"}}\n", i);
    return buf_take(&text);
}

static void test_limits(void **state)
{
    (void)state;
    char *nodes = many_nodes(21);
    check_refused(nodes, E2BIG, "has more than 20 nodes (limits.nodes)");
    free(nodes);
    char *pods = many_pods(21);
    check_refused(pods, E2BIG, "has more than 20 pods (limits.pods)");
    free(pods);
    char *spaces = malloc((1 << 20) + 2);
    assert_non_null(spaces);
    memset(spaces, ' ', (1 << 20) + 1);
    spaces[(1 << 20) + 1] = '\0';
    check_refused(spaces, EFBIG, "is larger than 1048576 bytes (limits.clusterFileBytes)");
    free(spaces);
}

/* As from an API server: decisions do not depend on them. */
static void test_claims_over_the_limit_are_left_out(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 22; i++)
        buf_printf(&text, "{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"c%d\"}}\n", i);
    check_shown(buf_text(&text),
                "problem ResourceClaim default/c20: is one of more than 20 (limits.pods)\n"
                "problem ResourceClaim default/c21: is one of more than 20 (limits.pods)\n");
    buf_fini(&text);
}

static void test_unread_members_do_not_count_against_the_limit(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_add_text(&text, "{\"kind\":\"Node\",\"metadata\":{\"name\":\"a\",\"managedFields\":[");
    for (int i = 0; i < 20000; i++)
        buf_add_text(&text, "{},");
    buf_add_text(&text, "{}]}}");
    check_shown(buf_text(&text), "node a\n");
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_and_yaml),
        cmocka_unit_test(test_items_may_take_their_kind_from_the_list),
        cmocka_unit_test(test_other_kinds_are_skipped),
        cmocka_unit_test(test_all_copies_of_a_duplicate_are_left_out),
        cmocka_unit_test(test_duplicates_without_namespace_or_uid),
        cmocka_unit_test(test_the_uid_of_a_duplicate_stays_taken),
        cmocka_unit_test(test_a_bad_object_is_left_out),
        cmocka_unit_test(test_a_broken_file_is_refused),
        cmocka_unit_test(test_an_empty_file_is_refused),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_claims_over_the_limit_are_left_out),
        cmocka_unit_test(test_unread_members_do_not_count_against_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
