import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { ActivityInput } from "./activity.ts"

/**
 * What cannot be of interest is told by looking for a few words, so that the stream of deltas is never parsed here. What has
 * one of them is parsed: the order of keys is the agent's own affair.
 */
const OF_INTEREST = /"(?:control_request|control_cancel_request|result|system)"/
/** These are for people, and wait for one. */
const QUESTIONS: ReadonlySet<string | undefined> = new Set(["can_use_tool", "elicitation", "request_user_dialog"])
const ENDED_TASK = new Set(["completed", "failed", "killed", "stopped"])

/** What a line of the agent tells about what it is doing. */
export function activityOfLine(line: string): readonly ActivityInput[] {
  if (!OF_INTEREST.test(line)) return []
  const message = parse(line)
  switch (textOf(message, "type") ?? "") {
    case "result":
      return [{ kind: "turn-ended" }]
    case "control_request":
      return requestOf(message)
    case "control_cancel_request":
      return settled(textOf(message, "request_id"))
    case "system":
      return systemOf(message)
    default:
      return []
  }
}

/** What we know of a line for the agent: enough to tell it from a repeat, and what it sets going. */
export interface LineForAgent {
  /** The same key again is the same line again. */
  readonly key: string | undefined
  /** Set on user messages only. */
  readonly messageUuid: string | undefined
  readonly activity: readonly ActivityInput[]
}

export function readLineForAgent(line: string): LineForAgent {
  const message = parse(line)
  const type = textOf(message, "type")
  if (type === "user") {
    const uuid = textOf(message, "uuid")
    const startsTurn = isObject(message) && message["shouldQuery"] !== false
    return {
      key: uuid === undefined ? undefined : `user ${uuid}`,
      messageUuid: uuid,
      activity: startsTurn ? [{ kind: "message-sent" }] : [],
    }
  }
  if (type === "control_response") {
    const requestId = textOf(fieldOf(message, "response"), "request_id")
    return {
      key: requestId === undefined ? undefined : `answer ${requestId}`,
      messageUuid: undefined,
      activity: settled(requestId),
    }
  }
  return { key: undefined, messageUuid: undefined, activity: [] }
}

function requestOf(message: unknown): readonly ActivityInput[] {
  const requestId = textOf(message, "request_id")
  if (requestId === undefined) return []
  const request = fieldOf(message, "request")
  const subtype = textOf(request, "subtype")
  if (QUESTIONS.has(subtype)) return [{ kind: "requested", requestId }]
  if (subtype !== "hook_callback") return [{ kind: "called", requestId }]
  const callbackId = textOf(request, "callback_id") ?? ""
  const event = textOf(fieldOf(request, "input"), "hook_event_name") ?? ""
  return [{ kind: "hook-called", call: { requestId, callbackId, event } }]
}

function systemOf(message: unknown): readonly ActivityInput[] {
  const taskId = textOf(message, "task_id") ?? ""
  switch (textOf(message, "subtype") ?? "") {
    case "init": {
      const agentSessionId = textOf(message, "session_id")
      return [
        { kind: "turn-began" },
        ...(agentSessionId === undefined ? [] : [{ kind: "session", agentSessionId } as const]),
      ]
    }
    case "background_tasks_changed":
      return [{ kind: "tasks", taskIds: taskIds(message) }]
    case "task_started":
      // A foreground task ends with its turn.
      return isObject(message) && message["is_backgrounded"] === true ? [{ kind: "task-started", taskId }] : []
    case "task_notification":
      return [{ kind: "task-ended", taskId }]
    case "task_updated":
      return ENDED_TASK.has(textOf(fieldOf(message, "patch"), "status") ?? "") ? [{ kind: "task-ended", taskId }] : []
    default:
      return []
  }
}

function taskIds(message: unknown): string[] {
  const tasks = isObject(message) ? message["tasks"] : undefined
  return Array.isArray(tasks) ? tasks.flatMap((task: unknown) => textOf(task, "task_id") ?? []) : []
}

function settled(requestId: string | undefined): readonly ActivityInput[] {
  return requestId === undefined ? [] : [{ kind: "settled", requestId }]
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
