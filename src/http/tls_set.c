/* tls_set: see tls_set.h. The only file that uses GnuTLS sessions and certificates. */
#include "tls_set.h"
#include "base/clock.h"
#include "base/mem.h"
#include "known_peers.h"
#include "transport.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Certificates, including the client's own. */
#define CHAIN_MAX 8
#define ORGANIZATIONS_MAX 16
/* Bits of a client certificate's key: more than any in use. */
#define KEY_BITS_MAX 8192U
/* How long a valid result is cached: an intermediate may have expired meanwhile. */
#define KNOWN_FOR_MS 5000
/* ASN.1 tags of GnuTLS; all hold plain text. */
#define TAG_UTF8 12
#define TAG_PRINTABLE 19
#define TAG_IA5 22

struct tls_set {
    atomic_uint n_holders;
    gnutls_x509_crt_t *chain; /* the server's certificate first */
    unsigned n_chain;
    gnutls_x509_privkey_t key;
    gnutls_x509_trust_list_t authorities;
    int64_t crl_next_update;  /* the earliest; -1: none */
    struct known_peers known; /* verified with these authorities */
};

/* ---- reading ---- */

static int fault(const char *path, const char *what, int code, struct err *err)
{
    return err_set(err, EINVAL, "%s: %s: %s", path, what, gnutls_strerror(code));
}

static gnutls_datum_t datum_of(const struct buf *text)
{
    gnutls_datum_t datum = {.data = (unsigned char *)text->data, .size = (unsigned)text->len};
    return datum;
}

static int read_chain(struct tls_set *set, const char *path, const struct buf *text,
                      struct err *err)
{
    const gnutls_datum_t datum = datum_of(text);
    int r = gnutls_x509_crt_list_import2(&set->chain, &set->n_chain, &datum, GNUTLS_X509_FMT_PEM,
                                         GNUTLS_X509_CRT_LIST_SORT);
    if (r < 0)
        return fault(path, "holds no certificate in PEM that can be read", r, err);
    if (gnutls_x509_crt_check_key_purpose(set->chain[0], GNUTLS_KP_TLS_WWW_SERVER, 0) == 0)
        return err_set(err, EINVAL,
                       "%s: the certificate is not for servers: its extended key "
                       "usage has no serverAuth",
                       path);
    return 0;
}

static int import_key(const struct buf *text, gnutls_x509_privkey_t *ret_key)
{
    const gnutls_datum_t datum = datum_of(text);
    int r = gnutls_x509_privkey_init(ret_key);
    return r < 0 ? r : gnutls_x509_privkey_import2(*ret_key, &datum, GNUTLS_X509_FMT_PEM, NULL, 0);
}

static int read_key(struct tls_set *set, const char *path, const struct buf *text, struct err *err)
{
    int r = import_key(text, &set->key);
    return r < 0 ? fault(path, "holds no private key in PEM that can be read", r, err) : 0;
}

/* A negative error of GnuTLS, or whether the key belongs to the certificate. */
static int is_pair(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key)
{
    unsigned char of_certificate[64];
    unsigned char of_key[64];
    size_t len = sizeof of_certificate;
    size_t key_len = sizeof of_key;
    int r = gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA256, of_certificate, &len);
    if (r == 0)
        r = gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, of_key, &key_len);
    return r < 0 ? r : len == key_len && memcmp(of_certificate, of_key, len) == 0;
}

static int check_pair(const struct tls_set *set, const struct tls_files *files, struct err *err)
{
    int r = is_pair(set->chain[0], set->key);
    if (r < 0)
        return fault(files->private_key, "cannot be compared with the certificate", r, err);
    return r == 1 ? 0
                  : err_set(err, EINVAL, "%s: is not the private key of the certificate in %s",
                            files->private_key, files->certificate);
}

