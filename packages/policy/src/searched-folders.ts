/** The folders that a search looks in. A pattern for file names can lead out of the folder that the search names. */
export interface SearchedFolders {
  readonly folders: readonly string[]
  /** The pattern may lead elsewhere. */
  readonly isUnclear: boolean
}

const SEARCHES = new Set(["Glob", "Grep", "LS"])
/** A longer pattern is not followed. */
const MAX_GLOB_CHARS = 4096
const MAGIC = /[*?[\]{}()!+@\\]/

/** Undefined if the tool does not search. */
export function searchedFolders(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  cwd: string | undefined,
): SearchedFolders | undefined {
  if (!SEARCHES.has(tool)) return undefined
  const path = input["path"] ?? cwd
  if (typeof path !== "string") return undefined
  const pattern = tool === "Glob" ? input["pattern"] : undefined
  if (typeof pattern !== "string" || pattern.length > MAX_GLOB_CHARS) {
    return { folders: [path], isUnclear: typeof pattern === "string" }
  }
  const segments = pattern.split("/")
  const magic = segments.findIndex((segment) => MAGIC.test(segment))
  const start = segments.slice(0, magic === -1 ? segments.length : magic).join("/")
  const startsElsewhere = /^(?:\s*[/\\~]|\s*[A-Za-z]:)/.test(pattern)
  return {
    // `/` alone is the start of `/*`.
    folders: [path, startsElsewhere ? start || "/" : `${path}/${start}`],
    isUnclear: /\\|\.\.|[{,|]\s*[/~]/.test(pattern.slice(start.length)) || segments.some(couldBeUp),
  }
}

/** `.{.,}` and `[.][.]` are two dots in disguise. */
function couldBeUp(segment: string): boolean {
  return segment.includes(".") && /[{[(]/.test(segment) && /^[.,|{}()[\]@!+?]+$/.test(segment)
}
