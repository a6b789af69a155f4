import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { TransportError } from "../../src/errors.ts"
import { type ChildProcessOptions, openChildProcess } from "../../src/process/child-process.ts"

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "signalbox-spawn-"))
})
afterEach(() => rm(root, { recursive: true }))

async function failure(options: ChildProcessOptions): Promise<TransportError> {
  const error: unknown = await openChildProcess(options).catch((reason: unknown) => reason)
  if (!(error instanceof TransportError)) throw new Error(`not refused as expected: ${String(error)}`)
  expect(error.code).toBe("process/spawn-failed")
  expect(error.details).toMatchObject({ command: options.command })
  return error
}

describe("a process that cannot be started", () => {
  it("[P9] a missing command and a missing folder are told apart", async () => {
    expect((await failure({ command: join(root, "nothing") })).message).toContain("there is no such file")
    expect((await failure({ command: "signalbox-no-such-command" })).message).toContain("no such command on PATH")
    const cwd = join(root, "gone")
    const folder = await failure({ command: process.execPath, cwd })
    expect(folder.message).toContain(`the working directory ${cwd} does not exist`)
    expect(folder).toMatchObject({ details: { cwd, code: "ENOENT" }, cause: { code: "ENOENT" } })
    await writeFile(join(root, "file"), "")
    const notOne = await failure({ command: process.execPath, cwd: join(root, "file") })
    expect(notOne.message).toContain("is not a directory")
  })

  it("[P9] a script whose interpreter is missing is not called missing itself", async () => {
    const script = join(root, "claude")
    await writeFile(script, "#!/opt/no-such-node --flag\n")
    await chmod(script, 0o755)
    expect((await failure({ command: script })).message).toContain("its interpreter /opt/no-such-node does not")
  })

  it("[P9] a file without permission and a directory are refused with the reason", async () => {
    await writeFile(join(root, "plain"), "")
    expect((await failure({ command: join(root, "plain") })).message).toContain("permission denied")
    expect((await failure({ command: root })).message).toContain("permission denied")
  })

  it("[P9] too long an argument is named", async () => {
    const args = ["--model", "opus", "--mcp-config", "x".repeat(4 * 1024 * 1024)]
    const error = await failure({ command: process.execPath, args })
    expect(error.message).toContain("the longest argument is --mcp-config with 4194304 characters")
    expect(error.details).toMatchObject({ code: "E2BIG" })
  })

  it("[P9] another maker's spawn that throws is reported the same way", async () => {
    const spawn = () => {
      throw new Error("no container")
    }
    expect((await failure({ command: "claude", spawn })).message).toBe("claude could not be started: no container")
  })
})
