/** Fingers: Enter is a new line there, Ctrl is not at hand, and what is touched has to be large. */
export function isCoarse(): boolean {
  return matchMedia("(pointer: coarse)").matches
}
