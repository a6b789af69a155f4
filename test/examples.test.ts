import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { claudeEnvironment, openScriptedApi } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { ensureClaude } from "../scripts/claude-cli.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const run = promisify(execFile)

describe("examples", () => {
  it("scripted-turn plays a turn of a real CLI, which is what npm start does", async () => {
    const { stdout } = await run(process.execPath, [join(root, "examples/scripted-turn.mjs")], { cwd: root })
    expect(stdout).toContain("can_use_t")
    expect(stdout).toContain("The turn succeeded: asked, allowed, run, reported.")
  })

  it("allow-everything runs as it stands in the README", async () => {
    const code = await readFile(join(root, "examples/allow-everything.mjs"), "utf8")
    expect(await readFile(join(root, "README.md"), "utf8")).toContain(`\`\`\`js\n${code}\`\`\``)

    const folder = await mkdtemp(join(tmpdir(), "signalbox-example-"))
    const steps = [{ tool: "Bash", input: { command: "touch made && ls" } }, { say: "One file." }]
    const api = await openScriptedApi({ scenario: { turns: [{ steps }] } })
    try {
      const claude = await ensureClaude("2.1.325")
      const env = claudeEnvironment({ home: folder, apiUrl: api.url, extra: { CLAUDE_BIN: claude.command } })
      const { stdout } = await run(process.execPath, [join(root, "examples/allow-everything.mjs")], {
        cwd: folder,
        env,
      })
      expect(stdout).toBe("One file.\n")
    } finally {
      await api.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
