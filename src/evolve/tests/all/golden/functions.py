import math


def _wrap(x):
    return (x + 2**31) % 2**32 - 2**31


# ((if(lt(a1, a2), (max(a1, a3) or min(a2, a4)), (eq(a1, a4) * -9)) + (phi((a1 - a2)) * isqrt(a3))) - phi(a4))
# 0 for a position that the player to move loses (P-position), anything else for one that is won.
# Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend.
def strategy(a1, a2, a3, a4):
    t2 = int(a1 < a2)
    t4 = max(a1, a3)
    t6 = min(a2, a4)
    t7 = t4 | t6
    t8 = int(a1 == a4)
    t10 = _wrap(t8 * -9)
    t11 = t10 if t2 == 0 else t7
    t12 = _wrap(a1 - a2)
    t13 = _wrap((t12 + math.isqrt(5 * t12 * t12)) // 2 if t12 >= 0 else -((-t12 + math.isqrt(5 * t12 * t12)) // 2) - 1)
    t14 = math.isqrt(max(a3, 0))
    t15 = _wrap(t13 * t14)
    t16 = _wrap(t11 + t15)
    t17 = _wrap((a4 + math.isqrt(5 * a4 * a4)) // 2 if a4 >= 0 else -((-a4 + math.isqrt(5 * a4 * a4)) // 2) - 1)
    t18 = _wrap(t16 - t17)
    return t18
