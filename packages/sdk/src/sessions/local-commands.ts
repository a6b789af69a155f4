import { isMessage } from "./conversation.ts"
import type { TranscriptEntry } from "./transcript-entry.ts"

type Phase = "none" | "announced" | "running"

/**
 * The messages that tell of a command the CLI carried out itself, such as `/compact`: it announces them by a caveat for
 * the model, then comes the command, then its output. A prompt or an answer ends them.
 */
export function localCommandsIn(conversation: readonly TranscriptEntry[]): ReadonlySet<TranscriptEntry> {
  const found = new Set<TranscriptEntry>()
  let phase: Phase = "none"
  for (const entry of conversation) {
    if (!isMessage(entry.type)) continue
    phase = next(phase, entry)
    if (phase === "running" && !entry.isMeta) found.add(entry)
  }
  return found
}

function next(phase: Phase, { isMeta, opening }: TranscriptEntry): Phase {
  if (isMeta) return opening === "caveat" ? "announced" : phase
  if (phase === "announced" && opening === "command") return "running"
  return phase === "running" && opening === "output" ? "running" : "none"
}
