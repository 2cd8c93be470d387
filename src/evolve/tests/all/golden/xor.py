def _wrap(x):
    return (x + 2**31) % 2**32 - 2**31


# (((a1 xor a2) xor a3) - a4)
# 0 for a position that the player to move loses (P-position), anything else for one that is won.
# Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend.
def strategy(a1, a2, a3, a4):
    t2 = a1 ^ a2
    t4 = t2 ^ a3
    t6 = _wrap(t4 - a4)
    return t6
