import type { Fields } from "../profiles/profile.ts"
import { present } from "../profiles/shared.ts"
import type { AsideStep, ElicitStep, RateLimitStep } from "../scenario/schema.ts"
import { wholeSummary } from "./compaction.ts"
import type { AgentCore } from "./core.ts"

/** Plays what only the CLI's own side can. */
export async function playAside(core: AgentCore, aside: AsideStep, signal: AbortSignal): Promise<void> {
  if ("rateLimit" in aside) return tellRateLimit(core, aside)
  if ("elicit" in aside) return elicit(core, aside, signal)
  if ("compact" in aside) return wholeSummary(core, aside, signal)
  const ids = { uuid: core.random.uuid(), session_id: core.wire.sessionId }
  core.wire.emit({ ...aside.emit, ...missing(aside.emit, ids) })
}

function missing(message: Readonly<Fields>, ids: Fields): Fields {
  return Object.fromEntries(Object.entries(ids).filter(([name]) => !(name in message)))
}

/** Older generations know no such message. */
function tellRateLimit(core: AgentCore, step: RateLimitStep): void {
  if (core.profile.generation === 37) return
  const type = step.type ?? "five_hour"
  const { rateLimit: status, resetsAt, utilization } = step
  // The newest tells the use of each window always, and once more at the top only near the limit.
  const tellsWindows = core.profile.generation === 325 && utilization !== undefined
  const info = present({
    status,
    resetsAt,
    rateLimitType: type,
    utilization: tellsWindows && status !== "allowed_warning" ? undefined : utilization,
    isUsingOverage: false,
    unifiedWindows: tellsWindows ? { [type]: present({ utilization, resetsAt, status }) } : undefined,
  })
  const ids = { uuid: core.random.uuid(), session_id: core.wire.sessionId }
  core.wire.emit({ type: "rate_limit_event", rate_limit_info: info, ...ids })
}

/** An MCP server wants something from the user. What comes back goes to the server, and nowhere else. */
async function elicit(core: AgentCore, step: ElicitStep, signal: AbortSignal): Promise<void> {
  if (core.profile.generation === 37) return
  const form = step.url === undefined
  const request = present({
    subtype: "elicitation",
    mcp_server_name: step.server,
    message: step.elicit,
    mode: form ? "form" : "url",
    url: step.url,
    elicitation_id: form ? undefined : core.random.uuid(),
    requested_schema: step.schema,
    property_order: form ? Object.keys(propertiesOf(step.schema)) : undefined,
  })
  await core.host.ask(request, { signal })
}

function propertiesOf(schema: Readonly<Fields> | undefined): object {
  const properties = schema?.["properties"]
  return typeof properties === "object" && properties !== null ? properties : {}
}
