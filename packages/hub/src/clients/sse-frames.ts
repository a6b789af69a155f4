import type { StoredEvent } from "../model/event.ts"

/**
 * The frames that the official clients read. Everything comes from "worker": what comes from elsewhere they drop. Each text
 * lacks the last newline, which the outbox adds between and after texts.
 */

/** Numbered: the client's cursor. The line is put in as it is. */
export function numberedFrame(line: string, { seq, at }: Pick<StoredEvent, "seq" | "at">): string {
  const created = new Date(at).toISOString()
  const facts = `"event_id":"event-${seq}","sequence_num":${seq},"source":"worker","created_at":"${created}"`
  return `event: client_event\nid: ${seq}\ndata: {${facts},"payload":${line}}\n`
}

/** Not part of the history: a reply, a question, a call. Without a number it leaves the cursor where it is. */
export function unnumberedFrame(line: string): string {
  return `event: client_event\ndata: {"source":"worker","payload":${line}}\n`
}

/** A piece of a message in progress. */
export function passingFrame(line: string): string {
  return `event: ephemeral_event\ndata: {"payload":${line}}\n`
}

/** The client's cursor is beyond what there is: it is another history's. */
export function truncatedFrame(lastSeq: number): string {
  return `event: catch_up_truncated\ndata: {"last_sequence_num":${lastSeq}}\n`
}

/** Clients give a connection up after 45 s without a byte. */
export const COMMENT = ":"
