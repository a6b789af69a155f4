import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"

/**
 * The messages that lead to the last one. A session that was resumed in its middle has several ends: every entry names
 * the one before it, and what hangs on another branch is no part of the conversation any more.
 */
export function conversationOf(all: readonly Fields[]): Fields[] {
  const isMessage = ({ type, isSidechain }: Fields) => (type === "user" || type === "assistant") && isSidechain !== true
  const messages = all.filter(isMessage)
  const byUuid = new Map(all.map((entry) => [textOf(entry, "uuid") ?? "", entry]))
  const onBranch = new Set<Fields>()
  let entry = messages.at(-1)
  while (entry !== undefined && !onBranch.has(entry)) {
    onBranch.add(entry)
    entry = byUuid.get(textOf(entry, "parentUuid") ?? "")
  }
  const ids = new Set([...onBranch].flatMap(({ message }) => textOf(message, "id") ?? []))
  const uses = new Set([...onBranch].flatMap(({ message }) => blockIds(message, "id")))
  // Calls made at once hang side by side: they belong to the reply they are part of, and results to their call.
  return messages.filter(
    (message) =>
      onBranch.has(message) ||
      ids.has(textOf(message["message"], "id") ?? "") ||
      blockIds(message["message"], "tool_use_id").some((id) => uses.has(id)),
  )
}

function blockIds(message: unknown, key: "id" | "tool_use_id"): string[] {
  const content = isObject(message) ? message["content"] : undefined
  return Array.isArray(content) ? content.flatMap((block) => textOf(block, key) ?? []) : []
}
