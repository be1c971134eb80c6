#include "shim/driver/reply.h"

static unsigned label_of(const struct mbp_field *field)
{
    static const struct {
        const char *text;
        enum mbp_label label;
    } labels[] = {
        {"RetryableError", MBP_LABEL_RETRYABLE},
        {"SystemOverloadedError", MBP_LABEL_OVERLOADED},
        {"NoWritesPerformed", MBP_LABEL_NO_WRITES_PERFORMED},
        {"TransientTransactionError", MBP_LABEL_TRANSIENT_TRANSACTION},
    };
    for (unsigned i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        if (mbp_field_is_text(field, labels[i].text)) {
            return labels[i].label;
        }
    }
    return 0;
}

static unsigned labels_of(const struct mbp_document *reply)
{
    struct mbp_field field;
    struct mbp_document labels;
    unsigned result = 0;
    size_t position = 0;
    if (mbp_document_find(reply, "errorLabels", &field) && mbp_field_as_document(&field, &labels)) {
        while (mbp_document_next(&labels, &position, &field)) {
            result |= label_of(&field);
        }
    }
    return result;
}

/* On these the driver drops its connection before it returns: the command's
 * stream is gone, and another server is to be found first. */
static bool takes_the_server_away(int64_t code)
{
    switch (code) {
    case 91:    /* ShutdownInProgress */
    case 189:   /* PrimarySteppedDown */
    case 10058: /* LegacyNotPrimary */
    case 10107: /* NotWritablePrimary */
    case 11600: /* InterruptedAtShutdown */
    case 11602: /* InterruptedDueToReplStateChange */
    case 13435: /* NotPrimaryNoSecondaryOk */
    case 13436: /* NotPrimaryOrSecondary */
        return true;
    default:
        return false;
    }
}

void mbp_reply_classify(const struct mbp_document *reply, struct mbp_attempt *attempt)
{
    struct mbp_field field;
    int64_t code = 0;
    int64_t base_backoff_ms = 0;
    if (mbp_document_find(reply, "baseBackoffMS", &field) &&
        mbp_field_as_integer(&field, &base_backoff_ms) && base_backoff_ms > 0) {
        attempt->base_backoff_ms = (uint64_t)base_backoff_ms;
    }
    attempt->labels = labels_of(reply);
    /* Without a code the driver judges by the error's text; we don't. */
    attempt->unsafe_to_resend = !mbp_document_find(reply, "code", &field) ||
                                !mbp_field_as_integer(&field, &code) || takes_the_server_away(code);
}
