def _wrap(x):
    return (x + 2**31) % 2**32 - 2**31


# ((((largest * smallest) + sum) - (nonempty * big)) + (not n))
# 0 for a position that the player to move loses (P-position), anything else for one that is won.
# Integers of 32 bits that wrap; division truncates, the remainder has the sign of the dividend.
def strategy(a1, a2, a3, a4):
    t0 = max([a1, a2, a3, a4])
    t1 = min([a1, a2, a3, a4])
    t2 = _wrap(t0 * t1)
    t3 = _wrap(sum([a1, a2, a3, a4]))
    t4 = _wrap(t2 + t3)
    t5 = sum(heap >= 1 for heap in [a1, a2, a3, a4])
    t6 = sum(heap >= 2 for heap in [a1, a2, a3, a4])
    t7 = _wrap(t5 * t6)
    t8 = _wrap(t4 - t7)
    t9 = 4
    t10 = ~t9
    t11 = _wrap(t8 + t10)
    return t11
