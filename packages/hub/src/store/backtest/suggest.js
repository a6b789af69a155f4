import { proposalKey, proposeRule } from "@signalbox/policy"
import { parsePolicy } from "@signalbox/policy/schemas"
import { Comparison } from "./comparison.js"
import { Judge } from "./judge.js"

/**
 * @import { Allowed, Policy, Rule } from "@signalbox/policy"
 * @import { PolicySuggestion, PolicySuggestions } from "@signalbox/protocol/hub-api"
 * @import { Recorded, RecordedRequests } from "./recorded-requests.js"
 */

/** So often people must have allowed it. */
const LEAST = 5
const MAX_SUGGESTIONS = 20
const MAX_EXAMPLES = 5
/** Different requests are kept of one kind, and kinds in all. What is left out is counted when the rule is tried. */
const MAX_SAMPLES = 64
const MAX_KINDS = 5_000
const MAX_PEOPLE = 20

/**
 * @typedef {object} Work
 * @property {Policy} inForce
 * @property {string | undefined} since
 * @property {() => boolean} goesOn called for each request: whether there is time for more
 */

/**
 * Rules for requests that people always allow, each tried on the past, and the use of the rules in force. Nothing that a person
 * ever denied is proposed.
 * @param {RecordedRequests} requests
 * @param {Work} work
 * @returns {PolicySuggestions}
 */
export function suggest(requests, { inForce, since, goesOn }) {
  const past = new Past(inForce)
  const isRead = each(requests.newestFirst({ since }), goesOn, (recorded) => past.take(recorded))
  const candidates = candidatesOf(past, inForce)
  const isChecked = each(requests.newestFirst({ only: "denied" }), goesOn, (recorded) =>
    dropDenied(candidates, recorded),
  )
  const isTried = each(requests.newestFirst({ since }), goesOn, (recorded) => {
    for (const candidate of candidates) candidate.take(recorded)
  })
  const complete = isRead && isChecked && isTried
  return {
    // One that was not held against everything that people denied is none.
    suggestions: complete ? [...candidates].flatMap((candidate) => candidate.suggestion ?? []).toSorted(byUse) : [],
    ...past.ofRules(),
    requests: past.requests,
    notTestable: past.notTestable,
    complete,
  }
}

/**
 * @param {Iterable<Recorded>} all
 * @param {() => boolean} goesOn
 * @param {(recorded: Recorded) => void} take
 */
function each(all, goesOn, take) {
  for (const recorded of all) {
    if (!goesOn()) return false
    take(recorded)
  }
  return true
}

/** @param {PolicySuggestion} one @param {PolicySuggestion} other */
function byUse(one, other) {
  return other.allowed - one.allowed
}

/** Counts the decisions of the rules in force, and the requests that people allow beside them. */
class Past {
  requests = 0
  notTestable = 0
  #inForce
  #judge
  /** @type {Map<string, { count: number, lastAt: string }>} */
  #decided = new Map()
  /** @type {Map<string, { count: number, samples: Map<string, Allowed> }>} */
  #kinds = new Map()

  /** @param {Policy} inForce */
  constructor(inForce) {
    this.#inForce = inForce
    this.#judge = new Judge(inForce)
  }

  /** @param {Recorded} recorded */
  take(recorded) {
    const { request, context, answer, at } = recorded
    if (request === undefined) {
      this.notTestable++
      return
    }
    this.requests++
    const { effect, rule } = this.#judge.verdict(request, recorded)
    if (rule !== undefined) {
      const before = this.#decided.get(rule)
      this.#decided.set(rule, { count: (before?.count ?? 0) + 1, lastAt: before?.lastAt ?? at })
    }
    const isEvidence = answer?.outcome === "allowed" && !answer.isEdited && effect === "ask" && rule === undefined
    const key = isEvidence ? proposalKey(request) : undefined
    if (key !== undefined) this.#keep(key, { request, context })
  }

