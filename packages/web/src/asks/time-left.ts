/** Until an ask expires: to the second when it gets close. Pure. */
export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds === 0) return "now"
  if (seconds < 600) return `in ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
  if (seconds < 7200) return `in ${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `in ${Math.floor(seconds / 3600)} h` : `in ${Math.floor(seconds / 86_400)} d`
}
