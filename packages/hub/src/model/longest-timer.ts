/** A timer set for longer than this fires at once: who waits longer sets another one then. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1
