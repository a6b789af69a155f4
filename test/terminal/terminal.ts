import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { ensureSystemPackage } from "../../scripts/system-package.mjs"
import { runsNow } from "../gate.ts"

const run = promisify(execFile)
export const tmux: string | undefined = ensureSystemPackage("tmux")
export const SIGNALBOX: string = join(
  dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  "packages/cli/bin/signalbox.mjs",
)
/** A loaded machine takes its time to start a process. */
const POLL = { timeout: 45_000, interval: 100 }

const PATIENCE_MS = 180_000

/** A case that the gate runs when `test/gate.ts` names it, and `test:full` always. */
export function inTerminal(name: string, title: string, run: () => Promise<void>): void {
  if (runsNow("terminal", name)) it(title, run, PATIENCE_MS)
}

export interface TerminalOptions {
  readonly width: number
  readonly height: number
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A real terminal (tmux) with a program in it: keys in, the screen out. */
export class Terminal {
  readonly #socket = `signalbox-test-${randomUUID()}`

  static async open({ width, height, command, env = {} }: TerminalOptions): Promise<Terminal> {
    const terminal = new Terminal()
    const variables = {
      PATH: process.env["PATH"] ?? "",
      HOME: "/nonexistent",
      LANG: "C.UTF-8",
      TERM: "screen-256color",
      ...env,
    }
    const given = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
    const program = ["env", "-i", ...given, ...command].map(quoted).join(" ")
    // What is left on the screen can be looked at after the program's end, and how it ended.
    const script = `echo before; ${program}; echo "exit code $?"; exec sleep 3600`
    const size = ["-x", String(width), "-y", String(height)]
    await terminal.#tmux("-f", "/dev/null", "new-session", "-d", ...size, script)
    return terminal
  }

  async screen(): Promise<string> {
    return (await this.#tmux("capture-pane", "-p")).stdout
  }

  /** What tmux knows of the terminal's state: "1" when the other screen is shown, when the cursor is. */
  async flag(name: "alternate_on" | "cursor_flag"): Promise<string> {
    return (await this.#tmux("display-message", "-p", `#{${name}}`)).stdout.trim()
  }

  async shows(text: string | RegExp): Promise<string> {
    const options = { ...POLL, message: String(text) }
    const isThere = (screen: string) => (typeof text === "string" ? screen.includes(text) : text.test(screen))
    await expect
      .poll(async () => {
        const screen = await this.screen()
        return isThere(screen) ? "there" : screen
      }, options)
      .toBe("there")
    return this.screen()
  }

  async showsNot(text: string): Promise<void> {
    await expect.poll(() => this.screen(), POLL).not.toContain(text)
  }

  /** Names of keys as tmux knows them: Enter, Tab, PageUp, C-c. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux("send-keys", ...keys)
  }

  async type(text: string): Promise<void> {
    await this.#tmux("send-keys", "-l", text)
  }

  async resize(width: number, height: number): Promise<void> {
    await this.#tmux("resize-window", "-x", String(width), "-y", String(height))
  }

  /** The program's own process. */
  async pid(): Promise<number> {
    const shell = (await this.#tmux("display-message", "-p", "#{pane_pid}")).stdout.trim()
    const { stdout } = await run("ps", ["-o", "pid=,args=", "--ppid", shell])
    const line = stdout.split("\n").find((each) => each.includes("node")) ?? ""
    return Number(/\d+/.exec(line)?.[0])
  }

  async close(): Promise<void> {
    await this.#tmux("kill-server").catch(() => undefined)
  }

  #tmux(...args: readonly string[]): Promise<{ stdout: string }> {
    return run(tmux ?? "tmux", ["-u", "-L", this.#socket, ...args])
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
