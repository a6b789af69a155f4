import { fieldOf, isObject } from "./envelope.ts"
import type { ModelUse, ModelUses, TokenCount } from "./hub-api/session.ts"

export type { ModelUse, ModelUses, TokenCount } from "./hub-api/session.ts"

export const NO_TOKENS: TokenCount = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 }
const NO_USE: ModelUse = { ...NO_TOKENS, costUsd: 0 }

/** Beyond any honest count, and still exact when added up. */
const MAX_AMOUNT = 1e12
/** A session uses a handful of models; more than these are counted together. */
const MAX_MODELS = 16
const OTHERS = "other models"
const MAX_NAME_CHARS = 100

export function amountOf(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.min(value, MAX_AMOUNT) : 0
}

function tokens(count: (kind: keyof TokenCount) => number): TokenCount {
  const [input, output] = [count("input"), count("output")]
  return { input, output, cacheRead: count("cacheRead"), cacheCreation: count("cacheCreation") }
}

const IN_A_RESULT: Readonly<Record<keyof TokenCount, string>> = {
  input: "input_tokens",
  output: "output_tokens",
  cacheRead: "cache_read_input_tokens",
  cacheCreation: "cache_creation_input_tokens",
}
const OF_A_MODEL: Readonly<Record<keyof TokenCount, string>> = {
  input: "inputTokens",
  output: "outputTokens",
  cacheRead: "cacheReadInputTokens",
  cacheCreation: "cacheCreationInputTokens",
}

/** A result's `usage` is its own turn's. */
export function tokensOf(result: unknown): TokenCount {
  const usage = fieldOf(result, "usage")
  return tokens((kind) => amountOf(usage?.[IN_A_RESULT[kind]]))
}

export function addTokens(a: TokenCount, b: TokenCount): TokenCount {
  return tokens((kind) => a[kind] + b[kind])
}

export function totalTokens({ input, output, cacheRead, cacheCreation }: TokenCount): number {
  return input + output + cacheRead + cacheCreation
}

interface ToldUses {
  /** Newer CLIs tell the use since the last result; the total of all CLIs begins with the process or the conversation. */
  readonly since: "result" | "process"
  readonly uses: ModelUses
}

/** The use of each model that a result tells; undefined when it tells none. */
export function modelUsesOf(result: unknown): ToldUses | undefined {
  const own = fieldOf(result, "model_usage_since_last_result")
  const told = own ?? fieldOf(result, "modelUsage")
  if (told === undefined) return undefined
  return { since: own === undefined ? "process" : "result", uses: readUses(told) }
}

function readUses(told: Readonly<Record<string, unknown>>): ModelUses {
  const uses: Record<string, ModelUse> = Object.create(null)
  for (const [name, value] of Object.entries(told)) {
    if (!isObject(value)) continue
    const use = { ...tokens((kind) => amountOf(value[OF_A_MODEL[kind]])), costUsd: amountOf(value["costUSD"]) }
    put(uses, name.slice(0, MAX_NAME_CHARS), use, 1)
  }
  return { ...uses }
}

/** Model by model: `a` and `b` together or, with a sign of -1, what `a` has beyond `b`. */
export function addUses(a: ModelUses = {}, b: ModelUses = {}, sign: 1 | -1 = 1): ModelUses {
  // Without a prototype: a model may have any name.
  const sum: Record<string, ModelUse> = Object.assign(Object.create(null), a)
  for (const [name, use] of Object.entries(b)) put(sum, name, use, sign)
  return { ...sum }
}

function put(sum: Record<string, ModelUse>, name: string, use: ModelUse, sign: 1 | -1): void {
  const key = name in sum || Object.keys(sum).length < MAX_MODELS ? name : OTHERS
  const before = sum[key] ?? NO_USE
  const costUsd = before.costUsd + sign * use.costUsd
  sum[key] = { ...tokens((kind) => before[kind] + sign * use[kind]), costUsd }
}

/** Without models that were not used, and without the less than nothing that a total which began anew leaves. */
export function usedModels(uses: ModelUses): ModelUses {
  const used = Object.entries(uses).map(([name, use]) => [name, floored(use)] as const)
  return Object.fromEntries(used.filter(([, use]) => totalTokens(use) + use.costUsd > 0))
}

function floored(use: ModelUse): ModelUse {
  return { ...tokens((kind) => Math.max(0, use[kind])), costUsd: Math.max(0, use.costUsd) }
}

export function costOfUses(uses: ModelUses): number {
  return Object.values(uses).reduce((sum, { costUsd }) => sum + costUsd, 0)
}

/** A sum of dollars without the dust of binary fractions: 0.0021, not 0.0021000000000000003. */
export function sumUsd(...amounts: readonly number[]): number {
  return Number(amounts.reduce((sum, amount) => sum + amount, 0).toFixed(10))
}

/** Made when the first is wanted: most who count tokens write no words. */
let dollars: Intl.NumberFormat | undefined

/** "$1.20", or "<$0.01" for less than a cent: a turn that cost a tenth of a cent was not free. */
export function costWords(usd: number): string {
  dollars ??= new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" })
  return usd > 0 && usd < 0.01 ? "<$0.01" : dollars.format(usd)
}

/** "512 B", "3.2 MB". */
export function bytesWords(count: number): string {
  if (count < 1000) return `${count} B`
  if (count < 1_000_000) return `${(count / 1000).toFixed(0)} kB`
  if (count < 1_000_000_000) return `${(count / 1_000_000).toFixed(1)} MB`
  return `${(count / 1_000_000_000).toFixed(1)} GB`
}

/** "1 task", "2 tasks", "1,200 lines". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`
}
