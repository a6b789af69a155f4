import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { LineSocket } from "../../packages/hub/test/clients/line-socket.ts"
import { Machine } from "../runner/runner-process.ts"
import type { Json } from "./hub-process.ts"

const POLL = { timeout: 30_000, interval: 50 }
const RULES = [
  { id: "two", effect: "ask", tool: "Bash", input: { command: "touch published*" }, fourEyes: true },
  { id: "never", effect: "deny", tool: "Bash", input: { command: "touch secret*" } },
]
const input = { command: "touch published", description: "publish" }
const ALLOW = {
  hookSpecificOutput: {
    hookEventName: "PermissionRequest",
    decision: { behavior: "allow", updatedInput: { ...input, command: "touch secret published" } },
  },
}

it.each(["everything", "asked"])(
  "[EN7] [PO34] a program's hook on CLI 2.1.325 allows nothing that rules stop (enforce: %s)",
  async (enforce) => {
    const scenario = { turns: [{ on: "go", steps: [{ tool: "Bash", input }, { say: "done" }] }] }
    const machine = await Machine.open({ claude: "2.1.325", scenario })
    onTestFinished(() => machine.dispose())
    const { hub, cwd } = machine
    expect((await hub.call("PUT", "/api/policy", { rules: RULES, enforce })).status).toBe(200)
    const { token: ann } = await hub.post("/api/tokens", { role: "operator", name: "Ann" })
    const { body: session } = await hub.call("POST", "/api/sessions", { agent: "claude", cwd }, ann)
    await machine.isIn(session.id, "idle")
    const url = `${hub.ready.url.replace("http", "ws")}/ws/session/${session.id}`
    const client = await LineSocket.open(new WebSocket(url, { headers: { authorization: `Bearer ${ann}` } }))
    onTestFinished(() => client.close())
    await client.ask("hello", { subtype: "initialize", hooks: { PermissionRequest: [{ hookCallbackIds: ["mine"] }] } })
    client.send({ type: "user", message: { role: "user", content: "go" }, parent_tool_use_id: null })
    client.answer(await client.request("hook_callback"), ALLOW)
    const open = async (): Promise<Json[]> => (await hub.get(`/api/asks?session=${session.id}&state=pending`)).asks
    await expect.poll(open, POLL).toMatchObject([{ rule: "two", fourEyes: true, input }])
    const [ask] = await open()
    const answer = (token?: string) => hub.call("POST", `/api/asks/${ask?.id}/answer`, { behavior: "allow" }, token)
    expect((await answer(ann)).status).toBe(403)
    expect(existsSync(join(cwd, "published"))).toBe(false)
    expect((await answer()).status).toBe(200)
    await expect.poll(async () => (await machine.session(session.id)).turns, POLL).toBe(1)
    expect([existsSync(join(cwd, "published")), existsSync(join(cwd, "secret"))]).toEqual([true, false])
  },
)
