/* process_metrics: see include/base/process_metrics.h. */
#include "base/process_metrics.h"
#include "base/metrics.h"
#include "base/small_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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

void process_metrics(struct buf *out)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const double value = ROWS[i].value();
        metrics_head(out, ROWS[i].name, ROWS[i].type, ROWS[i].help);
        if (value >= 0)
            metrics_sample(out, ROWS[i].name, NULL, value);
    }
}
