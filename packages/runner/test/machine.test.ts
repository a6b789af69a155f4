import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { RecordedSession, RunnerFolders } from "@signalbox/protocol/runner-wire"
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { branchOf } from "../src/agents/folder.ts"
import { sessionsInUse } from "../src/machine/recorded-sessions.ts"
import { Scene } from "./runner-scene.ts"

const SIMULATOR = join(import.meta.dirname, "../../simulator/bin/claude-sim.mjs")
const SESSION = "5f0c2f2e-7a51-4b5e-9a5c-0d9f5a1f7c11"
const OTHER_SESSION = "6a1d3f3f-8b62-4c6f-8b6d-1e0f6b2f8d22"

let scene: Scene

beforeEach(async () => {
  scene = await Scene.open({ simulator: [process.execPath, SIMULATOR] })
})

afterEach(() => scene.dispose())

function folder(name: string): string {
  const path = join(scene.base, name)
  mkdirSync(path, { recursive: true })
  return path
}

/** As the CLI records a conversation. */
function record(cwd: string, sessionId = SESSION, more: readonly unknown[] = []): string {
  const project = join(scene.base, ".claude/projects", cwd.replaceAll(/[^a-zA-Z0-9]/g, "-"))
  mkdirSync(project, { recursive: true })
  const path = join(project, `${sessionId}.jsonl`)
  const entries = [
    { type: "user", sessionId, cwd, uuid: "u1", message: { role: "user", content: "Mend the   tests" } },
    {
      type: "assistant",
      sessionId,
      cwd,
      uuid: "a1",
      message: { role: "assistant", content: [{ type: "text", text: "Done" }] },
    },
    ...more,
  ]
  writeFileSync(path, `${entries.map((entry) => JSON.stringify(entry)).join("\n")}\n`)
  return path
}

async function refusal(more: Parameters<Scene["spec"]>[0]) {
  return scene.hub.request({ kind: "launch", spec: scene.spec({ agent: "simulator", ...more }) })
}

async function restart(options: Parameters<Scene["start"]>[0]): Promise<void> {
  await scene.runner?.close({ agents: true })
  await scene.hub.until(() => !scene.hub.isControlled)
  await scene.start(options)
}

function git(cwd: string, ...args: string[]): string {
  const env = { PATH: process.env["PATH"], HOME: scene.base, GIT_CONFIG_GLOBAL: "/dev/null" }
  return execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
    cwd,
    env,
    encoding: "utf8",
  })
}

function repository(): string {
  const path = folder("repo")
  git(path, "init", "-q", "-b", "main")
  writeFileSync(join(path, "file"), "one")
  git(path, "add", ".")
  git(path, "commit", "-q", "-m", "first")
  return path
}

describe("a simulator", () => {
  it("[RU84] without a folder works in a new temporary one", async () => {
    const { cwd: _, ...spec } = scene.spec({ agent: "simulator" })
    const { cwd } = await scene.hub.launch(spec)
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
    expect(cwd).toMatch(/signalbox-simulator-\w+$/)
    expect(existsSync(cwd)).toBe(true)
  })
})

