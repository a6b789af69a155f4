import { defined, fieldOf } from "@signalbox/protocol"
import { Judge, judgeOfCommon } from "./judge.js"

/**
 * @import { Policy, PolicyRequest, Verdict } from "@signalbox/policy"
 * @import { Backtest, BacktestExample } from "@signalbox/protocol/hub-api"
 * @import { Recorded } from "./recorded-requests.js"
 */

/** @typedef {"noLongerAsked" | "newlyAsked" | "newlyDenied" | "contradicts"} ListName */

const TEXT_CHARS = 200
/** The fields of a tool's input that tell best what it does. */
const TELLING = ["command", "file_path", "notebook_path", "path", "url", "pattern", "query"]
/** The list in which a request is that a policy would treat otherwise. */
const LIST_OF = /** @type {const} */ ({ allow: "noLongerAsked", ask: "newlyAsked", deny: "newlyDenied" })

/** @typedef {{ readonly was: Verdict, readonly would: Verdict }} Difference */

/** Two policies, and what they say to the same requests. */
class Pair {
  #inForce
  #proposed
  #common

  /** @param {Policy} inForce @param {Policy} proposed */
  constructor(inForce, proposed) {
    this.#inForce = new Judge(inForce)
    this.#proposed = new Judge(proposed)
    this.#common = judgeOfCommon(inForce, proposed)
  }

  /** @param {PolicyRequest} request @param {Recorded} recorded @returns {Difference | undefined} */
  difference(request, recorded) {
    if (this.#common?.verdict(request, recorded).effect === "allow") return undefined
    const was = this.#inForce.verdict(request, recorded)
    const would = this.#proposed.verdict(request, recorded)
    return was.effect === would.effect ? undefined : { was, would }
  }
}

/** At least what a policy allows at some time of some day. @param {Policy} policy @returns {Policy} */
function atAnyHour(policy) {
  const rules = policy.rules.filter(({ effect, hours }) => effect === "allow" || hours === undefined)
  return { ...policy, rules: rules.map(({ hours: _hours, ...rule }) => rule) }
}

/** Collects where a policy decides otherwise than the one in force. It is told of the requests newest first. */
export class Comparison {
  #asTheyWere
  #atAnyHour
  #maxExamples
  #requests = 0
  #notTestable = 0
  /** @type {string | null} */
  #since = null
  /** @type {Record<ListName, { count: number, examples: BacktestExample[] }>} */
  #lists = { noLongerAsked: list(), newlyAsked: list(), newlyDenied: list(), contradicts: list() }

  /** @param {{ inForce: Policy, proposed: Policy, maxExamples: number }} policies */
  constructor({ inForce, proposed, maxExamples }) {
    this.#asTheyWere = new Pair(inForce, proposed)
    const hasHours = [inForce, proposed].some(({ rules }) => rules.some(({ hours }) => hours !== undefined))
    this.#atAnyHour = hasHours ? new Pair(atAnyHour(inForce), atAnyHour(proposed)) : undefined
    this.#maxExamples = maxExamples
  }

  /** @param {Recorded} recorded */
  take(recorded) {
    const { request, at } = recorded
    if (request === undefined) {
      this.#notTestable++
      return
    }
    this.#requests++
    this.#since = at
    const difference = this.#asTheyWere.difference(request, recorded)
    if (difference !== undefined) this.#add(LIST_OF[difference.would.effect], recorded, difference)
    if (recorded.answer?.outcome !== "denied") return
    // A call that a person denied in the morning is not allowed in the evening either.
    const contradiction =
      difference?.would.effect === "allow" ? difference : this.#atAnyHour?.difference(request, recorded)
    if (contradiction?.would.effect === "allow") this.#add("contradicts", recorded, contradiction)
  }

  get differences() {
    return { requests: this.#requests, ...this.#lists }
  }

  /** @param {boolean} complete @returns {Backtest} */
  result(complete) {
    return { ...this.differences, notTestable: this.#notTestable, since: this.#since, complete }
  }

  /** @param {ListName} name @param {Recorded} recorded @param {Difference} difference */
  #add(name, recorded, { was, would }) {
    const { count, examples } = this.#lists[name]
    this.#lists[name].count = count + 1
    if (examples.length < this.#maxExamples) examples.push(exampleOf(recorded, was, would))
  }
}

function list() {
  return { count: 0, examples: [] }
}

/** @param {Recorded} recorded @param {Verdict} was @param {Verdict} would @returns {BacktestExample} */
function exampleOf({ session, seq, ask, at, request, answer }, was, would) {
  const { rule = null } = would
  return {
    session,
    seq,
    ...defined({ ask }),
    at,
    tool: request?.tool ?? "",
    text: textOf(request?.input ?? {}),
    was: was.effect,
    would: would.effect,
    rule,
    ...spanOf(would),
    ...(answer === undefined ? {} : { by: answer.by }),
  }
}

/** The part of the request that decided, where the verdict tells it. @param {unknown} verdict */
function spanOf(verdict) {
  const span = fieldOf(verdict, "span") ?? fieldOf(fieldOf(verdict, "why"), "span")
  return span === undefined ? {} : { span }
}

/** @param {Readonly<Record<string, unknown>>} input */
function textOf(input) {
  const values = [...TELLING.map((name) => input[name]), ...Object.values(input)]
  return (values.find((value) => typeof value === "string") ?? "").slice(0, TEXT_CHARS)
}
