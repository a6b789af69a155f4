import { isObject } from "../envelope.ts"
import type { RunnerNote } from "./messages.ts"

/**
 * The connection of one agent on a runner. Every line of the agent and every note of the runner has a number, dense from 1 for
 * the life of the process; the runner keeps each until the hub acknowledged it, and sends what is not acknowledged again after
 * a reconnect. The agent's lines travel as they are, behind their number.
 *
 *   runner to hub   `{"op":"attach",…}` first, then `L17 {"type":…}` and `N18 {"kind":"exited",…}`
 *   hub to runner   `A17` (all up to 17 are durable), `L{"type":…}` (for the agent's stdin), `C{"ev":…}`
 *
 * One message of the WebSocket may carry several of these, each on a line of its own.
 */
export interface AttachAgent {
  readonly op: "attach"
  readonly spawn: string
  readonly session: string
  readonly pid: number
  readonly startedAt: string
  /** The first number that is still kept. */
  readonly first: number
  /** The process has ended: only what it left is still to come, and nothing can be said to it. */
  readonly isOver?: boolean
}

export type AgentCommand =
  /** What each hook's callback is answered with while the hub is away. */
  { readonly ev: "hooks"; readonly onFailure: Readonly<Record<string, "open" | "block">> } | { readonly ev: "attached" }

export type FromRunner =
  | { readonly kind: "line"; readonly number: number; readonly line: string }
  | { readonly kind: "note"; readonly number: number; readonly note: RunnerNote }

export type FromHub =
  | { readonly kind: "ack"; readonly number: number }
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "command"; readonly command: AgentCommand }

export function encodeAgentLine(number: number, line: string): string {
  return `L${number} ${line}`
}

export function encodeNote(number: number, note: RunnerNote): string {
  return `N${number} ${JSON.stringify(note)}`
}

/** Undefined: not what a runner says here. */
export function readFromRunner(text: string): FromRunner | undefined {
  const space = text.indexOf(" ")
  if (space < 2) return undefined
  const number = Number(text.slice(1, space))
  if (!Number.isSafeInteger(number) || number < 1) return undefined
  const rest = text.slice(space + 1)
  if (text[0] === "L") return { kind: "line", number, line: rest }
  if (text[0] !== "N") return undefined
  const note = parseObject(rest)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own runner wrote it; its shape is checked where it is used
  return note === undefined ? undefined : { kind: "note", number, note: note as unknown as RunnerNote }
}

export function encodeAck(number: number): string {
  return `A${number}`
}

export function encodeLineForAgent(line: string): string {
  return `L${line}`
}

export function encodeCommand(command: AgentCommand): string {
  return `C${JSON.stringify(command)}`
}

export function readFromHub(text: string): FromHub | undefined {
  const rest = text.slice(1)
  switch (text.charAt(0)) {
    case "A": {
      const number = Number(rest)
      return Number.isSafeInteger(number) && number >= 0 && rest !== "" ? { kind: "ack", number } : undefined
    }
    case "L":
      return { kind: "line", line: rest }
    case "C": {
      const command = parseObject(rest)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own hub wrote it
      return command === undefined ? undefined : { kind: "command", command: command as unknown as AgentCommand }
    }
    default:
      return undefined
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
