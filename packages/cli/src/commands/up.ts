import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { collect, defineCommand, jsonOption } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"

export interface UpOptions extends DataOption {
  readonly host: string
  readonly port?: number
  readonly json?: boolean
  readonly open: boolean
  readonly runner: boolean
  readonly publicUrl?: string
  readonly allowOrigin: readonly string[]
  readonly trustedProxy: readonly string[]
  readonly anonymousAgents?: boolean
  readonly anonymousRelay?: boolean
  readonly iUnderstandPlaintext?: boolean
}

export function addUp(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "up",
    summary: "Start the hub on this machine, and a runner beside it",
    examples: ["signalbox up", "signalbox up --port 0 --data ./try --json --no-runner"],
  })
  command
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on (default: 8765, or the next free one up to 8864; 0: any)", readPort)
    .option("--no-open", "do not open the cockpit in a browser")
    .option("--no-runner", "do not start a runner beside the hub")
    .option("--public-url <url>", "the address that people use, when a proxy stands in front")
    .option("--allow-origin <url>", "a web page that may talk to the hub (repeatable)", collect, [])
    .option(
      "--trusted-proxy <address>",
      "a proxy (address or network) whose X-Forwarded-For is believed (repeatable)",
      collect,
      [],
    )
    .option("--anonymous-agents", "let agents of this machine connect without a token")
    .option("--anonymous-relay", "let plain relay frontends of this machine connect without a token")
    .option("--i-understand-plaintext", "listen beyond this machine without TLS")
  jsonOption(command, "print one line of JSON when ready, and nothing else on stdout").action(
    async (options: UpOptions) => {
      const { up } = await import("../up/up.ts")
      await up(options, context)
    },
  )
}

function readPort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw usageError(`--port ${text}: give a number from 0 to 65535`)
}
