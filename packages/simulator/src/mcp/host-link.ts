import { fieldOf } from "@signalbox/protocol/envelope"
import type { AgentCore } from "../agent/core.ts"
import type { McpLink } from "./link.ts"

/** A server that lives in the host: every message to it is a control request. */
export function hostLink({ host }: Pick<AgentCore, "host">, name: string): McpLink {
  return {
    isOpen: true,
    async send(message, options) {
      const answer = await host.ask({ subtype: "mcp_message", server_name: name, message }, options)
      return answer.kind === "success" ? fieldOf(answer.payload, "mcp_response") : undefined
    },
    close: () => Promise.resolve(),
  }
}
