#include <stdbool.h>
#include <stdint.h>

// ((((a1 * a2) - a3) div (a4 - 2)) + (((a1 + -7) mod (a2 - a3)) * n))
// 0 for a position that the player to move loses (P-position), anything else for one that is won.
// Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend.
// False, and no value, where a division has none.
bool strategy(int32_t a1, int32_t a2, int32_t a3, int32_t a4, int32_t *value) {
    int32_t t2 = (int32_t)((uint32_t)a1 * (uint32_t)a2);
    int32_t t4 = (int32_t)((uint32_t)t2 - (uint32_t)a3);
    int32_t t7 = (int32_t)((uint32_t)a4 - (uint32_t)2);
    if (t7 == 0 || (t4 == INT32_MIN && t7 == -1)) return false;
    int32_t t8 = t4 / t7;
    int32_t t10 = (int32_t)((uint32_t)a1 + (uint32_t)-7);
    int32_t t11 = (int32_t)((uint32_t)a2 - (uint32_t)a3);
    if (t11 == 0 || (t10 == INT32_MIN && t11 == -1)) return false;
    int32_t t12 = t10 % t11;
    int32_t t13 = 4;
    int32_t t14 = (int32_t)((uint32_t)t12 * (uint32_t)t13);
    int32_t t15 = (int32_t)((uint32_t)t8 + (uint32_t)t14);
    *value = t15;
    return true;
}