describe("a resume", () => {
  it("[RU30] into a folder that does not exist is refused, and so is any launch into one", async () => {
    const gone = join(scene.base, "gone")
    expect(await refusal({ cwd: gone })).toMatchObject({
      code: "runner/no-folder",
      message: expect.stringContaining(gone),
    })
    expect(await refusal({ cwd: "relative" })).toMatchObject({ code: "runner/no-folder" })
    record(gone)
    const { cwd: _, ...spec } = scene.spec({ agent: "simulator", resume: SESSION })
    expect(await scene.hub.request({ kind: "launch", spec })).toMatchObject({
      code: "runner/no-folder",
      message: expect.stringMatching(/belongs to .*gone.*make that folder again/),
    })
  })

  it("[RU31] of a session that was never recorded here is refused; of one recorded elsewhere it is said where", async () => {
    expect(await refusal({ resume: SESSION })).toMatchObject({ code: "runner/no-transcript" })
    expect(await refusal({ resume: "../../x" })).toMatchObject({ code: "runner/no-transcript" })
    const [home, other] = [folder("home"), folder("other")]
    record(home)
    expect(await refusal({ resume: SESSION, cwd: other })).toMatchObject({
      code: "runner/no-transcript",
      message: expect.stringContaining(`was recorded in ${home}`),
    })
  })

  it("[RU31] without a folder goes to where the session was recorded", async () => {
    const home = folder("home")
    record(home)
    const { cwd: _, ...spec } = scene.spec({ agent: "simulator", resume: SESSION })
    expect(await scene.hub.launch(spec)).toMatchObject({ cwd: home })
    await scene.hub.until(() => scene.hub.agent(spec.spawn).socket !== undefined)
    scene.hub.say(spec.spawn, "go on")
    await scene.hub.until(() => scene.hub.lines(spec.spawn).some((line) => line.includes('"result"')))
    expect(scene.message(spec.spawn, "result")["session_id"]).toBe(SESSION)
  })

  it("[RU31] into a link to its folder is the same folder", async () => {
    const home = folder("home")
    record(home)
    const link = join(scene.base, "link")
    symlinkSync(home, link)
    await scene.launch({ agent: "simulator", resume: SESSION, cwd: link })
  })

  it("[RU32] of a session that an agent of this runner is at is refused, but a fork of it is not", async () => {
    record(scene.base)
    const first = await scene.launch({ agent: "simulator", resume: SESSION })
    scene.hub.say(first, "hello")
    await scene.hub.until(() => scene.hub.lines(first).some((line) => line.includes('"result"')))
    expect(await refusal({ resume: SESSION })).toMatchObject({
      code: "runner/session-in-use",
      message: expect.stringContaining("an agent of this runner"),
    })
    await scene.launch({ agent: "simulator", resume: SESSION, fork: true })
  })

  it("[RU32] of a session whose agent is being ended waits for its end", async () => {
    await restart({ limits: { stopGraceMs: 300, killAfterMs: 300 } })
    record(scene.base)
    const program = scene.spec().agent
    const first = await scene.launch({ agent: program, resume: SESSION })
    await scene.turn(first, "stubborn")
    const ended: string[] = []
    const stopped = scene.hub.ask({ kind: "stop", spawn: first, reason: "test" }).then(() => ended.push("first"))
    await scene.hub.until(() => scene.hub.lines(first).some((line) => line.includes("input-ended")))
    await scene.launch({ agent: program, resume: SESSION })
    expect(ended).toEqual(["first"])
    await stopped
  })

  it("[RU32] of a session that a launch under way is for is refused once that has begun", async () => {
    record(scene.base)
    const specs = [1, 2].map(() => scene.spec({ agent: scene.spec().agent, resume: SESSION }))
    const answers = await Promise.all(specs.map((spec) => scene.hub.request({ kind: "launch", spec })))
    expect(answers).toMatchObject([{ op: "reply" }, { op: "refused", code: "runner/session-in-use" }])
  })

  it("[RU31] into a new worktree is refused: the session was recorded elsewhere", async () => {
    const repo = repository()
    record(repo)
    expect(await refusal({ cwd: repo, resume: SESSION, worktree: true })).toMatchObject({
      code: "runner/worktree",
      message: expect.stringContaining("leave the worktree out"),
    })
    expect(existsSync(join(scene.base, ".signalbox-worktrees"))).toBe(false)
  })

  it("[RU32] a command of ours that asks for the session is not taken for a claude that is at it", async () => {
    const stays = ["-e", "setInterval(() => {}, 1000)"]
    const ours = spawn(process.execPath, [...stays, "bin/signalbox.mjs", "new", "--resume", SESSION], {
      stdio: "ignore",
    })
    const claude = spawn(process.execPath, [...stays, "claude", "--resume", OTHER_SESSION], { stdio: "ignore" })
    try {
      await expect.poll(async () => (await sessionsInUse({})).get(OTHER_SESSION), { timeout: 20_000 }).toBe(claude.pid)
      expect((await sessionsInUse({})).has(SESSION)).toBe(false)
    } finally {
      ours.kill("SIGKILL")
      claude.kill("SIGKILL")
    }
  })

  it("[RU32] of a session that a claude elsewhere is at is refused, whether it tells so or its command line does", async () => {
    record(scene.base)
    const sessions = folder(".claude/sessions")
    const note = join(sessions, `${process.pid}.json`)
    writeFileSync(note, JSON.stringify({ pid: process.pid, sessionId: SESSION }))
    expect(await refusal({ resume: SESSION })).toMatchObject({
      code: "runner/session-in-use",
      message: expect.stringMatching(/in a terminal \(pid \d+\): leave it there first, or fork/),
    })
    // A note whose process is another by now says nothing.
    writeFileSync(note, JSON.stringify({ pid: process.pid, sessionId: SESSION, procStart: "1" }))
    const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "claude", "--resume", SESSION], {
      stdio: "ignore",
    })
    try {
      expect(await refusal({ resume: SESSION })).toMatchObject({
        code: "runner/session-in-use",
        message: expect.stringContaining(`pid ${other.pid}`),
      })
    } finally {
      other.kill("SIGKILL")
    }
  })
})

