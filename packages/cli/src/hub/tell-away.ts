import type { FollowItem } from "@signalbox/client"
import type { CommandContext } from "../base/command-context.ts"
import { tellPerson } from "../terminal/output.ts"

/** Whoever watches knows why nothing comes: the hub is away, and is waited for. */
export function tellAway(context: CommandContext): (item: FollowItem) => void {
  let isAway = false
  return ({ type }) => {
    if (type === "disconnected" && !isAway) tellPerson(context, "The hub is away; this goes on when it is back.")
    if (type === "subscribed" && isAway) tellPerson(context, "The hub is back.")
    if (type === "disconnected" || type === "subscribed") isAway = type === "disconnected"
  }
}
