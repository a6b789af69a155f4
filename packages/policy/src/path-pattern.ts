import { type Glob, globMatches, hasUnseen, type Match, most, textGlob, type Work } from "./matching.ts"

/**
 * Paths by their text alone: `.` and `..` are resolved, nothing is looked up on a disk, links are not followed, and `~` is
 * not expanded. Case counts for an allow. A deny or an ask finds a path in any case, because disks without cases do.
 */

/** The fields of tools' inputs that hold a path. */
export const PATH_FIELDS: ReadonlySet<string> = new Set(["file_path", "notebook_path", "path"])

/** A pattern for paths: groups of folder names with `**`, any number of folders, between each two. */
export interface PathPattern {
  /** The groups stand behind the session's folder. */
  readonly isRelative: boolean
  readonly groups: Groups
  /** Without regard to case. */
  readonly folded: Groups
}

type Groups = readonly (readonly Glob[])[]

/** The ways to read a path, worked out once for all rules. */
export interface PathForms {
  /** As an allow reads it; undefined if it cannot be read for certain. */
  readonly certain: readonly string[] | undefined
  /** As a deny or an ask reads it: folded, as is the session's folder then. */
  readonly possible: readonly (readonly string[])[]
  readonly foldedCwd: readonly string[] | undefined
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
  const segments = resolve(source)
  const isRelative = !isAbsolute(source) && !source.startsWith("**")
  return { isRelative, groups: groupsOf(segments), folded: groupsOf(segments.map(fold)) }
}

function groupsOf(segments: readonly string[]): Groups {
  const groups: Glob[][] = [[]]
  for (const segment of segments) {
    if (segment === "**") groups.push([])
    else groups.at(-1)?.push(textGlob(segment))
  }
  return groups
}

/** A name as disks that know no case and no second spelling of a letter compare it. Upper case first, for letters with two lower cases. */
function fold(name: string): string {
  return name.normalize("NFD").toUpperCase().toLowerCase()
}

const foldAll = (names: readonly string[]) => (names.length === 0 ? names : fold(names.join("/")).split("/"))

export function pathForms(path: string, folder: string | undefined, work: Work): PathForms {
  const folderChars = folder?.length ?? 0
  const cwd = folder !== undefined && folderChars <= MAX_PATH_CHARS && isAbsolute(folder) ? resolve(folder) : undefined
  work.spend(
    PATH_READING * (PATH_CHARS + Math.min(path.length, MAX_PATH_CHARS) + (cwd === undefined ? 0 : folderChars)),
  )
  const foldedCwd = cwd && foldAll(cwd)
  if (path.length > MAX_PATH_CHARS) return { certain: undefined, possible: [], isUnclear: true, cwd, foldedCwd }
  // A backslash separates folders on some systems; a tool may take off blanks and expand `~`.
  const isPlain = !path.includes("\\") && path === path.trim() && !path.startsWith("~") && !hasUnseen(path)
  const spellings = new Set([path, path.trim()].flatMap((each) => [each, each.replaceAll("\\", "/")]))
  const readings = [...spellings].flatMap((each) => readingsOf(each, cwd))
  const possible = readings.flatMap((each) => (each === undefined || each.length > MAX_SEGMENTS ? [] : [each]))
  const isLink = [...spellings].some((each) => leadsAnywhere(each, cwd))
  return {
    certain: isPlain && !isLink ? possible[0] : undefined,
    possible: possible.map(foldAll),
    isUnclear: possible.length < readings.length || path.startsWith("~") || hasUnseen(path) || isLink,
    cwd,
    foldedCwd,
  }
}

/** The files of a process that stand for other files and folders: `/proc/self/root/etc` is `/etc`. */
const PROCESS_LINKS = /^(?:root|cwd|fd|exe|map_files)$/

/** Whether a path goes through one of those links, before `..` behind it is resolved. */
function leadsAnywhere(path: string, cwd: readonly string[] = []): boolean {
  const isInFolder = !path.startsWith("/")
  if (!/proc|dev/.test(path) && !(isInFolder && /^(?:proc|dev)$/.test(cwd[0] ?? ""))) return false
  const segments: string[] = []
  for (const segment of [...(isInFolder ? cwd : []), ...path.split("/")]) {
    if (segment === "..") segments.pop()
    else if (segment !== "" && segment !== ".") segments.push(segment)
    if (segments.length < 3) continue
    if (segments[0] === "proc" && PROCESS_LINKS.test(segment)) return true
    if (segments[0] === "dev" && segments[1] === "fd") return true
  }
  return false
}

/** For an allow: what cannot be read for certain is not covered. */
export function pathIsCovered(pattern: PathPattern, { certain, cwd }: PathForms, work: Work): boolean {
  work.spend(PATH_LOOK)
  return certain !== undefined && matches({ ...pattern, path: certain, cwd }, work) === "yes"
}

/** Whether it is for certain a file of the session's folder. */
export function isInside({ certain, cwd }: PathForms): boolean {
  return certain !== undefined && cwd !== undefined && certain.length >= cwd.length && sameStart(cwd, certain)
}

/** For a deny or an ask: what cannot be read for certain is a maybe. */
export function pathIsTouched(pattern: PathPattern, forms: PathForms, work: Work): Match {
  const { possible, isUnclear, foldedCwd: cwd } = forms
  work.spend(PATH_LOOK * (1 + possible.length))
  const { isRelative, folded: groups } = pattern
  const found = most(possible, (path) => matches({ isRelative, groups, path, cwd }, work))
  return found === "no" && isUnclear ? "maybe" : found
}

/** Whether a search that begins in a folder goes through one that the pattern names. */
export function pathIsAbove(pattern: PathPattern, { possible, foldedCwd }: PathForms, work: Work): boolean {
  const [first = []] = pattern.folded
  const before = pattern.isRelative ? foldedCwd : []
  if (before === undefined) return false
  return possible.some((path) => {
    const behind = Math.min(path.length - before.length, first.length)
    // Behind `**` the folder may be anywhere below.
    if (path.length >= before.length + first.length && pattern.folded.length === 1) return false
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

interface Held extends Pick<PathPattern, "isRelative" | "groups"> {
  readonly path: readonly string[]
  readonly cwd: readonly string[] | undefined
}

/** `/srv/**` is `/srv` and all that is in it. Each group is taken where it is found first, the last one at the end. */
function matches({ isRelative, groups, path, cwd }: Held, work: Work): Match {
  const before = isRelative ? cwd : []
  if (before === undefined) return "maybe"
  const [first = [], ...rest] = groups
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
