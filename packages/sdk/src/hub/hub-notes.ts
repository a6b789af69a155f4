import { type Envelope, fieldOf, textOf } from "@signalbox/protocol"
import { SdkError } from "../base/errors.ts"
import { refusal } from "./hub-failures.ts"

/** A note of the hub's to this program alone that it cannot go on after; undefined for any other. */
export function noteFailure(note: Envelope, isOurMessage: (uuid: string) => boolean): SdkError | undefined {
  switch (note["subtype"]) {
    case "refused": {
      const uuid = textOf(note, "uuid")
      if (uuid === undefined || !isOurMessage(uuid)) return undefined
      const error = fieldOf(note, "error")
      return refusal({ code: textOf(error, "code") ?? "", message: textOf(error, "message") ?? "no reason given" })
    }
    case "hooks_not_registered":
      return unsupported("hooks", textOf(note, "message"))
    case "servers_not_registered":
      return unsupported("mcpServers", textOf(note, "message"))
    default:
      return undefined
  }
}

/** Without its hooks or its tools a program would do something else than it says. */
function unsupported(option: string, message = "the hub could not bring them to the agent"): SdkError {
  return new SdkError("sdk/unsupported", `options.${option}: ${message}`, { details: { option } })
}
