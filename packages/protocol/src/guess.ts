/**
 * Last resort for a line that is no JSON: the session id and an init notice found by pattern, as old relays do. Whatever
 * comes out of here is a guess and is marked as one; nothing is decided on it that cannot be taken back.
 */
export interface Guess {
  readonly guess: true
  readonly session_id?: string
  readonly isInit: boolean
}

/** Both patterns would be found near the start; a rubbish line can be very long. */
const SEARCHED_CHARS = 64 * 1024
const SESSION_ID = /session(?:_id|Id)?["'=\s:]+([a-z0-9._-]{8,128})/i
const INIT = /\[(?:init|system\/init)\]|\bsubtype["'=\s:]+init\b/i

export function guessFromRubbish(line: string): Guess | undefined {
  const text = line.slice(0, SEARCHED_CHARS)
  const sessionId = SESSION_ID.exec(text)?.[1]
  const isInit = INIT.test(text)
  if (sessionId === undefined && !isInit) return undefined
  return { guess: true, isInit, ...(sessionId === undefined ? {} : { session_id: sessionId }) }
}
