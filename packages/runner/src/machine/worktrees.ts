import { execFile } from "node:child_process"
import { mkdir } from "node:fs/promises"
import { basename, dirname, join, sep } from "node:path"
import { promisify } from "node:util"
import type { LaunchSpec } from "@signalbox/protocol/runner-wire"
import { claudeProcessEnvironment } from "@signalbox/transport/process"
import { errorText, Refusal } from "../errors.ts"
import type { StateFile } from "../state/state-file.ts"

const run = promisify(execFile)
const TIMEOUT_MS = 120_000
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024
/** Stricter than git: a name that begins with a dash would be an option of its own. */
const BRANCH = /^[A-Za-z0-9][\w./-]{0,200}$/
const BESIDE = ".signalbox-worktrees"

export interface Worktree {
  readonly path: string
  readonly branch: string
}

/** Where an agent of ours is at work. */
export interface FolderInUse {
  readonly path: string
  /** Settles when it is gone; undefined while nobody ends it. */
  readonly leaving: Promise<unknown> | undefined
}

export interface WorktreesOptions {
  readonly state: StateFile
  readonly env: Readonly<Record<string, string | undefined>>
  readonly inUse: () => readonly FolderInUse[]
}

/** Git worktrees that sessions asked for. Only those made here are ever removed. */
export class Worktrees {
  readonly #state: StateFile
  readonly #inUse: WorktreesOptions["inUse"]
  readonly #git: Git

  constructor({ state, env, inUse }: WorktreesOptions) {
    this.#state = state
    this.#inUse = inUse
    this.#git = gitIn(env)
  }

  /** A folder of its own for a session, with a branch of its own, beside the repository. */
  async add(spec: LaunchSpec, folder: string): Promise<Worktree> {
    const repository = await this.#git(folder, ["rev-parse", "--show-toplevel"]).catch((cause: unknown) => {
      const message = `${folder} is in no git repository, so that no worktree can be made of it: begin without one`
      throw new Refusal("runner/worktree", message, { cause })
    })
    const short = spec.spawn.replaceAll(/[^A-Za-z0-9]/g, "").slice(0, 8)
    const asked = typeof spec.worktree === "object" ? spec.worktree.branch : undefined
    const branch = asked ?? `signalbox/${short}`
    const path = join(dirname(repository), BESIDE, `${basename(repository)}-${short}`)
    if (!BRANCH.test(branch))
      throw new Refusal("runner/worktree", `${branch} cannot be the name of a branch: choose another`)
    await mkdir(dirname(path), { recursive: true }).catch((cause: unknown) => {
      throw new Refusal("runner/worktree", `${dirname(path)} cannot be made: ${errorText(cause)}`, { cause })
    })
    const exists = await this.#git(repository, ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`]).then(
      () => true,
      () => false,
    )
    const what = exists ? [path, branch] : ["-b", branch, path]
    await this.#git(repository, ["worktree", "add", ...what]).catch((cause: unknown) => {
      throw gitRefusal(`git made no worktree on branch ${branch}`, cause)
    })
    await this.#state.update(({ worktrees }) => ({ worktrees: [...worktrees, { path, repository, branch }] }))
    return { path, branch }
  }

  /** Never with changes that are not committed. The branch stays. */
  async remove(path: string): Promise<void> {
    const known = this.#state.state.worktrees.find((worktree) => worktree.path === path)
    if (known === undefined) {
      throw new Refusal("runner/worktree", `${path} was not made by this runner: remove it with git worktree remove`)
    }
    const changes = await this.#git(path, ["status", "--porcelain", "--untracked-files=all"]).catch(() => undefined)
    if (changes !== undefined && changes !== "") {
      const message = `${path} has changes that are not committed: commit them on ${known.branch} or throw them away first`
      throw new Refusal("runner/worktree", message)
    }
    await this.#requireUnused(path)
    const steps = changes === undefined ? ["worktree", "prune"] : ["worktree", "remove", path]
    await this.#git(known.repository, steps).catch((cause: unknown) => {
      throw gitRefusal(`git did not remove ${path}`, cause)
    })
    await this.#state.update(({ worktrees }) => ({ worktrees: worktrees.filter((one) => one.path !== path) }))
  }

  /** Another session may go on where one began: after a fork, or when the conversation got a new id. */
  async #requireUnused(path: string): Promise<void> {
    const isInside = (folder: FolderInUse) => folder.path === path || folder.path.startsWith(`${path}${sep}`)
    const there = this.#inUse().filter(isInside)
    if (there.some(({ leaving }) => leaving === undefined)) {
      throw new Refusal("runner/worktree", `an agent of this runner is at work in ${path}: stop its session first`)
    }
    for (const { leaving } of there) await leaving
  }
}

type Git = (folder: string, args: readonly string[]) => Promise<string>

/** A repository's hooks run with it: like an agent it gets nothing that is Signalbox's own. */
function gitIn(base: WorktreesOptions["env"]): Git {
  // A question at the terminal would never be answered.
  const env = { ...claudeProcessEnvironment(base), GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" }
  const options = { env, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES }
  return async (folder, args) => (await run("git", ["-C", folder, ...args], options)).stdout.trimEnd()
}

/** With git's last line, which may be that of a repository's hook. */
function gitRefusal(ownWords: string, cause: unknown): Refusal {
  return new Refusal("runner/worktree", `${ownWords}: ${gitSaid(cause)}`, { cause, details: { ownWords } })
}

function gitSaid(cause: unknown): string {
  const said = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim() : ""
  return said === "" ? errorText(cause) : (said.split("\n").at(-1) ?? said)
}
