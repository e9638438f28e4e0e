/* timeout_check: see timeout_check.h. */
#include "timeout_check.h"

#include "formats/json_get.h"
#include "setting.h"

#define BIND "bindTimeoutSeconds"
#define HTTP "httpTimeoutSeconds"

/* A binding that takes effect after kube-scheduler gave its call up counts as failed there: it runs
 * Unreserve and tries the pod again (PROTOCOL 3.6, 3.7). */
int timeout_check(const struct yaml_file *file, json_t *root, const struct settings *settings,
                  struct err *err)
{
    const size_t bind_s = settings->kubernetes.bind_timeout_s;
    const size_t http_s = settings->scheduler.http_timeout_s;
    const struct yaml_value bind = setting_place(root, "kubernetes", BIND, "kubernetes." BIND);
    const struct yaml_value http = setting_place(root, "scheduler", HTTP, "scheduler." HTTP);
    if (bind_s < http_s)
        return 0;
    if (json_member(json_member(root, "kubernetes"), BIND))
        return yaml_fault(file, &bind, err, "is %zu, should be less than scheduler." HTTP " (%zu)",
                          bind_s, http_s);
    return yaml_fault(file, &http, err, "is %zu, should be more than kubernetes." BIND " (%zu)",
                      http_s, bind_s);
}
