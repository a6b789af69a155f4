import { pathToFileURL } from "node:url"
import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { AgentCore } from "../agent/core.ts"
import type { Fields } from "../profiles/profile.ts"
import { present } from "../profiles/shared.ts"

/** Answers what an MCP server asks of its client. */
export type ServeMcp = (request: Readonly<Fields>) => Promise<Fields>

/** As a CLI answers: where it works, what the user says, and that it is there. */
export function serveFor(core: AgentCore, server: string): ServeMcp {
  return async ({ method, params }) => {
    if (method === "ping") return { result: {} }
    if (method === "roots/list") return { result: { roots: [{ uri: pathToFileURL(core.launch.cwd).href }] } }
    if (method === "elicitation/create" && core.profile.generation >= 120) {
      return { result: await elicit(core, server, isObject(params) ? params : {}) }
    }
    return { error: { code: -32_601, message: "Method not found" } }
  }
}

async function elicit(core: AgentCore, server: string, params: Readonly<Fields>): Promise<Readonly<Fields>> {
  const schema = fieldOf(params, "requestedSchema")
  const url = textOf(params, "url")
  const answer = await core.host.ask(
    present({
      subtype: "elicitation",
      mcp_server_name: server,
      message: params["message"],
      mode: url === undefined ? "form" : "url",
      url,
      elicitation_id: params["elicitationId"],
      requested_schema: schema,
      property_order:
        core.profile.generation === 325 && schema !== undefined
          ? Object.keys(fieldOf(schema, "properties") ?? {})
          : undefined,
    }),
  )
  return answer.kind === "success" && isObject(answer.payload) ? answer.payload : { action: "cancel" }
}
