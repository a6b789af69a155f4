interface ChangedPath {
  readonly path: string
  readonly added: number
  readonly removed: number
}

/** A row of the tree of changed files: a folder or a file. */
interface TreeRow extends ChangedPath {
  readonly name: string
  /** 1 for the outermost. */
  readonly level: number
  /** Undefined for a file. */
  readonly isOpen: boolean | undefined
}

interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: Map<string, ChangedPath>
}

/** Deeper folders are one: nobody has any, and a hostile path is not to be followed. */
const MAX_DEPTH = 24

/** Changed files by folder, folders first; a folder with nothing but a folder in it is one row. Closed ones hide what is in them. Pure. */
export function treeRows(files: readonly ChangedPath[], closed: ReadonlySet<string>): readonly TreeRow[] {
  const root = emptyFolder()
  for (const file of files) {
    const names = file.path.split("/")
    const inside = names.splice(0, Math.min(names.length - 1, MAX_DEPTH))
    const folder = inside.reduce((parent, name) => {
      const known = parent.folders.get(name) ?? emptyFolder()
      parent.folders.set(name, known)
      return known
    }, root)
    folder.files.set(names.join("/"), file)
  }
  return rowsIn(root, { prefix: "", level: 1, closed }).rows
}

function emptyFolder(): Folder {
  return { folders: new Map(), files: new Map() }
}

interface Place {
  readonly prefix: string
  readonly level: number
  readonly closed: ReadonlySet<string>
}

function rowsIn(folder: Folder, { prefix, level, closed }: Place) {
  const rows: TreeRow[] = []
  let [added, removed] = [0, 0]
  for (const [first, inside] of byName(folder.folders)) {
    let [name, only] = [first, inside]
    for (let next = soleFolder(only); next !== undefined; next = soleFolder(only)) {
      name = `${name}/${next[0]}`
      only = next[1]
    }
    const path = `${prefix}${name}/`
    const below = rowsIn(only, { prefix: path, level: level + 1, closed })
    const isOpen = !closed.has(path)
    rows.push({ path, name, level, isOpen, added: below.added, removed: below.removed })
    if (isOpen) for (const row of below.rows) rows.push(row)
    added += below.added
    removed += below.removed
  }
  for (const [name, file] of byName(folder.files)) {
    rows.push({ ...file, name, level, isOpen: undefined })
    added += file.added
    removed += file.removed
  }
  return { rows, added, removed }
}

function byName<T>(entries: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}

function soleFolder({ folders, files }: Folder): readonly [string, Folder] | undefined {
  return files.size === 0 && folders.size === 1 ? [...folders][0] : undefined
}

/** The step that a key makes from a row of the tree: to another row, or to a folder that opens or closes. Undefined for any other key. */
export function treeStep(
  rows: readonly TreeRow[],
  at: number,
  key: string,
): { readonly go: number } | { readonly toggle: string } | undefined {
  const row = rows[at]
  if (row === undefined) return undefined
  switch (key) {
    case "ArrowDown":
      return { go: Math.min(at + 1, rows.length - 1) }
    case "ArrowUp":
      return { go: Math.max(at - 1, 0) }
    case "Home":
      return { go: 0 }
    case "End":
      return { go: rows.length - 1 }
    case "ArrowRight":
      if (row.isOpen === undefined) return { go: at }
      return row.isOpen ? { go: Math.min(at + 1, rows.length - 1) } : { toggle: row.path }
    case "ArrowLeft":
      if (row.isOpen === true) return { toggle: row.path }
      return { go: Math.max(0, parentOf(rows, at)) }
    default:
      return undefined
  }
}

function parentOf(rows: readonly TreeRow[], at: number): number {
  const level = rows[at]?.level ?? 1
  const parent = rows.slice(0, at).findLastIndex((row) => row.level < level)
  return parent === -1 ? at : parent
}
