import type { StoredEvent } from "./event.ts"

/** Events come many in a millisecond, and to write out a time costs more than all the rest of their fields. */
let lastTime = { at: Number.NaN, text: "" }

function timeText(at: number): string {
  if (at !== lastTime.at) lastTime = { at, text: new Date(at).toISOString() }
  return lastTime.text
}

/** An event's fields as JSON text: the line is put in as it was received. It is JSON already, and re-encoding could change it. */
export function eventFields(event: StoredEvent): string {
  return `${eventHead(event)}"message":${event.line.trim()}`
}

/** All of them but the message. */
export function eventHead({ seq, at, from, by }: StoredEvent): string {
  const who = by === undefined ? "" : `"by":${JSON.stringify(by)},`
  return `"seq":${seq},"at":"${timeText(at)}","from":"${from}",${who}`
}