  /** Kinds that people allowed often enough, the most frequent first. */
  kinds() {
    const often = [...this.#kinds.values()].filter(({ count }) => count >= LEAST)
    return often.toSorted((one, other) => other.count - one.count).slice(0, MAX_SUGGESTIONS)
  }

  ofRules() {
    const now = new Date().toISOString()
    const decided = [...this.#decided].map(([rule, { count, lastAt }]) => ({ rule, count, lastAt }))
    /** @type {PolicySuggestions["idle"][number][]} */
    const idle = []
    for (const rule of this.#inForce.rules) {
      if (hasEnded(rule, now)) idle.push({ rule: rule.id, why: "expired" })
      else if (!this.#decided.has(rule.id)) idle.push({ rule: rule.id, why: "unused" })
    }
    return { decided, idle }
  }

  /** @param {string} key @param {Allowed} allowed */
  #keep(key, { request, context }) {
    const kind = this.#kinds.get(key) ?? { count: 0, samples: new Map() }
    if (kind.count === 0 && this.#kinds.size >= MAX_KINDS) return
    kind.count++
    this.#kinds.set(key, kind)
    const input = brief(request.input)
    const sample = JSON.stringify([input, context.cwd])
    if (kind.samples.size < MAX_SAMPLES) kind.samples.set(sample, { request: { ...request, input }, context })
  }
}

/** @param {Rule} rule @param {string} now */
function hasEnded(rule, now) {
  const until = "until" in rule ? rule.until : undefined
  return typeof until === "string" && Date.parse(until) <= Date.parse(now)
}

/** The short values of an input: a rule says nothing of others. @param {Readonly<Record<string, unknown>>} input */
function brief(input) {
  const isShort = (/** @type {unknown} */ value) =>
    typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value.length <= 1024)
  return Object.fromEntries(
    Object.entries(input)
      .filter(([, value]) => isShort(value))
      .slice(0, 32),
  )
}

/** @param {Past} past @param {Policy} inForce */
function candidatesOf(past, inForce) {
  /** @type {Set<Candidate>} */
  const candidates = new Set()
  const taken = new Set(inForce.rules.map(({ id }) => id))
  for (const { samples } of past.kinds()) {
    const allowed = [...samples.values()]
    const id = freeId(allowed, taken)
    const rule = proposeRule(id, allowed)
    if (rule === undefined || !parsePolicy({ rules: [rule] }).ok) continue
    taken.add(id)
    candidates.add(new Candidate(rule, inForce))
  }
  return candidates
}

/** @param {readonly Allowed[]} allowed @param {ReadonlySet<string>} taken */
function freeId([first], taken) {
  const { tool = "", input = {} } = first?.request ?? {}
  const words = typeof input["command"] === "string" ? input["command"].split(" ").slice(0, 2).join(" ") : ""
  const name = `${tool} ${words}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 64)
  let id = `allow-${name}`
  for (let number = 2; taken.has(id); number++) id = `allow-${name}-${number}`
  return id
}

/** @param {Set<Candidate>} candidates @param {Recorded} recorded */
function dropDenied(candidates, recorded) {
  const { request, answer } = recorded
  if (request === undefined || answer?.outcome !== "denied") return
  for (const candidate of candidates) if (candidate.covers(request, recorded)) candidates.delete(candidate)
}

/** A rule that may be proposed. */
class Candidate {
  #rule
  #alone
  #comparison
  #allowed = 0
  #lastAt = ""
  /** @type {Set<string>} */
  #sessions = new Set()
  /** @type {Set<string>} */
  #people = new Set()

  /** @param {Rule} rule @param {Policy} inForce */
  constructor(rule, inForce) {
    this.#rule = rule
    this.#alone = new Judge({ ...inForce, rules: [rule] })
    const proposed = { ...inForce, rules: [...inForce.rules, rule] }
    this.#comparison = new Comparison({ inForce, proposed, maxExamples: MAX_EXAMPLES })
  }

  /** @param {NonNullable<Recorded["request"]>} request @param {Recorded} recorded */
  covers(request, recorded) {
    return request.tool === this.#rule.tool && this.#alone.verdict(request, recorded).effect === "allow"
  }

  /** A rule that allows does nothing to a call that nobody was asked about. @param {Recorded} recorded */
  take(recorded) {
    const { request, ask, session, at, answer } = recorded
    if (request === undefined || ask === undefined || !this.covers(request, recorded)) return
    this.#comparison.take(recorded)
    if (answer?.outcome !== "allowed" || answer.isEdited) return
    this.#allowed++
    if (this.#lastAt === "") this.#lastAt = at
    this.#sessions.add(session)
    if (this.#people.size < MAX_PEOPLE) this.#people.add(answer.by)
  }

  /** @returns {PolicySuggestion | undefined} */
  get suggestion() {
    const test = this.#comparison.differences
    if (this.#allowed < LEAST || test.noLongerAsked.count === 0) return undefined
    const reason = `People allowed this ${this.#allowed} times and never denied it.`
    return {
      rule: { ...this.#rule, reason },
      allowed: this.#allowed,
      sessions: this.#sessions.size,
      people: [...this.#people],
      lastAt: this.#lastAt,
      test,
    }
  }
}
