import type { ToolRow } from "@signalbox/transcript"
import { AGENTS } from "../tools/tool-words.ts"
import { type FeedView, MAX_FILL } from "../window/session-feed.ts"

/** Why a sub-agent's lane has no rows. */
export type LaneAbsence =
  /** Its call may still be found. */
  | "looking"
  /** It is there, and has not said anything. */
  | "silent"
  /** So much was looked through; before it there is more. */
  | "not-so-far"
  | "missing"

/** Pure. `host`: the call that the lane is named after, as far as it is known. */
export function laneAbsence(view: FeedView, host: ToolRow | undefined): LaneAbsence {
  if (host !== undefined && (host.hasLane || AGENTS.has(host.name))) return "silent"
  // What runs a command and no agent has no lane.
  if (host?.hasCall === true) return "missing"
  if (view.isAtHead && view.isAtTail) return "missing"
  if (view.toSeq - view.fromSeq + 1 <= MAX_FILL) return "looking"
  return view.isAtHead ? "missing" : "not-so-far"
}
