import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openClaude } from "../../src/process/open-claude.ts"

const FAKE = `#!${process.execPath}
const { argv, env } = process
console.log(JSON.stringify({ argv: argv.slice(2), env, cwd: process.cwd() }))
process.stdin.on("data", (text) => process.stdout.write(text))
`

let home: string
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "signalbox-claude-")))
})
afterEach(() => rm(home, { recursive: true }))

async function placeFake(name: string): Promise<string> {
  const path = join(home, name)
  await mkdir(join(path, ".."), { recursive: true })
  await writeFile(path, FAKE)
  await chmod(path, 0o755)
  return path
}

describe("openClaude", () => {
  it("[P21] finds the CLI and starts it with the flags, the environment and the folder asked for", async () => {
    await placeFake(".claude/local/claude")
    const transport = await openClaude({
      baseEnv: { HOME: home, PATH: "", NODE_OPTIONS: "--no-such-flag", SIGNALBOX_TOKEN: "secret", KEPT: "1" },
      env: { EXTRA: "2" },
      enableFileCheckpointing: true,
      cwd: home,
      flags: { model: "opus", permissionPromptTool: "stdio", settingSources: [] },
    })
    const iterator = transport.lines[Symbol.asyncIterator]()
    const first = await iterator.next()
    const fixed = "--output-format stream-json --verbose --input-format stream-json"
    const asked = "--model opus --permission-prompt-tool stdio --setting-sources"
    const added = { CLAUDE_CODE_ENTRYPOINT: "signalbox", CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true" }
    expect(JSON.parse(first.value ?? "")).toEqual({
      argv: [...`${fixed} ${asked}`.split(" "), ""],
      env: { HOME: home, PATH: "", KEPT: "1", EXTRA: "2", ...added },
      cwd: home,
    })
    await transport.send('{"type":"keep_alive"}')
    expect((await iterator.next()).value).toBe('{"type":"keep_alive"}')
    await transport.close()
  })

  it("[P21] a script is run with our own Node, and debugging reaches both the flags and the environment", async () => {
    const executable = await placeFake("cli.cjs")
    const flags = { debugToStderr: true, style: "equals", model: "opus" } as const
    const transport = await openClaude({ executable, baseEnv: {}, flags })
    const first = await transport.lines[Symbol.asyncIterator]().next()
    const seen = JSON.parse(first.value ?? "")
    expect(seen.argv.slice(5)).toEqual(["--model=opus", "--debug-to-stderr"])
    expect(seen.env).toMatchObject({ DEBUG: "1" })
    await transport.close()
  })

  it("[P21] a CLI that is not there is an error before anything starts", async () => {
    await expect(openClaude({ executable: join(home, "claude") })).rejects.toMatchObject({ code: "process/not-found" })
  })
})
