/* fit: where a manifest's pods would go. The exit status is for CI. */
#include "api/tables.h"
#include "print.h"
#include "verbs.h"
#include "workloads.h"

int verbs_fit(struct session *session)
{
    static const struct print_names NAMES = {"workloads", NULL};
    json_t *result = NULL;
    int status = session_read_file(session, session->arguments.manifest, &session->manifest);
    if (status == EXIT_FINE)
        status = session_ask_or_complain(session, "dry-run", &session->manifest, &result);
    if (status == EXIT_FINE)
        status = print_answer(session, result, tables_write_dry_run, &NAMES, true,
                              workloads_judge(result, true));
    json_decref(result);
    return status;
}
