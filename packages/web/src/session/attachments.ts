/** An image that goes along with a message. */
export interface Attachment {
  readonly id: string
  readonly name: string
  /** A data: URL, shown and sent. */
  readonly url: string
}

const MAX_BYTES = 5 * 1024 * 1024

export async function readImages(files: readonly File[]): Promise<readonly Attachment[]> {
  const fitting = files.filter(({ size }) => size <= MAX_BYTES)
  return Promise.all(
    fitting.map(async (file) => ({ id: crypto.randomUUID(), name: file.name, url: await dataUrlOf(file) })),
  )
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
