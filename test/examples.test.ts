import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { claudeEnvironment, openScriptedApi, type Scenario } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { ensureClaude } from "../scripts/claude-cli.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const run = promisify(execFile)

describe("examples", () => {
  it("scripted-turn plays a turn of a real CLI, with every line shown", async () => {
    const { stdout } = await run(process.execPath, [join(root, "examples/scripted-turn.mjs")], { cwd: root })
    expect(stdout).toContain("can_use_t")
    expect(stdout).toContain("The turn succeeded: asked, allowed, run, reported.")
  })

  it("allow-everything runs as it stands in the README", async () => {
    const code = await readFile(join(root, "examples/allow-everything.mjs"), "utf8")
    expect(await readFile(join(root, "README.md"), "utf8")).toContain(`\`\`\`js\n${code}\`\`\``)
    const steps = [{ tool: "Bash", input: { command: "touch made && ls" } }, { say: "One file." }]
    expect(await runExample("allow-everything", { turns: [{ steps }] })).toBe("One file.\n")
  })

  it("one-question", async () => {
    const output = await runExample("one-question", { turns: [{ steps: [{ say: "Paris." }] }] })
    expect(output).toMatch(/^Paris\.\n\(success, \$\d+\.\d{4}\)\n$/)
  })

  it("chat", async () => {
    const turns = [{ steps: [{ say: "Hello yourself." }] }, { steps: [{ say: "Goodbye." }] }]
    expect(await runExample("chat", { turns }, "hello\nbye\n")).toMatch(/^Hello yourself\.\n(?:Goodbye\.\n)?$/)
  })

  it("approvals", async () => {
    const steps = [{ tool: "Bash", input: { command: "touch made.txt" } }, { say: "It is there." }]
    const output = await runExample("approvals", { turns: [{ steps }] }, "y\n", "[y/n]")
    expect(output).toContain('Bash {"command":"touch made.txt"')
    expect(output).toContain("It is there.\n")
  })

  it("hooks", async () => {
    const steps = [
      { tool: "Bash", input: { command: "ls secrets" } },
      { tool: "Bash", input: { command: "ls" } },
      { say: "Nothing here." },
    ]
    expect(await runExample("hooks", { turns: [{ steps }] })).toBe("ran Bash\nNothing here.\n")
  })

  it("in-process-tool", async () => {
    const steps = [{ tool: "mcp__clock__time_in", input: { city: "Paris" } }, { say: "Noon." }]
    expect(await runExample("in-process-tool", { turns: [{ steps }] })).toBe("Noon.\n")
  })

  it("resume-and-fork", async () => {
    const turns = [
      { on: "Remember", steps: [{ say: "I will." }] },
      { on: "Which word", steps: [{ say: "Plum." }] },
      { on: "French", steps: [{ say: "Prune." }] },
    ]
    expect(await runExample("resume-and-fork", { turns })).toBe(
      "I will.\nPlum.\nPrune.\nresumed is the same session: true, the fork is another: true\nsessions on disk: 2\n",
    )
  })

  it("simulator-in-ci is a project whose own tests pass, without an account or a network", async () => {
    const cwd = join(root, "examples/simulator-in-ci")
    const manifest = JSON.parse(await readFile(join(cwd, "package.json"), "utf8"))
    expect(manifest.scripts.test).toBe("node --test")
    const env = { PATH: process.env["PATH"], HOME: tmpdir() }
    const { stdout } = await run(process.execPath, ["--test", "--test-reporter=tap"], { cwd, env })
    expect(stdout).toMatch(/^# pass 8$/m)
    expect(stdout).toMatch(/^# fail 0$/m)
  })

  it("structured-output", async () => {
    const answer = { name: "Paris", population: 2_100_000 }
    const steps = [{ tool: "StructuredOutput", input: answer }, { say: "Done." }]
    expect(await runExample("structured-output", { turns: [{ steps }] })).toBe(`${JSON.stringify(answer)}\n`)
  })
})

/** Runs an example with a real CLI and a scripted model, in an empty folder, with this input; returns what it printed. */
async function runExample(name: string, scenario: Scenario, input = "", inputAt?: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-example-"))
  const api = await openScriptedApi({ scenario })
  try {
    const claude = await ensureClaude("2.1.325")
    const env = claudeEnvironment({ home: folder, apiUrl: api.url, extra: { CLAUDE_BIN: claude.command } })
    const running = run(process.execPath, [join(root, `examples/${name}.mjs`)], { cwd: folder, env })
    if (inputAt === undefined) running.child.stdin?.end(input)
    // Typed when it is asked for, as a person would.
    else running.child.stdout?.on("data", (text) => String(text).includes(inputAt) && running.child.stdin?.end(input))
    return (await running).stdout
  } finally {
    await api.close()
    await rm(folder, { recursive: true, force: true })
  }
}
