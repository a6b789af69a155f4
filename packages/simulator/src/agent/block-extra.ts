import { textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import type { BlockBuilder } from "./block-builder.ts"
import type { AgentCore } from "./core.ts"
import { displayName } from "./display-name.ts"

export interface BlockPlace {
  /** The user's messages that the reply answers, where this is its first block. */
  readonly userUuids: readonly string[]
  readonly startedAt: number
}

/** What only the newest generation writes beside a block. */
export function blockExtra(core: AgentCore, block: BlockBuilder, { userUuids, startedAt }: BlockPlace): Fields {
  const isMarked = userUuids.length > 0
  const markers = isMarked ? { user_message_uuid: userUuids.at(-1), user_message_uuids: userUuids } : {}
  if (block.type === "thinking") {
    const duration = Math.max(1, core.clock.now() - startedAt)
    return { thinking_duration_ms: duration, thinking_display: "updates", ...markers }
  }
  if (block.type !== "tool_use") return markers
  const value = block.value()
  const target = core.mcp.find(textOf(value, "name") ?? "")
  if (target === undefined) return markers
  const meta = {
    id: value["id"],
    display_name: displayName(target.tool),
    server_display_name: target.server,
    tool_name: target.tool,
  }
  return { tool_use_meta: [meta], ...markers }
}
