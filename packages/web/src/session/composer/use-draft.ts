import { useEffect, useRef, useState } from "react"
import { keepDraft, readDraft } from "./drafts.ts"

/** The text of a session's message field. One that was only looked at is not this tab's: it is kept once it is changed. */
export function useDraft(session: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => readDraft(session))
  const kept = useRef(text)
  useEffect(() => {
    if (text === kept.current) return
    keepDraft(session, { was: kept.current, is: text })
    kept.current = text
  }, [session, text])
  return [text, setText]
}
