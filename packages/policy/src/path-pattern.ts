import { type Glob, globMatches, hasUnseen, type Match, most, textGlob, type Work } from "./matching.ts"

/**
 * Paths by their text alone: `.` and `..` are resolved, nothing is looked up on a disk, links are not followed, `~` is
 * not expanded, and case counts.
 */

/** The fields of tools' inputs that hold a path. */
export const PATH_FIELDS: ReadonlySet<string> = new Set(["file_path", "notebook_path", "path"])

/** A pattern for paths: groups of folder names with `**`, any number of folders, between each two. */
export interface PathPattern {
  /** The groups stand behind the session's folder. */
  readonly isRelative: boolean
  readonly groups: readonly (readonly Glob[])[]
}

/** The ways to read a path, worked out once for all rules. */
export interface PathForms {
  /** As an allow reads it; undefined if it cannot be read for certain. */
  readonly certain: readonly string[] | undefined
  /** As a deny or an ask reads it. */
  readonly possible: readonly (readonly string[])[]
  /** There may be other ways to read it. */
  readonly isUnclear: boolean
  /** The session's folder, if it is known. */
  readonly cwd: readonly string[] | undefined
}

const MAX_PATH_CHARS = 4096
const MAX_SEGMENTS = 256
/** Units of work to read one character. A path takes as much as this many characters beside its own. */
const PATH_READING = 16
const PATH_CHARS = 100
/** Units of work to hold a path against a pattern, however soon they differ. */
const PATH_LOOK = 64

export function pathPattern(source: string): PathPattern {
  const groups: Glob[][] = [[]]
  for (const segment of resolve(source)) {
    if (segment === "**") groups.push([])
    else groups.at(-1)?.push(textGlob(segment))
  }
  return { isRelative: !isAbsolute(source) && !source.startsWith("**"), groups }
}

export function pathForms(path: string, folder: string | undefined, work: Work): PathForms {
  const folderChars = folder?.length ?? 0
  const cwd = folder !== undefined && folderChars <= MAX_PATH_CHARS && isAbsolute(folder) ? resolve(folder) : undefined
  work.spend(
    PATH_READING * (PATH_CHARS + Math.min(path.length, MAX_PATH_CHARS) + (cwd === undefined ? 0 : folderChars)),
  )
  if (path.length > MAX_PATH_CHARS) return { certain: undefined, possible: [], isUnclear: true, cwd }
  // A backslash separates folders on some systems; a tool may take off blanks and expand `~`.
  const isPlain = !path.includes("\\") && path === path.trim() && !path.startsWith("~") && !hasUnseen(path)
  const spellings = new Set([path, path.trim()].flatMap((each) => [each, each.replaceAll("\\", "/")]))
  const readings = [...spellings].flatMap((each) => readingsOf(each, cwd))
  const possible = readings.flatMap((each) => (each === undefined || each.length > MAX_SEGMENTS ? [] : [each]))
  return {
    certain: isPlain ? possible[0] : undefined,
    possible,
    isUnclear: possible.length < readings.length || path.startsWith("~") || hasUnseen(path),
    cwd,
  }
}

/** For an allow: what cannot be read for certain is not covered. */
export function pathIsCovered(pattern: PathPattern, { certain, cwd }: PathForms, work: Work): boolean {
  work.spend(PATH_LOOK)
  return certain !== undefined && matches(pattern, certain, cwd, work) === "yes"
}

/** For a deny or an ask: what cannot be read for certain is a maybe. */
export function pathIsTouched(pattern: PathPattern, { possible, isUnclear, cwd }: PathForms, work: Work): Match {
  work.spend(PATH_LOOK * (1 + possible.length))
  const found = most(possible, (path) => matches(pattern, path, cwd, work))
  return found === "no" && isUnclear ? "maybe" : found
}

/** Whether a search that begins in a folder goes through one that the pattern names. */
export function pathIsAbove(pattern: PathPattern, { possible, cwd }: PathForms, work: Work): boolean {
  const [first = []] = pattern.groups
  const before = pattern.isRelative ? cwd : []
  if (before === undefined) return false
  return possible.some((path) => {
    const behind = Math.min(path.length - before.length, first.length)
    // Behind `**` the folder may be anywhere below.
    if (path.length >= before.length + first.length && pattern.groups.length === 1) return false
    return sameStart(before, path) && (behind <= 0 || groupFits(first.slice(0, behind), path, before.length, work))
  })
}

export function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path)
}

/** The first is the likeliest. Undefined where the path is relative to a folder that nobody knows. */
function readingsOf(path: string, cwd: readonly string[] | undefined): (string[] | undefined)[] {
  const hasDrives = cwd !== undefined && isDrive(cwd[0])
  if (path.startsWith("/")) return hasDrives ? [resolve(path), resolve(path, cwd.slice(0, 1))] : [resolve(path)]
  const inFolder = cwd === undefined ? undefined : resolve(path, cwd)
  if (!/^[A-Za-z]:/.test(path)) return [inFolder]
  // `C:/x` is a folder of that name where there are no drives, and `C:x` depends on a folder that nobody told.
  const onDrive = isAbsolute(path) ? resolve(path) : undefined
  return hasDrives || cwd === undefined ? [onDrive] : [inFolder, onDrive ?? inFolder]
}

function resolve(path: string, base: readonly string[] = []): string[] {
  const segments = [...base]
  const isOnDrive = isDrive(base[0]) || (base.length === 0 && /^[A-Za-z]:[\\/]/.test(path))
  for (const segment of path.split("/")) {
    // There is nothing above the root of a drive.
    if (segment === "..") segments.splice(Math.max(segments.length - 1, isOnDrive ? 1 : 0))
    else if (segment !== "" && segment !== ".") segments.push(segment)
  }
  if (isOnDrive) segments[0] = segments[0]?.toUpperCase() ?? ""
  return segments
}

function isDrive(segment: string | undefined): boolean {
  return /^[A-Z]:$/.test(segment ?? "")
}

/** `/srv/**` is `/srv` and all that is in it. Each group is taken where it is found first, the last one at the end. */
function matches(pattern: PathPattern, path: readonly string[], cwd: readonly string[] | undefined, work: Work): Match {
  const before = pattern.isRelative ? cwd : []
  if (before === undefined) return "maybe"
  const [first = [], ...rest] = pattern.groups
  const last = rest.pop()
  let at = before.length + first.length
  const end = path.length - (last?.length ?? 0)
  if (last === undefined ? path.length !== at : at > end) return "no"
  if (!sameStart(before, path) || !groupFits(first, path, before.length, work)) return "no"
  if (last !== undefined && !groupFits(last, path, end, work)) return "no"
  for (const group of rest) {
    while (at + group.length <= end && !groupFits(group, path, at, work)) at++
    at += group.length
    if (at > end) return "no"
  }
  return "yes"
}

function sameStart(folder: readonly string[], path: readonly string[]): boolean {
  const length = Math.min(folder.length, path.length)
  for (let at = 0; at < length; at++) if (folder[at] !== path[at]) return false
  return true
}

function groupFits(group: readonly Glob[], path: readonly string[], from: number, work: Work): boolean {
  return group.every((glob, index) => globMatches(glob, path[from + index] ?? "", work))
}
