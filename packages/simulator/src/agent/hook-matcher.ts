/** Whether a hook's matcher speaks of this tool, source or trigger. */
export function isMeant(matcher: string | undefined, subject: string | undefined): boolean {
  if (matcher === undefined || matcher === "" || matcher === "*" || subject === undefined) return true
  // Plain names are compared whole; a pattern may match anywhere.
  if (/^[\w\s|,]+$/.test(matcher)) return matcher.split(/[|,]/).some((name) => name.trim() === subject)
  try {
    return new RegExp(matcher).test(subject)
  } catch {
    return false
  }
}
