/* metrics: see include/base/metrics.h. */
#include "base/metrics.h"
#include "base/file_watch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

const double METRICS_LATENCY_BOUNDS[METRICS_N_BOUNDS] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.025,
    0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10,   30};

void counter_add(struct counter *counter, uint64_t n)
{
    atomic_fetch_add_explicit(&counter->value, n, memory_order_relaxed);
}

uint64_t counter_value(const struct counter *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

void histogram_observe_ns(struct histogram *histogram, uint64_t ns)
{
    size_t i = 0;
    while (i < METRICS_N_BOUNDS && (double)ns > METRICS_LATENCY_BOUNDS[i] * 1e9)
        i++;
    atomic_fetch_add_explicit(&histogram->buckets[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->sum_ns, ns, memory_order_relaxed);
}

void metrics_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_label_value(struct buf *out, const char *value)
{
    for (const char *p = value; *p; p++) {
        if (*p == '\\' || *p == '"')
            buf_printf(out, "\\%c", *p);
        else if (*p == '\n')
            buf_add_text(out, "\\n");
        else
            buf_add(out, p, 1);
    }
}

static void sample(struct buf *out, const char *name, const struct metric_label *labels,
                   const char *bound, double value)
{
    buf_add_text(out, name);
    const char *separator = "{";
    for (; labels && labels->name; labels++) {
        buf_printf(out, "%s%s=\"", separator, labels->name);
        add_label_value(out, labels->value);
        buf_add_text(out, "\"");
        separator = ",";
    }
    if (bound) {
        buf_printf(out, "%sle=\"%s\"", separator, bound);
        separator = ",";
    }
    buf_printf(out, "%s %.15g\n", *separator == ',' ? "}" : "", value);
}

void metrics_sample(struct buf *out, const char *name, const struct metric_label *labels,
                    double value)
{
    sample(out, name, labels, NULL, value);
}

void metrics_counter(struct buf *out, const char *name, const char *help,
                     const struct counter *counter)
{
    metrics_head(out, name, "counter", help);
    metrics_sample(out, name, NULL, (double)counter_value(counter));
}

void metrics_gauge(struct buf *out, const char *name, const char *help, double value)
{
    metrics_head(out, name, "gauge", help);
    metrics_sample(out, name, NULL, value);
}

void metrics_histogram(struct buf *out, const char *name, const struct metric_label *labels,
                       const struct histogram *histogram)
{
    char text[128];
    uint64_t total = 0;
    (void)snprintf(text, sizeof text, "%s_bucket", name);
    for (size_t i = 0; i <= METRICS_N_BOUNDS; i++) {
        char bound[32] = "+Inf";
        if (i < METRICS_N_BOUNDS)
            (void)snprintf(bound, sizeof bound, "%g", METRICS_LATENCY_BOUNDS[i]);
        total += atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
        sample(out, text, labels, bound, (double)total);
    }
    (void)snprintf(text, sizeof text, "%s_sum", name);
    uint64_t sum_ns = atomic_load_explicit(&histogram->sum_ns, memory_order_relaxed);
    sample(out, text, labels, NULL, (double)sum_ns / 1e9);
    (void)snprintf(text, sizeof text, "%s_count", name);
    sample(out, text, labels, NULL, (double)total);
}

/* No value, so no sample. */
#define NO_VALUE (-1.0)
/* /proc/stat grows with cores and interrupts. */
#define PROC_BYTES_MAX ((size_t)4 * 1024 * 1024)

/* Field numbers of /proc/self/stat in proc(5). */
enum { STAT_STARTTIME = 22, STAT_VSIZE = 23, STAT_RSS = 24 };

static int read_proc(const char *path, struct buf *text)
{
    struct err err;
    buf_init(text, PROC_BYTES_MAX);
    int r = small_file_read(path, false, text, &err);
    if (r < 0)
        buf_fini(text);
    return r;
}

/* Field 2 is the process name in parentheses, which may contain spaces and parentheses. */
static double stat_field(int number)
{
    struct buf text;
    if (read_proc("/proc/self/stat", &text) < 0)
        return NO_VALUE;
    const char *at = strrchr(buf_text(&text), ')');
    for (int i = 2; at && i < number; i++)
        at = strchr(at + 1, ' ');
    const double value = at ? strtod(at, NULL) : NO_VALUE;
    buf_fini(&text);
    return value;
}

/* Boot time of the machine in seconds since 1970. */
static double boot_s(void)
{
    static const char KEY[] = "\nbtime ";
    struct buf text;
    if (read_proc("/proc/stat", &text) < 0)
        return NO_VALUE;
    const char *at = strstr(buf_text(&text), KEY);
    const double value = at ? strtod(at + strlen(KEY), NULL) : NO_VALUE;
    buf_fini(&text);
    return value;
}

static double cpu_s(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) < 0)
        return NO_VALUE;
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static double open_fds(void)
{
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return NO_VALUE;
    double n = -1; /* opendir() itself uses one descriptor */
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        n += entry->d_name[0] != '.';
    (void)closedir(folder);
    return n;
}

static double max_fds(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : NO_VALUE;
}

static double resident_bytes(void)
{
    const double pages = stat_field(STAT_RSS);
    return pages < 0 ? NO_VALUE : pages * (double)sysconf(_SC_PAGESIZE);
}

static double virtual_bytes(void)
{
    return stat_field(STAT_VSIZE);
}

static double start_s(void)
{
    const double boot = boot_s();
    const double ticks = stat_field(STAT_STARTTIME);
    return boot < 0 || ticks < 0 ? NO_VALUE : boot + ticks / (double)sysconf(_SC_CLK_TCK);
}

static const struct {
    const char *name;
    const char *type;
    const char *help;
    double (*value)(void);
} ROWS[] = {
    {"process_cpu_seconds_total", "counter", "CPU time used by the process, in seconds.", cpu_s},
    {"process_resident_memory_bytes", "gauge", "Resident memory, in bytes.", resident_bytes},
    {"process_virtual_memory_bytes", "gauge", "Virtual memory, in bytes.", virtual_bytes},
    {"process_open_fds", "gauge", "Open file descriptors.", open_fds},
    {"process_max_fds", "gauge", "Maximum number of open file descriptors.", max_fds},
    {"process_start_time_seconds", "gauge", "When the process started, in seconds since 1970.",
     start_s},
};

void metrics_process(struct buf *out)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const double value = ROWS[i].value();
        metrics_head(out, ROWS[i].name, ROWS[i].type, ROWS[i].help);
        if (value >= 0)
            metrics_sample(out, ROWS[i].name, NULL, value);
    }
}
