/** Decoding at an edge where a peer may speak an old dialect: what it says is read as what it means today. */
import { classify, createDecoder, type Decoded, decode } from "../decode.ts"
import type { Envelope } from "../envelope.ts"
import type { AgentMessage, HostMessage } from "../schemas/registry.ts"
import { normaliseAgentMessage } from "./read-agent.ts"
import { type FrontendReading, normaliseFrontendMessage } from "./read-frontend.ts"

/** For all lines of one agent, as `createDecoder`. The line itself stays as it was received. */
export function createAgentReader(): (line: string) => Decoded<AgentMessage>
export function createAgentReader(): (line: string) => Decoded<Envelope> {
  const decodeLine: (line: string) => Decoded<Envelope> = createDecoder("agent")
  return (line) => {
    const decoded = decodeLine(line)
    if (decoded.kind === "malformed") return decoded
    const message = normaliseAgentMessage(decoded.message)
    return message === decoded.message ? decoded : classify(message, line, "agent")
  }
}

/** A line of a frontend, meant for an agent. What is in `message` may be written; the line itself may not. */
export function readFrontendLine(line: string, reading: FrontendReading): Decoded<HostMessage>
export function readFrontendLine(line: string, reading: FrontendReading): Decoded<Envelope> {
  const decoded: Decoded<Envelope> = decode(line, "host")
  if (decoded.kind === "malformed") return decoded
  const message = normaliseFrontendMessage(decoded.message, reading)
  return message === decoded.message ? decoded : classify(message, line, "host")
}
