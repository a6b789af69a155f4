import { newUuid } from "@signalbox/client"
import { plural } from "../../design/words.ts"

/** An image that goes along with a message. */
export interface Attachment {
  readonly id: string
  readonly name: string
  /** A data: URL, shown and sent. */
  readonly url: string
}

/** What models read. Anything else would be refused, with every message that comes after it in the conversation. */
export const IMAGE_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"]

const MAX_BYTES = 5 * 1024 * 1024
const MAX_IMAGES = 10

interface Taken {
  readonly images: readonly Attachment[]
  /** What could not be taken along, in words. */
  readonly left: string | undefined
}

interface ReadFiles {
  readonly images: readonly Attachment[]
  /** Those that are too large. */
  readonly tooLarge: number
  /** Files of another kind. */
  readonly otherKind: number
}

export async function readImages(files: readonly File[]): Promise<ReadFiles> {
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

/** What is there already and what came, as far as it fits. */
export function withImages(before: readonly Attachment[], { images, tooLarge, otherKind }: ReadFiles): Taken {
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
