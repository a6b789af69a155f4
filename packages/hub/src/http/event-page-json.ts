import type { EventPage } from "../core.ts"
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
