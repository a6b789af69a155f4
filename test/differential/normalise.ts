/** A text that differs between two runs, and what stands for it. */
export type Place = readonly [text: string, instead: string]

/**
 * Values of the same program in two runs, made comparable: ids, times, durations, paths and ports go, the rest stays.
 * An id is replaced by its kind and its number in the order of appearance where the kind says who is who (sessions),
 * by its kind alone elsewhere. Ids that a program chose itself begin with `CHOSEN` and stay.
 */
export function normalise(values: readonly unknown[], places: readonly Place[]): unknown[] {
  const names = new Names()
  const all = [...places, ...places.map(([text, instead]): Place => [dashed(text), dashed(instead)])]
  return values.map((value) => replaced(value, "", { names, places: all }))
}

interface Replacing {
  readonly names: Names
  readonly places: readonly Place[]
}

/** How ids begin that a program chose: long enough that no random one does. */
const CHOSEN = "d1ff0000-0000-4000-8000-"
/** Numbers, and times written out, whose value is the machine's doing. */
const MEASURED =
  /(_ms|Ms|_at|At|mtime|duration\w*|timestamp|time|elapsed_time_seconds|pid|input_tokens|inputTokens|costUSD|total_cost_usd|lastModified|fileSize|processed_at|sleep_time)$/
/** Fields whose text is an id that the CLI makes up in some short form of its own. */
const MADE_UP = new Map([
  ["task_id", "<task>"],
  ["taskId", "<task>"],
  ["backgroundTaskId", "<task>"],
  ["shellId", "<task>"],
  ["run_id", "<run>"],
  ["runId", "<run>"],
  ["agent_id", "<agent>"],
  ["agentId", "<agent>"],
  ["agentID", "<agent>"],
  ["hook_id", "<hook>"],
  ["requestId", "<request>"],
  ["request_id", "<request>"],
  ["messaging_socket_path", "<socket>"],
  ["signature", "<signature>"],
])

function replaced(value: unknown, key: string, how: Replacing): unknown {
  if (typeof value === "string") return replacedText(value, key, how)
  if (typeof value === "number") return MEASURED.test(key) ? "<measured>" : rounded(value)
  if (Array.isArray(value)) return value.map((each) => replaced(each, key, how))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [replacedText(name, "", how), replaced(each, name, how)]),
  )
}

function replacedText(text: string, key: string, { names, places }: Replacing): string {
  const madeUp = MADE_UP.get(key)
  if (madeUp !== undefined) {
    // A request's id may be a word in a program of ours, which must not be taken out of running text.
    if (text.length > 5 && madeUp !== "<request>") names.remember(text, madeUp)
    return madeUp
  }
  if (key === "session_id" || key === "sessionId") names.session(text)
  let result = text
  for (const [place, instead] of places) result = result.replaceAll(place, instead)
  result = names.in(result)
  return result
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (id) =>
      id.startsWith(CHOSEN) ? id : "<uuid>",
    )
    .replace(/\b(msg|toolu|req|srvtoolu)_01[0-9a-f]{12}\d+/g, "$1_<id>")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)/g, "<time>")
    .replace(/\/tmp\/claude-\d+\/[^\s"]*?(?=\/tasks\/)/g, "<tasks>")
    .replace(/(?<=\/tasks\/)\w+(?=\.output)/g, "<task>")
    .replace(/\b\d+(\.\d+)? ?m?s\b(?= (?:ago|elapsed))/g, "<measured>")
    .replace(/\bduration_ms: \d+/g, "duration_ms: <measured>")
    .replace(/cch=[0-9a-f]+/g, "cch=<hash>")
    .replace(/\ba[0-9a-f]{16}\b/g, "<agent>")
    .replace(/(?<=-blob-)\d+-\w+/g, "<id>")
    .replace(/(?<=\/plans\/)[\w-]+(?=\.md)/g, "<plan>")
}

function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(6))
}

function dashed(path: string): string {
  return path.replaceAll(/[^a-zA-Z0-9]/g, "-")
}

/** Ids seen in a field that tells their kind, so that they are known in running text as well. */
class Names {
  readonly #known = new Map<string, string>()
  #sessions = 0

  session(id: string): void {
    if (id === "" || id.startsWith(CHOSEN) || this.#known.has(id)) return
    this.#known.set(id, `<session ${++this.#sessions}>`)
  }

  remember(id: string, name: string): void {
    if (!this.#known.has(id)) this.#known.set(id, name)
  }

  in(text: string): string {
    let result = text
    for (const [id, name] of this.#known) if (result.includes(id)) result = result.replaceAll(id, name)
    return result
  }
}
