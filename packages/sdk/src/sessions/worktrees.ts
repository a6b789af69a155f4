import { execFile } from "node:child_process"

const GIT_TIMEOUT_MS = 5_000
const MAX_OUTPUT_BYTES = 1024 * 1024

/** The git worktrees of the repository that a folder belongs to, the main one included; none outside a repository. */
export async function worktreesOf(dir: string): Promise<string[]> {
  const output = await new Promise<string>((resolve) => {
    execFile(
      "git",
      ["worktree", "list", "--porcelain"],
      { cwd: dir, timeout: GIT_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true },
      // No git, no folder, no repository: a session is then looked for in its own folder only.
      (error, stdout) => resolve(error === null ? stdout : ""),
    )
  })
  return output
    .split("\n")
    .filter((line) => line.startsWith("worktree "))
    .map((line) => line.slice("worktree ".length))
}
