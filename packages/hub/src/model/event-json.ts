import type { StoredEvent } from "./event.ts"

/** An event's fields as JSON text: the line is put in as it was received. It is JSON already, and re-encoding could change it. */
export function eventFields(event: StoredEvent): string {
  const by = event.by === undefined ? "" : `"by":${JSON.stringify(event.by)},`
  const at = new Date(event.at).toISOString()
  return `"seq":${event.seq},"at":"${at}","from":"${event.from}",${by}"message":${event.line.trim()}`
}
