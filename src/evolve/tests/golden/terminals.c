#include <stdbool.h>
#include <stdint.h>

static int32_t nonempty_of(const int32_t *a, int count) {
    int32_t value = 0;
    for (int i = 0; i < count; i++) value += a[i] >= 1;
    return value;
}

static int32_t big_of(const int32_t *a, int count) {
    int32_t value = 0;
    for (int i = 0; i < count; i++) value += a[i] >= 2;
    return value;
}

static int32_t largest_of(const int32_t *a, int count) {
    int32_t value = INT32_MIN;
    for (int i = 0; i < count; i++) if (a[i] > value) value = a[i];
    return value;
}

static int32_t smallest_of(const int32_t *a, int count) {
    int32_t value = INT32_MAX;
    for (int i = 0; i < count; i++) if (a[i] < value) value = a[i];
    return value;
}

static int32_t sum_of(const int32_t *a, int count) {
    int32_t value = 0;
    for (int i = 0; i < count; i++) value = (int32_t)((uint32_t)value + (uint32_t)a[i]);
    return value;
}

// ((((largest * smallest) + sum) - (nonempty * big)) + (not n))
// 0 for a position that the player to move loses (P-position), anything else for one that is won.
// Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend.
bool strategy(int32_t a1, int32_t a2, int32_t a3, int32_t a4, int32_t *value) {
    int32_t t0 = largest_of((const int32_t[]){a1, a2, a3, a4}, 4);
    int32_t t1 = smallest_of((const int32_t[]){a1, a2, a3, a4}, 4);
    int32_t t2 = (int32_t)((uint32_t)t0 * (uint32_t)t1);
    int32_t t3 = sum_of((const int32_t[]){a1, a2, a3, a4}, 4);
    int32_t t4 = (int32_t)((uint32_t)t2 + (uint32_t)t3);
    int32_t t5 = nonempty_of((const int32_t[]){a1, a2, a3, a4}, 4);
    int32_t t6 = big_of((const int32_t[]){a1, a2, a3, a4}, 4);
    int32_t t7 = (int32_t)((uint32_t)t5 * (uint32_t)t6);
    int32_t t8 = (int32_t)((uint32_t)t4 - (uint32_t)t7);
    int32_t t9 = 4;
    int32_t t10 = ~t9;
    int32_t t11 = (int32_t)((uint32_t)t8 + (uint32_t)t10);
    *value = t11;
    return true;
}
