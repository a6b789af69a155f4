import { evaluate, prepare } from "@signalbox/policy"

/** @import { Policy, PolicyContext, PolicyRequest, Verdict } from "@signalbox/policy" */

const MAX_KNOWN = 20_000
const MAX_KEY_CHARS = 2_000

/** A policy that judges many requests: those of the past repeat each other, and the same one gets the same verdict. */
export class Judge {
  #policy
  /** Whether rules look at this, so that requests which differ only in it are not the same. */
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
    }
  }

  /** @param {PolicyRequest} request @param {PolicyContext} context */
  verdict(request, context) {
    const key = this.#keyOf(request, context)
    const known = key === undefined ? undefined : this.#known.get(key)
    if (known !== undefined) return known
    const verdict = evaluate(this.#policy, request, context)
    if (key !== undefined) {
      if (this.#known.size >= MAX_KNOWN) this.#known.clear()
      this.#known.set(key, verdict)
    }
    return verdict
  }

  /** @param {PolicyRequest} request @param {PolicyContext} context */
  #keyOf(request, context) {
    const { description, ...input } = request.input
    const { session, ...rest } = context
    const looksAt = this.#looksAt
    try {
      const parts = [request.tool, request.needsPerson, input, rest]
      const key = JSON.stringify([...parts, looksAt.session && session, looksAt.description && description])
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
