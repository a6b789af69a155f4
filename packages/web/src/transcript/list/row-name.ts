import type { Row } from "@signalbox/transcript"
import { oneLine } from "../../design/visible-characters.ts"
import { toolWords } from "../tools/tool-words.ts"

/** What a row is, for those who hear it. */
export function rowName(row: Row): string {
  switch (row.kind) {
    case "prompt":
      return `Message of ${row.author ?? "you"}: ${oneLine(row.text, 80)}`
    case "text":
      return `Claude: ${oneLine(row.text, 80)}`
    case "thinking":
      return "Thinking"
    case "tool": {
      const { name, subject } = toolWords(row)
      return `${name === "$" ? "Command" : name} ${subject}`.trim()
    }
    case "activity":
      return row.summary
    case "unknown":
      return `Unknown event ${row.name}`
    case "note":
      return oneLine(row.text, 80)
    case "result":
      return row.state === "done" ? "Turn finished" : `Turn ${row.state}`
    case "started":
      return "Started"
    case "compaction":
      return "Context compacted"
    case "failure":
      return "Request failed"
    case "harness":
      return "Added by the harness"
    case "picture":
      return "Image"
    case "hook":
      return `Hook ${row.name}`
    case "limit":
      return "Rate limit"
    case "retry":
      return "Retry"
    case "ask":
      return "Question"
  }
}