static int import_authorities(const struct buf *text, gnutls_x509_trust_list_t *ret_list)
{
    const gnutls_datum_t datum = datum_of(text);
    gnutls_x509_crt_t *crts = NULL;
    unsigned n = 0;
    int r = gnutls_x509_crt_list_import2(&crts, &n, &datum, GNUTLS_X509_FMT_PEM, 0);
    if (r < 0)
        return r;
    r = gnutls_x509_trust_list_init(ret_list, 0);
    if (r == 0) /* takes ownership of the certificates */
        r = gnutls_x509_trust_list_add_cas(*ret_list, crts, n, 0);
    gnutls_free(crts);
    return r < 0 ? r : 0;
}

static int read_authorities(struct tls_set *set, const char *path, const struct buf *text,
                            struct err *err)
{
    int r = import_authorities(text, &set->authorities);
    return r < 0 ? fault(path, "holds no certificate in PEM that can be read", r, err) : 0;
}

static bool is_by_authority(const struct tls_set *set, gnutls_x509_crl_t crl)
{
    bool is = false;
    gnutls_x509_crt_t crt = NULL;
    gnutls_x509_trust_list_iter_t iter = NULL;
    while (!is && gnutls_x509_trust_list_iter_get_ca(set->authorities, &iter, &crt) == 0) {
        is = gnutls_x509_crl_check_issuer(crl, crt) == 1;
        gnutls_x509_crt_deinit(crt);
    }
    gnutls_x509_trust_list_iter_deinit(iter);
    return is;
}

static void note_next_update(struct tls_set *set, gnutls_x509_crl_t crl)
{
    const time_t next = gnutls_x509_crl_get_next_update(crl);
    if (next >= 0 && (set->crl_next_update < 0 || next < set->crl_next_update))
        set->crl_next_update = next;
}

/* The lists are as trustworthy as their file, which the operator writes like the CA file. Their
 * signatures are not checked, as many clusters' CAs (kubeadm's) lack the usage cRLSign. */
static int read_revoked(struct tls_set *set, const char *path, const struct buf *text,
                        struct err *err)
{
    const gnutls_datum_t datum = datum_of(text);
    gnutls_x509_crl_t *crls = NULL;
    unsigned n = 0;
    int r = gnutls_x509_crl_list_import2(&crls, &n, &datum, GNUTLS_X509_FMT_PEM, 0);
    if (r < 0)
        return fault(path, "holds no list of revoked certificates (CRL) in PEM that can be read", r,
                     err);
    bool are_ours = true;
    for (unsigned i = 0; i < n; i++) {
        are_ours = are_ours && is_by_authority(set, crls[i]);
        note_next_update(set, crls[i]);
    }
    /* takes ownership of the lists */
    const int n_added = gnutls_x509_trust_list_add_crls(set->authorities, crls, n, 0, 0);
    gnutls_free(crls);
    if (!are_ours)
        return err_set(err, EINVAL,
                       "%s: a list of revoked certificates is issued by none of the authorities in "
                       "tls.clientCAFile",
                       path);
    return n_added == (int)n
               ? 0
               : err_set(err, EINVAL, "%s: two lists are issued by the same authority", path);
}

int tls_set_new(const struct tls_files *files, const struct buf texts[N_TLS_FILES],
                struct tls_set **ret_set, struct err *err)
{
    struct tls_set *set = MEM_NEW(struct tls_set);
    atomic_init(&set->n_holders, 1);
    known_peers_init(&set->known);
    set->crl_next_update = -1;
    int r = read_chain(set, files->certificate, &texts[TLS_CERTIFICATE], err);
    if (r == 0)
        r = read_key(set, files->private_key, &texts[TLS_PRIVATE_KEY], err);
    if (r == 0)
        r = check_pair(set, files, err);
    if (r == 0)
        r = read_authorities(set, files->client_ca, &texts[TLS_CLIENT_CA], err);
    if (r == 0 && *files->client_crl)
        r = read_revoked(set, files->client_crl, &texts[TLS_CLIENT_CRL], err);
    if (r == 0)
        *ret_set = set;
    else
        tls_set_drop(set);
    return r;
}

int tls_set_new_front(const struct buf *authorities, struct tls_set **ret_set, struct err *err)
{
    struct tls_set *set = MEM_NEW(struct tls_set);
    atomic_init(&set->n_holders, 1);
    known_peers_init(&set->known);
    set->crl_next_update = -1;
    int r = import_authorities(authorities, &set->authorities);
    if (r < 0) {
        tls_set_drop(set);
        return err_set(err, EINVAL, "holds no certificate in PEM that can be read: %s",
                       gnutls_strerror(r));
    }
    *ret_set = set;
    return 0;
}

