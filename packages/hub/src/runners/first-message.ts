import { createHash } from "node:crypto"
import type { NewMessage } from "@signalbox/protocol/hub-api"

/** What a session begins with. Its `uuid` follows from the request's key: however often it is asked for, it is one message. */
export function firstMessage({ id }: { readonly id: string }, content: string, requestKey?: string): NewMessage {
  return requestKey === undefined ? { content } : { content, uuid: uuidOf(`${id} ${requestKey}`) }
}

function uuidOf(text: string): string {
  const hash = createHash("sha256").update(text).digest("hex")
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}
