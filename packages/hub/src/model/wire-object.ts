import { type Envelope, isObject } from "@signalbox/protocol"
import { normaliseAgentMessage } from "@signalbox/protocol/dialects"

/** A kept line as what it means: an agent's old dialect is kept as it came. Undefined for what is no message, which the log does not hold. */
export function wireObject(line: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(line)
    if (!isObject(value) || typeof value["type"] !== "string") return undefined
    return normaliseAgentMessage({ ...value, type: value["type"] })
  } catch {
    return undefined
  }
}
