// The official DirectConnectTransport, unmodified, on a session that is there already. Needs a global WebSocket.
import { WebSocket } from "ws"

globalThis.WebSocket = /** @type {never} */ (WebSocket)

const { entry, url, token, session } = JSON.parse(process.env["ORDERS"] ?? "{}")
const { DirectConnectTransport } = await import(entry)

const transport = new DirectConnectTransport({
  serverUrl: url,
  authToken: token,
  sessionKey: session,
  deleteSessionOnClose: true,
})
await transport.ready
/** @param {unknown} message */
const write = (message) => transport.write(`${JSON.stringify(message)}\n`)
await write({ type: "control_request", request_id: "init", request: { subtype: "initialize" } })
await write({ type: "user", message: { role: "user", content: "Hello." }, parent_tool_use_id: null, session_id: "" })

/** @type {string[]} */
const seen = []
for await (const message of transport.readMessages()) {
  seen.push(message.type)
  if (message.type === "control_request") {
    const { request_id, request } = message
    const response = { behavior: "allow", updatedInput: request.input }
    await write({ type: "control_response", response: { subtype: "success", request_id, response } })
  }
  if (message.type === "result") break
}
process.stdout.write(JSON.stringify({ session: transport.getSessionId(), workDir: transport.getWorkDir(), seen }))
await transport.close()