struct tls_set *tls_set_hold(struct tls_set *set)
{
    atomic_fetch_add_explicit(&set->n_holders, 1, memory_order_relaxed);
    return set;
}

void tls_set_drop(struct tls_set *set)
{
    if (!set || atomic_fetch_sub_explicit(&set->n_holders, 1, memory_order_acq_rel) > 1)
        return;
    for (unsigned i = 0; i < set->n_chain; i++)
        gnutls_x509_crt_deinit(set->chain[i]);
    gnutls_free(set->chain);
    gnutls_x509_privkey_deinit(set->key);
    gnutls_x509_trust_list_deinit(set->authorities, 1);
    known_peers_fini(&set->known);
    free(set);
}

int64_t tls_set_not_after(const struct tls_set *set)
{
    return gnutls_x509_crt_get_expiration_time(set->chain[0]);
}

int64_t tls_set_crl_next_update(const struct tls_set *set)
{
    return set->crl_next_update;
}

int tls_set_check_crl_dates(const struct tls_set *set, const struct tls_files *files,
                            struct err *err)
{
    char when[TEXT_TIME_SIZE];
    if (set->crl_next_update < 0 || set->crl_next_update >= time(NULL))
        return 0;
    return err_set(err, EINVAL, "%s: a list of revoked certificates should have been renewed by %s",
                   files->client_crl, text_time(set->crl_next_update, when));
}

int tls_set_check_dates(const struct tls_set *set, const struct tls_files *files, struct err *err)
{
    const time_t now = time(NULL);
    const time_t first = gnutls_x509_crt_get_activation_time(set->chain[0]);
    const time_t last = gnutls_x509_crt_get_expiration_time(set->chain[0]);
    char when[TEXT_TIME_SIZE];
    if (last < now)
        return err_set(err, EINVAL, "%s: the certificate has expired: it was valid until %s",
                       files->certificate, text_time(last, when));
    if (first > now)
        return err_set(err, EINVAL, "%s: the certificate is not valid yet: it is valid from %s",
                       files->certificate, text_time(first, when));
    return 0;
}

/* ---- the server's side of a handshake ---- */

/* Copies, which the library frees, as the set may be replaced during a handshake. */
static int copy_credentials(const struct tls_set *set, gnutls_pcert_st *pcerts,
                            gnutls_privkey_t *ret_key)
{
    int r = 0;
    unsigned n = 0;
    while (r == 0 && n < set->n_chain) {
        r = gnutls_pcert_import_x509(&pcerts[n], set->chain[n], 0);
        n += r == 0;
    }
    if (r == 0)
        r = gnutls_privkey_init(ret_key);
    if (r == 0) {
        r = gnutls_privkey_import_x509(*ret_key, set->key, GNUTLS_PRIVKEY_IMPORT_COPY);
        if (r < 0)
            gnutls_privkey_deinit(*ret_key);
    }
    while (r < 0 && n > 0)
        gnutls_pcert_deinit(&pcerts[--n]);
    return r;
}

// NOLINTNEXTLINE(readability-function-size): the library's signature
static int retrieve_certificate(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
                                gnutls_pcert_st **certs, unsigned *n_certs,
                                gnutls_ocsp_data_st **ocsp, unsigned *n_ocsp, gnutls_privkey_t *key,
                                unsigned *flags)
{
    (void)info;
    struct tls_set *set = tls_serving();
    gnutls_pcert_st *copies = gnutls_calloc(set->n_chain, sizeof *copies);
    if (!copies)
        abort(); /* out of memory */
    int r = copy_credentials(set, copies, key);
    if (r == 0) {
        *certs = copies;
        *n_certs = set->n_chain;
        *ocsp = NULL;
        *n_ocsp = 0;
        *flags = GNUTLS_CERT_RETR_DEINIT_ALL;
        /* names no CA: the library could name only those from its start */
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
    } else {
        gnutls_free(copies);
    }
    tls_set_drop(set);
    return r < 0 ? -1 : 0;
}

