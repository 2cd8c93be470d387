#include <stdbool.h>
#include <stdint.h>

// (((a1 div a2) xor (a3 mod a4)) xor (not (-2147483648 div (a1 - 1))))
// 0 for a position that the player to move loses (P-position), anything else for one that is won.
// Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend.
// A quotient without a value is its numerator.
bool strategy(int32_t a1, int32_t a2, int32_t a3, int32_t a4, int32_t *value) {
    int32_t t2 = (a2 == 0 || (a1 == INT32_MIN && a2 == -1)) ? a1 : a1 / a2;
    int32_t t5 = (a4 == 0 || (a3 == INT32_MIN && a4 == -1)) ? a3 : a3 % a4;
    int32_t t6 = t2 ^ t5;
    int32_t t9 = (int32_t)((uint32_t)a1 - (uint32_t)1);
    int32_t t10 = (t9 == 0 || (INT32_MIN == INT32_MIN && t9 == -1)) ? INT32_MIN : INT32_MIN / t9;
    int32_t t11 = ~t10;
    int32_t t12 = t6 ^ t11;
    *value = t12;
    return true;
}
