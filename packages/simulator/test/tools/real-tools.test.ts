import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { textOf } from "@signalbox/protocol"
import type { Scenario } from "@signalbox/simulator"
import { expect, it, onTestFinished } from "vitest"
import { SimHost } from "../support/sim-host.ts"

type Step = Scenario["turns"][number]["steps"][number]

/** What each call gave, in order. */
async function gave(profile: string, steps: readonly Step[], prepare: (folder: string) => void = () => undefined) {
  const allowedTools = ["Bash", "Read", "Grep"]
  const scenario = { turns: [{ steps: [...steps, { say: "Done." }] }] }
  const host = new SimHost({ profile, tools: "real", scenario, launch: { allowedTools } })
  onTestFinished(() => host.close())
  prepare(host.folder)
  await host.turn("go")
  const results = host.seen.filter(({ type }) => type === "user").map((message) => blockOf(message["message"]))
  return { folder: host.folder, results }
}

function blockOf(message: unknown): string | undefined {
  const { content } = message as { content: readonly unknown[] } // a user message of the agent's has a list of blocks
  return textOf(content[0], "content")
}

const bash = (command: string, more: Record<string, unknown> = {}) => ({ tool: "Bash", input: { command, ...more } })

it("[A45] what a command leaves running is not waited for", async () => {
  const { results } = await gave("2.1.325", [
    { tool: "Bash", input: { command: "sleep 100 >/dev/null 2>&1 & echo $!" } },
  ])
  const pid = Number(String(results[0]))
  // Still there when its result is: it was not waited for.
  expect(process.kill(pid, "SIGKILL")).toBe(true)
})

it("[A45] a command goes to another folder for those that follow, but not out of the session's", async () => {
  const commands = ["mkdir sub && cd sub", "pwd", "cd /; pwd", "pwd", "cd sub; false", "pwd"]
  const { folder, results } = await gave(
    "2.1.325",
    commands.map((command) => bash(command)),
  )
  expect(results).toEqual([
    "(Bash completed with no output)",
    `${folder}/sub`,
    `/\nShell cwd was reset to ${folder}`,
    folder,
    "Exit code 1",
    folder,
  ])
})

it("[A45] a command that takes longer than its time is ended", async () => {
  const { results } = await gave("2.1.325", [bash("echo a; sleep 60", { timeout: 300 }), bash("printf '\\n\\n  b\\n'")])
  expect(results).toEqual(["Exit code 143\nCommand timed out after 0s\na", "  b"])
})

it("[A45] what failed is told in the version's order", async () => {
  const failing = bash("echo out; echo err >&2; exit 3")
  expect((await gave("2.1.37", [failing])).results).toEqual(["Exit code 3\nerr\n\nout"])
  expect((await gave("2.1.120", [failing])).results).toEqual(["Exit code 3\nout\nerr"])
})

it("[A45] reads the lines that were asked for, and finds those that match", async () => {
  const steps = [
    { tool: "Read", input: { file_path: "sub/a.txt", offset: 2, limit: 2 } },
    { tool: "Grep", input: { pattern: "^t", output_mode: "content" } },
  ]
  const { results } = await gave("2.1.120", steps, (folder) => {
    mkdirSync(join(folder, "sub"))
    writeFileSync(join(folder, "sub/a.txt"), "one\ntwo\nthree\nfour\n")
  })
  expect(results).toEqual(["2\ttwo\n3\tthree", "sub/a.txt:2:two\nsub/a.txt:3:three"])
})
