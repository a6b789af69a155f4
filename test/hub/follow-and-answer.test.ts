import { spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, expect, it } from "vitest"
import { startAgent } from "./agent-process.ts"
import { HubProcess } from "./hub-process.ts"

const EXAMPLE = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "examples/follow-and-answer.mjs")

const open: { dispose(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.dispose()
})

function runExample(hub: HubProcess, id: string) {
  const env = { PATH: process.env["PATH"], SIGNALBOX_URL: hub.ready.url, SIGNALBOX_TOKEN: hub.ready.token }
  const child = spawn(process.execPath, [EXAMPLE, id], { env, stdio: ["pipe", "pipe", "inherit"] })
  let text = ""
  child.stdout.on("data", (data: Buffer) => {
    text += data.toString()
  })
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
  open.push({ dispose: async () => void child.kill("SIGKILL") })
  return { child, ended, text: () => text }
}

it("the example follows a session and answers its asks; a second one lets go when the first was faster", async () => {
  const hub = await HubProcess.start()
  open.push(hub)
  const session = await hub.post("/api/sessions", { agent: "external", prompt: "make it" })
  const steps = [{ tool: "Bash", input: { command: "touch made" } }, { say: "Made it." }]
  open.push(
    await startAgent({ kind: "simulator", version: "2.1.120", ...session.ingress, scenario: { turns: [{ steps }] } }),
  )
  const [first, second] = [runExample(hub, session.id), runExample(hub, session.id)]
  await expect
    .poll(() => [first, second].every(({ text }) => text().includes("allow? (y/n)")), { timeout: 30_000 })
    .toBe(true)
  first.child.stdin.write("y\n")
  expect(await Promise.all([first.ended, second.ended])).toEqual([0, 0])
  expect(first.text()).toContain("Made it.")
  expect(second.text()).toContain("Made it.")
})
