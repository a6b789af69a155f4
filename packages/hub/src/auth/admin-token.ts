import { randomBytes } from "node:crypto"
import { access, chmod, constants, lstat, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { HubError } from "../errors.ts"
import { ACTOR } from "../model/access.ts"
import type { Tokens } from "./tokens.ts"

const FILE = "admin-token"

export interface AdminToken {
  readonly token: string
  readonly tokenId: string
  readonly path: string
  /** Whether it was made now: at the first start, or because the one in the file is no longer valid. */
  readonly created: boolean
}

/** The data directory, readable by its owner alone: what is in it lets anybody act as an admin. */
export async function ensureDataDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
    if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o700)
  } catch (cause) {
    throw unusable(path, `it cannot be made or made private${reasonOf(cause)}`, cause)
  }
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw unusable(path, `it cannot be written${reasonOf(cause)}`, cause)
  }
}

/** The token with which the other commands of this machine find their way in. */
export async function ensureAdminToken(dataDirectory: string, tokens: Tokens): Promise<AdminToken> {
  await ensureDataDirectory(dataDirectory)
  const path = join(dataDirectory, FILE)
  const kept = await readToken(path)
  if (kept !== undefined) await tokens.meet(kept)
  const known = kept === undefined ? undefined : tokens.find(kept)
  if (kept !== undefined && known?.role === "admin") return { token: kept, tokenId: known.id, path, created: false }
  const { record, secret } = await tokens.create({ role: "admin", name: "admin" }, ACTOR.hub)
  await writeToken(path, secret)
  return { token: secret, tokenId: record.id, path, created: true }
}

async function readToken(path: string): Promise<string | undefined> {
  try {
    const found = await lstat(path)
    if (!found.isFile()) throw unusable(path, "it is not a plain file; remove it")
    if ((found.mode & 0o077) !== 0) await chmod(path, 0o600)
    return (await readFile(path, "utf8")).trim()
  } catch (cause) {
    if (cause instanceof HubError) throw cause
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined
    throw unusable(path, "it cannot be read", cause)
  }
}

/** Written beside and renamed over: a crash leaves the old file or the new one, never half a token. */
async function writeToken(path: string, token: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}`
  try {
    const file = await open(draft, "wx", 0o600)
    try {
      await file.writeFile(`${token}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {})
    throw unusable(path, "it cannot be written", cause)
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? ` (${cause.message})` : ""
}

function unusable(path: string, why: string, cause?: unknown): HubError {
  return new HubError("start/data-directory", `${path}: ${why}. Choose another directory with --data`, { cause })
}
