import { defined, fieldOf } from "@signalbox/protocol"
import { Judge, judgeOfCommon } from "./judge.js"

/**
 * @import { Policy, Verdict } from "@signalbox/policy"
 * @import { Backtest, BacktestExample } from "@signalbox/protocol/hub-api"
 * @import { Recorded } from "./recorded-requests.js"
 */

/** @typedef {"noLongerAsked" | "newlyAsked" | "newlyDenied" | "contradicts"} ListName */

const TEXT_CHARS = 200
/** The fields of a tool's input that tell best what it does. */
const TELLING = ["command", "file_path", "notebook_path", "path", "url", "pattern", "query"]
/** The list in which a request is that a policy would treat otherwise. */
const LIST_OF = /** @type {const} */ ({ allow: "noLongerAsked", ask: "newlyAsked", deny: "newlyDenied" })

/** Collects where a policy decides otherwise than the one in force. It is told of the requests newest first. */
export class Comparison {
  #inForce
  #proposed
  #common
  #maxExamples
  #requests = 0
  #notTestable = 0
  /** @type {string | null} */
  #since = null
  /** @type {Record<ListName, { count: number, examples: BacktestExample[] }>} */
  #lists = { noLongerAsked: list(), newlyAsked: list(), newlyDenied: list(), contradicts: list() }

  /** @param {{ inForce: Policy, proposed: Policy, maxExamples: number }} policies */
  constructor({ inForce, proposed, maxExamples }) {
    this.#inForce = new Judge(inForce)
    this.#proposed = new Judge(proposed)
    this.#common = judgeOfCommon(inForce, proposed)
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
    if (this.#common?.verdict(request, recorded).effect === "allow") return
    const was = this.#inForce.verdict(request, recorded)
    const would = this.#proposed.verdict(request, recorded)
    if (was.effect === would.effect) return
    this.#add(LIST_OF[would.effect], recorded, was, would)
    if (would.effect === "allow" && recorded.answer?.outcome === "denied")
      this.#add("contradicts", recorded, was, would)
  }

  get differences() {
    return { requests: this.#requests, ...this.#lists }
  }

  /** @param {boolean} complete @returns {Backtest} */
  result(complete) {
    return { ...this.differences, notTestable: this.#notTestable, since: this.#since, complete }
  }

  /** @param {ListName} name @param {Recorded} recorded @param {Verdict} was @param {Verdict} would */
  #add(name, recorded, was, would) {
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
