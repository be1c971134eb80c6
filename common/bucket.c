#include "bucket.h"

static uint64_t pack(mbp_millitokens capacity, mbp_millitokens balance)
{
    return (uint64_t)capacity << 32 | balance;
}

static mbp_millitokens capacity_of(uint64_t word)
{
    return (mbp_millitokens)(word >> 32);
}

static mbp_millitokens balance_of(uint64_t word)
{
    return (mbp_millitokens)word;
}

/* Nothing but the word itself is handed over, so relaxed order is enough. */
static uint64_t read_word(const struct mbp_bucket *bucket)
{
    return atomic_load_explicit(&bucket->word, memory_order_relaxed);
}

static bool replace_word(struct mbp_bucket *bucket, uint64_t *seen, uint64_t wanted)
{
    return atomic_compare_exchange_weak_explicit(
        &bucket->word, seen, wanted, memory_order_relaxed, memory_order_relaxed);
}

void mbp_bucket_init_once(struct mbp_bucket *bucket, mbp_millitokens capacity)
{
    uint64_t untouched = 0;
    atomic_compare_exchange_strong(&bucket->word, &untouched, pack(capacity, capacity));
}

bool mbp_bucket_is_valid(const struct mbp_bucket *bucket)
{
    const uint64_t word = read_word(bucket);
    return capacity_of(word) > 0 && balance_of(word) <= capacity_of(word);
}

bool mbp_bucket_consume(struct mbp_bucket *bucket, mbp_millitokens amount)
{
    uint64_t word = read_word(bucket);
    do {
        if (balance_of(word) < amount) {
            return false;
        }
    } while (!replace_word(bucket, &word, word - amount));
    return true;
}

mbp_millitokens mbp_bucket_deposit(struct mbp_bucket *bucket, mbp_millitokens amount)
{
    uint64_t word = read_word(bucket);
    mbp_millitokens added;
    do {
        const mbp_millitokens capacity = capacity_of(word);
        const mbp_millitokens balance = balance_of(word);
        if (balance >= capacity) {
            return 0;
        }
        const mbp_millitokens room = capacity - balance;
        added = amount < room ? amount : room;
    } while (!replace_word(bucket, &word, word + added));
    return added;
}

void mbp_bucket_set_capacity(struct mbp_bucket *bucket, mbp_millitokens capacity)
{
    uint64_t word = read_word(bucket);
    uint64_t wanted;
    do {
        const mbp_millitokens balance = balance_of(word);
        wanted = pack(capacity, balance < capacity ? balance : capacity);
    } while (!replace_word(bucket, &word, wanted));
}

mbp_millitokens mbp_bucket_balance(const struct mbp_bucket *bucket)
{
    return balance_of(read_word(bucket));
}

mbp_millitokens mbp_bucket_capacity(const struct mbp_bucket *bucket)
{
    return capacity_of(read_word(bucket));
}
