// Places in the numbers that the hub's thread and the search thread share, so that a commit costs no message.

/** Counts commits. */
export const COMMITS = 0
/** 1 while the search thread sleeps and must be woken by a message. */
export const IS_ASLEEP = 1
export const SIGNAL_BYTES = 8
