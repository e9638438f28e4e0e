/* certificate_checks: the policy's certificates, as the service itself judges them at its start. */
#include "certificate_checks.h"

#include "http/tls.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CERTIFICATES "certificates"

/* The files are where the service runs, which may be another machine. */
static const char *find_absent(const struct tls_files *files)
{
    const char *const paths[] = {files->certificate, files->private_key, files->client_ca,
                                 files->client_crl};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (*paths[i] && access(paths[i], R_OK) < 0)
            return paths[i];
    }
    return NULL;
}

void certificate_checks_run(const struct settings_tls *tls, struct findings *findings)
{
    const struct tls_files files = {.certificate = tls->certificate_file,
                                    .private_key = tls->private_key_file,
                                    .client_ca = tls->client_ca_file,
                                    .client_crl = tls->client_crl_file};
    struct err err;
    if (!*files.certificate)
        return;
    const char *absent = find_absent(&files);
    if (absent)
        findings_not_checked(findings, CERTIFICATES, "run this where gpu-extender runs",
                             "%s cannot be read here: %s", absent, strerror(errno));
    else if (tls_check(&files, &err) < 0)
        findings_add(findings, FINDING_FAIL, CERTIFICATES, "renew or correct the files of tls",
                     "%s", err.text);
    else
        findings_add(findings, FINDING_OK, CERTIFICATES, "",
                     "%s: is valid now, for servers, and belongs to its key", files.certificate);
}
