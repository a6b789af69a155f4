/** The number of a line or note as it travels: `L17 {…}`. */
export function frameNumber(frame: string): number {
  return Number(frame.slice(1, frame.indexOf(" ")))
}
