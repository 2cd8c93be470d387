#include <stdbool.h>
#include <stdint.h>

// The largest r with r * r <= x.
static uint64_t root(unsigned __int128 x) {
    uint64_t r = 0;
    for (int bit = 40; bit >= 0; bit--) {
        unsigned __int128 next = r | (uint64_t)1 << bit;
        if (next * next <= x) r = (uint64_t)next;
    }
    return r;
}

static int32_t phi(int32_t x) {
    uint64_t size = x < 0 ? (uint64_t)-(int64_t)x : (uint64_t)x;
    uint32_t floor = (uint32_t)((size + root((unsigned __int128)5 * size * size)) / 2);
    return (int32_t)(x < 0 ? 0u - floor - 1u : floor);
}

static int32_t isqrt(int32_t x) {
    return x < 0 ? 0 : (int32_t)root((unsigned __int128)x);
}

// ((if(lt(a1, a2), (max(a1, a3) or min(a2, a4)), (eq(a1, a4) * -9)) + (phi((a1 - a2)) * isqrt(a3))) - phi(a4))
// 0 for a position that the player to move loses (P-position), anything else for one that is won.
// Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend.
bool strategy(int32_t a1, int32_t a2, int32_t a3, int32_t a4, int32_t *value) {
    int32_t t2 = a1 < a2;
    int32_t t4 = a1 > a3 ? a1 : a3;
    int32_t t6 = a2 < a4 ? a2 : a4;
    int32_t t7 = t4 | t6;
    int32_t t8 = a1 == a4;
    int32_t t10 = (int32_t)((uint32_t)t8 * (uint32_t)-9);
    int32_t t11 = t2 == 0 ? t10 : t7;
    int32_t t12 = (int32_t)((uint32_t)a1 - (uint32_t)a2);
    int32_t t13 = phi(t12);
    int32_t t14 = isqrt(a3);
    int32_t t15 = (int32_t)((uint32_t)t13 * (uint32_t)t14);
    int32_t t16 = (int32_t)((uint32_t)t11 + (uint32_t)t15);
    int32_t t17 = phi(a4);
    int32_t t18 = (int32_t)((uint32_t)t16 - (uint32_t)t17);
    *value = t18;
    return true;
}
