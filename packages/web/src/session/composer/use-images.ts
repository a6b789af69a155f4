import type { ClipboardEvent, DragEvent } from "react"
import { createValueStore, useValue, type ValueStore } from "../../app/value-store.ts"
import { type Attachment, readImages, withImages } from "./attachments.tsx"

interface Images {
  readonly images: readonly Attachment[]
  /** What does not go along, in words. */
  readonly left: string | undefined
}

interface Kept {
  readonly store: ValueStore<Images>
  /** Counts what was sent: what is read meanwhile comes too late for it. */
  round: number
}

/** By session, as long as the page lives: a picture must not be gone because somebody looked elsewhere meanwhile. */
const kept = new Map<string, Kept>()

const MAX_SESSIONS = 20
const MAX_CHARS = 28 * 1024 * 1024
const NOT_KEPT = "A picture was not kept: add it again."

function imagesOf(session: string): Kept {
  const known = kept.get(session)
  if (known !== undefined) return known
  // Those without any go first.
  if (kept.size >= MAX_SESSIONS)
    for (const [id, { store }] of kept) if (store.get().images.length === 0) kept.delete(id)
  const left = takeMark(session) ? NOT_KEPT : undefined
  const one = { store: createValueStore<Images>({ images: [], left }), round: 0 }
  kept.set(session, one)
  return one
}

function put(session: string, { store }: Kept, next: Images): void {
  store.set(next)
  let chars = sizeOf(next)
  let count = 1
  // The newest stay.
  for (const [id, other] of [...kept].toReversed()) {
    const { images } = other.store.get()
    if (id === session || images.length === 0) continue
    chars += sizeOf(other.store.get())
    if (chars > MAX_CHARS || ++count > MAX_SESSIONS) other.store.set({ images: [], left: NOT_KEPT })
  }
  mark([...kept].flatMap(([id, one]) => (one.store.get().images.length > 0 ? [id] : [])))
}

function sizeOf({ images }: Images): number {
  return images.reduce((sum, { url }) => sum + url.length, 0)
}

/** Sessions with a picture in their draft: after a reload it is said that there was one. */
const MARK = "signalbox:pictures"

function marked(): readonly string[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(MARK) ?? "[]")
    return Array.isArray(found) ? found.filter((each) => typeof each === "string") : []
  } catch {
    return []
  }
}

/** Before this page; those that it has not come to yet stay marked. */
let before: readonly string[] | undefined

function takeMark(session: string): boolean {
  before ??= marked()
  const isMarked = before.includes(session)
  before = before.filter((id) => id !== session)
  return isMarked
}

function mark(sessions: readonly string[]): void {
  try {
    const all = [...new Set([...(before ?? []), ...sessions])]
    sessionStorage.setItem(MARK, JSON.stringify(all.slice(-MAX_SESSIONS)))
  } catch {
    // Then a reload says nothing.
  }
}

/** Images by paste, by drop or chosen from files. */
export function useImages(session: string) {
  const one = imagesOf(session)
  const { images, left } = useValue(one.store)
  const set = (next: Images) => put(session, one, next)
  function attach(event: ClipboardEvent | DragEvent, list: DataTransfer | null): void {
    const files = [...(list?.files ?? [])]
    // A paste may hold text as well, so only images are taken; a dropped file would open instead of this page.
    const isMeant = event.type === "drop" || files.some(({ type }) => type.startsWith("image/"))
    if (files.length === 0 || !isMeant) return
    event.preventDefault()
    take(files)
  }
  function take(files: readonly File[]): void {
    if (files.length === 0) return
    const { round } = one
    readImages(files).then(
      // What was sent meanwhile has gone without them.
      (read) => round === one.round && set(withImages(one.store.get().images, read)),
      () => set({ ...one.store.get(), left: "The image could not be read." }),
    )
  }
  return {
    images,
    left,
    attach,
    take,
    remove: (id: string) => set({ images: images.filter((image) => image.id !== id), left: undefined }),
    clear: () => {
      one.round++
      set({ images: [], left: undefined })
    },
  }
}
