import { evaluate, judgeCall, prepare } from "@signalbox/policy"

/**
 * @import { Policy, PolicyRequest, Verdict } from "@signalbox/policy"
 * @import { Recorded } from "./recorded-requests.js"
 */

/** @typedef {Pick<Recorded, "ask" | "context">} Circumstances */

const MAX_KNOWN = 20_000
const MAX_KEY_CHARS = 2_000

/** A policy that judges many requests: those of the past repeat each other, and the same one gets the same verdict. */
export class Judge {
  #policy
  /** True if rules look at this, so that requests which differ only in it are not the same. */
  #looksAt
  /** @type {Map<string, Verdict>} */
  #known = new Map()

  /** @param {Policy} policy */
  constructor(policy) {
    this.#policy = policy
    const { rules } = policy
    prepare(rules)
    this.#looksAt = {
      session: rules.some(({ session }) => session !== undefined),
      description: rules.some(({ input = {} }) => Object.hasOwn(input, "description")),
      // A rule's end, and its time of day.
      now: rules.some((rule) => "until" in rule || "hours" in rule),
    }
  }

  /** A call that nobody was asked about is judged as it was before it ran. @param {PolicyRequest} request @param {Circumstances} recorded */
  verdict(request, recorded) {
    const key = this.#keyOf(request, recorded)
    const known = key === undefined ? undefined : this.#known.get(key)
    if (known !== undefined) return known
    const judge = recorded.ask === undefined ? judgeCall : evaluate
    const verdict = judge(this.#policy, request, recorded.context)
    if (key !== undefined) {
      if (this.#known.size >= MAX_KNOWN) this.#known.clear()
      this.#known.set(key, verdict)
    }
    return verdict
  }

  /** @param {PolicyRequest} request @param {Circumstances} recorded */
  #keyOf({ tool, needsPerson, input: { description, ...input } }, { ask, context: { session, now, ...context } }) {
    const looksAt = this.#looksAt
    const varying = [looksAt.session && session, looksAt.description && description, looksAt.now && now]
    try {
      const key = JSON.stringify([ask === undefined, tool, needsPerson, input, context, varying])
      return key.length <= MAX_KEY_CHARS ? key : undefined
    } catch {
      // Nested deeper than can be written.
      return undefined
    }
  }
}

/**
 * Allows what no rule touches in which two policies differ: both say the same to it. A deny finds whatever an allow, an ask or a
 * deny with its patterns may concern, in any part of a command, so each of these rules is tried as one. What it does not allow may
 * be treated differently. It takes a fraction of asking both where few rules of many differ; undefined where most do.
 * @param {Policy} one
 * @param {Policy} other
 */
export function judgeOfCommon(one, other) {
  const [ours, theirs] = [textsOf(one), textsOf(other)]
  const differing = [...ours, ...theirs].filter(([text]) => !(ours.has(text) && theirs.has(text)))
  if (2 * differing.length >= ours.size + theirs.size) return undefined
  const rules = differing.map(([, { expiresAfterMs: _ms, maxExtensions: _most, ...rule }], at) => {
    return { ...rule, id: String(at), effect: /** @type {const} */ ("deny") }
  })
  return new Judge({ ...one, rules: [...rules, { id: "common", effect: "allow" }] })
}

/** @param {Policy} policy */
function textsOf({ rules }) {
  return new Map(rules.map((rule) => [JSON.stringify(rule), rule]))
}
