import { plural } from "../design/words.ts"

/** An image that goes along with a message. */
export interface Attachment {
  readonly id: string
  readonly name: string
  /** A data: URL, shown and sent. */
  readonly url: string
}

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
}

export async function readImages(files: readonly File[]): Promise<ReadFiles> {
  const small = files.filter(({ size }) => size <= MAX_BYTES).slice(0, MAX_IMAGES + 1)
  const images = await Promise.all(
    small.map(async (file) => ({ id: crypto.randomUUID(), name: file.name, url: await dataUrlOf(file) })),
  )
  return { images, tooLarge: files.filter(({ size }) => size > MAX_BYTES).length }
}

/** What is there already and what came, as far as it fits. */
export function withImages(before: readonly Attachment[], { images, tooLarge }: ReadFiles): Taken {
  const fitting = images.slice(0, Math.max(0, MAX_IMAGES - before.length))
  const words = [
    ...(tooLarge > 0 ? [`${plural(tooLarge, "image")} larger than 5 MB`] : []),
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