describe("what is on the machine", () => {
  it("[RU33] recorded sessions are listed, the newest first, of one folder or of all", async () => {
    const [one, two] = [folder("one"), folder("two")]
    const old = record(one, "11111111-1111-4111-8111-111111111111")
    utimesSync(old, new Date(1e12), new Date(1e12))
    record(one, "22222222-2222-4222-8222-222222222222", [{ type: "custom-title", customTitle: "A title" }])
    record(
      two,
      SESSION,
      Array.from({ length: 5000 }, (_, n) => ({ type: "system", n, filler: "x".repeat(50) })),
    )
    record(two, "33333333-3333-4333-8333-333333333333")
    writeFileSync(join(scene.base, ".claude/projects", two.replaceAll("/", "-"), "empty.jsonl"), "")
    const list = async (cwd?: string) =>
      (await scene.hub.ask({ kind: "sessions", ...(cwd === undefined ? {} : { cwd }) })) as {
        sessions: RecordedSession[]
        more: boolean
      }
    expect(await list(one)).toMatchObject({
      more: false,
      sessions: [
        { sessionId: "22222222-2222-4222-8222-222222222222", cwd: one, summary: "A title", inUse: false },
        {
          sessionId: "11111111-1111-4111-8111-111111111111",
          summary: "Mend the tests",
          updatedAt: new Date(1e12).toISOString(),
        },
      ],
    })
    const all = await list()
    expect(all.sessions).toHaveLength(4)
    expect(all.sessions.find(({ sessionId }) => sessionId === SESSION)?.sizeBytes).toBeGreaterThan(250_000)
  })

  it("[RU33] the sessions of a folder are its own: of a name that looks alike, a long one, another configuration", async () => {
    const list = async (cwd: string, env?: Record<string, string>) => {
      const asked = { kind: "sessions", cwd, ...(env && { env }) } as const
      const { sessions } = (await scene.hub.ask(asked)) as { sessions: RecordedSession[] }
      return sessions.map(({ sessionId }) => sessionId)
    }
    record(folder("a/b"))
    record(folder("a-b"), OTHER_SESSION)
    expect(await list(folder("a/b"))).toEqual([SESSION])
    const long = folder(["long", "x".repeat(120), "y".repeat(120)].join("/"))
    const kept = record(folder("other"), "33333333-3333-4333-8333-333333333333")
    const project = join(scene.base, ".claude/projects", `${long.replaceAll(/[^a-zA-Z0-9]/g, "-").slice(0, 200)}-hash`)
    mkdirSync(project)
    writeFileSync(join(project, "long.jsonl"), readFileSync(kept, "utf8").replaceAll(folder("other"), long))
    expect(await list(long)).toEqual(["long"])
    expect(await list(folder("other"), { CLAUDE_CONFIG_DIR: folder("empty") })).toEqual([])
  })

  it("[RU47] a folder may be named from the home of the runner's user", async () => {
    vi.stubEnv("HOME", folder("home"))
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    const own = folder("home/own")
    expect(await scene.hub.ask({ kind: "folders", path: "~" })).toMatchObject({ folders: [{ name: "own", path: own }] })
    expect(await scene.hub.ask({ kind: "folders", path: "~/own" })).toMatchObject({ path: own, folders: [] })
    expect(await scene.hub.ask({ kind: "sessions", cwd: "~/own" })).toMatchObject({ sessions: [] })
    const spec = scene.spec({ agent: "simulator", cwd: "~/own" })
    expect(await scene.hub.ask({ kind: "launch", spec })).toMatchObject({ cwd: own })
    expect(await refusal({ cwd: "~/none" })).toMatchObject({
      code: "runner/no-folder",
      message: expect.stringContaining("home/none"),
    })
    expect(await refusal({ cwd: "~somebody" })).toMatchObject({ code: "runner/no-folder" })
  })

  it("[RU34] folders are listed with their parent, hidden ones last, and which are repositories", async () => {
    const root = folder("root")
    for (const name of ["root/b/.git", "root/.hidden", "root/a"]) folder(name)
    writeFileSync(join(root, "file"), "")
    const listed = (await scene.hub.ask({ kind: "folders", path: root })) as RunnerFolders
    expect(listed).toEqual({
      path: root,
      parent: scene.base,
      more: false,
      folders: [
        { name: "a", path: join(root, "a"), isGit: false },
        { name: "b", path: join(root, "b"), isGit: true },
        { name: ".hidden", path: join(root, ".hidden"), isGit: false },
      ],
    })
    expect(await scene.hub.request({ kind: "folders", path: join(root, "none") })).toMatchObject({
      code: "runner/no-folder",
    })
  })
})

