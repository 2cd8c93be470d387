#include <stdbool.h>
#include <stdint.h>

// (((a1 xor a2) xor a3) - a4)
// 0 for a position that the player to move loses (P-position), anything else for one that is won.
// Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend.
bool strategy(int32_t a1, int32_t a2, int32_t a3, int32_t a4, int32_t *value) {
    int32_t t2 = a1 ^ a2;
    int32_t t4 = t2 ^ a3;
    int32_t t6 = (int32_t)((uint32_t)t4 - (uint32_t)a4);
    *value = t6;
    return true;
}
