import type { Improvement } from "./improvements.ts"
import type { Seen } from "./run-program.ts"

/** One place where the two sides differ. */
interface Difference {
  /** Such as `message[3].result`. */
  readonly at: string
  readonly official: unknown
  readonly ours: unknown
}

const ABSENT = "<absent>"

/** Where ours differs from the official side, apart from what is improved on purpose. */
export function compare(official: Seen, ours: Seen, improvements: readonly Improvement[]): string[] {
  const differences = [...new Set([...Object.keys(official), ...Object.keys(ours)])].flatMap((channel) =>
    differencesIn(channel, official[channel] ?? [], ours[channel] ?? []),
  )
  const used = new Set<Improvement>()
  const unexplained = differences.filter((difference) => {
    const improvement = improvements.find((each) => explains(each, difference))
    if (improvement !== undefined) used.add(improvement)
    return improvement === undefined
  })
  return [
    ...unexplained.map(({ at, official, ours }) => `${at}: official ${shown(official)}, ours ${shown(ours)}`),
    ...improvements
      .filter((improvement) => improvement.program !== "every" && !used.has(improvement))
      .map(({ at }) => `${at} is listed as an improvement, but does not differ (or not as listed)`),
  ]
}

function explains({ at, official, ours }: Improvement, difference: Difference): boolean {
  return at.test(difference.at) && official.test(shown(difference.official)) && ours.test(shown(difference.ours))
}

function differencesIn(at: string, official: unknown, ours: unknown): Difference[] {
  if (Array.isArray(official) && Array.isArray(ours)) {
    const length = Math.max(official.length, ours.length)
    return Array.from({ length }, (_, index) =>
      differencesIn(
        `${at}[${index}]`,
        index < official.length ? official[index] : ABSENT,
        index < ours.length ? ours[index] : ABSENT,
      ),
    ).flat()
  }
  if (isRecord(official) && isRecord(ours)) {
    const keys = [...new Set([...Object.keys(official), ...Object.keys(ours)])]
    return keys.flatMap((key) => differencesIn(`${at}.${key}`, valueAt(official, key), valueAt(ours, key)))
  }
  return official === ours ? [] : [{ at, official, ours }]
}

function valueAt(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : ABSENT
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 600 ? `${text.slice(0, 600)}…` : text
}

/** The order of what was seen, to read beside a list of differences. */
export function outline(seen: Seen): string {
  return Object.entries(seen)
    .map(([channel, values]) => `${channel}: ${values.map(outlineOf).join(" ")}`)
    .join("\n    ")
}

function outlineOf(value: unknown): string {
  if (!isRecord(value)) return shown(value).slice(0, 60)
  const { type, subtype, what } = value
  if (typeof type === "string") return typeof subtype === "string" ? `${type}/${subtype}` : type
  return typeof what === "string" ? what : shown(value).slice(0, 60)
}
