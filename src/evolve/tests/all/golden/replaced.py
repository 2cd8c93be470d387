def _wrap(x):
    return (x + 2**31) % 2**32 - 2**31


def _div(a, b):
    if b == 0 or (a == -2**31 and b == -1):
        return a
    size = abs(a) // abs(b)
    return -size if (a < 0) != (b < 0) else size


def _mod(a, b):
    if b == 0 or (a == -2**31 and b == -1):
        return a
    size = abs(a) % abs(b)
    return -size if a < 0 else size


# (((a1 div a2) xor (a3 mod a4)) xor (not (-2147483648 div (a1 - 1))))
# 0 for a position that the player to move loses (P-position), anything else for one that is won.
# Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend.
# A quotient without a value is its numerator.
def strategy(a1, a2, a3, a4):
    t2 = _div(a1, a2)
    t5 = _mod(a3, a4)
    t6 = t2 ^ t5
    t9 = _wrap(a1 - 1)
    t10 = _div(-2147483648, t9)
    t11 = ~t10
    t12 = t6 ^ t11
    return t12