describe("a worktree", () => {
  it("[RU35] is made beside the repository with a branch of its own, and the agent works there", async () => {
    const repo = repository()
    const spec = scene.spec({ cwd: repo, worktree: true })
    const { cwd, worktree } = await scene.hub.launch(spec)
    expect(worktree).toEqual({ path: cwd, branch: `signalbox/${spec.spawn.slice(0, 8)}` })
    expect(cwd.startsWith(join(scene.base, ".signalbox-worktrees"))).toBe(true)
    expect(git(cwd, "branch", "--show-current").trim()).toBe(worktree?.branch)
    const named = await scene.hub.launch(scene.spec({ cwd: repo, worktree: { branch: "mine/1" } }))
    expect(named.worktree?.branch).toBe("mine/1")
  })

  it("[RU35] is refused where there is no repository, or by a name that git would not take", async () => {
    const plain = folder("plain")
    expect(await refusal({ cwd: plain, worktree: true })).toMatchObject({
      code: "runner/worktree",
      message: expect.stringContaining("in no git repository"),
    })
    const repo = repository()
    expect(await refusal({ cwd: repo, worktree: { branch: "--force" } })).toMatchObject({ code: "runner/worktree" })
    expect(await refusal({ cwd: repo, worktree: { branch: "main" } })).toMatchObject({
      code: "runner/worktree",
      message: expect.stringContaining("main"),
    })
  })

  it("[RU36] is removed on request, never with changes that are not committed, and never one that was not made here", async () => {
    const repo = repository()
    const spec = scene.spec({ cwd: repo, worktree: true })
    const { cwd } = await scene.hub.launch(spec)
    writeFileSync(join(cwd, "new-file"), "work")
    const remove = (path: string) => scene.hub.request({ kind: "remove-worktree", path })
    expect(await remove(cwd)).toMatchObject({
      code: "runner/worktree",
      message: expect.stringContaining("not committed"),
    })
    expect(await remove(repo)).toMatchObject({
      code: "runner/worktree",
      message: expect.stringContaining("not made by this runner"),
    })
    git(cwd, "add", ".")
    git(cwd, "commit", "-q", "-m", "work")
    await scene.hub.ask({ kind: "stop", spawn: spec.spawn, reason: "test" })
    expect(await remove(cwd)).toMatchObject({ op: "reply" })
    expect(existsSync(cwd)).toBe(false)
    expect(git(repo, "branch", "--list", `signalbox/${spec.spawn.slice(0, 8)}`)).not.toBe("")
  })

  it("[RU36] is not removed while another agent is at work in it", async () => {
    const repo = repository()
    const spec = scene.spec({ cwd: repo, worktree: true })
    const { cwd } = await scene.hub.launch(spec)
    const inside = await scene.launch({ cwd })
    await scene.hub.ask({ kind: "stop", spawn: spec.spawn, reason: "test" })
    const remove = () => scene.hub.request({ kind: "remove-worktree", path: cwd })
    expect(await remove()).toMatchObject({
      code: "runner/worktree",
      message: expect.stringContaining("stop its session first"),
    })
    expect(existsSync(cwd)).toBe(true)
    await scene.hub.ask({ kind: "stop", spawn: inside, reason: "test" })
    expect(await remove()).toMatchObject({ op: "reply" })
  })

  it("[RU14] the hooks of its repository get nothing that is Signalbox's", async () => {
    await restart({ env: { PATH: process.env["PATH"], HOME: scene.base, SIGNALBOX_TOKEN: "secret" } })
    const repo = repository()
    const [hook, seen] = [join(repo, ".git/hooks/post-checkout"), join(scene.base, "seen")]
    writeFileSync(hook, `#!/bin/sh\nenv > ${seen}\n`, { mode: 0o755 })
    await scene.hub.launch(scene.spec({ cwd: repo, worktree: true }))
    expect(readFileSync(seen, "utf8")).toContain("PATH=")
    expect(readFileSync(seen, "utf8")).not.toContain("SIGNALBOX")
  })
})

