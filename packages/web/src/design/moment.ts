import { clockTime } from "./words.ts"

/** The time of day, and the day too when it was another. */
export function moment(ms: number, nowMs: number): string {
  const [day, today] = [new Date(ms), new Date(nowMs)]
  if (day.toDateString() === today.toDateString()) return clockTime(ms)
  const date = day.toLocaleDateString("en", { day: "numeric", month: "short" })
  return day.getFullYear() === today.getFullYear()
    ? `${date}, ${clockTime(ms)}`
    : `${date} ${day.getFullYear()}, ${clockTime(ms)}`
}