tls_function *const TLS_RETRIEVE_CERTIFICATE = (tls_function *)retrieve_certificate;

/* An unauthenticated client chooses the key for its signature, whose check takes the cube of the
 * key's length. The certificate is not verified yet then, so its key's length is checked first. */
static bool has_long_key(gnutls_session_t session)
{
    unsigned n = 0;
    unsigned bits = 0;
    gnutls_x509_crt_t crt = NULL;
    const gnutls_datum_t *shown = gnutls_certificate_get_peers(session, &n);
    if (!shown || n == 0 || gnutls_x509_crt_init(&crt) < 0)
        return false;
    if (gnutls_x509_crt_import(crt, &shown[0], GNUTLS_X509_FMT_DER) == 0)
        (void)gnutls_x509_crt_get_pk_algorithm(crt, &bits);
    gnutls_x509_crt_deinit(crt);
    return bits > KEY_BITS_MAX;
}

/* The client's Finished is the last message of a handshake; its signature, if any, comes before. */
static int on_handshake_message(gnutls_session_t session, unsigned type, unsigned when,
                                unsigned is_incoming, const gnutls_datum_t *message)
{
    (void)when;
    (void)message;
    if (type == GNUTLS_HANDSHAKE_CERTIFICATE_VERIFY && is_incoming && has_long_key(session))
        return GNUTLS_E_CERTIFICATE_ERROR;
    if (type == GNUTLS_HANDSHAKE_FINISHED && is_incoming)
        transport_greeted(gnutls_session_get_ptr(session)); /* set by the library */
    return 0;
}

void tls_set_watch_handshake(void *session)
{
    gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_ANY, GNUTLS_HOOK_POST,
                                       on_handshake_message);
}

void tls_set_send_last(void *session, const void *bytes, size_t len)
{
    (void)gnutls_record_send(session, bytes, len);
    (void)gnutls_bye(session, GNUTLS_SHUT_WR);
}

/* ---- the client's certificate ---- */

static const char FAULT_TOO_LONG[] = "the client certificate's chain is too long";

static const char *fault_of_status(unsigned status)
{
    static const struct {
        unsigned bit;
        const char *fault;
    } FAULTS[] = {
        {GNUTLS_CERT_REVOKED, "the client certificate, or one above it, has been revoked"},
        {GNUTLS_CERT_SIGNER_NOT_FOUND,
         "the client certificate is signed by none of the authorities in tls.clientCAFile"},
        {GNUTLS_CERT_EXPIRED, "the client certificate, or one above it, has expired"},
        {GNUTLS_CERT_NOT_ACTIVATED, "the client certificate, or one above it, is not valid yet"},
        {GNUTLS_CERT_PURPOSE_MISMATCH,
         "the client certificate is not for clients: its extended key usage has no clientAuth"},
        {GNUTLS_CERT_INSECURE_ALGORITHM,
         "the client certificate, or one above it, has a weak key or signature"},
    };
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) {
        if (status & FAULTS[i].bit)
            return FAULTS[i].fault;
    }
    return "the client certificate is not valid";
}

static const char *verify(const struct tls_set *set, gnutls_x509_crt_t *chain, unsigned n)
{
    static unsigned char purpose[] = GNUTLS_KP_TLS_WWW_CLIENT;
    gnutls_typed_vdata_st data = {.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = purpose};
    unsigned status = 0;
    int r = gnutls_x509_trust_list_verify_crt2(set->authorities, chain, n, &data, 1,
                                               GNUTLS_PROFILE_TO_VFLAGS(GNUTLS_PROFILE_MEDIUM),
                                               &status, NULL);
    return r < 0 || status != 0 ? fault_of_status(status) : NULL;
}

/* NULL if the value is no text that compares byte by byte. */
static const char *text_of(const gnutls_x509_ava_st *part, struct arena *arena)
{
    const unsigned long tag = part->value_tag;
    if (tag != TAG_UTF8 && tag != TAG_PRINTABLE && tag != TAG_IA5)
        return NULL;
    if (memchr(part->value.data, '\0', part->value.size))
        return NULL;
    return arena_strndup(arena, (const char *)part->value.data, part->value.size);
}

