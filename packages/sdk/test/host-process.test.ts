import { execFile, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { beforeAll, describe, expect, it } from "vitest"
import { fakeAgent, isAlive, system } from "./fake-agent.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const entry = new URL("../dist/index.js", import.meta.url).href

describe("the process a query runs in", () => {
  beforeAll(() => promisify(execFile)("npx", ["tsc", "-b", "packages/sdk"], { cwd: root }))

  it.each<[string, (host: ReturnType<typeof spawn>) => void]>([
    ["is interrupted", (host) => void host.kill("SIGINT")],
    ["is told to end", (host) => void host.kill("SIGTERM")],
    ["exits by itself", (host) => void host.stdin?.write("exit\n")],
  ])("[Q48] takes its agent with it when it %s", async (_how, end) => {
    const agent = fakeAgent([{ until: "user" }, { say: system("init") }], {}, { stay: true })
    const { pathToClaudeCodeExecutable, env } = agent.options
    const program = `
      const { query } = await import(${JSON.stringify(entry)})
      const options = ${JSON.stringify({ pathToClaudeCodeExecutable, env })}
      process.stdin.once("data", () => process.exit(0))
      for await (const message of query({ prompt: "hello", options })) console.log(message.type)
    `
    const host = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["pipe", "pipe", "inherit"] })
    const exited = new Promise((resolve) => host.once("exit", (code, signal) => resolve(signal ?? code)))
    await new Promise((resolve) => host.stdout?.once("data", resolve))
    end(host)
    expect(["SIGINT", "SIGTERM", 0]).toContain(await exited)
    const pid = agent.log()[0]?.pid ?? 0
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10))
  })
})
