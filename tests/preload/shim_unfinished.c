/*
 * Recognising the driver's own retry of a command, and forbidding it.
 */
#include "shim/unfinished.h"

#include "shim_driver.h"
#include "tests/preload/fake/fake.h"

#include <criterion/criterion.h>

/* mongoc_write_err_type_t */
enum { NONE, OTHER, RETRY, WRITE_CONCERN };

static struct mbp_binding binding;
static struct fake_command command = {.operation_id = 5, .later_operation_id = 6};
static struct fake_cluster clusters[2];
static bson_t *body;

static void have_command(const char *name, const char *json)
{
    bson_destroy(body);
    body = shim_document(json);
    command.name = name;
    command.body = (const struct fake_reply *)body;
}

static void begin(void)
{
    binding = shim_binding("fake", 1023);
    have_command("insert", "{'insert': 'things', 'txnNumber': 7}");
}

static void end(void)
{
    bson_destroy(body);
}

TestSuite(shim_unfinished, .init = begin, .fini = end);

static struct mbp_call call(void)
{
    return (struct mbp_call){
        .binding = &binding,
        .cluster = (struct mbp_cluster *)&clusters[0],
        .command = (struct mbp_command *)&command,
    };
}

/* The command failed after two retries, the last of them paid for. */
static void fail(bool overloaded, bool used_up)
{
    struct mbp_call failed = call();
    mbp_call_look_into(&failed);
    const struct mbp_operation operation = {.retries = 2, .paid = true, .deadline_ms = 99};
    mbp_unfinished_note(&failed, &operation, overloaded, used_up);
}

static void expect_new(struct mbp_call *next, const char *why)
{
    struct mbp_operation operation = {.retries = 0, .deadline_ms = 1};
    cr_expect_not(mbp_unfinished_resume(next, &operation), "%s", why);
    cr_expect(operation.retries == 0 && operation.deadline_ms == 1, "%s", why);
}

Test(shim_unfinished, driver_goes_on_where_we_stopped)
{
    struct mbp_operation operation = {.retries = 0};
    struct mbp_call again = call();
    fail(true, false);
    cr_expect_eq(mbp_unfinished_answer(RETRY), RETRY);
    cr_expect(mbp_unfinished_resume(&again, &operation));
    cr_expect_eq(operation.retries, 3);
    cr_expect_eq(operation.deadline_ms, 99);
    cr_expect_not(operation.paid, "the driver's retry cost nothing that could come back");
    expect_new(&again, "the driver retries once");
}

Test(shim_unfinished, only_what_is_the_same_in_every_respect)
{
    struct mbp_call other = call();
    other.cluster = (struct mbp_cluster *)&clusters[1];
    fail(true, false);
    mbp_unfinished_answer(RETRY);
    expect_new(&other, "another client");

    struct fake_command second = command;
    other = call();
    other.command = (struct mbp_command *)&second;
    fail(true, false);
    mbp_unfinished_answer(RETRY);
    expect_new(&other, "another command");

    other = call();
    fail(true, false);
    mbp_unfinished_answer(RETRY);
    bson_t *second_body = shim_document("{'insert': 'things', 'txnNumber': 7}");
    command.body = (const struct fake_reply *)second_body;
    expect_new(&other, "another document in the same place");
    bson_destroy(second_body);
    command.body = (const struct fake_reply *)body;

    fail(true, false);
    mbp_unfinished_answer(RETRY);
    command.operation_id++;
    expect_new(&other, "another operation in the same place");
}

/* The next message of a bulk may look like the one before in all but this. */
Test(shim_unfinished, another_number_is_another_statement)
{
    struct mbp_call next = call();
    fail(true, false);
    mbp_unfinished_answer(RETRY);
    bson_reinit(body);
    BSON_APPEND_UTF8(body, "insert", "things");
    BSON_APPEND_INT64(body, "txnNumber", 8);
    expect_new(&next, "another transaction number");
}

/* Where another command came between, nothing is resumed. */
Test(shim_unfinished, forgotten_at_the_next_command)
{
    struct mbp_call again = call();
    struct mbp_call other = call();
    other.cluster = (struct mbp_cluster *)&clusters[1];
    fail(true, false);
    mbp_unfinished_answer(RETRY);
    expect_new(&other, "another client");
    expect_new(&again, "too late");
}