/* Names in the subject. Two common names count as none, as readers disagree on which is valid. */
struct names {
    struct exchange_peer peer;
    const char *organizations[ORGANIZATIONS_MAX + 1];
    size_t n_organizations;
    size_t n_common_names;
};

static bool is_oid(const gnutls_x509_ava_st *part, const char *oid)
{
    const size_t len = strnlen((const char *)part->oid.data, part->oid.size);
    return len == strlen(oid) && memcmp(part->oid.data, oid, len) == 0;
}

static void add_name(struct names *names, const gnutls_x509_ava_st *part, struct arena *arena)
{
    const char *text = text_of(part, arena);
    if (is_oid(part, GNUTLS_OID_X520_COMMON_NAME)) {
        names->n_common_names++;
        names->peer.common_name = text && names->n_common_names == 1 ? text : "";
    } else if (text && is_oid(part, GNUTLS_OID_X520_ORGANIZATION_NAME) &&
               names->n_organizations < ORGANIZATIONS_MAX) {
        names->organizations[names->n_organizations++] = text;
    }
}

static const struct exchange_peer *read_names(gnutls_x509_crt_t crt, struct arena *arena)
{
    struct names *names = ARENA_NEW(arena, struct names);
    gnutls_x509_dn_t subject = NULL;
    gnutls_x509_ava_st part;
    names->peer = (struct exchange_peer){.common_name = "", .organizations = names->organizations};
    if (gnutls_x509_crt_get_subject(crt, &subject) < 0)
        return &names->peer;
    for (int i = 0; gnutls_x509_dn_get_rdn_ava(subject, i, 0, &part) == 0; i++) {
        for (int j = 0; gnutls_x509_dn_get_rdn_ava(subject, i, j, &part) == 0; j++)
            add_name(names, &part, arena);
    }
    return &names->peer;
}

/* Returns false if one is no certificate; the caller frees *ret_n of them in any case. */
static bool import_chain(const gnutls_datum_t *shown, unsigned n_shown, gnutls_x509_crt_t *chain,
                         unsigned *ret_n)
{
    for (*ret_n = 0; *ret_n < n_shown;) {
        if (gnutls_x509_crt_init(&chain[*ret_n]) < 0)
            return false;
        gnutls_x509_crt_t crt = chain[(*ret_n)++];
        if (gnutls_x509_crt_import(crt, shown++, GNUTLS_X509_FMT_DER) < 0)
            return false;
    }
    return true;
}

static const struct exchange_peer *judge(struct tls_set *set, const gnutls_datum_t *shown,
                                         unsigned n_shown, struct arena *arena,
                                         const char **ret_fault)
{
    gnutls_x509_crt_t chain[CHAIN_MAX] = {NULL};
    unsigned n = 0;
    const struct exchange_peer *peer = NULL;
    if (import_chain(shown, n_shown, chain, &n))
        *ret_fault = verify(set, chain, n);
    else
        *ret_fault = fault_of_status(0);
    if (!*ret_fault) {
        const int64_t left_ms = (gnutls_x509_crt_get_expiration_time(chain[0]) - time(NULL)) * 1000;
        peer = read_names(chain[0], arena);
        known_peers_add(&set->known, shown->data, shown->size, peer,
                        clock_ms() + (left_ms < KNOWN_FOR_MS ? left_ms : KNOWN_FOR_MS));
    }
    while (n > 0)
        gnutls_x509_crt_deinit(chain[--n]);
    return peer;
}

/* The handshake has proven that the client has the certificate's key. */
const struct exchange_peer *tls_set_peer(struct tls_set *set, void *session, struct arena *arena,
                                         const char **ret_fault)
{
    unsigned n = 0;
    const gnutls_datum_t *shown = gnutls_certificate_get_peers(session, &n);
    *ret_fault = NULL;
    if (!shown || n == 0)
        *ret_fault = "there is no client certificate";
    else if (n > CHAIN_MAX)
        *ret_fault = FAULT_TOO_LONG;
    else if (gnutls_certificate_type_get2(session, GNUTLS_CTYPE_PEERS) != GNUTLS_CRT_X509)
        *ret_fault = fault_of_status(0);
    if (*ret_fault)
        return NULL;
    const struct exchange_peer *peer =
        known_peers_find(&set->known, shown->data, shown->size, clock_ms(), arena);
    return peer ? peer : judge(set, shown, n, arena, ret_fault);
}

