/*
 * bench_json_stream: how fast a list goes through json_stream, against jansson alone.
 *
 *     CC=gcc meson setup build/bench -Dtests=true -Dbuildtype=release
 *     ninja -C build/bench && build/bench/tests/bench/bench_json_stream [FILE]
 *
 * Without a file it makes a list of pods like those of `kubectl get -o json`, indented and compact.
 */
#include "base/buf.h"
#include "formats/json_stream.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_PODS 6000
#define PIECE_BYTES ((size_t)64 * 1024)

static const char POD[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"annotations\":{\"note\":\"one\"},"
    "\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"labels\":{\"app\":\"trainer\"},"
    "\"managedFields\":[{\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{"
    "\"f:metadata\":{\"f:annotations\":{\".\":{},\"f:note\":{}},\"f:labels\":{\".\":{},\"f:app\":{}"
    "}},"
    "\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"main\\\"}\":{\".\":{},\"f:image\":{},"
    "\"f:imagePullPolicy\":{},\"f:name\":{},\"f:resources\":{\".\":{},\"f:limits\":{\".\":{},"
    "\"f:nvidia.com/gpu\":{}},\"f:requests\":{\".\":{},\"f:cpu\":{},\"f:memory\":{}}},"
    "\"f:terminationMessagePath\":{},\"f:terminationMessagePolicy\":{}}},\"f:dnsPolicy\":{},"
    "\"f:enableServiceLinks\":{},\"f:restartPolicy\":{},\"f:schedulerName\":{}}},"
    "\"manager\":\"kubectl\",\"operation\":\"Update\",\"time\":\"2026-01-01T00:00:00Z\"}],"
    "\"name\":\"trainer-0\",\"namespace\":\"default\",\"uid\":\"0a1b2c3d-0000-1111-2222-"
    "333344445555\"},"
    "\"spec\":{\"containers\":[{\"image\":\"example.com/"
    "trainer:1\",\"name\":\"main\",\"resources\":{"
    "\"limits\":{\"nvidia.com/gpu\":\"8\"},\"requests\":{\"cpu\":\"32\",\"memory\":\"256Gi\"}}}],"
    "\"nodeName\":\"node-0001\",\"restartPolicy\":\"Never\"},\"status\":{\"conditions\":[{"
    "\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-01T00:00:00Z\",\"status\":\"True\","
    "\"type\":\"Ready\"}],\"containerStatuses\":[{\"containerID\":\"containerd://"
    "5f70bf18a086007016e948b0"
    "4aed3b82103a36bea41755b6cddfaf10ace3c6ef\",\"image\":\"example.com/trainer:1\",\"ready\":true,"
    "\"restartCount\":0,\"started\":true}],\"hostIP\":\"10.0.0.1\",\"phase\":\"Running\"}}";

static char *list_of_pods(size_t json_flags)
{
    json_t *list = json_pack("{s:s, s:[], s:s}", "apiVersion", "v1", "items", "kind", "List");
    for (int i = 0; i < N_PODS; i++)
        (void)json_array_append_new(json_object_get(list, "items"), json_loads(POD, 0, NULL));
    char *text = json_dumps(list, json_flags);
    json_decref(list);
    return text;
}

static double now_s(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int count_item(void *context, json_t *item, struct text_position at, struct err *err)
{
    (void)item;
    (void)at;
    (void)err;
    ++*(size_t *)context;
    return 0;
}

static void stream_once(const char *text, size_t len, const char *const *drop)
{
    size_t n_items = 0;
    struct err err;
    const struct json_stream_handler handler = {.on_item = count_item, .context = &n_items};
    const struct json_stream_options options = {
        .drop = drop, .max_object_bytes = SIZE_MAX / 4, .max_depth = 200};
    struct json_stream *stream = json_stream_new(&options, &handler);
    int r = 0;
    for (size_t at = 0; r == 0 && at < len; at += PIECE_BYTES)
        r = json_stream_feed(stream, text + at, len - at < PIECE_BYTES ? len - at : PIECE_BYTES,
                             &err);
    if (r == 0)
        r = json_stream_end(stream, &err);
    json_stream_free(stream);
    if (r < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}

static void jansson_once(const char *text, size_t len, const char *const *drop)
{
    (void)drop;
    json_decref(json_loadb(text, len, 0, NULL));
}

/* Prints the best of five runs. */
static void measure(const char *what, void (*once)(const char *, size_t, const char *const *),
                    const char *text, const char *const *drop)
{
    size_t len = strlen(text);
    double best_s = 1e9;
    for (int i = 0; i < 5; i++) {
        double begin_s = now_s();
        once(text, len, drop);
        double took_s = now_s() - begin_s;
        best_s = took_s < best_s ? took_s : best_s;
    }
    (void)printf("  %-42s %7.0f MB/s\n", what, (double)len / best_s / 1e6);
}

static void measure_all(const char *name, const char *text)
{
    static const char *const USUAL[] = {"metadata.managedFields", "status.conditions",
                                        "status.containerStatuses", NULL};
    static const char *const ALL[] = {"metadata", "spec", "status", NULL};
    (void)printf("%s, %.1f MB\n", name, (double)strlen(text) / 1e6);
    measure("jansson alone", jansson_once, text, NULL);
    measure("json_stream, nothing dropped", stream_once, text, NULL);
    measure("json_stream, managedFields and statuses", stream_once, text, USUAL);
    measure("json_stream, nearly all dropped", stream_once, text, ALL);
}

static char *file_text(const char *path)
{
    struct buf text;
    char piece[1 << 16];
    size_t n;
    FILE *file = fopen(path, "re");
    if (!file) {
        perror(path);
        exit(1);
    }
    buf_init(&text, SIZE_MAX / 4);
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        buf_add(&text, piece, n);
    (void)fclose(file);
    return buf_take(&text);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        char *text = file_text(argv[1]);
        measure_all(argv[1], text);
        free(text);
        return 0;
    }
    char *indented = list_of_pods(JSON_INDENT(4));
    char *compact = list_of_pods(JSON_COMPACT);
    measure_all("indented", indented);
    measure_all("compact", compact);
    free(indented);
    free(compact);
    return 0;
}
