/*
 * without_tls: stubs for TLS in a program that serves only plain HTTP and is linked statically,
 * since no distribution has static forms of all libraries of GnuTLS.
 *
 * The library that the program links was built with TLS. It starts and ends GnuTLS, which may do
 * nothing here. All other calls would be for a connection with TLS, of which there is none: they
 * end the program. tls.c and tls_set.c are not in such a program.
 */
#include "tls_set.h"

#include <stdlib.h>

tls_function *const TLS_RETRIEVE_CERTIFICATE = NULL;

const struct exchange_peer *tls_peer(void *session, struct arena *arena, const char **ret_fault)
{
    (void)session;
    (void)arena;
    *ret_fault = "there is no client certificate";
    return NULL;
}

const struct exchange_peer *tls_front(void *session, struct arena *arena, const char **ret_fault)
{
    return tls_peer(session, arena, ret_fault);
}

void tls_set_send_last(void *session, const void *bytes, size_t len)
{
    (void)session;
    (void)bytes;
    (void)len;
    abort();
}

void tls_set_watch_handshake(void *session)
{
    (void)session;
    abort();
}

/* ---- GnuTLS ---- */

int gnutls_global_init(void);
void gnutls_global_deinit(void);

int gnutls_global_init(void)
{
    return 0;
}

void gnutls_global_deinit(void)
{
}

#define NEVER_CALLED(name)                                                                         \
    void name(void);                                                                               \
    void name(void)                                                                                \
    {                                                                                              \
        abort();                                                                                   \
    }
NEVER_CALLED(gnutls_alpn_set_protocols)
NEVER_CALLED(gnutls_bye)
NEVER_CALLED(gnutls_certificate_allocate_credentials)
NEVER_CALLED(gnutls_certificate_free_credentials)
NEVER_CALLED(gnutls_certificate_server_set_request)
NEVER_CALLED(gnutls_certificate_set_dh_params)
NEVER_CALLED(gnutls_certificate_set_retrieve_function2)
NEVER_CALLED(gnutls_certificate_set_retrieve_function3)
NEVER_CALLED(gnutls_certificate_set_x509_key_mem)
NEVER_CALLED(gnutls_certificate_set_x509_key_mem2)
NEVER_CALLED(gnutls_certificate_set_x509_trust_mem)
NEVER_CALLED(gnutls_cipher_get)
NEVER_CALLED(gnutls_credentials_set)
NEVER_CALLED(gnutls_deinit)
NEVER_CALLED(gnutls_dh_params_deinit)
NEVER_CALLED(gnutls_dh_params_import_pkcs3)
NEVER_CALLED(gnutls_dh_params_init)
NEVER_CALLED(gnutls_handshake)
NEVER_CALLED(gnutls_init)
NEVER_CALLED(gnutls_priority_deinit)
NEVER_CALLED(gnutls_priority_init)
NEVER_CALLED(gnutls_priority_set)
NEVER_CALLED(gnutls_protocol_get_version)
NEVER_CALLED(gnutls_psk_allocate_server_credentials)
NEVER_CALLED(gnutls_psk_free_server_credentials)
NEVER_CALLED(gnutls_psk_set_server_credentials_function)
NEVER_CALLED(gnutls_record_check_pending)
NEVER_CALLED(gnutls_record_get_direction)
NEVER_CALLED(gnutls_record_recv)
NEVER_CALLED(gnutls_record_send)
NEVER_CALLED(gnutls_session_get_ptr)
NEVER_CALLED(gnutls_session_set_ptr)
NEVER_CALLED(gnutls_strerror)
NEVER_CALLED(gnutls_transport_set_int2)

/* A variable, by which GnuTLS allocates for its caller. */
extern void *(*const gnutls_malloc)(size_t size);
void *(*const gnutls_malloc)(size_t size) = NULL;
