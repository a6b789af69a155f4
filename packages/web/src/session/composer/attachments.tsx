import { newUuid } from "@signalbox/client"
import { type ClipboardEvent, type DragEvent, useRef } from "react"
import { keepStored, ofTab, readTexts } from "../../app/stored.ts"
import { createValueStore, useValue, type ValueStore } from "../../app/value-store.ts"
import { IconButton } from "../../design/button.tsx"
import { CloseIcon, PictureIcon } from "../../design/icons.tsx"
import { plural } from "../../design/words.ts"

/** An image that goes along with a message. */
interface Attachment {
  readonly id: string
  readonly name: string
  /** A data: URL, shown and sent. */
  readonly url: string
}

/** Models read these. Anything else would be refused, with every message that comes after it in the conversation. */
const IMAGE_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"]

const MAX_BYTES = 5 * 1024 * 1024
const MAX_IMAGES = 10

interface ReadFiles {
  readonly images: readonly Attachment[]
  /** Those that are too large. */
  readonly tooLarge: number
  /** Files of another kind. */
  readonly otherKind: number
}

async function readImages(files: readonly File[]): Promise<ReadFiles> {
  const readable = await readableOf(files)
  const small = readable.filter(({ size }) => size <= MAX_BYTES).slice(0, MAX_IMAGES + 1)
  const images = await Promise.all(
    small.map(async (file) => ({ id: newUuid(), name: file.name, url: await dataUrlOf(file) })),
  )
  const tooLarge = readable.filter(({ size }) => size > MAX_BYTES).length
  return { images, tooLarge, otherKind: files.length - readable.length }
}

/** By its kind, and by a look: a name says little of what is in a file. */
async function readableOf(files: readonly File[]): Promise<readonly File[]> {
  const isPicture = await Promise.all(
    files.map(async (file) => {
      if (!IMAGE_TYPES.includes(file.type)) return false
      // It would not be taken along in any case.
      if (file.size > MAX_BYTES) return true
      return createImageBitmap(file).then(
        (bitmap) => {
          bitmap.close()
          return true
        },
        () => false,
      )
    }),
  )
  return files.filter((_, index) => isPicture[index])
}

/** The images from before and the new ones, as many as fit. */
function withImages(before: readonly Attachment[], { images, tooLarge, otherKind }: ReadFiles): Images {
  const fitting = images.slice(0, Math.max(0, MAX_IMAGES - before.length))
  const words = [
    ...(tooLarge > 0 ? [`${plural(tooLarge, "image")} larger than 5 MB`] : []),
    ...(otherKind > 0
      ? [`${plural(otherKind, "file")} that ${otherKind === 1 ? "is" : "are"} not PNG, JPEG, GIF or WebP`]
      : []),
    ...(fitting.length < images.length ? [`more than ${MAX_IMAGES} images`] : []),
  ]
  return {
    images: [...before, ...fitting],
    left: words.length === 0 ? undefined : `Not attached: ${words.join(", ")}.`,
  }
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("load", () => resolve(typeof reader.result === "string" ? reader.result : ""))
    reader.addEventListener("error", () => reject(reader.error ?? new Error("the image could not be read")))
    reader.readAsDataURL(file)
  })
}

/** As the wire has it: a text alone, or blocks. */
export function contentOf(text: string, images: readonly Attachment[]): string | readonly unknown[] {
  if (images.length === 0) return text
  const blocks = images.flatMap(({ url }) => {
    const parts = /^data:([\w/+.-]+);base64,(.*)$/s.exec(url)
    if (parts === null) return []
    return [{ type: "image", source: { type: "base64", media_type: parts[1], data: parts[2] } }]
  })
  return text.trim() === "" ? blocks : [...blocks, { type: "text", text }]
}

interface Images {
  readonly images: readonly Attachment[]
  /** Words for the files that were not attached. */
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
const NOT_KEPT = "An image was not kept. Add it again."

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

/** Before this page; those that it has not come to yet stay marked. */
let before: readonly string[] | undefined

function takeMark(session: string): boolean {
  before ??= readTexts(MARK, ofTab)
  const isMarked = before.includes(session)
  before = before.filter((id) => id !== session)
  return isMarked
}

function mark(sessions: readonly string[]): void {
  const all = [...new Set([...(before ?? []), ...sessions])]
  keepStored(MARK, all.slice(-MAX_SESSIONS), ofTab)
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
      // A message that was sent meanwhile has gone without them.
      (read) => round === one.round && set(withImages(one.store.get().images, read)),
      () => set({ ...one.store.get(), left: "Couldn't read the image." }),
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

/** On a phone nothing is pasted or dropped: there this is the way to send a picture. */
export function AttachButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={IMAGE_TYPES.join(",")}
        multiple
        hidden
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])])
          // So that the same one can be chosen again.
          target.value = ""
        }}
      />
      <IconButton
        label="Attach images"
        onClick={() => input.current?.click()}
        className="size-9! shrink-0 coarse:size-11!"
      >
        <PictureIcon />
      </IconButton>
    </>
  )
}

type AttachmentListProps = Pick<Images, "images"> & { readonly onRemove: (id: string) => void }

export function AttachmentList({ images, onRemove }: AttachmentListProps) {
  if (images.length === 0) return null
  return (
    <ul aria-label="Images" className="flex flex-wrap gap-2">
      {images.map(({ id, name, url }) => (
        <li key={id} className="relative">
          <img src={url} alt={name} className="size-16 rounded-control border border-line object-cover" />
          <IconButton
            label={`Remove ${name}`}
            look="plain"
            onClick={() => onRemove(id)}
            className="absolute -top-2 -right-2 size-6!"
          >
            <CloseIcon size={12} />
          </IconButton>
        </li>
      ))}
    </ul>
  )
}
