const FIRST = 8765
const LAST = 8864

/** A hub that is given no port takes the first of these that is free. */
export const DEFAULT_PORTS: readonly number[] = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index)
