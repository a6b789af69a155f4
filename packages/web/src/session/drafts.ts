/** What somebody began to write, per session, kept by the browser through reloads and sign-ins. */
const PREFIX = "signalbox:draft:"
const MAX_CHARS = 200_000

export function readDraft(session: string): string {
  try {
    return localStorage.getItem(PREFIX + session) ?? ""
  } catch {
    return ""
  }
}

export function keepDraft(session: string, text: string): void {
  try {
    if (text === "") localStorage.removeItem(PREFIX + session)
    else localStorage.setItem(PREFIX + session, text.slice(0, MAX_CHARS))
  } catch {
    // It stays in the field as long as the page lives.
  }
}
