#include "tests/spec/worker.h"

#include "common/segment.h"
#include "tests/spec/file.h"
#include "tests/spec/retire.h"
#include "tests/spec/uri.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A test that takes longer hangs; the signal ends the worker, and its supervisor says so. */
#define TEST_SECONDS 240

struct worker {
    const struct worker_options *options;
    struct server server;
    FILE *out;
    unsigned number, from;
};

static void say(struct worker *worker, int letter, const char *text)
{
    fprintf(worker->out, "%c%s%c", letter, text, '\0');
    fflush(worker->out);
}

/* Without the library the driver's own behaviour would be what is tested. Where the driver does
 * the job itself, the library lets it. */
static bool mongobp_is_at_work(void)
{
#if MONGOC_CHECK_VERSION(2, 3, 0)
    return true;
#else
    char name[MBP_SEGMENT_NAME_SIZE];
    const char *bucket = getenv("MONGOBP_BUCKET");

    mbp_segment_name(name, geteuid(), bucket ? bucket : "");
    const int descriptor = shm_open(name, O_RDONLY | O_CLOEXEC, 0);
    if (descriptor < 0) {
        return false;
    }
    close(descriptor);
    return true;
#endif
}

/* Whether this test is to be run: it is not wanted, or an earlier worker has run it already. */
static bool is_due(struct worker *worker, const char *name)
{
    if (worker->options->only && !strstr(name, worker->options->only)) {
        return false;
    }
    return worker->number++ >= worker->from;
}

static void run_test(struct worker *worker, const struct test_file *file, const char *file_name,
    const bson_t *definition)
{
    static const int letters[] = {SAYS_PASSED, SAYS_FAILED, SAYS_NOT_APPLICABLE};
    const char *description = doc_text(definition, "description", "without description");
    char *name = bson_strdup_printf("%s::%s", file_name, description);
    struct test test;

    if (is_due(worker, name)) {
        say(worker, SAYS_BEGIN, name);
        alarm(TEST_SECONDS);
        test_begin(&test, &worker->server);
        file_run_test(file, definition, &test);
        alarm(0);
        say(worker, letters[test.verdict], test.reason ? test.reason : "");
        test_end(&test);
    }
    bson_free(name);
}

/* A file that can't be read is a test that fails; one in another format is none of ours. */
static void run_file(struct worker *worker, const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char *name = bson_strndup(base, strlen(base) - strlen(".json"));
    struct test_file file;
    bson_iter_t iter;
    bson_t definition;

    file_open(&file, path);
    if (*file.problem && is_due(worker, name)) {
        say(worker, SAYS_BEGIN, name);
        say(worker, file.foreign ? SAYS_NOT_APPLICABLE : SAYS_FAILED, file.problem);
    } else if (!*file.problem) {
        for (doc_each(file.document, "tests", &iter); bson_iter_next(&iter);) {
            iter_view(&iter, &definition);
            run_test(worker, &file, name, &definition);
        }
    }
    file_close(&file);
    bson_free(name);
}

static const char *open_server(struct worker *worker)
{
    const char *uri = getenv("MBP_TEST_URI");

    if (!uri) {
        return "MBP_TEST_URI is not set; scripts/mongod sets it";
    }
    server_open(&worker->server, uri);
    worker->server.single_threaded = worker->options->single_threaded;
    if (*worker->server.problem) {
        return worker->server.problem;
    }
    return worker->options->plain || mongobp_is_at_work()
               ? NULL
               : "mongobp is not at work: is it in LD_PRELOAD?";
}

int worker_run(
    const struct worker_options *options, const char *path, unsigned from, int descriptor)
{
    struct worker worker = {.options = options, .from = from, .out = fdopen(descriptor, "w")};
    char **files = folder_files(path);
    int status = EXIT_SUCCESS;

    if (!worker.out) {
        perror("spec: report");
        return EXIT_FAILURE;
    }
    mongoc_init();
    uri_listen();
    const char *problem = open_server(&worker);
    if (problem) {
        fprintf(stderr, "spec: %s\n", problem);
        status = EXIT_FAILURE;
    }
    for (size_t i = 0; !problem && files[i]; i++) {
        run_file(&worker, files[i]);
    }
    retire_wait();
    server_close(&worker.server);
    mongoc_cleanup();
    bson_strfreev(files);
    fclose(worker.out);
    return status;
}
