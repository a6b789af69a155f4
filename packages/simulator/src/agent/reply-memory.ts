import { textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import type { AgentCore } from "./core.ts"

/** Into the history that the model is told, and into the transcript. Blocks of one message become one again. */
export function rememberReply(core: AgentCore, message: Fields, said: Fields, requestId: string): void {
  const blocks = Array.isArray(message["content"]) ? message["content"] : []
  const last = core.history.at(-1)
  if (last?.["role"] === "assistant" && last["id"] === message["id"] && Array.isArray(last["content"])) {
    last["content"] = [...last["content"], ...blocks]
  } else core.history.push({ role: "assistant", id: message["id"], content: blocks })
  const timestamp = core.wire.timestamp()
  core.transcript.add("assistant", {
    message,
    uuid: textOf(said, "uuid") ?? "",
    timestamp,
    extra: { requestId },
  })
}
