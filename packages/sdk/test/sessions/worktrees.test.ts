import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "vitest"
import { expectSame, outcome } from "./both.ts"
import { file, id, makeWorld, user } from "./transcripts.ts"

function git(cwd: string, ...words: string[]): void {
  const identity = ["-c", "user.email=test@example.invalid", "-c", "user.name=test"]
  execFileSync("git", [...identity, ...words], { cwd, stdio: "pipe" })
}

const nameOf = (path: string) => path.replaceAll(/[^a-zA-Z0-9]/g, "-")

describe("sessions of a repository with worktrees", () => {
  it.each([
    ["two further worktrees", 2],
    ["no further worktree", 0],
  ] as const)("[Z3] are listed and found from each of them: %s", async (_, count) => {
    const base = await realpath(await mkdtemp(join(tmpdir(), "signalbox-git-")))
    const main = join(base, "main")
    mkdirSync(join(main, "sub"), { recursive: true })
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    const others = [join(base, "one"), join(main, ".claude", "worktrees", "two")].slice(0, count)
    for (const [at, path] of others.entries()) git(main, "worktree", "add", "-q", path, "-b", `branch-${at}`)
    const folders = [main, join(main, "sub"), ...others, join(base, "one", "sub"), join(base, "onex"), base]
    const files = folders.map((path, n) => [`${nameOf(path)}/${id(n + 1)}.jsonl`, file(user(10, null, path))])
    const world = await makeWorld({
      ...Object.fromEntries(files),
      [`${nameOf(others[0] ?? main)}/${id(1)}.jsonl`]: file(user(10, null, "the same session again")),
    })
    try {
      for (const dir of folders) {
        await expectSame((sdk) => sdk.listSessions({ dir }))
        await expectSame((sdk) => sdk.listSessions({ dir, includeWorktrees: false }))
        for (const n of folders.keys()) await expectSame((sdk) => sdk.getSessionInfo(id(n + 1), { dir }))
        await expectSame((sdk) => outcome(() => sdk.renameSession(id(99), "x", { dir })))
      }
    } finally {
      await world.remove()
      await rm(base, { recursive: true, force: true })
    }
  })
})