/* ---- facts for --doctor ---- */

static struct tls_facts dates_of(gnutls_x509_crt_t crt)
{
    return (struct tls_facts){.not_before = gnutls_x509_crt_get_activation_time(crt),
                              .not_after = gnutls_x509_crt_get_expiration_time(crt)};
}

/* Go's clients, kube-scheduler among them, ignore the common name. */
void tls_set_server_facts(const struct tls_set *set, const char *host, struct tls_facts *ret_facts)
{
    char name[1];
    size_t len = sizeof name;
    *ret_facts = dates_of(set->chain[0]);
    ret_facts->has_names =
        gnutls_x509_crt_get_subject_alt_name(set->chain[0], 0, name, &len, NULL) !=
        GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE;
    ret_facts->is_for_host =
        ret_facts->has_names && gnutls_x509_crt_check_hostname(set->chain[0], host) != 0;
}

int tls_set_client_facts(const struct tls_set *set, const struct buf *pem, struct arena *arena,
                         struct tls_facts *ret_facts, struct err *err)
{
    const gnutls_datum_t datum = datum_of(pem);
    gnutls_x509_crt_t *chain = NULL;
    unsigned n = 0;
    int r = gnutls_x509_crt_list_import2(&chain, &n, &datum, GNUTLS_X509_FMT_PEM,
                                         GNUTLS_X509_CRT_LIST_SORT);
    if (r < 0)
        return err_set(err, EINVAL, "holds no certificate in PEM that can be read: %s",
                       gnutls_strerror(r));
    *ret_facts = dates_of(chain[0]);
    ret_facts->fault = n > CHAIN_MAX ? FAULT_TOO_LONG : verify(set, chain, n);
    if (!ret_facts->fault)
        ret_facts->peer = read_names(chain[0], arena);
    while (n > 0)
        gnutls_x509_crt_deinit(chain[--n]);
    gnutls_free(chain);
    return 0;
}

int tls_set_trust(const struct tls_set *set, const struct buf *authorities, bool *ret_is_trusted,
                  struct err *err)
{
    static unsigned char purpose[] = GNUTLS_KP_TLS_WWW_SERVER;
    gnutls_typed_vdata_st data = {.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = purpose};
    gnutls_x509_trust_list_t list = NULL;
    unsigned status = 0;
    int r = import_authorities(authorities, &list);
    if (r == 0)
        r = gnutls_x509_trust_list_verify_crt2(list, set->chain, set->n_chain, &data, 1, 0, &status,
                                               NULL);
    gnutls_x509_trust_list_deinit(list, 1);
    if (r < 0)
        return err_set(err, EINVAL, "holds no certificate in PEM that can be read: %s",
                       gnutls_strerror(r));
    *ret_is_trusted = status == 0;
    return 0;
}

int tls_set_check_pair(const struct buf *certificate, const struct buf *private_key,
                       struct err *err)
{
    const gnutls_datum_t datum = datum_of(certificate);
    gnutls_x509_crt_t crt = NULL;
    gnutls_x509_privkey_t key = NULL;
    int r = gnutls_x509_crt_init(&crt);
    if (r == 0)
        r = gnutls_x509_crt_import(crt, &datum, GNUTLS_X509_FMT_PEM);
    if (r == 0)
        r = import_key(private_key, &key);
    if (r == 0)
        r = is_pair(crt, key);
    gnutls_x509_privkey_deinit(key);
    gnutls_x509_crt_deinit(crt);
    if (r < 0)
        return err_set(err, EINVAL, "cannot be read: %s", gnutls_strerror(r));
    return r == 1 ? 0 : err_set(err, EINVAL, "is not the private key of the certificate");
}
