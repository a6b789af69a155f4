import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { TransportError } from "../../src/errors.ts"
import { type FileKind, type FindClaudeOptions, findClaude } from "../../src/process/find-claude.ts"

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "signalbox-find-"))
})
afterEach(() => rm(root, { recursive: true }))

async function place(path: string, mode = 0o755): Promise<string> {
  const full = join(root, path)
  await mkdir(dirname(full), { recursive: true })
  await writeFile(full, "#!/bin/sh\n")
  await chmod(full, mode)
  return full
}

function failure(options: FindClaudeOptions): TransportError {
  try {
    findClaude(options)
  } catch (error) {
    if (error instanceof TransportError) return error
  }
  throw new Error("claude was found, or something else was thrown")
}

describe("findClaude", () => {
  it("[P5] asks the caller, CLAUDE_BIN, the home folder, /usr/local/bin and PATH, in this order", () => {
    const places = ["/asked/claude", "/bin-var/claude", "/h/.claude/local/claude", "/usr/local/bin/claude"]
    const present = new Set([...places, "/p1/claude", "/p2/claude"])
    const fileKind = (path: string): FileKind => (present.has(path) ? "executable" : "missing")
    const find = (more: FindClaudeOptions) =>
      findClaude({ home: "/h", fileKind, ...more, env: { PATH: "/p0::/p1:/p2", ...more.env } })
    const env = { CLAUDE_BIN: "/bin-var/claude" }
    expect(find({ explicit: "/asked/claude", env })).toMatchObject({ path: "/asked/claude", foundBy: "explicit" })
    expect(find({ env })).toMatchObject({ path: "/bin-var/claude", foundBy: "CLAUDE_BIN" })
    expect(find({ env: { CLAUDE_BIN: "" } })).toMatchObject({ path: places[2], foundBy: "well-known" })
    present.delete("/h/.claude/local/claude")
    expect(find({})).toMatchObject({ path: "/usr/local/bin/claude", foundBy: "well-known" })
    present.delete("/usr/local/bin/claude")
    expect(find({})).toMatchObject({ path: "/p1/claude", foundBy: "PATH", command: "/p1/claude", args: [] })
  })

  it("[P5] only an executable file counts: directories and plain files are passed over", async () => {
    await mkdir(join(root, "home/.claude/local/claude"), { recursive: true })
    await place("a/claude", 0o644)
    const good = await place("real/claude-2.1")
    await mkdir(join(root, "b"))
    await symlink(good, join(root, "b/claude"))
    const PATH = ["a", "b"].map((folder) => join(root, folder)).join(":")
    const home = join(root, "home")
    // Whether this machine has one in /usr/local/bin must not matter here.
    const env = { PATH }
    const found = findClaude({ env, home })
    expect([join(root, "b/claude"), "/usr/local/bin/claude"]).toContain(found.path)
    expect(findClaude({ env, explicit: "claude" }).path).toBe(join(root, "b/claude"))
  })

  it("[P6] what somebody named is that or nothing: the error says what is wrong with it", async () => {
    const plain = await place("plain", 0o644)
    const elsewhere = await place("path/claude")
    const env = { PATH: dirname(elsewhere) }
    const missing = failure({ env: { ...env, CLAUDE_BIN: "/nowhere/claude" } })
    expect(missing).toMatchObject({ code: "process/not-found", details: { looked: ["/nowhere/claude"] } })
    expect(missing.message).toContain("CLAUDE_BIN is /nowhere/claude, which does not exist")
    expect(failure({ env: { ...env, CLAUDE_BIN: root } }).message).toContain("is a directory")
    expect(failure({ env, explicit: plain }).message).toContain(`${plain}, which is not executable`)
    expect(failure({ env, explicit: "claude-beta" }).message).toContain("claude-beta, which is not a command on PATH")
  })

  it("[P7] not found: the message lists every place that was looked at and says what to do", () => {
    const fileKind = (path: string): FileKind => (path === "/p2/claude" ? "plain-file" : "missing")
    const error = failure({ env: { PATH: "/p1:/p2" }, home: "/h", fileKind })
    const looked = ["/h/.claude/local/claude", "/usr/local/bin/claude", "/p1/claude", "/p2/claude"]
    expect(error).toMatchObject({ code: "process/not-found", details: { looked } })
    for (const part of [
      "CLAUDE_BIN (not set)",
      looked[0],
      looked[1],
      "PATH: /p1:/p2",
      "npm install",
      "set CLAUDE_BIN",
    ]) {
      expect(error.message).toContain(part)
    }
    expect(error.message).toContain("/p2/claude is not executable")
    expect(failure({ env: {}, home: "/h", fileKind }).message).toContain("PATH (empty)")
  })

  it.each(["cli.js", "cli.mjs", "cli.cjs", "cli.jsx", "cli.ts", "cli.tsx"])(
    "[P8] %s is run with our own Node, executable or not",
    async (name) => {
      const path = await place(name, 0o644)
      expect(findClaude({ explicit: path })).toEqual({
        path,
        foundBy: "explicit",
        command: process.execPath,
        args: [path],
      })
    },
  )
})
