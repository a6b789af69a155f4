/** Numbers, times and lengths as people say them. Pure. */

export function age(fromMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - fromMs) / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

/** A shorter time is not worth telling. */
export const SHORTEST_MS = 100

/** How long something took: "0.4 s", "42 s", "3 min 12 s". */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

export function clockTime(ms: number, { seconds = false }: { readonly seconds?: boolean } = {}): string {
  const time = new Date(ms)
  const parts = [time.getHours(), time.getMinutes(), ...(seconds ? [time.getSeconds()] : [])]
  return parts.map((part) => String(part).padStart(2, "0")).join(":")
}

export { bytesWords as bytes, costWords as money, counted as plural, countWords as tokens } from "@signalbox/transcript"

/** The end of a path is what tells folders apart. */
export function shortPath(path: string, parts = 2): string {
  const pieces = path.split(/[\\/]/).filter((piece) => piece !== "")
  return pieces.length <= parts ? path : `…/${pieces.slice(-parts).join("/")}`
}

/** The time of day, and the day too when it was another. */
export function moment(ms: number, nowMs: number): string {
  const [day, today] = [new Date(ms), new Date(nowMs)]
  if (day.toDateString() === today.toDateString()) return clockTime(ms)
  const date = day.toLocaleDateString("en", { day: "numeric", month: "short" })
  return day.getFullYear() === today.getFullYear()
    ? `${date}, ${clockTime(ms)}`
    : `${date} ${day.getFullYear()}, ${clockTime(ms)}`
}
