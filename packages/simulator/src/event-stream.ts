/** One server-sent event. */
export interface StreamedEvent {
  /** `message` where the event has no name. */
  readonly event: string
  readonly data: string
}

/** More than this without the end of an event is no event stream. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024

/** Server-sent events, whatever the chunks. */
export async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder()
  let pending = ""
  for await (const chunk of body) {
    pending += decoder.decode(chunk, { stream: true })
    const frames = pending.split(/\r?\n\r?\n/)
    pending = frames.pop() ?? ""
    if (pending.length > MAX_EVENT_CHARS) throw new Error("a server-sent event without an end")
    for (const frame of frames) yield* eventIn(frame)
  }
}

function* eventIn(frame: string): Generator<StreamedEvent> {
  const lines = frame.split(/\r?\n/)
  const valuesOf = (field: string) =>
    lines.flatMap((line) => (line.startsWith(`${field}:`) ? [line.slice(field.length + 1).trim()] : []))
  const data = valuesOf("data").join("\n")
  if (data !== "") yield { event: valuesOf("event").at(-1) ?? "message", data }
}
