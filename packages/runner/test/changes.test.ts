import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FolderChanges } from "@signalbox/protocol/runner-wire"
import type { Clock } from "@signalbox/transport"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { ChangeNews, ChangeReader, countChanges } from "../src/agents/folder.ts"

let base = ""

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-changes-")))
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

function git(cwd: string, ...args: readonly string[]): void {
  const who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
  execFileSync("git", [...who, ...args], { cwd, stdio: "ignore" })
}

function write(path: string, text: string | Uint8Array): void {
  writeFileSync(join(base, path), text)
}

/** A repository with three files in one commit. */
function repository(): string {
  const folder = join(base, "repository")
  mkdirSync(join(folder, "deep"), { recursive: true })
  git(folder, "init", "-q")
  write("repository/one.txt", "a\nb\nc\n")
  write("repository/two.txt", "x\n")
  write("repository/picture", new Uint8Array([0, 1, 2]))
  write("repository/.gitignore", "ignored\n")
  git(folder, "add", ".")
  git(folder, "commit", "-q", "-m", "first")
  return folder
}

const reader = (timeoutMs?: number) =>
  new ChangeReader({
    env: process.env,
    stateDirectory: join(base, "state"),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })

describe("the uncommitted changes of a folder", () => {
  it("[RU100] are changed, staged, deleted and new files, and the lines of those that git knows", async () => {
    const folder = repository()
    expect(await reader().read(folder)).toEqual({ files: 0, added: 0, removed: 0 })
    write("repository/one.txt", "a\nB\nc\nd\n")
    rmSync(join(folder, "two.txt"))
    write("repository/picture", new Uint8Array([0, 9]))
    write("repository/deep/new.txt", "1\n2\n")
    write("repository/ignored", "x\n")
    const all = { files: 4, added: 2, removed: 2 }
    expect(await reader().read(folder)).toEqual(all)
    // The whole repository's, wherever in it the agent works.
    expect(await reader().read(join(folder, "deep"))).toEqual(all)
    git(folder, "add", "deep/new.txt")
    expect(await reader().read(folder)).toEqual({ files: 4, added: 4, removed: 2 })
    git(folder, "worktree", "add", "-q", join(base, "tree"))
    write("tree/one.txt", "a\n")
    expect(await reader().read(join(base, "tree"))).toEqual({ files: 1, added: 0, removed: 2 })
  })

  it("[RU100] are unknown outside of a repository, before the first commit, and where git does not answer in time", async () => {
    mkdirSync(join(base, "plain"))
    expect(await reader().read(join(base, "plain"))).toBeUndefined()
    expect(await reader().read(join(base, "nowhere"))).toBeUndefined()
    git(join(base, "plain"), "init", "-q")
    expect(await reader().read(join(base, "plain"))).toBeUndefined()
    const folder = repository()
    rmSync(join(folder, ".git/HEAD"))
    execFileSync("sh", ["-c", 'mkfifo "$0"', join(folder, ".git/HEAD")])
    const slow = reader(300)
    expect(await slow.read(folder)).toBeUndefined()
    rmSync(join(folder, ".git"), { recursive: true })
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "again")
    expect(await reader().read(folder)).toEqual({ files: 4, added: 0, removed: 0 })
  })

  it("[RU101] are counted without running anything that the repository's settings and attributes name", async () => {
    const folder = repository()
    const trap = join(base, "trapped")
    const program = join(base, "program.sh")
    writeFileSync(program, `#!/bin/sh\ntouch '${trap}'\ncat\n`, { mode: 0o755 })
    const settings = {
      "filter.evil.clean": program,
      "filter.evil.process": program,
      "filter.evil.smudge": program,
      "diff.evil.command": program,
      "diff.evil.textconv": program,
      "diff.external": program,
      "core.fsmonitor": program,
      "core.hooksPath": base,
      "core.pager": program,
    }
    for (const [name, value] of Object.entries(settings)) git(folder, "config", name, value)
    write("repository/.gitattributes", "* filter=evil diff=evil\n")
    mkdirSync(join(folder, ".git/info"), { recursive: true })
    write("repository/.git/info/attributes", "* filter=evil diff=evil\n")
    write("repository/one.txt", "a\n")
    expect(await reader().read(folder)).toEqual({ files: 2, added: 0, removed: 2 })
    expect(existsSync(trap)).toBe(false)
    // The trap works: git by itself walks into it.
    execFileSync("git", ["diff", "HEAD"], { cwd: folder, stdio: "ignore" })
    expect(existsSync(trap)).toBe(true)
  })

  it("[RU101] are not those of another folder that the settings name", async () => {
    const folder = repository()
    mkdirSync(join(base, "elsewhere"))
    git(folder, "config", "core.worktree", join(base, "elsewhere"))
    expect(await reader().read(folder)).toBeUndefined()
  })

  it("[RU100] are counted from git's words, whatever a file is called", () => {
    const numstat = "3\t1\tplain\0-\t-\tpicture\x002\t0\tname with\ttab\nand line\0"
    expect(countChanges(numstat, "new\0two\nlines\0")).toEqual({ files: 5, added: 5, removed: 1 })
    expect(countChanges("", "")).toEqual({ files: 0, added: 0, removed: 0 })
  })
})

/** Time that stands still until it is moved on. */
function handClock() {
  let now = 0
  const timers = new Set<{ at: number; run: () => void }>()
  const clock: Clock = {
    now: () => now,
    after(delayMs, run) {
      const timer = { at: now + delayMs, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }
  const pass = (ms: number) => {
    now += ms
    const due = [...timers].filter(({ at }) => at <= now)
    for (const timer of due) {
      timers.delete(timer)
      timer.run()
    }
  }
  return { clock, pass, timers }
}

it("[RU102] changes are looked at once at a time, with a pause after each look, and told when they are others", async () => {
  const { clock, pass, timers } = handClock()
  const told: (FolderChanges | null)[] = []
  const looks: ((changes: FolderChanges | undefined) => void)[] = []
  const read = () => new Promise<FolderChanges | undefined>((resolve) => void looks.push(resolve))
  const news = new ChangeNews({ read, tell: (changes) => void told.push(changes), clock })
  const answer = async (changes: FolderChanges | undefined) => {
    looks.at(-1)?.(changes)
    await new Promise(setImmediate)
  }
  const one = { files: 1, added: 1, removed: 0 }
  for (let times = 0; times < 5; times++) news.look()
  expect(looks).toHaveLength(1)
  // There is no repository: the hub knows of no changes anyway.
  await answer(undefined)
  expect(told).toEqual([])
  // What was asked for meanwhile is looked at after the pause, once.
  pass(2_999)
  expect(looks).toHaveLength(1)
  pass(1)
  expect(looks).toHaveLength(2)
  // A look that takes long is followed by a longer pause.
  pass(1_000)
  await answer(one)
  expect(told).toEqual([one])
  news.look()
  pass(19_999)
  expect(looks).toHaveLength(2)
  pass(1)
  await answer(one)
  expect(told).toEqual([one])
  pass(3_000)
  news.look()
  await answer(undefined)
  expect(told).toEqual([one, null])
  // One that took a minute, in line behind others: the pause is bounded.
  pass(3_000)
  news.look()
  pass(60_000)
  await answer(undefined)
  const before = looks.length
  news.look()
  pass(60_000)
  expect(looks).toHaveLength(before + 1)
  await answer(undefined)
  pass(3_000)
  news.look()
  news.end()
  await answer(one)
  expect(told).toEqual([one, null])
  expect(timers.size).toBe(0)
})
