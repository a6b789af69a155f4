import { accepts, hasUnseen, type Match, textPattern } from "./pattern.ts"

/**
 * Paths by their text alone: `.` and `..` are resolved, nothing is looked up on a disk, links are not followed, `~` is
 * not expanded, and case counts.
 */
export interface PathQuestion {
  readonly pattern: string
  readonly path: string
  /** What relative paths and patterns are relative to. */
  readonly cwd: string | undefined
}

/** The fields of tools' inputs that hold a path. */
export const PATH_FIELDS: ReadonlySet<string> = new Set(["file_path", "notebook_path", "path"])

const MAX_PATH_CHARS = 4096
const MAX_SEGMENTS = 256

/** For an allow: what cannot be read for certain is not covered. */
export function pathIsCovered(question: PathQuestion): boolean {
  const { path } = question
  // A backslash separates folders on some systems; a tool may expand `~`: either would not be the path we compared.
  if (hasUnseen(path) || path.includes("\\") || path.startsWith("~")) return false
  return compare(question) === "yes"
}

/** For a deny or an ask: what cannot be read for certain is a maybe. */
export function pathIsTouched(question: PathQuestion): Match {
  const { path } = question
  const certain = compare({ ...question, path: path.replaceAll("\\", "/") })
  if (certain !== "no") return certain
  if (path.includes("\\") && compare(question) === "yes") return "yes"
  return hasUnseen(path) || path.startsWith("~") ? "maybe" : "no"
}

function compare({ pattern, path, cwd }: PathQuestion): Match {
  if (path.length > MAX_PATH_CHARS) return "maybe"
  const wanted = pattern.startsWith("**") ? resolve(pattern) : segmentsOf(pattern, cwd)
  const given = segmentsOf(path, cwd)
  if (wanted === undefined || given === undefined || given.length > MAX_SEGMENTS) return "maybe"
  return segmentsMatch(wanted, given) ? "yes" : "no"
}

/** Undefined when it is relative to a folder that nobody named. */
function segmentsOf(path: string, cwd: string | undefined): string[] | undefined {
  if (isAbsolute(path)) return resolve(path)
  return cwd !== undefined && isAbsolute(cwd) ? resolve(`${cwd}/${path}`) : undefined
}

export function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path)
}

function resolve(path: string): string[] {
  const segments: string[] = []
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop()
    else if (segment !== "" && segment !== ".") segments.push(segment)
  }
  return segments
}

/** `**` stands for any number of folders, also none: `/srv/**` is `/srv` and all that is in it. */
function segmentsMatch(pattern: readonly string[], path: readonly string[]): boolean {
  let places = new Set(passDoubleStars(pattern, 0))
  for (const segment of path) {
    const next = new Set<number>()
    for (const place of places) {
      const wanted = pattern[place]
      if (wanted === undefined) continue
      const after = wanted === "**" ? place : accepts(textPattern(wanted), segment) ? place + 1 : undefined
      if (after !== undefined) for (const reached of passDoubleStars(pattern, after)) next.add(reached)
    }
    places = next
  }
  return places.has(pattern.length)
}

function passDoubleStars(pattern: readonly string[], from: number): number[] {
  const places = [from]
  for (let at = from; pattern[at] === "**"; at++) places.push(at + 1)
  return places
}
