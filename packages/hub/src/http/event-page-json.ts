import type { EventPage, Page } from "../core.ts"
import { eventFields } from "../model/event-json.ts"

/** The page as JSON text, piece by piece: nothing is read from the log before somebody wants it. */
export async function* eventPageJson({ pieces, firstSeq, lastSeq, more }: EventPage): AsyncGenerator<string> {
  let text = '{"events":['
  for await (const events of pieces) {
    yield text + events.map((event) => `{${eventFields(event)}}`).join(",")
    text = ","
  }
  const opening = text === "," ? "" : text
  yield `${opening}],"firstSeq":${firstSeq},"lastSeq":${lastSeq},"more":${more}}`
}

/** Small entries share a piece. */
const PIECE_CHARS = 64 * 1024

/** A list under its name, and whether there is more: no entry is read before somebody wants it. */
export async function* pageJson<T>(
  name: string,
  { entries, more }: Page<T>,
  told: (entry: T) => unknown = (entry) => entry,
): AsyncGenerator<string> {
  let text = `{${JSON.stringify(name)}:[`
  let separator = ""
  for await (const entry of entries) {
    text += separator + JSON.stringify(told(entry))
    separator = ","
    if (text.length < PIECE_CHARS) continue
    yield text
    text = ""
  }
  yield `${text}],"more":${more}}`
}
