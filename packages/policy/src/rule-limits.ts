import { globMatches, type Match, textGlob, type Work } from "./matching.ts"
import type { Rule } from "./schemas.ts"

/** How often a rule has allowed something: in this session, and since the day began (UTC). */
export interface RuleUse {
  readonly session: number
  readonly day: number
}

/** Facts about here and now that a rule may depend on. A fact that is missing is not known. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  readonly now?: number | undefined
  /** The id of the runner that the agent runs on; empty if it runs on none. */
  readonly runner?: string | undefined
  /** The branch of the session's folder. */
  readonly branch?: string | undefined
  /** By the rule's id. A rule that is missing has not been used. */
  readonly used?: Readonly<Record<string, RuleUse>> | undefined
}

interface Limit {
  readonly match: Match
  /** Why the rule does not hold, to be read after "because". */
  readonly because: string
}

/** The first bound of a rule that keeps it from holding here and now, or that nobody can tell; undefined if it holds. */
export function limitOf(rule: Rule, surroundings: Surroundings, work: Work): Limit | undefined {
  const limits = [endOf(rule, surroundings), boundOf(rule, surroundings), hoursOf(rule, surroundings, work)]
  limits.push(placeOf(rule, surroundings), branchOf(rule, surroundings, work))
  const failed = limits.filter((limit) => limit !== undefined)
  return failed.find(({ match }) => match === "no") ?? failed[0]
}

const unknown = (what: string): Limit => ({ match: "maybe", because: `${what} is not known` })
const no = (because: string): Limit => ({ match: "no", because })

function endOf({ until }: Rule, { now }: Surroundings): Limit | undefined {
  if (until === undefined) return undefined
  if (now === undefined) return unknown("the time")
  return now < Date.parse(until) ? undefined : no(`it ended at ${until}`)
}

const PER = { session: "in this session", day: "today" } as const

function boundOf({ id, atMost }: Rule, { used }: Surroundings): Limit | undefined {
  if (atMost === undefined) return undefined
  if (used === undefined) return unknown("how often it was used")
  const { count, per } = atMost
  const times = Object.hasOwn(used, id) ? (used[id]?.[per] ?? 0) : 0
  return times < count ? undefined : no(`it has allowed ${times} requests ${PER[per]}, and may allow ${count}`)
}

function placeOf(rule: Rule, { runner }: Surroundings): Limit | undefined {
  if (rule.runner === undefined) return undefined
  if (runner === undefined) return unknown("the runner")
  return rule.runner === runner ? undefined : no(`it holds only on runner ${rule.runner}`)
}

function branchOf(rule: Rule, { branch }: Surroundings, work: Work): Limit | undefined {
  if (rule.branch === undefined) return undefined
  if (branch === undefined) return unknown("the branch")
  work.spend(GLOB * rule.branch.length)
  return globMatches(textGlob(rule.branch), branch, work) ? undefined : no(`it holds only on branch ${rule.branch}`)
}

/** Units of work to read a character of a pattern, and to tell the time in a zone. */
const GLOB = 32
const CLOCK = 1024

export const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const
const MINUTES_OF_DAY = 24 * 60

function hoursOf({ hours }: Rule, { now }: Surroundings, work: Work): Limit | undefined {
  if (hours === undefined) return undefined
  if (now === undefined) return unknown("the time")
  work.spend(CLOCK)
  const { from, to, zone = "UTC", days = DAYS } = hours
  const { day, minutes } = localTime(now, zone)
  const [start, end] = [minutesOf(from), minutesOf(to)]
  const length = (end - start + MINUTES_OF_DAY) % MINUTES_OF_DAY || MINUTES_OF_DAY
  const since = (minutes - start + MINUTES_OF_DAY) % MINUTES_OF_DAY
  // From 22:00 to 06:00 belongs to the day on which it began.
  const began = minutes >= start ? day : (day + DAYS.length - 1) % DAYS.length
  const holds = since < length && days.some((each) => each === DAYS[began])
  return holds ? undefined : no(`it holds only from ${from} to ${to} (${zone})`)
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number)
  return hours * 60 + minutes
}

/** A clock for each zone: to make one takes long. */
const clocks = new Map<string, Intl.DateTimeFormat>()
const MAX_CLOCKS = 1000

function clockOf(zone: string): Intl.DateTimeFormat {
  let clock = clocks.get(zone)
  if (clock === undefined) {
    if (clocks.size >= MAX_CLOCKS) clocks.clear()
    clock = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
    })
    clocks.set(zone, clock)
  }
  return clock
}

/** The day of the week from Monday on, and the minutes since midnight, in a zone. */
function localTime(now: number, zone: string): { readonly day: number; readonly minutes: number } {
  const parts = new Map(
    clockOf(zone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  )
  const name = (parts.get("weekday") ?? "").toLowerCase()
  return {
    day: DAYS.findIndex((day) => day === name),
    minutes: Number(parts.get("hour")) * 60 + Number(parts.get("minute")),
  }
}
