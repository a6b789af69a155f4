/** Whether a hook's matcher speaks of this tool, source or trigger. */
export function isMeant(matcher: string | undefined, subject: string | undefined): boolean {
  if (matcher === undefined || matcher === "" || matcher === "*" || subject === undefined) return true
  try {
    return new RegExp(`^(?:${matcher})$`).test(subject)
  } catch {
    return matcher === subject // no pattern: a plain name
  }
}
