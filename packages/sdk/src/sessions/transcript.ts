import type { FileHandle } from "node:fs/promises"
import type { SessionStoreEntry } from "../types/session-store.ts"
import { lineAt, linesOf, type TranscriptLine } from "./transcript-lines.ts"

/** The lines of a session, wherever they are kept. */
export interface Transcript {
  lines(): AsyncIterable<TranscriptLine>
  /** One that was seen before, again. */
  lineAt(place: { readonly offset: number; readonly bytes: number }): Promise<string>
}

export function transcriptInFile(file: FileHandle): Transcript {
  return { lines: () => linesOf(file), lineAt: (place) => lineAt(file, place) }
}

/** What a store has loaded. A line's offset is its number. */
export function transcriptOfEntries(entries: readonly SessionStoreEntry[]): Transcript {
  return {
    async *lines() {
      for (const [offset, entry] of entries.entries()) yield { text: JSON.stringify(entry), offset, bytes: 0 }
    },
    async lineAt({ offset }) {
      return JSON.stringify(entries[offset])
    },
  }
}