/* Without a number, the server couldn't tell a write that it knows already. */
Test(shim_unfinished, write_that_the_driver_does_not_retry)
{
    struct mbp_call next = call();
    have_command("insert", "{'insert': 'things'}");
    fail(true, false);
    cr_expect_eq(mbp_unfinished_answer(RETRY), RETRY, "it asks all the same");
    expect_new(&next, "a write of its own");
}

/* What ends a transaction comes as another command, and is known by its number. */
Test(shim_unfinished, end_of_a_transaction)
{
    struct mbp_operation operation = {.retries = 0};
    struct fake_command second = {.name = "commitTransaction", .operation_id = 6};
    struct mbp_call again = call();
    have_command("commitTransaction", "{'commitTransaction': 1, 'txnNumber': 7}");
    second.body = command.body;
    again.command = (struct mbp_command *)&second;
    fail(true, false);
    mbp_unfinished_answer(RETRY);
    cr_expect(mbp_unfinished_resume(&again, &operation));

    fail(true, false);
    mbp_unfinished_answer(RETRY);
    second.name = "abortTransaction";
    expect_new(&again, "an abort is no retry of a commit");

    fail(true, true);
    cr_expect_eq(mbp_unfinished_answer(RETRY), WRITE_CONCERN, "its outcome is not known");
}

/* Whether to repeat an abort hangs on a label, for which the driver looks once. */
Test(shim_unfinished, abort)
{
    struct mbp_operation operation = {.retries = 0};
    struct mbp_call again = call();
    have_command("abortTransaction", "{'abortTransaction': 1, 'txnNumber': 7}");
    fail(true, true);
    cr_expect(mbp_unfinished_has_label("TransientTransactionError", true), "another label");
    cr_expect_not(mbp_unfinished_has_label("RetryableWriteError", true));
    cr_expect(mbp_unfinished_has_label("RetryableWriteError", true), "the program's question");
    expect_new(&again, "not to be repeated");

    fail(true, false);
    cr_expect(mbp_unfinished_has_label("RetryableWriteError", true));
    cr_expect(mbp_unfinished_resume(&again, &operation));
    cr_expect_eq(operation.retries, 3);

    fail(true, true);
    cr_expect_not(mbp_unfinished_has_label("RetryableWriteError", false));
    cr_expect(mbp_unfinished_has_label("RetryableWriteError", true), "the program's question");

    have_command("insert", "{'insert': 'things', 'txnNumber': 7}");
    fail(true, true);
    cr_expect(mbp_unfinished_has_label("RetryableWriteError", true), "no abort");
}

/* Without the driver's own decision, the same command is the program's. */
Test(shim_unfinished, driver_must_have_decided)
{
    struct mbp_call again = call();
    fail(true, false);
    expect_new(&again, "never asked");
    fail(true, false);
    cr_expect_eq(mbp_unfinished_answer(OTHER), OTHER);
    expect_new(&again, "not to be retried");
}

Test(shim_unfinished, operation_id_is_found_by_version)
{
    struct mbp_operation operation = {.retries = 0};
    struct mbp_call again = call();
    binding.layout = mbp_layout_for(1027);
    fail(true, false);
    mbp_unfinished_answer(RETRY);
    command.operation_id++; /* means nothing there */
    cr_expect(mbp_unfinished_resume(&again, &operation));
    fail(true, false);
    mbp_unfinished_answer(RETRY);
    command.later_operation_id++;
    expect_new(&again, "another operation in the same place");
}

/* Of a driver that is not known, the addresses must do. */
Test(shim_unfinished, version_not_known)
{
    struct mbp_operation operation = {.retries = 0};
    struct mbp_call again = call();
    binding.layout = NULL;
    fail(true, false);
    mbp_unfinished_answer(RETRY);
    cr_expect(mbp_unfinished_resume(&again, &operation));
    cr_expect_eq(operation.retries, 3);
}

Test(shim_unfinished, answers)
{
    static const struct {
        bool overloaded, used_up;
        int type, answer;
    } cases[] = {
        {true, true, RETRY, OTHER},
        {true, false, RETRY, RETRY},
        /* Not our business: the driver did so before there was overload. */
        {false, true, RETRY, RETRY},
        {true, true, NONE, NONE},
        {true, true, OTHER, OTHER},
        {true, true, WRITE_CONCERN, WRITE_CONCERN},
    };
    cr_expect_eq(mbp_unfinished_answer(RETRY), RETRY, "no command has failed");
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fail(cases[i].overloaded, cases[i].used_up);
        cr_expect_eq(mbp_unfinished_answer(cases[i].type), cases[i].answer, "case %u", i);
    }
}
