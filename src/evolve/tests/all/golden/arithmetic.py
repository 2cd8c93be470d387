def _wrap(x):
    return (x + 2**31) % 2**32 - 2**31


def _div(a, b):
    if b == 0 or (a == -2**31 and b == -1):
        raise ZeroDivisionError
    size = abs(a) // abs(b)
    return -size if (a < 0) != (b < 0) else size


def _mod(a, b):
    if b == 0 or (a == -2**31 and b == -1):
        raise ZeroDivisionError
    size = abs(a) % abs(b)
    return -size if a < 0 else size


# ((((a1 * a2) - a3) div (a4 - 2)) + (((a1 + -7) mod (a2 - a3)) * n))
# 0 for a position that the player to move loses (P-position), anything else for one that is won.
# Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend.
# ZeroDivisionError where a division has no value.
def strategy(a1, a2, a3, a4):
    t2 = _wrap(a1 * a2)
    t4 = _wrap(t2 - a3)
    t7 = _wrap(a4 - 2)
    t8 = _div(t4, t7)
    t10 = _wrap(a1 + -7)
    t11 = _wrap(a2 - a3)
    t12 = _mod(t10, t11)
    t13 = 4
    t14 = _wrap(t12 * t13)
    t15 = _wrap(t8 + t14)
    return t15
