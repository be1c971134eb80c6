#include "tests/spec/options.h"

#include "tests/spec/entities.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    mongoc_read_mode_t mode;
} modes[] = {
    {"primary", MONGOC_READ_PRIMARY},
    {"secondary", MONGOC_READ_SECONDARY},
    {"primaryPreferred", MONGOC_READ_PRIMARY_PREFERRED},
    {"secondaryPreferred", MONGOC_READ_SECONDARY_PREFERRED},
    {"nearest", MONGOC_READ_NEAREST},
};

mongoc_read_prefs_t *read_preference(struct test *test, const bson_t *options)
{
    mongoc_read_prefs_t *prefs = NULL;
    bson_t view, tags;
    const char *mode;

    if (!doc_view(options, "readPreference", &view) ||
        !only_keys(test, &view, "readPreference", "mode tagSets maxStalenessSeconds hedge")) {
        return NULL;
    }
    mode = doc_text(&view, "mode", "?");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcasecmp(modes[i].name, mode) == 0) {
            prefs = mongoc_read_prefs_new(modes[i].mode);
        }
    }
    if (!prefs) {
        fail(test, "readPreference: unknown mode '%s'", mode);
        return NULL;
    }
    if (doc_view(&view, "tagSets", &tags)) {
        mongoc_read_prefs_set_tags(prefs, &tags);
    }
    if (doc_has(&view, "maxStalenessSeconds")) {
        mongoc_read_prefs_set_max_staleness_seconds(
            prefs, doc_int(&view, "maxStalenessSeconds", -1));
    }
    /* Later versions of the driver call the function for it deprecated. */
    if (doc_has(&view, "hedge")) {
        not_applicable(test, "hedged reads");
    }
    return prefs;
}

mongoc_read_concern_t *read_concern(const bson_t *options)
{
    mongoc_read_concern_t *concern;
    bson_t view;

    if (!doc_view(options, "readConcern", &view)) {
        return NULL;
    }
    concern = mongoc_read_concern_new();
    if (doc_has(&view, "level")) {
        mongoc_read_concern_set_level(concern, doc_text(&view, "level", ""));
    }
    return concern;
}

mongoc_write_concern_t *write_concern(const bson_t *options)
{
    mongoc_write_concern_t *concern;
    const char *text;
    bson_t view;

    if (!doc_view(options, "writeConcern", &view)) {
        return NULL;
    }
    concern = mongoc_write_concern_new();
    text = doc_text(&view, "w", NULL);
    if (text && strcmp(text, "majority") == 0) {
        mongoc_write_concern_set_w(concern, MONGOC_WRITE_CONCERN_W_MAJORITY);
    } else if (text) {
        mongoc_write_concern_set_wtag(concern, text);
    } else if (doc_has(&view, "w")) {
        mongoc_write_concern_set_w(concern, (int32_t)doc_int(&view, "w", 1));
    }
    if (doc_has(&view, "journal")) {
        mongoc_write_concern_set_journal(concern, doc_bool(&view, "journal", false));
    }
    if (doc_has(&view, "wtimeoutMS")) {
        mongoc_write_concern_set_wtimeout_int64(concern, doc_int(&view, "wtimeoutMS", 0));
    }
    return concern;
}

mongoc_transaction_opt_t *transaction_options(struct test *test, const bson_t *options)
{
    mongoc_transaction_opt_t *opts;
    mongoc_read_concern_t *reads = read_concern(options);
    mongoc_write_concern_t *writes = write_concern(options);
    mongoc_read_prefs_t *prefs = read_preference(test, options);

    if (!reads && !writes && !prefs && !doc_has(options, "maxCommitTimeMS")) {
        return NULL;
    }
    opts = mongoc_transaction_opts_new();
    if (reads) {
        mongoc_transaction_opts_set_read_concern(opts, reads);
    }
    if (writes) {
        mongoc_transaction_opts_set_write_concern(opts, writes);
    }
    if (prefs) {
        mongoc_transaction_opts_set_read_prefs(opts, prefs);
    }
    if (doc_has(options, "maxCommitTimeMS")) {
        mongoc_transaction_opts_set_max_commit_time_ms(
            opts, doc_int(options, "maxCommitTimeMS", 0));
    }
    mongoc_read_concern_destroy(reads);
    mongoc_write_concern_destroy(writes);
    mongoc_read_prefs_destroy(prefs);
    return opts;
}

static bool append_session(struct test *test, const char *id, bson_t *opts)
{
    struct entity *entity = entity_get(test, id, SESSION);
    bson_error_t error;

    if (!entity) {
        return false;
    }
    if (!entity->session) {
        return fail(test, "session '%s' has ended", id);
    }
    return mongoc_client_session_append(entity->session, opts, &error) ||
           fail(test, "session '%s': %s", id, error.message);
}

bool driver_options(struct test *test, const bson_t *options, const char *words, bson_t *opts)
{
    bson_iter_t iter;

    for (bson_iter_init(&iter, options); bson_iter_next(&iter);) {
        const char *name = bson_iter_key(&iter);
        if (in_words(words, name) || strcmp(name, "readPreference") == 0) {
            continue;
        }
        /* libmongoc has neither a timeout of whole operations nor raw access to time series. */
        if (in_words("timeoutMS timeoutMode rawData", name)) {
            return not_applicable(test, "%s", name);
        }
        if (strcmp(name, "session") == 0) {
            if (!append_session(test, doc_text(options, name, "?"), opts)) {
                return false;
            }
        } else if (strcmp(name, "writeConcern") == 0) {
            mongoc_write_concern_t *concern = write_concern(options);
            bool appended = concern && mongoc_write_concern_append(concern, opts);
            mongoc_write_concern_destroy(concern);
            if (!appended) {
                return fail(test, "invalid writeConcern");
            }
        } else {
            doc_append(opts, name, &iter);
        }
    }
    return true;
}
