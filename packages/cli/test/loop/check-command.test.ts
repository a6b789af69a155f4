import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { runCheck } from "../../src/loop/check-command.ts"
import { environment, folder } from "../signalbox-process.ts"

const never = new AbortController().signal
const check = (command: string, more: { signal?: AbortSignal; timeoutMs?: number; cwd?: string } = {}) =>
  runCheck({ command, cwd: folder(), env: environment(), signal: never, ...more })

describe("a check", () => {
  it("[LP3] passes with exit code 0, and is run by a shell in the task's folder", async () => {
    const cwd = folder()
    expect(await check("echo fine | cat > here", { cwd })).toBeUndefined()
    expect(readFileSync(join(cwd, "here"), "utf8")).toBe("fine\n")
  })

  it("[LP3] tells how it failed and the end of what it printed, as text alone", async () => {
    expect(await check("echo out; echo err >&2; exit 3")).toMatchObject({ how: "exit code 3", output: "out\nerr\n" })
    const long = await check("seq 100000; printf '\\033[31mred\\033[0m'; exit 1")
    expect(long?.output.length).toBeLessThanOrEqual(8_000)
    expect(long?.output).toMatch(/\n100000\nred$/)
    expect(await check("true", { cwd: join(folder(), "gone") })).toMatchObject({
      how: expect.stringContaining("ENOENT"),
    })
  })

  it("[LP3] one that takes too long has failed; what it left in the background holds nothing up", async () => {
    expect(await check("sleep 1000", { timeoutMs: 100 })).toMatchObject({ how: "it took longer than 0.1 s" })
    expect(await check("sleep 5 & exit 2")).toMatchObject({ how: "exit code 2" })
  })

  it("[LP6] ends with the signal, also one that came before it and one that it does not heed", async () => {
    expect(await check("sleep 1000", { signal: AbortSignal.abort() })).toMatchObject({ how: "ended by SIGTERM" })
    const stubborn = await check("trap '' TERM; while :; do sleep 0.1; done", { signal: AbortSignal.timeout(500) })
    expect(stubborn).toMatchObject({ how: "ended by SIGKILL" })
  })
})