function makePipe(path: string): void {
  execFileSync("sh", ["-c", 'mkfifo "$0"', path])
}

describe("the branch of an agent's folder", () => {
  it("[RU85] is read from git's own files: in a repository, below it, in a worktree, on no branch, and outside of one", () => {
    const repository = folder("repository")
    git(repository, "init", "-q", "-b", "main")
    expect(branchOf(repository)).toBe("main")
    git(repository, "commit", "-q", "--allow-empty", "-m", "first")
    git(repository, "worktree", "add", "-q", "-b", "fix/one", join(scene.base, "tree"))
    git(repository, "switch", "-q", "-c", "feature/äö")
    expect(branchOf(folder("repository/deep/er"))).toBe("feature/äö")
    expect(branchOf(join(scene.base, "tree"))).toBe("fix/one")
    git(repository, "switch", "-q", "--detach")
    expect(branchOf(repository)).toBe("")
    expect(branchOf(folder("plain"))).toBe("")
    // Git does not take this for a repository either.
    git(repository, "switch", "-q", "main")
    writeFileSync(join(folder("repository/sub/.git"), "HEAD"), "ref: refs/heads/other\n")
    expect(branchOf(join(repository, "sub"))).toBe("main")
    writeFileSync(join(repository, ".git/HEAD"), "ref: refs/heads/main\t\n")
    expect(branchOf(repository)).toBe("main")
  })

  it("[RU85] cannot be told where its files are a pipe, a link, something long, or missing; nothing is held up", () => {
    const head = (name: string, make: (path: string) => void) => {
      for (const part of ["objects", "refs"]) folder(`${name}/.git/${part}`)
      make(join(folder(`${name}/.git`), "HEAD"))
      return branchOf(join(scene.base, name))
    }
    expect(head("pipe", (path) => makePipe(path))).toBeUndefined()
    expect(head("link", (path) => symlinkSync("refs/heads/main", path))).toBeUndefined()
    expect(head("long", (path) => writeFileSync(path, `ref: refs/heads/${"x".repeat(100_000)}\n`))).toBeUndefined()
    expect(head("reftable", (path) => writeFileSync(path, "ref: refs/heads/.invalid\n"))).toBeUndefined()
    expect(head("nothing", () => undefined)).toBeUndefined()
    makePipe(join(folder("pipe-too"), ".git"))
    expect(branchOf(join(scene.base, "pipe-too"))).toBeUndefined()
  })

  it("[RU85] is told with each connection, and before a question if it is another one", async () => {
    const repository = folder("repository")
    git(repository, "init", "-q", "-b", "main")
    const spawn = await scene.launch({ cwd: repository })
    const { attaches } = scene.hub.agent(spawn)
    await scene.hub.until(() => attaches[0]?.branch === "main")
    await scene.turn(spawn, "ask one")
    expect(scene.hub.notes(spawn)).toEqual([])
    git(repository, "switch", "-q", "-c", "other")
    await scene.turn(spawn, "ask two")
    const frames = scene.hub.inOrder(spawn)
    const asked = frames.findIndex((frame) => frame.kind === "line" && frame.line.includes('"two"'))
    const told = frames.findIndex((frame) => frame.kind === "note" && frame.note.kind === "branch")
    expect(frames[told]).toMatchObject({ note: { branch: "other" } })
    expect(told).toBeLessThan(asked)
    await scene.hub.leave()
    git(repository, "switch", "-q", "-c", "third")
    await scene.hub.come()
    await scene.hub.until(() => attaches.at(-1)?.branch === "third")
  })
})
